/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures.h"
#include "analysis/figures_private.h"
#include "sim/base/units.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];
static char result[272];
static char out[272];
static struct tl_error error;
static struct tl_figures figures;

static void make_folder(void)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/tidelab-XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(result, sizeof(result), "%s/r.h5", folder);
	snprintf(out, sizeof(out), "%s/out", folder);
}

static void empty_folder(const char *path)
{
	DIR *stream = opendir(path);

	for (struct dirent *entry; stream && (entry = readdir(stream));) {
		char name[600];

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		unlink(name);
	}
	if (stream)
		closedir(stream);
	rmdir(path);
}

static void remove_folder(void)
{
	tl_figures_fini(&figures);
	empty_folder(out);
	empty_folder(folder);
}

TestSuite(figures, .init = make_folder, .fini = remove_folder);

#define OK(call)                                                                                   \
	do {                                                                                       \
		error = TL_ERROR_INIT;                                                             \
		enum tl_status status_ = (call);                                                   \
		cr_assert_eq(status_, TL_OK, "%s: %s: %s", #call, error.file, error.message);      \
	} while (0)

#define WANT(wanted, part, call)                                                                   \
	do {                                                                                       \
		error = TL_ERROR_INIT;                                                             \
		enum tl_status status_ = (call);                                                   \
		cr_assert_eq(status_, wanted, "%s: got %d: %s", #call, status_, error.message);    \
		cr_assert(strstr(error.message, part), "wanted `%s` in: %s", part, error.message); \
	} while (0)

static size_t entries(const char *path)
{
	DIR *stream = opendir(path);
	size_t count = 0;

	for (struct dirent *entry; stream && (entry = readdir(stream));)
		count += entry->d_name[0] != '.';
	if (stream)
		closedir(stream);
	return count;
}

/* The item of that name; NULL: neither drawn nor skipped. */
static const struct tl_figure *item(const char *name)
{
	for (size_t i = 0; i < figures.count; i++)
		if (strcmp(figures.items[i].name, name) == 0)
			return &figures.items[i];
	return NULL;
}

static void need_gnuplot(void)
{
	if (system("gnuplot --version >/dev/null 2>&1") != 0)
		cr_skip_test("gnuplot is not installed");
}

/* ---- a small result: two nodes of 4 GPUs, 10 hours ---- */

static void *add(struct tl_results *results, struct tl_table **table,
                 const struct tl_table_schema *schema)
{
	if (!*table)
		OK(tl_results_table(results, schema, NULL, table, &error));
	return tl_table_next(*table);
}

static void add_timeline(struct tl_results *results, bool ordered)
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
		struct tl_row_timeline *row = add(results, &table, &tl_schema_timeline);

		*row = rows[ordered ? i : 2 - i];
	}
}

static void add_job(struct tl_results *results, struct tl_table **table, const char *kind,
                    int64_t wait_ns)
{
	struct tl_row_job *row = add(results, table, &tl_schema_jobs);

	snprintf(row->kind, sizeof(row->kind), "%s", kind);
	row->wait_ns = wait_ns;
}

static void add_jobs(struct tl_results *results)
{
	struct tl_table *table = NULL;

	add_job(results, &table, "training", 0);
	add_job(results, &table, "training", 10 * TL_NS_PER_S);
	add_job(results, &table, "training", 100 * TL_NS_PER_S);
	add_job(results, &table, "training", -1);
	add_job(results, &table, "evaluation", 2 * TL_NS_PER_HOUR);
	add_job(results, &table, "chess", 3 * TL_NS_PER_S);
}

static const char *node_name = "";

static void add_nodes(struct tl_results *results)
{
	struct tl_table *table = NULL;

	for (int i = 0; i < 3; i++) {
		struct tl_row_node *row = add(results, &table, &tl_schema_nodes);

		snprintf(row->name, sizeof(row->name), "n_%d%s", i, node_name);
		row->gpus = i == 1 ? 0 : 4; /* the second has CPUs alone */
	}
}

