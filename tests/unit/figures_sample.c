/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/figures_sample.h"

#include "sim/base/units.h"
#include "tests/unit/expect.h"
#include "tests/unit/scratch.h"

#include <stdio.h>

static struct tl_error error;

void *sample_add(struct tl_results *results, struct tl_table **table,
                 const struct tl_table_schema *schema)
{
	if (!*table)
		OK(tl_results_table(results, schema, NULL, table, &error));
	return tl_table_next(*table);
}

void sample_timeline(struct tl_results *results, bool ordered)
{
	static const struct tl_row_timeline rows[] = {
	    {.t_ns = 0, .capacity_mgpu = 8000, .free_whole_gpus = 8},
	    {.t_ns = 5 * TL_NS_PER_HOUR,
	     .capacity_mgpu = 8000,
	     .allocated_mgpu = 6000,
	     .productive_mgpu = 4000,
	     .down_mgpu = 1000,
	     .pending_mgpu = 3000,
	     .fragmentation_mgpu = 500,
	     .partial_nodes = 3},
	    {.t_ns = 10 * TL_NS_PER_HOUR, .capacity_mgpu = 8000},
	};
	struct tl_table *table = NULL;

	for (size_t i = 0; i < 3; i++) {
		struct tl_row_timeline *row = sample_add(results, &table, &tl_schema_timeline);

		*row = rows[ordered ? i : 2 - i];
	}
}

static void add_job(struct tl_results *results, struct tl_table **table, const char *kind,
                    int64_t wait_ns)
{
	struct tl_row_job *row = sample_add(results, table, &tl_schema_jobs);

	snprintf(row->kind, sizeof(row->kind), "%s", kind);
	row->wait_ns = wait_ns;
}

void sample_jobs(struct tl_results *results)
{
	struct tl_table *table = NULL;

	add_job(results, &table, "training", 0);
	add_job(results, &table, "training", 10 * TL_NS_PER_S);
	add_job(results, &table, "training", 100 * TL_NS_PER_S);
	add_job(results, &table, "training", -1);
	add_job(results, &table, "evaluation", 2 * TL_NS_PER_HOUR);
	add_job(results, &table, "chess", 3 * TL_NS_PER_S);
}

void sample_nodes(struct tl_results *results, const char *suffix)
{
	struct tl_table *table = NULL;

	for (int i = 0; i < 3; i++) {
		struct tl_row_node *row = sample_add(results, &table, &tl_schema_nodes);

		snprintf(row->name, sizeof(row->name), "n_%d%s", i, suffix);
		row->gpus = i == 1 ? 0 : 4; /* the second has CPUs alone */
	}
}

void sample_placements(struct tl_results *results, uint64_t last_job)
{
	const struct tl_row_placement rows[] = {
	    {.job = 0, .node = 0, .gpus_mgpu = 1000, .end_ns = 4 * TL_NS_PER_HOUR},
	    {.job = 1, .node = 0, .gpus_mgpu = 2000, .end_ns = 2 * TL_NS_PER_HOUR},
	    {.job = 2, .node = 0, .gpus_mgpu = 1000, .end_ns = 8 * TL_NS_PER_HOUR},
	    /* finds the middle of the node free, and no more */
	    {.job = 4,
	     .node = 0,
	     .gpus_mgpu = 2000,
	     .start_ns = 3 * TL_NS_PER_HOUR,
	     .end_ns = 9 * TL_NS_PER_HOUR},
	    /* a replica */
	    {.job = TL_ROW_NO_JOB, .node = 2, .gpus_mgpu = 1000, .end_ns = TL_NS_PER_HOUR},
	    {.job = last_job,
	     .node = 2,
	     .gpus_mgpu = 500,
	     .start_ns = TL_NS_PER_HOUR,
	     .end_ns = 10 * TL_NS_PER_HOUR},
	};
	struct tl_table *table = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tl_row_placement *row = sample_add(results, &table, &tl_schema_placements);

		*row = rows[i];
	}
}

static void add_fault(struct tl_results *results)
{
	struct tl_table *table = NULL;
	struct tl_row_fault *row = sample_add(results, &table, &tl_schema_faults);

	snprintf(row->kind, sizeof(row->kind), "node-down");
	row->node = 2;
	row->t_ns = 0;
	row->repaired_ns = TL_NS_PER_HOUR;
}

/* Two intervals of five hours; work that this program does not know is drawn all the same. */
static void add_purposes(struct tl_results *results)
{
	static const struct tl_row_purpose rows[] = {
	    {.t_ns = 5 * TL_NS_PER_HOUR, .purpose = "idle-free", .gpu_s = 8 * 18000},
	    {.t_ns = 10 * TL_NS_PER_HOUR,
	     .kind = "training",
	     .purpose = "productive",
	     .gpu_s = 3 * 18000},
	    {.t_ns = 10 * TL_NS_PER_HOUR,
	     .kind = "inference",
	     .purpose = "productive",
	     .gpu_s = 18000},
	    {.t_ns = 10 * TL_NS_PER_HOUR, .kind = "training", .purpose = "start", .gpu_s = 18000},
	    {.t_ns = 10 * TL_NS_PER_HOUR, .kind = "training", .purpose = "sorcery", .gpu_s = 18000},
	    {.t_ns = 10 * TL_NS_PER_HOUR, .purpose = "idle-fragmented", .gpu_s = 2 * 18000},
	};
	struct tl_table *table = NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tl_row_purpose *row = sample_add(results, &table, &tl_schema_purposes);

		*row = rows[i];
	}
}

/* Ten windows of a minute; in the third p99 is above target, in the sixth none is served. */
void sample_windows(struct tl_results *results, const char *service, bool ordered)
{
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	char path[128];

	snprintf(path, sizeof(path), "/services/%s/windows", service);
	schema.path = path;
	for (int64_t i = 0; i < 10; i++) {
		struct tl_row_window *row = sample_add(results, &table, &schema);

		row->t_ns = (ordered ? i : 9 - i) * TL_NS_PER_MIN;
		row->arrivals = 600;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = i == 5 ? -1 : i == 2 ? 250 * TL_NS_PER_MS : 50 * TL_NS_PER_MS;
		row->overload = i == 2;
		row->replicas = 4;
		row->ready = i < 4 ? 3 : 4;
	}
}

struct tl_results *sample_begin(void)
{
	struct tl_results *results = NULL;

	OK(tl_results_create(scratch_path("r.h5"), &results, &error));
	OK(tl_results_attr_text(results, "scenario_name", "it's \"a\" $test_1", &error));
	return results;
}

void sample_write(const char *suffix)
{
	struct tl_results *results = sample_begin();

	sample_timeline(results, true);
	add_purposes(results);
	sample_windows(results, "a b\"<c", true);
	sample_windows(results, "a_b\"<c", true);
	sample_jobs(results);
	sample_nodes(results, suffix);
	sample_placements(results, 5);
	add_fault(results);
	OK(tl_results_close(results, &error));
}
