/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What breaks, and when: a schedule drawn from the seed, the same under every policy. It
 * applies nothing; whoever owns the world does.
 *
 * Random failures (model, Jobs): each node is up for an exponential time of mean
 * 1,000 node-days / rate, then down for a repair of the mix, and so on, whatever work it
 * has. Outage n of a node is a function of (seed, node, n) alone, and no other outage
 * moves it. Scripted faults strike when the scenario says; whom, where it names nobody, is
 * drawn by lot: nodes from all there are, jobs from those running. A lot is a function of
 * (seed, fault, whom) alone, so the same jobs are struck under every policy that has them
 * running, and one node more disturbs no other.
 *
 * Random failures never end: a run without a horizon has to be stopped once its work is
 * done.
 */
#ifndef TIDELAB_FAULTS_FAULTS_H
#define TIDELAB_FAULTS_FAULTS_H

#include "sim/base/error.h"
#include "sim/cluster/cluster.h"
#include "sim/config/scenario.h"
#include "sim/engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tl_faults; /* opaque */

/* Kinds of the engine's events, all of TL_PHASE_FAILURE, and their subjects. */
struct tl_fault_kinds {
	uint32_t scripted; /* entry of the scenario's faults */
	uint32_t fail;     /* a node's random failure */
	uint32_t repair;   /* a node, of an outage of either sort */
};

struct tl_outage {
	int64_t fail_ns, repair_ns; /* fail < repair; TL_NEVER: not in this world */
};

/* The scenario and the cluster outlive the faults. TL_E_CONFIG, with the entry's line, for
 * a node that does not exist or more nodes than there are. */
enum tl_status tl_faults_create(const struct tl_scenario *scenario,
                                const struct tl_cluster *cluster,
                                const struct tl_fault_kinds *kinds, struct tl_faults **out,
                                struct tl_error *error);
void tl_faults_destroy(struct tl_faults *faults);

/* Inserts every scripted fault and the first failure of each node; once, at t = 0. */
void tl_faults_arm(struct tl_faults *faults, struct tl_engine *engine);
/* A `fail` event of the node came: inserts its repair and its next failure (after the
 * repair), and returns when it is repaired. */
int64_t tl_faults_failed(struct tl_faults *faults, struct tl_engine *engine, uint32_t node);

/* The nodes that scripted fault `index` takes down, ascending; valid until destroy. NULL
 * and 0 for a fault that takes none. Its repairs are the caller's to insert. */
const uint32_t *tl_faults_nodes(const struct tl_faults *faults, size_t index, uint32_t *count);
/* The lot of job `row` in scripted fault `index`: the least lots are struck (ties, which
 * do not happen in practice, by row). */
uint64_t tl_faults_lot(const struct tl_faults *faults, size_t index, uint64_t row);

/* Outages of one node may overlap. Begin: whether the node goes down now (it was not).
 * End: whether it comes back now (no other outage holds it); asserts that one began. */
bool tl_faults_begin(struct tl_faults *faults, uint32_t node);
bool tl_faults_end(struct tl_faults *faults, uint32_t node);

/* Outage n = 0, 1, … of a node, given when it came up before (0 for the first): pure. */
struct tl_outage tl_faults_outage(const struct tl_failures *failures, uint64_t seed, uint32_t node,
                                  uint64_t n, int64_t up_since_ns);

#endif
