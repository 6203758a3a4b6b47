/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every module of the build: handshake, option table, the one symbol, creation. */
#include "sim/base/units.h"
#include "sim/plane/module.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUMMARY_MAX = 100, ALLOCS = 24 };

static const struct tl_suite_module *modules;
static size_t count;

static void set_up(void)
{
	modules = tl_suite_modules(&count);
}

TestSuite(modules, .init = set_up);

Test(modules, load_and_shake_hands)
{
	cr_assert_geq(count, 11, "modules of the build: found %zu", count);
	for (size_t m = 0; m < count; m++) {
		const struct tl_module *module = modules[m].module;
		struct tl_error error = TL_ERROR_INIT;

		cr_assert_not_null(module, "%s does not load", modules[m].path);
		cr_assert_eq(tl_module_check(module, modules[m].path, &error), TL_OK, "%s: %s",
		             modules[m].name, error.message);
		cr_assert_eq(module->magic, TL_ABI_MAGIC);
		cr_assert_geq(module->struct_size, sizeof *module);
		cr_assert_eq(module->abi_major, TL_ABI_MAJOR);
		cr_assert_leq(module->abi_minor, TL_ABI_MINOR);
		cr_assert_lt(module->seat, TL_SEAT_COUNT);
		cr_assert_str_eq(module->name, modules[m].name, "the name equals the file's");
		cr_assert_not_null(module->create);
		cr_assert_not_null(module->ops);
		cr_assert(module->version && module->version[0], "%s states no version",
		          module->name);
		cr_assert(module->summary && module->summary[0], "%s states no summary",
		          module->name);
		cr_assert_leq(strlen(module->summary), SUMMARY_MAX, "%s: a line, please",
		              module->name);
		cr_assert_null(strchr(module->summary, '\n'));
	}
}

Test(modules, names_are_unique)
{
	for (size_t m = 1; m < count; m++)
		cr_assert_neq(strcmp(modules[m - 1].name, modules[m].name), 0,
		              "two modules are named %s", modules[m].name);
}

static void *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	long end;
	void *bytes;

	cr_assert_not_null(file, "%s", path);
	cr_assert_eq(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	cr_assert_gt(end, 0);
	rewind(file);
	*size = (size_t)end;
	bytes = tl_alloc(*size);
	cr_assert_eq(fread(bytes, 1, *size, file), *size);
	(void)fclose(file);
	return bytes;
}

