/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/module.h"

#include "sim/base/arena.h"
#include "sim/plane/elf.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_seat_names[TL_SEAT_COUNT + 1] = {
    "scheduler", "admit", "order", "place", "preempt", "scale", "defrag", "forecast", NULL};

/* The first two words of every ops struct, and the mandatory function after them. */
struct ops_head {
	uint32_t struct_size;
	uint32_t reserved;
	void (*first)(void);
};

static size_t ops_size(enum tl_seat_kind seat)
{
	switch (seat) {
	case TL_SEAT_SCHEDULER:
		return sizeof(struct tl_scheduler_ops);
	case TL_SEAT_ADMIT:
		return sizeof(struct tl_admit_ops);
	case TL_SEAT_ORDER:
		return sizeof(struct tl_order_ops);
	case TL_SEAT_PLACE:
		return sizeof(struct tl_place_ops);
	case TL_SEAT_PREEMPT:
		return offsetof(struct tl_preempt_ops, pace); /* which is since 1.2 */
	case TL_SEAT_SCALE:
		return sizeof(struct tl_scale_ops);
	case TL_SEAT_DEFRAG:
		return sizeof(struct tl_defrag_ops);
	case TL_SEAT_FORECAST:
		return sizeof(struct tl_forecast_ops);
	case TL_SEAT_COUNT:
		break;
	}
	return 0;
}

#define REFUSE(...) return tl_error_set(error, TL_E_UNAVAILABLE, path, 0, 0, __VA_ARGS__)

static enum tl_status check_options(const struct tl_module *module, const char *path,
                                    struct tl_error *error)
{
	if (module->option_count > 0 && module->options == NULL)
		REFUSE("options: got none, wanted %u", module->option_count);
	if (module->option_count > 0 && module->option_stride < sizeof(struct tl_option))
		REFUSE("option_stride: got %u, wanted at least %zu", module->option_stride,
		       sizeof(struct tl_option));
	for (uint32_t i = 0; i < module->option_count; i++) {
		const struct tl_option *option = tl_module_option(module, i);
		bool choice = option->type == TL_OPTION_CHOICE;

		if ((unsigned)option->type > TL_OPTION_TEXT)
			REFUSE("option %u type: got %u, wanted below %d", i, (unsigned)option->type,
			       TL_OPTION_TEXT + 1);
		if (option->name == NULL || option->unit == NULL || option->standard == NULL ||
		    option->help == NULL || (choice && option->choices == NULL))
			REFUSE("option %u: got a null pointer, wanted name, unit, default, help%s",
			       i, choice ? " and choices" : "");
	}
	return TL_OK;
}

static enum tl_status check_ops(const struct tl_module *module, const char *path,
                                struct tl_error *error)
{
	const struct ops_head *ops = module->ops;
	size_t wanted = ops_size((enum tl_seat_kind)module->seat);

	if (ops == NULL)
		REFUSE("ops: got none, wanted the %s seat's", tl_seat_names[module->seat]);
	if (ops->struct_size < wanted)
		REFUSE("ops struct_size: got %u, wanted at least %zu", ops->struct_size, wanted);
	if (ops->first == NULL)
		REFUSE("ops: the mandatory callback of the %s seat is missing",
		       tl_seat_names[module->seat]);
	if (module->observer != NULL && module->observer->struct_size < sizeof(*module->observer))
		REFUSE("observer struct_size: got %u, wanted at least %zu",
		       module->observer->struct_size, sizeof(*module->observer));
	return TL_OK;
}

enum tl_status tl_module_check(const struct tl_module *module, const char *path,
                               struct tl_error *error)
{
	if (module->magic != TL_ABI_MAGIC)
		REFUSE("magic: got 0x%08x, wanted 0x%08x: not a Tidelab policy", module->magic,
		       TL_ABI_MAGIC);
	if (module->struct_size < sizeof(*module))
		REFUSE("struct_size: got %u, wanted at least %zu", module->struct_size,
		       sizeof(*module));
	if (module->abi_major != TL_ABI_MAJOR)
		REFUSE("abi_major: got %u, wanted %d", module->abi_major, TL_ABI_MAJOR);
	if (module->abi_minor > TL_ABI_MINOR)
		REFUSE("abi_minor: got %u, wanted at most %d", module->abi_minor, TL_ABI_MINOR);
	if (module->seat >= TL_SEAT_COUNT)
		REFUSE("seat: got %u, wanted below %d", module->seat, TL_SEAT_COUNT);
	uint64_t known = TL_NEEDS_ESTIMATES | TL_NEEDS_ORACLE | TL_NEEDS_SERVICES | TL_NEVER_STARTS;

	if ((module->capabilities & ~known) != 0)
		REFUSE("capabilities: got 0x%llx, of which this host does not have 0x%llx",
		       (unsigned long long)module->capabilities,
		       (unsigned long long)(module->capabilities & ~known));
	if (module->name == NULL || module->version == NULL || module->summary == NULL)
		REFUSE("name, version, summary: got a null pointer, wanted texts");
	if (module->create == NULL)
		REFUSE("create: got a null pointer, wanted a function");
	enum tl_status status = check_options(module, path, error);

	return status == TL_OK ? check_ops(module, path, error) : status;
}

enum tl_status tl_module_find(const char *name, char **path, struct tl_error *error)
{
	char near[512];

	*path = strchr(name, '/') != NULL ? tl_strdup(name) : tl_paths_module(name);
	if (*path != NULL)
		return TL_OK;
	return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
	                    "no policy module `%.100s` beside the command, in "
	                    "TIDELAB_POLICY_PATH, or installed%s",
	                    name, tl_paths_near(NULL, name, near, sizeof(near)));
}

enum tl_status tl_module_load(const char *name, struct tl_loaded_module *out,
                              struct tl_error *error)
{
	char *path = NULL;
	enum tl_status status = tl_module_find(name, &path, error);

	*out = (struct tl_loaded_module){0};
	if (status == TL_OK)
		status = tl_elf_check(path, error);

	if (status == TL_OK)
		status = tl_sha256_file(path, out->sha256, error);
	if (status == TL_OK) {
		out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (out->handle == NULL)
			status = tl_error_set(error, TL_E_UNAVAILABLE, path, 0, 0,
			                      "cannot be loaded: %s", dlerror());
	}
	if (status == TL_OK) {
		out->module = dlsym(out->handle, TL_MODULE_SYMBOL);
		if (out->module == NULL)
			status =
			    tl_error_set(error, TL_E_UNAVAILABLE, path, 0, 0,
			                 "exports no `" TL_MODULE_SYMBOL "`: not a Tidelab policy");
		else
			status = tl_module_check(out->module, path, error);
	}
	if (status != TL_OK) {
		if (out->handle != NULL)
			dlclose(out->handle);
		free(path);
		*out = (struct tl_loaded_module){0};
		return status;
	}
	out->path = path;
	return TL_OK;
}

void tl_module_unload(struct tl_loaded_module *loaded)
{
	if (loaded->handle != NULL)
		dlclose(loaded->handle);
	free(loaded->path);
	*loaded = (struct tl_loaded_module){0};
}
