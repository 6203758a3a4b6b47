/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Public machine lists as clusters.
 *   openb    sn,cpu_milli,memory_mib,gpu,model
 *   pai      no header: machine, GPU type, CPU cores, memory GB, GPUs; type `CPU` names
 *            no model, `MISC` is kept as one; GB is read as GiB (512 is 512 GiB)
 *   lingjun  ip,DSW,PSW,ASW: core, spine and leaf of a host. The list says nothing of
 *            the hardware; hosts of this fabric have 8 GPUs, and the rest is assumed:
 *            model A100, 128 cores, 1 TiB (the default node). pod is DSW/PSW.
 */
#ifndef TIDELAB_TRACES_MACHINES_H
#define TIDELAB_TRACES_MACHINES_H

#include "sim/base/error.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_MACHINE_MODEL_MAX = 32 };

enum tl_machine_format { TL_MACHINES_OPENB, TL_MACHINES_PAI, TL_MACHINES_LINGJUN };
extern const char *const tl_machine_format_names[]; /* NULL-terminated, indexed by the enum */

struct tl_machine {
	char name[TL_TRACE_ID_MAX];       /* longer ones are cut to 63 bytes */
	char model[TL_MACHINE_MODEL_MAX]; /* empty: not known, or no GPU */
	int64_t cpu_milli, ram_bytes;
	uint32_t gpus;
	uint32_t leaf, pod; /* numbered in order of first sight; UINT32_MAX: unknown */
};

/* Reads the whole list (.gz accepted), in file order; *machines is freed with free().
 * Every row must be sound: a missing value, a negative one, or a name that stands twice
 * is TL_E_DATA with its line. Nothing is allocated on failure. */
enum tl_status tl_machines_read(const char *path, enum tl_machine_format format,
                                struct tl_machine **machines, size_t *count,
                                struct tl_error *error);

bool tl_machine_format_parse(const char *name, enum tl_machine_format *out);

#endif
