/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a result depends on: the tool, the effective scenario (seed included), and the
 * bytes of every file and module it names. A result states these facts as attributes of
 * its root, and the SHA-256 of them all as `identity`; the same can be told of a scenario
 * that has not been run, so that a result that is there already need not be made again.
 */
#ifndef TIDELAB_PLANE_PROVENANCE_H
#define TIDELAB_PLANE_PROVENANCE_H

#include "sim/base/checksum.h"
#include "sim/base/error.h"
#include "sim/config/scenario.h"

#include <stddef.h>

struct tl_fact {
	char *name, *value;
};

struct tl_provenance {
	struct tl_fact *facts; /* in an order that the scenario alone gives */
	size_t count, room;
};

/* With the tool, the scenario and what it opened; traces, then modules, are added. */
void tl_provenance_init(struct tl_provenance *provenance, const struct tl_scenario *scenario);
void tl_provenance_fini(struct tl_provenance *provenance);
void tl_provenance_add_trace(struct tl_provenance *provenance, size_t workload, const char *sha256);
void tl_provenance_add_module(struct tl_provenance *provenance, size_t seat, const char *sha256);
void tl_provenance_identity(const struct tl_provenance *provenance, char out[TL_SHA256_HEX]);

/* Checksums of files met before: each is read once. */
struct tl_checksums {
	struct tl_checksum *items;
	size_t count, room;
};
void tl_checksums_fini(struct tl_checksums *known);

/* What a run of the scenario would state as its identity. Nothing is loaded or scanned:
 * TL_E_NOINPUT, TL_E_UNAVAILABLE where a file or a module is not there. */
enum tl_status tl_provenance_foretell(const struct tl_scenario *scenario,
                                      struct tl_checksums *known, char out[TL_SHA256_HEX],
                                      struct tl_error *error);

#endif
