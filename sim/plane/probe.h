/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A module looked at in another process: loading one runs its code. */
#ifndef TIDELAB_PLANE_PROBE_H
#define TIDELAB_PLANE_PROBE_H

#include "sim/plane/module.h"

#include <stdint.h>
#include <stdio.h>

/* Loads the module in a child process, which has `describe` write about it; *text
 * (malloc'd) is what was written, *seat whose seat it is for. TL_E_UNAVAILABLE where it is
 * refused, and where loading or unloading it crashes, exits or takes longer than 5 s. */
enum tl_status tl_module_probe(const char *name,
                               void (*describe)(const struct tl_loaded_module *, FILE *),
                               uint32_t *seat, char **text, struct tl_error *error);

#endif