static void add_placements(struct tl_results *results, uint64_t last_job)
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
		struct tl_row_placement *row = add(results, &table, &tl_schema_placements);

		*row = rows[i];
	}
}

static void add_fault(struct tl_results *results)
{
	struct tl_table *table = NULL;
	struct tl_row_fault *row = add(results, &table, &tl_schema_faults);

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
		struct tl_row_purpose *row = add(results, &table, &tl_schema_purposes);

		*row = rows[i];
	}
}

/* Ten windows of a minute; in the third p99 is above target, in the sixth none is served. */
static void add_windows(struct tl_results *results, const char *service, bool ordered)
{
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	char path[128];

	snprintf(path, sizeof(path), "/services/%s/windows", service);
	schema.path = path;
	for (int64_t i = 0; i < 10; i++) {
		struct tl_row_window *row = add(results, &table, &schema);

		row->t_ns = (ordered ? i : 9 - i) * TL_NS_PER_MIN;
		row->arrivals = 600;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = i == 5 ? -1 : i == 2 ? 250 * TL_NS_PER_MS : 50 * TL_NS_PER_MS;
		row->overload = i == 2;
		row->replicas = 4;
		row->ready = i < 4 ? 3 : 4;
	}
}

static struct tl_results *begin(void)
{
	struct tl_results *results = NULL;

	OK(tl_results_create(result, &results, &error));
	OK(tl_results_attr_text(results, "scenario_name", "it's \"a\" $test_1", &error));
	return results;
}

static void write_sample(void)
{
	struct tl_results *results = begin();

	add_timeline(results, true);
	add_purposes(results);
	add_windows(results, "a b\"<c", true);
	add_windows(results, "a_b\"<c", true);
	add_jobs(results);
	add_nodes(results);
	add_placements(results, 5);
	add_fault(results);
	OK(tl_results_close(results, &error));
}

/* What one picture would be drawn from. */
static char *prepare(enum tl_status (*figure)(struct tl_results_reader *, FILE *,
                                              struct tl_figure_plot *, struct tl_error *),
                     struct tl_figure_plot *plot)
{
	struct tl_results_reader *reader = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *data = open_memstream(&text, &size);

	memset(plot, 0, sizeof(*plot));
	plot->table = "/services/a b\"<c/windows";
	OK(tl_results_open(result, &reader, &error));
	OK(figure(reader, data, plot, &error));
	tl_results_reader_close(reader);
	fclose(data);
	return text;
}

/* ---- the data ---- */

Test(figures, utilisation_is_averaged_over_time)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_utilisation, &plot);
	cr_assert_str_eq(plot.skip, "");
	/* half the time 4 of 8 productive, 2 more held, 1 down, 1 free; else 8 free */
	cr_assert(strstr(text, "\"held, making progress 25.0 %\""), "%.200s", text);
	cr_assert(strstr(text, "\"held, no progress 12.5 %\""), "%.200s", text);
	cr_assert(strstr(text, "\"free 56.2 %\"") || strstr(text, "\"free 56.3 %\""), "%.200s",
	          text);
	cr_assert(strstr(text, "\"down 6.2 %\"") || strstr(text, "\"down 6.3 %\""), "%.200s", text);
	cr_assert(strstr(text, "\n2.505 0 0 8 8 0\n"));
	cr_assert(strstr(text, "\n7.505 4 6 7 8 3\n"));
	cr_assert_str_eq(plot.extras[0], "hours");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "8");
	cr_assert_str_eq(plot.extras[3], "down pending");
	free(text);
}

