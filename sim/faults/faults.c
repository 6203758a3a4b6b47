/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/faults/faults.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct target {
	uint32_t *nodes;
	uint32_t count;
};

struct node_faults {
	uint64_t outages; /* random ones begun */
	uint32_t holding; /* outages that keep it down */
};

struct tl_faults {
	const struct tl_scenario *scenario;
	struct tl_fault_kinds kinds;
	uint32_t node_count;
	struct node_faults *nodes;
	struct target *targets; /* by scripted fault */
	bool armed;
};

/* ---- random failures ---- */

static double uniform_at(uint64_t seed, enum tl_stream stream, uint64_t entity, uint64_t n)
{
	return (double)(tl_rng_at(seed, stream, entity, n) >> 11) * 0x1p-53;
}

static int64_t repair_time(const struct tl_failures *failures, uint64_t seed, uint32_t node,
                           uint64_t n)
{
	double u = 1000 * uniform_at(seed, TL_STREAM_REPAIR, node, n);

	if (u < failures->repair_short_milli)
		return failures->repair_short_ns;
	if (u < failures->repair_short_milli + failures->repair_medium_milli)
		return failures->repair_medium_ns;
	return failures->repair_long_ns;
}

struct tl_outage tl_faults_outage(const struct tl_failures *failures, uint64_t seed, uint32_t node,
                                  uint64_t n, int64_t up_since_ns)
{
	struct tl_outage outage = {TL_NEVER, TL_NEVER};
	double up_ns;

	if (!(failures->per_1000_node_days > 0))
		return outage;
	up_ns = -log1p(-uniform_at(seed, TL_STREAM_NODE_FAILURE, node, n)) * 1000 *
	        (double)TL_NS_PER_DAY / failures->per_1000_node_days;
	/* 2^62 ns is 146 years: past any horizon, and short of what int64 cannot hold. */
	if (!(up_ns < 0x1p62))
		return outage;
	outage.fail_ns = tl_time_add(up_since_ns, (int64_t)up_ns + 1);
	outage.repair_ns = tl_time_add(outage.fail_ns, repair_time(failures, seed, node, n));
	if (outage.repair_ns <= outage.fail_ns && outage.fail_ns < TL_NEVER)
		outage.repair_ns = outage.fail_ns + 1;
	return outage;
}

static void insert_failure(struct tl_faults *faults, struct tl_engine *engine, uint32_t node,
                           int64_t up_since_ns)
{
	struct tl_outage outage =
	    tl_faults_outage(&faults->scenario->failures, faults->scenario->seed, node,
	                     faults->nodes[node].outages, up_since_ns);

	(void)tl_engine_at(engine, outage.fail_ns, TL_PHASE_FAILURE, faults->kinds.fail, node);
}

int64_t tl_faults_failed(struct tl_faults *faults, struct tl_engine *engine, uint32_t node)
{
	int64_t repair_ns;
	int64_t down_ns;

	TL_ASSERT(node < faults->node_count);
	down_ns = repair_time(&faults->scenario->failures, faults->scenario->seed, node,
	                      faults->nodes[node].outages++);
	repair_ns = tl_time_add(engine->now_ns, down_ns > 0 ? down_ns : 1);
	(void)tl_engine_at(engine, repair_ns, TL_PHASE_FAILURE, faults->kinds.repair, node);
	if (repair_ns < TL_NEVER)
		insert_failure(faults, engine, node, repair_ns);
	return repair_ns;
}

/* ---- scripted faults ---- */

uint64_t tl_faults_lot(const struct tl_faults *faults, size_t index, uint64_t row)
{
	TL_ASSERT(index < faults->scenario->fault_count);
	return tl_rng_at(faults->scenario->seed, TL_STREAM_FAULT, index, row);
}

struct lot {
	uint64_t lot;
	uint32_t node;
};

