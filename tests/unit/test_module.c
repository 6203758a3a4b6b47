/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handshake, field by field, and loading. */
#include "sim/plane/module.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tl_module module;
static struct tl_order_ops ops;
static struct tl_option option;
static struct tl_observer_ops observer;
static struct tl_error error;

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	(void)host;
	(void)with;
	(void)self;
	return 0;
}

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	(void)self;
	(void)jobs;
	(void)ids;
	(void)n;
	(void)now_ns;
	(void)out;
}

static void setup(void)
{
	ops = (struct tl_order_ops){.struct_size = sizeof ops, .keys = keys};
	option = (struct tl_option){.name = "depth",
	                            .type = TL_OPTION_INT,
	                            .unit = "jobs",
	                            .standard = "1",
	                            .help = "how deep"};
	observer = (struct tl_observer_ops){.struct_size = sizeof observer};
	module = (struct tl_module){TL_MODULE_HEAD(TL_SEAT_ORDER),
	                            .name = "sound",
	                            .version = "1.0",
	                            .summary = "has nothing wrong",
	                            .options = &option,
	                            .option_count = 1,
	                            .option_stride = sizeof option,
	                            .create = create,
	                            .observer = &observer,
	                            .ops = &ops};
	error = TL_ERROR_INIT;
}

TestSuite(module, .init = setup);

/* Refused with this text, at this file; then whole again. */
static void refused(const char *text)
{
	enum tl_status status = tl_module_check(&module, "there/sound.so", &error);

	cr_assert_eq(status, TL_E_UNAVAILABLE, "wanted a refusal for `%s`", text);
	cr_assert_not_null(strstr(error.message, text), "`%s` does not say `%s`", error.message,
	                   text);
	cr_assert_str_eq(error.file, "there/sound.so");
	setup();
}

Test(module, a_sound_one_is_taken)
{
	cr_assert_eq(tl_module_check(&module, "x", &error), TL_OK, "%s", error.message);
	module.observer = NULL;
	module.options = NULL;
	module.option_count = module.option_stride = 0;
	cr_assert_eq(tl_module_check(&module, "x", &error), TL_OK, "%s", error.message);
}

Test(module, one_built_against_a_larger_struct_is_taken)
{
	module.struct_size += 16;
	ops.struct_size += 8;
	observer.struct_size += 8;
	cr_assert_eq(tl_module_check(&module, "x", &error), TL_OK, "%s", error.message);
}

Test(module, each_field_is_checked)
{
	module.magic = 0;
	refused("magic: got 0x00000000, wanted 0x54444c31");
	module.struct_size = sizeof module - 1;
	refused("struct_size: got 95, wanted at least 96");
	module.abi_major = 0;
	refused("abi_major: got 0, wanted 1");
	module.abi_minor = TL_ABI_MINOR + 1;
	refused("abi_minor: got 3, wanted at most 2");
	module.seat = TL_SEAT_COUNT;
	refused("seat: got 8, wanted below 8");
	module.seat = UINT32_MAX;
	refused("seat: got 4294967295");
	module.capabilities = UINT64_C(1) << 40 | TL_NEEDS_ESTIMATES;
	refused("this host does not have 0x10000000000");
	module.name = NULL;
	refused("name, version, summary");
	module.version = NULL;
	refused("name, version, summary");
	module.summary = NULL;
	refused("name, version, summary");
	module.create = NULL;
	refused("create: got a null pointer");
}

Test(module, ops_and_observers_are_checked)
{
	module.ops = NULL;
	refused("ops: got none, wanted the order seat's");
	ops.struct_size = 8;
	refused("ops struct_size: got 8, wanted at least 16");
	ops.keys = NULL;
	refused("the mandatory callback of the order seat is missing");
	observer.struct_size = 4;
	refused("observer struct_size: got 4, wanted at least");
	module.seat = TL_SEAT_ADMIT; /* two callbacks: the struct given is too small for it */
	refused("ops struct_size: got 16, wanted at least 24");
}