Test(figures, purposes_are_stacked)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_purposes, &plot);
	cr_assert(strstr(text, "time \"training 18.8 %\" \"inference, serving 6.2 %\""), "%.300s",
	          text);
	cr_assert(strstr(text, "\"other 6.2 %\""), "%.500s", text);
	/* the bottom, then the top of each of twelve bands */
	cr_assert(strstr(text, "\n2.505 0 0 0 0 0 0 0 0 0 0 0 8 8\n"), "%.900s", text);
	cr_assert(strstr(text, "\n7.505 0 3 4 4 4 4 4 5 6 6 8 8 8\n"));
	cr_assert_str_eq(plot.extras[0], "hours");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "8");
	cr_assert_str_eq(plot.extras[3], "1 2 7 8 10 11 ");
	cr_assert(strstr(plot.alt, "training 18.8 %; inference, serving 6.2 %;"), "%s", plot.alt);
	free(text);
}

Test(figures, fragmentation_is_of_what_is_free)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_fragmentation, &plot);
	/* 8 free for five hours, then 1; of that a half of no use, on three nodes */
	cr_assert(strstr(text, "\"free 56.2 % of capacity\"") ||
	              strstr(text, "\"free 56.3 % of capacity\""),
	          "%.200s", text);
	cr_assert(strstr(text, "\n2.505 8 0 8 0\n"), "%.300s", text);
	cr_assert(strstr(text, "\n7.505 1 0.5 0 3\n"));
	free(text);
}

Test(figures, service_shows_its_breaches)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(text, "0 50 4 3 10\n1 50 4 3 10\n2 250 4 3 10\n"), "%s", text);
	cr_assert(strstr(text, "\n5 NaN 4 4 10\n"), "%s", text);
	cr_assert(strstr(text, "\n\n\n2 3 1\n\n\n0\n"), "%s", text); /* a breach, an incident */
	cr_assert_str_eq(plot.extras[0], "minutes");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "100 ms straight 0 270 1");
	cr_assert_str_eq(plot.extras[3], "in breach 10 % of the time"
	                                 "|p99 of each window of 1min|target 100ms");
	cr_assert(
	    strstr(plot.alt, "in breach for 1min, 10 % of the time; the worst window has 250ms"),
	    "%s", plot.alt);
	free(text);
}

Test(figures, service_within_its_target_says_its_own_worst)
{
	struct tl_results *results = begin();
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	schema.path = "/services/a b\"<c/windows";
	for (int64_t i = 0; i < 3; i++) {
		struct tl_row_window *row = add(results, &table, &schema);

		row->t_ns = i * TL_NS_PER_MIN;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = 40 * TL_NS_PER_MS;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(plot.alt, "the worst window has 40ms"), "%s", plot.alt);
	cr_assert_str_eq(plot.extras[2], "100 ms straight 0 108 0");
	free(text);
}

Test(figures, more_windows_than_pixels_tell_what_part_was_in_breach)
{
	struct tl_results *results = begin();
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	schema.path = "/services/a b\"<c/windows";
	for (int64_t i = 0; i < 3999; i++) { /* four a point, three the last */
		struct tl_row_window *row = add(results, &table, &schema);

		row->t_ns = i * TL_NS_PER_MIN;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = 40 * TL_NS_PER_MS;
		row->overload = i == 5 || (i >= 8 && i < 16) || i == 3998;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(text, "\n0.0666666667 0.133333333 0.25\n0.133333333 0.266666667 1\n"
	                       "66.6 66.65 0.333\n"));
	cr_assert(strstr(plot.alt, "in breach for 10min"), "%s", plot.alt);
	free(text);
}

Test(figures, windows_that_go_back_are_refused)
{
	struct tl_results *results = begin();

	need_gnuplot();
	add_windows(results, "a", false);
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "/services/a/windows, row 1: got a time not after",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_str_eq(error.file, result);
	cr_assert_eq(entries(out), 0);
}

Test(figures, intervals_that_go_back_are_refused)
{
	struct tl_results *results = begin();
	struct tl_table *table = NULL;

	need_gnuplot();
	for (int64_t i = 0; i < 3; i++) {
		struct tl_row_purpose *row = add(results, &table, &tl_schema_purposes);

		row->t_ns = (3 - i) * TL_NS_PER_S;
	}
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "/cluster/purposes, row 1: got an interval",
	     tl_figures_write(result, out, NULL, &figures, &error));
}

