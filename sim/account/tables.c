/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to the result file: the streamed tables, and those written once at the end. */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/config/scenario.h"

#include <stdlib.h>
#include <string.h>

void tl_row_text(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

enum tl_status tl_tables_init(struct tl_tables *tables, const struct tl_account_config *config,
                              struct tl_error *error)
{
	const struct {
		uint32_t bit;
		const struct tl_table_schema *schema;
		struct tl_table **table;
	} streamed[] = {
	    {TL_TABLE_TRANSITIONS, &tl_schema_transitions, &tables->transitions},
	    {TL_TABLE_TIMELINE, &tl_schema_timeline, &tables->timeline},
	    {TL_TABLE_TIMELINE, &tl_schema_purposes, &tables->purposes},
	    {TL_TABLE_PLACEMENTS, &tl_schema_placements, &tables->placements},
	    {TL_TABLE_DECISIONS, &tl_schema_decisions, &tables->decisions},
	    {TL_TABLE_FAULTS, &tl_schema_faults, &tables->faults},
	};

	*tables = (struct tl_tables){.results = config->results, .wanted = config->tables};
	if (config->results)
		for (size_t i = 0; i < sizeof streamed / sizeof streamed[0]; i++) {
			enum tl_status status;

			if (!(config->tables & streamed[i].bit))
				continue;
			status = tl_results_table(config->results, streamed[i].schema, NULL,
			                          streamed[i].table, error);
			if (status != TL_OK)
				return status;
		}
	tables->nodes = tl_calloc(config->cluster->view.node_count, sizeof *tables->nodes);
	for (uint32_t node = 0; node < config->cluster->view.node_count; node++)
		tables->nodes[node].is_down =
		    tl_view_node(&config->cluster->view, node)->state == TL_NODE_DOWN;
	return TL_OK;
}

void tl_tables_fini(struct tl_tables *tables)
{
	free(tables->nodes);
	tables->nodes = NULL;
}

/* From its GPUs' residents: what is free does not tell of a cordoned node. */
static int64_t node_allocated_mgpu(const struct tl_cluster *cluster, uint32_t node)
{
	const struct tl_node_view *view = tl_view_node(&cluster->view, node);
	int64_t allocated_mgpu = 0;

	for (uint32_t i = 0; i < view->gpu_count; i++) {
		int32_t nominal_mgpu =
		    tl_view_gpu(&cluster->view, view->first_gpu + i)->nominal_mgpu;

		allocated_mgpu += nominal_mgpu < TL_MGPU_PER_GPU ? nominal_mgpu : TL_MGPU_PER_GPU;
	}
	return allocated_mgpu;
}

static int64_t node_capacity_mgpu(const struct tl_cluster *cluster, uint32_t node)
{
	return tl_view_node(&cluster->view, node)->gpu_count * TL_MGPU_PER_GPU;
}

void tl_tables_node(struct tl_tables *tables, const struct tl_cluster *cluster, int64_t now_ns,
                    uint32_t node)
{
	struct tl_node_book *book;
	int64_t dt_ns;
	bool is_down;

	TL_ASSERT(node < cluster->view.node_count);
	book = &tables->nodes[node];
	dt_ns = now_ns - book->at_ns;
	TL_ASSERT(dt_ns >= 0);
	book->allocated += (tl_i128)book->allocated_mgpu * dt_ns;
	if (book->is_down)
		book->down += (tl_i128)node_capacity_mgpu(cluster, node) * dt_ns;
	is_down = tl_view_node(&cluster->view, node)->state == TL_NODE_DOWN;
	book->failures += is_down && !book->is_down;
	book->is_down = is_down;
	book->allocated_mgpu = node_allocated_mgpu(cluster, node);
	book->at_ns = now_ns;
}

static void write_purpose(struct tl_tables *tables, int64_t now_ns, size_t kind, int purpose,
                          tl_i128 mgpu_ns)
{
	struct tl_row_purpose *row = tl_table_next(tables->purposes);

	row->t_ns = now_ns;
	if (kind < TL_ROW_KIND_COUNT)
		tl_row_text(row->kind, sizeof row->kind, tl_schema_kind_names[kind]);
	tl_row_text(row->purpose, sizeof row->purpose, tl_purpose_names[purpose]);
	row->gpu_s = (double)mgpu_ns / TL_MGPU_NS_PER_GPU_S;
}

/* Work that is lost stays productive here, in the interval in which it was done: moving it
 * would take it from the interval in which it is found to be lost. */
void tl_tables_purposes(struct tl_tables *tables, int64_t now_ns, const struct tl_ledger *ledger,
                        tl_open_purposes open)
{
	tl_i128 now[TL_ROW_KIND_COUNT + 1][TL_PURPOSE_COUNT];

	if (!tables->purposes || now_ns == tables->told_ns)
		return;
	memset(now, 0, sizeof now);
	memcpy(now[TL_ROW_KIND_COUNT], ledger->idle, sizeof ledger->idle);
	for (size_t kind = 0; kind < TL_ROW_KIND_COUNT; kind++)
		memcpy(now[kind], open[kind], sizeof open[kind]);
	for (size_t i = 0; i < ledger->count; i++)
		for (int purpose = 0; purpose < TL_PURPOSE_OF_JOBS; purpose++)
			now[ledger->lines[i].kind][purpose] += ledger->lines[i].mgpu_ns[purpose];
	for (size_t kind = 0; kind <= TL_ROW_KIND_COUNT; kind++) {
		now[kind][TL_PURPOSE_PRODUCTIVE] += now[kind][TL_PURPOSE_REWORK];
		now[kind][TL_PURPOSE_REWORK] = 0;
		for (int purpose = 0; purpose < TL_PURPOSE_COUNT; purpose++)
			if (now[kind][purpose] != tables->told[kind][purpose])
				write_purpose(tables, now_ns, kind, purpose,
				              now[kind][purpose] - tables->told[kind][purpose]);
	}
	memcpy(tables->told, now, sizeof now);
	tables->told_ns = now_ns;
}

static enum tl_status write_nodes(struct tl_tables *tables, const struct tl_account_config *config,
                                  int64_t end_ns, struct tl_error *error)
{
	const struct tl_cluster *cluster = config->cluster;
	struct tl_table *table;
	enum tl_status status =
	    tl_results_table(tables->results, &tl_schema_nodes, NULL, &table, error);

	if (status != TL_OK)
		return status;
	for (uint32_t node = 0; node < cluster->view.node_count; node++) {
		const struct tl_node_view *view = tl_view_node(&cluster->view, node);
		const struct tl_node_book *book = &tables->nodes[node];
		struct tl_row_node *row = tl_table_next(table);
		tl_i128 idle = (tl_i128)node_capacity_mgpu(cluster, node) * end_ns -
		               book->allocated - book->down;

		TL_ASSERT(idle >= 0);
		tl_row_text(row->name, sizeof row->name, cluster->spec->nodes[node].name);
		if (view->model != TL_NO_INDEX) {
			tl_row_text(row->model, sizeof row->model,
			            config->model_names[view->model]);
			tl_row_text(row->pool, sizeof row->pool,
			            cluster->spec->models[view->model].pool);
		}
		row->cpus_milli = view->total_cpu_milli;
		row->ram_bytes = view->total_ram_bytes;
		row->jobs_started = book->starts;
		row->allocated_gpu_s = (double)book->allocated / TL_MGPU_NS_PER_GPU_S;
		row->idle_gpu_s = (double)idle / TL_MGPU_NS_PER_GPU_S;
		row->down_gpu_s = (double)book->down / TL_MGPU_NS_PER_GPU_S;
		row->gpus = view->gpu_count;
		row->rack = view->rack;
		row->leaf = view->leaf;
		row->pod = view->pod;
		row->failures = book->failures;
	}
	return TL_OK;
}

enum tl_status tl_tables_finish(struct tl_tables *tables, const struct tl_account_config *config,
                                int64_t end_ns, const struct tl_ledger *ledger,
                                const struct tl_metrics *metrics, struct tl_error *error)
{
	struct tl_table *table;
	enum tl_status status = TL_OK;
	tl_open_purposes none = {{0}};

	tl_tables_purposes(tables, end_ns, ledger, none);
	for (uint32_t node = 0; node < config->cluster->view.node_count; node++)
		tl_tables_node(tables, config->cluster, end_ns, node);
	if (!tables->results)
		return TL_OK;
	if (tables->wanted & TL_TABLE_NODES)
		status = write_nodes(tables, config, end_ns, error);
	if (status == TL_OK && (tables->wanted & TL_TABLE_LEDGER)) {
		status = tl_results_table(tables->results, &tl_schema_ledger, NULL, &table, error);
		if (status == TL_OK)
			tl_ledger_write(ledger, table, config->tenants, config->queues);
	}
	if (status == TL_OK && (tables->wanted & TL_TABLE_SUMMARY)) {
		status = tl_results_table(tables->results, &tl_schema_summary, NULL, &table, error);
		for (size_t i = 0; status == TL_OK && i < metrics->row_count; i++)
			status = tl_table_append(table, &metrics->rows[i]);
	}
	return status;
}