/* What the sanitisers and the coverage run time add is no doing of the module. */
static bool instrumentation(const char *symbol)
{
	static const char *const prefixes[] = {"__asan", "__odr_asan", "__ubsan",
	                                       "__gcov", "__llvm",     "__sancov"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(symbol, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static uint32_t exported(const char *path, char *other, size_t room)
{
	size_t size;
	unsigned char *bytes = read_file(path, &size);
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
	uint32_t found = 0;

	for (uint32_t s = 0; s < header->e_shnum; s++) {
		const Elf64_Sym *symbols = (const void *)(bytes + sections[s].sh_offset);
		const char *names;

		if (sections[s].sh_type != SHT_DYNSYM)
			continue;
		names = (const char *)bytes + sections[sections[s].sh_link].sh_offset;
		for (uint64_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++) {
			const char *name = names + symbols[i].st_name;

			if (symbols[i].st_shndx == SHN_UNDEF ||
			    ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL || instrumentation(name))
				continue;
			found++;
			if (strcmp(name, TL_MODULE_SYMBOL) != 0)
				(void)snprintf(other, room, "%s", name);
		}
	}
	free(bytes);
	return found;
}

Test(modules, export_one_symbol)
{
	for (size_t m = 0; m < count; m++) {
		char other[TL_MOCK_TEXT] = "";

		cr_assert_eq(exported(modules[m].path, other, sizeof other), 1,
		             "%s exports `%s` too", modules[m].name, other);
		cr_assert_str_empty(other);
	}
}

static void check_option(const struct tl_module *module, uint32_t o)
{
	const struct tl_option *option = tl_module_option(module, o);

	cr_assert(option->name && option->name[0], "%s: option %u has no name", module->name, o);
	cr_assert_eq(strspn(option->name, "abcdefghijklmnopqrstuvwxyz0123456789-_"),
	             strlen(option->name), "%s.%s: a-z, 0-9, - and _ only", module->name,
	             option->name);
	cr_assert(option->help && strlen(option->help) > 10 && !strchr(option->help, '\n'),
	          "%s.%s: help is a line that says something", module->name, option->name);
	cr_assert_not_null(option->unit, "%s.%s: unit may be empty, not NULL", module->name,
	                   option->name);
	cr_assert_not_null(option->standard, "%s.%s has no default", module->name, option->name);
	cr_assert_leq(option->min, option->max, "%s.%s: range", module->name, option->name);
	cr_assert_eq(option->type == TL_OPTION_CHOICE, option->choices != NULL,
	             "%s.%s: choices where the type is CHOICE, and only there", module->name,
	             option->name);
	for (uint32_t p = 0; p < o; p++)
		cr_assert_str_neq(tl_module_option(module, p)->name, option->name,
		                  "%s: two options named %s", module->name, option->name);
}

Test(modules, option_tables_are_sane)
{
	for (size_t m = 0; m < count; m++) {
		const struct tl_module *module = modules[m].module;
		struct tl_option_value *values = NULL;
		struct tl_error error = TL_ERROR_INIT;

		cr_assert(module->option_count == 0 || module->options, "%s", module->name);
		cr_assert(module->option_count == 0 ||
		              module->option_stride >= sizeof(struct tl_option),
		          "%s", module->name);
		for (uint32_t o = 0; o < module->option_count; o++)
			check_option(module, o);
		cr_assert_eq(tl_module_options(module, NULL, 0, "defaults", &values, &error), TL_OK,
		             "%s: a default is not in its own range: %s", module->name,
		             error.message);
		free(values);
	}
}

static void set_world(struct tl_world *world)
{
	tl_world_init(world, 5, 6, 8);
	world->mock.tenants[0] =
	    (struct tl_tenant_view){.name = "a", .quota_mgpu = -1, .weight = 1};
	world->mock.queues[0] =
	    (struct tl_queue_view){.name = "normal", .weight = 1, .oldest_wait_since_ns = -1};
	world->mock.services[0] = (struct tl_service_view){.name = "player",
	                                                   .replicas_min = 1,
	                                                   .replicas_max = 8,
	                                                   .replicas = 2,
	                                                   .ready = 2,
	                                                   .window_end_ns = 5 * TL_NS_PER_S,
	                                                   .arrivals = 100,
	                                                   .slo_p99_ns = 100 * TL_NS_PER_MS,
	                                                   .replica_capacity_per_ks = 286000,
	                                                   .breach_since_ns = -1};
	world->mock.tenant_count = world->mock.queue_count = world->mock.service_count = 1;
}

/* What a scheduler or a scale rule asks for in its create(). */
static void fill_seats(struct tl_mock *mock)
{
	static const char *const names[] = {"fifo", "first-fit", "seasonal-naive"};

	for (size_t m = 0; m < count; m++) {
		for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
			const struct tl_module *module = modules[m].module;
			struct tl_seat seat = {module, module->ops, NULL};

			if (strcmp(modules[m].name, names[i]) == 0 &&
			    tl_mock_create(mock, module, NULL, NULL, &seat.self, NULL) == 0)
				mock->seats[module->seat] = seat;
		}
	}
}

/* With one option set, or none. */
static void create_with(struct tl_mock *mock, const struct tl_module *module, const char *name,
                        const char *value)
{
	char why[TL_MOCK_TEXT] = "";
	void *self = NULL;

	cr_assert_eq(tl_mock_create(mock, module, name, value, &self, why), 0, "%s, %s=%s: %s",
	             module->name, name ? name : "", value ? value : "", why);
	if (module->destroy)
		module->destroy(self);
}

Test(modules, are_created_with_every_choice)
{
	struct tl_world world;

	set_world(&world);
	fill_seats(&world.mock);
	for (size_t m = 0; m < count; m++) {
		const struct tl_module *module = modules[m].module;

		create_with(&world.mock, module, NULL, NULL);
		for (uint32_t o = 0; o < module->option_count; o++) {
			const struct tl_option *option = tl_module_option(module, o);

			for (const char *at = option->choices; at && *at; at += strspn(at, "|")) {
				char choice[TL_MOCK_TEXT];

				(void)snprintf(choice, sizeof choice, "%.*s", (int)strcspn(at, "|"),
				               at);
				create_with(&world.mock, module, option->name, choice);
				at += strcspn(at, "|");
			}
		}
	}
	tl_world_fini(&world);
}

Test(modules, bad_options_are_refused_with_the_range)
{
	struct tl_world world;

	set_world(&world);
	for (size_t m = 0; m < count; m++) {
		const struct tl_module *module = modules[m].module;
		char why[TL_MOCK_TEXT] = "";
		void *self;

		cr_assert_neq(
		    tl_mock_create(&world.mock, module, "no-such-option", "1", &self, why), 0, "%s",
		    module->name);
		cr_assert(strstr(why, "no-such-option"), "%s: %s", module->name, why);
		for (uint32_t o = 0; o < module->option_count; o++) {
			const struct tl_option *option = tl_module_option(module, o);

			if (option->type == TL_OPTION_TEXT)
				continue;
			cr_assert_neq(tl_mock_create(&world.mock, module, option->name, "nonsense",
			                             &self, why),
			              0, "%s.%s takes anything", module->name, option->name);
		}
	}
	tl_world_fini(&world);
}

Test(modules, fail_to_be_created_in_words)
{
	struct tl_world world;

	set_world(&world);
	for (size_t m = 0; m < count; m++) {
		for (int64_t left = 0; left < ALLOCS; left++) {
			char why[TL_MOCK_TEXT] = "";
			void *self = NULL;

			world.mock.allocs_left = left;
			if (tl_mock_create(&world.mock, modules[m].module, NULL, NULL, &self,
			                   why) != 0)
				cr_assert_str_not_empty(why, "%s fails without a word",
				                        modules[m].name);
			else if (modules[m].module->destroy)
				modules[m].module->destroy(self);
		}
		world.mock.allocs_left = -1;
	}
	tl_world_fini(&world);
}