Test(figures, waits_are_counted_by_kind)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_waiting, &plot);
	cr_assert(strstr(text, "\"training: 3 of 4 jobs started\" percent\n1 33.3333\n10 66.6667\n"
	                       "100 100\n9000 100\n\n\n"),
	          "%s", text);
	cr_assert(strstr(text, "\"evaluation: 1 of 1 jobs started\" percent\n1 0\n7200 100\n"),
	          "%s", text);
	cr_assert(strstr(text, "\"other: 1 of 1 jobs started\" percent\n1 0\n3 100\n"), "%s", text);
	cr_assert_null(strstr(text, "inference"));
	cr_assert_str_eq(plot.extras[1], "1 3 5 ");
	cr_assert_str_eq(plot.extras[2], "0");
	free(text);
}

/* Four of five start at once: the axis begins at 80 %. */
Test(figures, short_waits_are_drawn_from_where_they_begin)
{
	struct tl_results *results = begin();
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	for (int64_t i = 0; i < 5; i++) {
		struct tl_row_job *row = add(results, &table, &tl_schema_jobs);

		memcpy(row->kind, "training", sizeof "training");
		row->wait_ns = i == 4 ? TL_NS_PER_HOUR : 0;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_waiting, &plot);
	cr_assert_str_eq(plot.extras[2], "80");
	free(text);
}

Test(figures, gantt_splits_a_job_over_the_gaps)
{
	struct tl_figure_plot plot;

	write_sample();
	char *text = prepare(tl_figure_gantt, &plot);
	/* four GPUs of node 0, of 0.21 of a line each: job 0, job 1 on two, job 2 */
	cr_assert(strstr(text, "\n0 4 0.08 0.29 1 0\n"), "%s", text);
	cr_assert(strstr(text, "\n0 2 0.29 0.71 1 1\n"), "%s", text);
	cr_assert(strstr(text, "\n0 8 0.71 0.92 1 2\n"), "%s", text);
	cr_assert(strstr(text, "\n3 9 0.29 0.71 3 1\n"), "%s", text);
	/* half a GPU of the next line, a kind unknown, a replica, and the time it was down */
	cr_assert(strstr(text, "\n1 10 1.08 1.185 5 2\n"), "%s", text);
	cr_assert(strstr(text, "\n0 1 1.08 1.29 2 0\n"), "%s", text);
	cr_assert(strstr(text, "\n0 1 1.08 1.92 7 0\n"), "%s", text);
	cr_assert(strstr(text, "\n\n\n0.5 \"n_0\"\n1.5 \"n_2\"\n"), "%s", text);
	cr_assert_str_eq(plot.extras[2], "2");
	cr_assert_str_eq(plot.extras[3], "1 2 3 5 6 7");
	free(text);
}

/* More than can be told apart: a stretch about the middle is shown, and said to be. */
Test(figures, gantt_of_a_long_run_shows_a_part)
{
	struct tl_results *results = begin();
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;
	size_t lines = 0;

	add_jobs(results);
	add_nodes(results);
	for (int64_t i = 0; i < 10000; i++) {
		struct tl_row_placement *row = add(results, &table, &tl_schema_placements);

		row->gpus_mgpu = 4000;
		row->start_ns = i * TL_NS_PER_HOUR;
		row->end_ns = (i + 1) * TL_NS_PER_HOUR;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_gantt, &plot);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_assert(lines > 1900 && lines < 2100, "%zu", lines);
	cr_assert(strstr(plot.extras[0], "[days]; part of a run of 416.7"), "%s", plot.extras[0]);
	free(text);
}

