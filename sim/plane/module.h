/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policy modules: finding, loading, the handshake, and options against a module's own
 * table. A refusal names the field, what it got and what was wanted.
 */
#ifndef TIDELAB_PLANE_MODULE_H
#define TIDELAB_PLANE_MODULE_H

#include "policies/abi/tidelab_policy.h"
#include "sim/base/checksum.h"
#include "sim/base/error.h"
#include "sim/config/scenario.h"

struct tl_loaded_module {
	void *handle;
	const struct tl_module *module; /* valid until unload */
	char *path;
	char sha256[TL_SHA256_HEX];
};

extern const char *const tl_seat_names[TL_SEAT_COUNT + 1]; /* `scheduler`, `admit`, … NULL */
extern const char *const tl_option_type_names[];           /* by enum tl_option_type */

/* Where a module lies, by name or by a path with a `/` in it; *path is malloc'd.
 * TL_E_UNAVAILABLE for a name that is none's. */
enum tl_status tl_module_find(const char *name, char **path, struct tl_error *error);
/* A module by name (looked up with tl_paths_module) or by a path with a `/` in it. */
enum tl_status tl_module_load(const char *name, struct tl_loaded_module *out,
                              struct tl_error *error);
void tl_module_unload(struct tl_loaded_module *loaded);

/* The handshake alone: path is for the message. */
enum tl_status tl_module_check(const struct tl_module *module, const char *path,
                               struct tl_error *error);

/* The i-th option of a module's table. */
const struct tl_option *tl_module_option(const struct tl_module *module, uint32_t i);

/* A bound of an option's range, as a scenario writes it. */
const char *tl_option_bound(const struct tl_option *option, double bound, char *buffer,
                            size_t size);

/* Values for every row of the module's table: its default, or the setting of that name.
 * An unknown option or a value out of range is TL_E_CONFIG at the setting's line of
 * `file`. *values is malloc'd; texts in it live as long as the settings and the module. */
enum tl_status tl_module_options(const struct tl_module *module, const struct tl_setting *settings,
                                 size_t count, const char *file, struct tl_option_value **values,
                                 struct tl_error *error);

#endif
