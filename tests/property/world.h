/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small random world: its scenario and trace, a run of it, and the result read back. */
#ifndef TIDELAB_TESTS_WORLD_H
#define TIDELAB_TESTS_WORLD_H

#include "results/schema.h"
#include "sim/base/units.h"

#include <stddef.h>
#include <stdint.h>

enum { WORLD_JOBS_MAX = 64, WORLD_TEXT_ROOM = 4096, WORLD_PATH_ROOM = 512 };

struct world {
	char text[WORLD_TEXT_ROOM]; /* the scenario */
	/* What was asked for, as the trace file says it. */
	struct {
		int64_t duration_ns, gpus_mgpu;
	} asked[WORLD_JOBS_MAX];
	size_t asked_count;
	int64_t unseen_ns; /* how long policies do not see what becomes of a node */
	/* The result. */
	struct tl_row_job *jobs;
	struct tl_row_transition *moves;
	struct tl_row_placement *places;
	struct tl_row_timeline *samples;
	struct tl_row_purpose *purposes;
	struct tl_row_ledger *ledger;
	struct tl_row_fault *faults;
	struct tl_row_node *nodes;
	size_t job_count, move_count, place_count, sample_count, purpose_count, ledger_count,
	    fault_count, node_count;
};
extern struct world world;

/* A folder of the test's own, and its removal. */
void world_setup(void);
void world_teardown(void);

/* The scenario of world `number` but for its policy: the same draws whatever that is. */
void world_make(uint64_t number);
/* Lets GPUs be asked for beyond what is there; after world_make. ratios: a number, or a map. */
void world_oversubscribe(uint64_t number, const char *ratios);
/* The same of a world with walls: the trace is asked for by WORLD_POOLED entries, each bound to
 * the pools world_pools[] names (`A|B`; empty: none), on nodes of pools a, b and of none. */
enum { WORLD_POOLED = 4 };
extern const char *const world_pools[WORLD_POOLED];
void world_make_walls(uint64_t number);
/* Goes on with the trace, in a folder `a` or `b`, whose path is returned … */
const char *world_folder(const char *name);
/* … and the policy: kind 0 decides at random, others are the pipeline with drawn seats. */
void world_policy(uint64_t kind);
/* Runs the scenario in that folder; the result is out.h5 there. */
void world_run(const char *folder);
void world_read(const char *folder);
void world_forget(void);

#endif