Test(figures, gantt_of_many_nodes_shows_the_busiest)
{
	struct tl_results *results = begin();
	struct tl_table *nodes = NULL;
	struct tl_table *placements = NULL;
	struct tl_figure_plot plot;

	add_jobs(results);
	for (uint32_t i = 0; i < 100; i++) {
		struct tl_row_node *node = add(results, &nodes, &tl_schema_nodes);
		struct tl_row_placement *row = add(results, &placements, &tl_schema_placements);

		snprintf(node->name, sizeof(node->name), "n%u", i);
		node->gpus = 1;
		row->node = i;
		row->gpus_mgpu = 1000;
		row->end_ns = (i % 2 ? 2 : 1) * TL_NS_PER_HOUR + i;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_gantt, &plot);
	cr_assert_str_eq(plot.extras[2], "48");
	cr_assert(strstr(plot.extras[0], "the busiest 48 of 100 nodes"), "%s", plot.extras[0]);
	/* of 50 that ran for two hours, all but the two that ran a shade less */
	cr_assert(strstr(text, "\n\n\n0.5 \"n5\"\n1.5 \"n7\"\n"), "%s", text);
	cr_assert(strstr(text, "\n47.5 \"n99\"\n"));
	free(text);
}

Test(figures, units_of_time_suit_the_span)
{
	double unit_ns = 0;

	cr_assert_str_eq(tl_figure_time_unit(TL_NS_PER_S, &unit_ns), "minutes");
	cr_assert_str_eq(tl_figure_time_unit(TL_NS_PER_DAY, &unit_ns), "hours");
	cr_assert_str_eq(tl_figure_time_unit(30 * TL_NS_PER_DAY, &unit_ns), "days");
	cr_assert_eq(unit_ns, (double)TL_NS_PER_DAY);
}

/* ---- the pictures ---- */

static char *slurp(const char *path, size_t *size)
{
	FILE *stream = fopen(path, "rb");
	struct stat status;

	cr_assert_not_null(stream, "%s", path);
	cr_assert_eq(fstat(fileno(stream), &status), 0);
	*size = (size_t)status.st_size;
	char *bytes = malloc(*size + 1);
	cr_assert_eq(fread(bytes, 1, *size, stream), *size);
	bytes[*size] = '\0';
	fclose(stream);
	return bytes;
}

Test(figures, all_are_drawn_and_alike_twice)
{
	static const char *const names[] = {"utilisation",   "purposes",       "waiting",
	                                    "fragmentation", "service-a_b__c", "service-a_b__c_",
	                                    "gantt"};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	char *first[2 * NAMES];
	size_t first_size[2 * NAMES];

	need_gnuplot();
	write_sample();
	for (int round = 0; round < 2; round++) {
		OK(tl_figures_write(result, out, NULL, &figures, &error));
		cr_assert_eq(figures.written, NAMES);
		cr_assert_eq(figures.count, NAMES);
		cr_assert_eq(entries(out), 2 * NAMES, "something else is left");
		for (size_t i = 0; i < 2 * NAMES; i++) {
			const struct tl_figure *figure = &figures.items[i / 2];
			size_t size = 0;
			char *bytes = slurp(i % 2 ? figure->svg : figure->png, &size);

			cr_assert_str_eq(figure->name, names[i / 2]);
			cr_assert_neq(figure->alt[0], '\0');
			cr_assert_gt(size, 5000);
			if (round == 0) {
				first[i] = bytes;
				first_size[i] = size;
				continue;
			}
			cr_assert(size == first_size[i] && memcmp(bytes, first[i], size) == 0, "%s",
			          names[i / 2]);
			free(bytes);
			free(first[i]);
		}
		tl_figures_fini(&figures);
	}
}

/* Names come from scenarios, and gnuplot has its own ideas of quotes, _ and $. */
Test(figures, names_are_taken_literally)
{
	size_t size = 0;

	need_gnuplot();
	node_name = " <script>\"`date`\"\\n{/:Bold x}";
	write_sample();
	node_name = "";
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	char *svg = slurp(item("gantt")->svg, &size);
	cr_assert(strstr(svg, "it's \"a\" $test_1: Jobs by node") ||
	          strstr(svg, "it's &quot;a&quot; $test_1: Jobs by node"));
	cr_assert(strstr(svg, "n_2 &lt;script>'`date`''n{/:Bold x}"));
	free(svg);
}

