/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report.h"

#include "analysis/figures_private.h"
#include "analysis/report_folder.h"
#include "analysis/report_html.h"
#include "analysis/report_run.h"
#include "analysis/report_sweep.h"
#include "sim/base/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What is reported on: a run or a sweep. */
struct subject {
	struct tl_report_run run;
	struct tl_report_sweep sweep;
	bool is_sweep;
};

static enum tl_status write_run(struct tl_html *html, const char *style,
                                const struct tl_report_run *run, const struct tl_figures *figures,
                                struct tl_error *error)
{
	char seed[64] = "", subtitle[256];
	struct tl_html_head head = {.title = run->name, .style = style, .subtitle = subtitle};

	html->metrics = run->metrics;
	html->metric_count = run->metric_count;
	if (run->has_seed)
		(void)snprintf(seed, sizeof(seed), ", seed %lld", (long long)run->seed);
	(void)snprintf(subtitle, sizeof(subtitle), "One simulated run%s.", seed);
	tl_html_begin(html, &head);
	tl_report_run_lead(html, run);
	return tl_report_run_body(html, run, figures, error);
}

static enum tl_status write_sweep(struct tl_html *html, const char *style,
                                  const struct tl_report_sweep *sweep,
                                  const struct tl_figures *figures, struct tl_error *error)
{
	const struct tl_design *design = &sweep->data->design;
	const char *name = sweep->data->scenario_name;
	char subtitle[256];
	struct tl_html_head head = {
	    .title = name && name[0] ? name : "sweep", .style = style, .subtitle = subtitle};

	html->metrics = sweep->metrics;
	html->metric_count = sweep->metric_count;
	(void)snprintf(subtitle, sizeof(subtitle), "A sweep: %zu settings, each with %zu seed%s.",
	               design->cell_count, design->seed_count, design->seed_count == 1 ? "" : "s");
	tl_html_begin(html, &head);
	tl_report_sweep_lead(html, sweep);
	return tl_report_sweep_body(html, sweep, figures, error);
}

static enum tl_status write_page(const struct tl_report_folder *folder, const char *style,
                                 const struct subject *subject, const struct tl_figures *figures,
                                 struct tl_error *error)
{
	struct tl_html html = {.out = fopen(folder->page, "w")};

	if (!html.out)
		return tl_error_set(error, TL_E_CANTCREAT, folder->page, 0, 0,
		                    "cannot write the page: %s", strerror(errno));
	enum tl_status status = subject->is_sweep
	                            ? write_sweep(&html, style, &subject->sweep, figures, error)
	                            : write_run(&html, style, &subject->run, figures, error);
	tl_html_end(&html);
	bool failed = ferror(html.out) != 0;
	failed = fclose(html.out) != 0 || failed;
	if (status == TL_OK && failed)
		status = tl_error_set(error, TL_E_IO, folder->page, 0, 0,
		                      "cannot write the page: %s", strerror(errno));
	return status;
}

static enum tl_status read_style(const char *plots_dir, char **style, struct tl_error *error)
{
	char *scripts = NULL;
	enum tl_status status = tl_figure_scripts(plots_dir, &scripts, error);

	*style = NULL;
	if (status != TL_OK)
		return status;
	status = tl_figure_style(scripts, style, error);
	free(scripts);
	return status;
}

/* A folder is a sweep's; a file is, where it has a sweep's tables. */
static enum tl_status look(const char *path, bool *is_sweep, struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	struct stat status;

	*is_sweep = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	if (*is_sweep)
		return TL_OK;
	enum tl_status opened = tl_results_open(path, &reader, error);

	if (opened != TL_OK)
		return opened;
	*is_sweep = tl_results_has(reader, tl_schema_runs.path);
	tl_results_reader_close(reader);
	return TL_OK;
}

static enum tl_status open_subject(const struct tl_report_options *options, struct subject *subject,
                                   struct tl_error *error)
{
	enum tl_status status = look(options->source, &subject->is_sweep, error);

	if (status != TL_OK)
		return status;
	if (subject->is_sweep)
		return tl_report_sweep_open(options, &subject->sweep, error);
	if (options->against)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--against: got a single run, wanted a sweep's folder or file");
	return tl_report_run_open(options->source, &subject->run, error);
}

static enum tl_status fill(const struct tl_report_options *options,
                           const struct tl_report_folder *folder, struct tl_report *report,
                           struct tl_error *error)
{
	struct subject subject = {.is_sweep = false};
	struct tl_figures figures = {.count = 0};
	char *style = NULL;
	enum tl_status status = open_subject(options, &subject, error);

	if (status == TL_OK)
		status = read_style(options->plots_dir, &style, error);
	if (status == TL_OK && subject.is_sweep)
		status = tl_report_sweep_draw(&subject.sweep, options->source, folder->pictures,
		                              options->plots_dir, &figures, error);
	else if (status == TL_OK)
		status = tl_figures_write(options->source, folder->pictures, options->plots_dir,
		                          &figures, error);
	if (status == TL_OK)
		status = write_page(folder, style, &subject, &figures, error);
	report->pictures = figures.written;
	report->skipped = figures.count - figures.written;
	tl_figures_fini(&figures);
	tl_report_run_close(&subject.run);
	tl_report_sweep_close(&subject.sweep);
	free(style);
	return status;
}

enum tl_status tl_report_write(const struct tl_report_options *options, struct tl_report *report,
                               struct tl_error *error)
{
	struct tl_report_folder folder;

	memset(report, 0, sizeof(*report));
	enum tl_status status =
	    tl_report_folder_open(&folder, options->out_dir, options->force, error);
	if (status == TL_OK)
		status = fill(options, &folder, report, error);
	if (status == TL_OK)
		report->page = tl_join(folder.path, "index.html");
	return tl_report_folder_close(&folder, status, error);
}

void tl_report_fini(struct tl_report *report)
{
	free(report->page);
	memset(report, 0, sizeof(*report));
}