static int compare_lots(const void *left, const void *right)
{
	const struct lot *a = left, *b = right;

	if (a->lot != b->lot)
		return a->lot < b->lot ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int compare_nodes(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static void draw_nodes(const struct tl_faults *faults, size_t index, struct target *target)
{
	struct lot *lots = tl_calloc(faults->node_count, sizeof *lots);

	for (uint32_t node = 0; node < faults->node_count; node++)
		lots[node] = (struct lot){tl_faults_lot(faults, index, node), node};
	qsort(lots, faults->node_count, sizeof *lots, compare_lots);
	for (uint32_t i = 0; i < target->count; i++)
		target->nodes[i] = lots[i].node;
	qsort(target->nodes, target->count, sizeof *target->nodes, compare_nodes);
	free(lots);
}

static enum tl_status find_nodes(struct tl_faults *faults, const struct tl_cluster *cluster,
                                 size_t index, struct tl_error *error)
{
	const struct tl_fault_setting *setting = &faults->scenario->faults[index];
	struct target *target = &faults->targets[index];

	if (setting->what != TL_FAULT_NODE_DOWN)
		return TL_OK;
	target->count = setting->node[0] ? 1 : setting->count;
	if (target->count > faults->node_count)
		return tl_error_set(error, TL_E_CONFIG, faults->scenario->path, setting->line,
		                    setting->column,
		                    "faults[%zu].nodes: got %u, wanted at most the "
		                    "cluster's %u",
		                    index, target->count, faults->node_count);
	target->nodes = tl_calloc(target->count, sizeof *target->nodes);
	if (!setting->node[0]) {
		draw_nodes(faults, index, target);
		return TL_OK;
	}
	for (uint32_t node = 0; node < faults->node_count; node++)
		if (strcmp(cluster->spec->nodes[node].name, setting->node) == 0) {
			target->nodes[0] = node;
			return TL_OK;
		}
	return tl_error_set(error, TL_E_CONFIG, faults->scenario->path, setting->line,
	                    setting->column,
	                    "faults[%zu].node: got `%s`, wanted the name of a node "
	                    "of the cluster",
	                    index, setting->node);
}

const uint32_t *tl_faults_nodes(const struct tl_faults *faults, size_t index, uint32_t *count)
{
	TL_ASSERT(index < faults->scenario->fault_count);
	*count = faults->targets[index].count;
	return faults->targets[index].nodes;
}

/* ---- both ---- */

enum tl_status tl_faults_create(const struct tl_scenario *scenario,
                                const struct tl_cluster *cluster,
                                const struct tl_fault_kinds *kinds, struct tl_faults **out,
                                struct tl_error *error)
{
	struct tl_faults *faults = tl_calloc(1, sizeof *faults);

	faults->scenario = scenario;
	faults->kinds = *kinds;
	faults->node_count = cluster->view.node_count;
	faults->nodes = tl_calloc(faults->node_count, sizeof *faults->nodes);
	faults->targets = tl_calloc(scenario->fault_count, sizeof *faults->targets);
	for (size_t i = 0; i < scenario->fault_count; i++) {
		enum tl_status status = find_nodes(faults, cluster, i, error);

		if (status != TL_OK) {
			tl_faults_destroy(faults);
			return status;
		}
	}
	*out = faults;
	return TL_OK;
}

void tl_faults_destroy(struct tl_faults *faults)
{
	if (!faults)
		return;
	for (size_t i = 0; i < faults->scenario->fault_count; i++)
		free(faults->targets[i].nodes);
	free(faults->targets);
	free(faults->nodes);
	free(faults);
}

void tl_faults_arm(struct tl_faults *faults, struct tl_engine *engine)
{
	TL_ASSERT(!faults->armed);
	faults->armed = true;
	for (size_t i = 0; i < faults->scenario->fault_count; i++)
		(void)tl_engine_at(engine, faults->scenario->faults[i].at_ns, TL_PHASE_FAILURE,
		                   faults->kinds.scripted, i);
	for (uint32_t node = 0; node < faults->node_count; node++)
		insert_failure(faults, engine, node, 0);
}

bool tl_faults_begin(struct tl_faults *faults, uint32_t node)
{
	TL_ASSERT(node < faults->node_count);
	return faults->nodes[node].holding++ == 0;
}

bool tl_faults_end(struct tl_faults *faults, uint32_t node)
{
	TL_ASSERT(node < faults->node_count);
	TL_ASSERT(faults->nodes[node].holding > 0);
	return --faults->nodes[node].holding == 0;
}