Test(figures, tables_not_written_are_told)
{
	struct tl_results *results = begin();
	struct tl_table *table = NULL;

	need_gnuplot();
	add_jobs(results);
	OK(tl_results_table(results, &tl_schema_timeline, NULL, &table, &error));
	OK(tl_results_close(results, &error));
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(figures.written, 1);
	cr_assert_not_null(item("waiting")->svg);
	cr_assert_str_eq(item("utilisation")->skipped, "the timeline has no samples");
	cr_assert_str_eq(item("fragmentation")->skipped, "the timeline has no samples");
	cr_assert(strstr(item("purposes")->skipped, "the result has no table /cluster/purposes"));
	cr_assert(strstr(item("gantt")->skipped, "the result has no table /placements"));
	cr_assert_null(item("gantt")->png);
	cr_assert_eq(entries(out), 2);
}

Test(figures, nothing_to_draw_is_told)
{
	struct tl_results *results = begin();
	struct tl_table *table = NULL;

	for (size_t i = 0; tl_schema_all[i]; i++)
		OK(tl_results_table(results, tl_schema_all[i], NULL, &table, &error));
	OK(tl_results_close(results, &error));
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(figures.written, 0);
	cr_assert_eq(figures.count, 5);
	cr_assert_eq(entries(out), 0);
}

/* ---- what goes wrong ---- */

Test(figures, no_result_no_folder)
{
	WANT(TL_E_NOINPUT, "No such file",
	     tl_figures_write("/no/such.h5", out, NULL, &figures, &error));
	cr_assert_neq(access(out, F_OK), 0, "the folder was made all the same");
	write_sample();
	WANT(TL_E_CANTCREAT, "File exists",
	     tl_figures_write(result, result, NULL, &figures, &error));
	WANT(TL_E_CANTCREAT, "No such file",
	     tl_figures_write(result, "/no/such/folder", NULL, &figures, &error));
	WANT(TL_E_UNAVAILABLE, "scripts",
	     tl_figures_write(result, out, "/no/such/plots", &figures, &error));
}

Test(figures, gnuplot_is_absent)
{
	write_sample();
	setenv("PATH", folder, 1);
	WANT(TL_E_UNAVAILABLE, "not installed, or not on PATH",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(entries(out), 0);
}

static void write_script(const char *name, const char *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *stream = fopen(path, "w");
	cr_assert_not_null(stream);
	fputs(text, stream);
	fclose(stream);
}

Test(figures, script_fails_or_draws_nothing)
{
	need_gnuplot();
	write_sample();
	write_script("utilisation.gp", "set output ARG3\nset nonsense 1\n");
	write_script("purposes.gp", "");
	write_script("waiting.gp", "");
	write_script("fragmentation.gp", "");
	write_script("service.gp", "");
	write_script("gantt.gp", "");
	WANT(TL_E_UNAVAILABLE, "picture `utilisation`: line 2: ",
	     tl_figures_write(result, out, folder, &figures, &error));
	cr_assert_eq(entries(out), 0);
	write_script("utilisation.gp", "");
	WANT(TL_E_IO, "to its end", tl_figures_write(result, out, folder, &figures, &error));
	cr_assert_eq(entries(out), 0);
}

Test(figures, time_that_goes_back_is_refused)
{
	struct tl_results *results = begin();

	add_timeline(results, false);
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "row 1: got a time before",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_str_eq(error.file, result);
}

Test(figures, placement_of_no_job_is_refused)
{
	struct tl_results *results = begin();

	add_jobs(results);
	add_nodes(results);
	add_placements(results, 6);
	OK(tl_results_close(results, &error));
	need_gnuplot();
	WANT(TL_E_DATA, "row 5: got job 6", tl_figures_write(result, out, NULL, &figures, &error));
}
