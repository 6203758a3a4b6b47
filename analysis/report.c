/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report.h"

#include "analysis/figures_private.h"
#include "analysis/report_folder.h"
#include "analysis/report_html.h"
#include "analysis/report_run.h"
#include "sim/base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum tl_status write_page(const struct tl_report_folder *folder, const char *style,
                                 const struct tl_report_run *run, const struct tl_figures *figures,
                                 struct tl_error *error)
{
	struct tl_html html = {.out = fopen(folder->page, "w"),
	                       .metrics = run->metrics,
	                       .metric_count = run->metric_count};
	char seed[64] = "", subtitle[256];
	struct tl_html_head head = {.title = run->name, .style = style, .subtitle = subtitle};

	if (!html.out)
		return tl_error_set(error, TL_E_CANTCREAT, folder->page, 0, 0,
		                    "cannot write the page: %s", strerror(errno));
	if (run->has_seed)
		(void)snprintf(seed, sizeof(seed), ", seed %lld", (long long)run->seed);
	(void)snprintf(subtitle, sizeof(subtitle), "One simulated run%s.", seed);
	tl_html_begin(&html, &head);
	tl_report_run_lead(&html, run);
	enum tl_status status = tl_report_run_body(&html, run, figures, error);
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

static enum tl_status report_run(const struct tl_report_options *options,
                                 const struct tl_report_folder *folder, struct tl_report *report,
                                 struct tl_error *error)
{
	struct tl_report_run run;
	struct tl_figures figures = {.count = 0};
	char *style = NULL;
	enum tl_status status = tl_report_run_open(options->source, &run, error);

	if (status == TL_OK)
		status = read_style(options->plots_dir, &style, error);
	if (status == TL_OK)
		status = tl_figures_write(options->source, folder->pictures, options->plots_dir,
		                          &figures, error);
	if (status == TL_OK)
		status = write_page(folder, style, &run, &figures, error);
	report->pictures = figures.written;
	report->skipped = figures.count - figures.written;
	tl_figures_fini(&figures);
	tl_report_run_close(&run);
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
		status = report_run(options, &folder, report, error);
	if (status == TL_OK) {
		size_t size = strlen(folder.path) + sizeof("/index.html");

		report->page = tl_alloc(size);
		(void)snprintf(report->page, size, "%s/index.html", folder.path);
	}
	return tl_report_folder_close(&folder, status, error);
}

void tl_report_fini(struct tl_report *report)
{
	free(report->page);
	memset(report, 0, sizeof(*report));
}