Test(module, option_tables_are_checked)
{
	module.options = NULL;
	refused("options: got none, wanted 1");
	module.option_stride = sizeof option - 8;
	refused("option_stride: got 56, wanted at least 64");
	option.name = NULL;
	refused("option 0: got a null pointer");
	option.unit = NULL;
	refused("option 0: got a null pointer");
	option.standard = NULL;
	refused("option 0: got a null pointer");
	option.help = NULL;
	refused("option 0: got a null pointer");
	option.type = TL_OPTION_CHOICE;
	refused("wanted name, unit, default, help and choices");
	option.type = (enum tl_option_type)99;
	refused("option 0 type: got 99, wanted below 8");
}

/* ---- loading ---- */

static char path[512];

static const char *built(const char *name)
{
	const char *build = getenv("TIDELAB_BUILD");

	snprintf(path, sizeof path, "%s/tests/modules/%s.so", build ? build : "build/release",
	         name);
	if (access(path, R_OK) != 0)
		cr_skip("%s is not there: make test-programs builds it", path);
	return path;
}

Test(module, loading_gives_the_module_its_path_and_its_checksum)
{
	struct tl_loaded_module loaded;
	char sum[TL_SHA256_HEX];

	cr_assert_eq(tl_module_load(built("order-only"), &loaded, &error), TL_OK, "%s",
	             error.message);
	cr_assert_str_eq(loaded.module->name, "order-only");
	cr_assert_str_eq(loaded.path, path);
	cr_assert_eq(tl_sha256_file(path, sum, &error), TL_OK);
	cr_assert_str_eq(loaded.sha256, sum);
	tl_module_unload(&loaded);
	cr_assert_null(loaded.module);
}

Test(module, two_of_one_can_be_loaded_at_once)
{
	struct tl_loaded_module a, b;

	cr_assert_eq(tl_module_load(built("crash"), &a, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_module_load(path, &b, &error), TL_OK, "%s", error.message);
	tl_module_unload(&a);
	cr_assert_str_eq(b.module->name, "crash", "still there");
	tl_module_unload(&b);
}

static void not_loaded(const char *name, enum tl_status status, const char *text)
{
	struct tl_loaded_module loaded;

	cr_assert_eq(tl_module_load(name, &loaded, &error), status, "%s: %s", name, error.message);
	cr_assert_not_null(strstr(error.message, text), "%s: `%s`", name, error.message);
	cr_assert_null(loaded.handle);
	cr_assert_null(loaded.path);
}

Test(module, what_cannot_be_loaded_says_why)
{
	not_loaded("no-such-policy-anywhere", TL_E_UNAVAILABLE, "no policy module `no-such-policy");
	not_loaded("", TL_E_UNAVAILABLE, "no policy module ``");
	not_loaded("/nowhere/x.so", TL_E_NOINPUT, "cannot be opened");
	not_loaded(built("no-symbol"), TL_E_UNAVAILABLE, "exports no `tidelab_module`");
	not_loaded(built("bad-magic"), TL_E_UNAVAILABLE, "not a Tidelab policy");
}

Test(module, a_text_file_an_empty_one_and_a_folder_are_no_modules)
{
	const char *folder = getenv("TMPDIR");
	char name[256];
	FILE *file;

	snprintf(name, sizeof name, "%s/not-a-module-%ld.so", folder ? folder : "/tmp",
	         (long)getpid());
	file = fopen(name, "w");
	fclose(file);
	not_loaded(name, TL_E_UNAVAILABLE, "cannot be loaded");
	file = fopen(name, "w");
	fputs("just text, and no machine code\n", file);
	fclose(file);
	not_loaded(name, TL_E_UNAVAILABLE, "cannot be loaded");
	unlink(name);
	cr_assert_neq(tl_module_load("/", &(struct tl_loaded_module){0}, &error), TL_OK);
}
