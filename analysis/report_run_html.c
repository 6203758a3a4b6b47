/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a run, section by section. */
#include "analysis/report_run.h"

#include "sim/base/units.h"

#include <math.h>
#include <string.h>

enum { TENANTS_SHOWN = 24, FAULTS_SHOWN = 100 };

static enum tl_status picture(struct tl_html *html, const struct tl_figures *figures,
                              const char *name, const char *source, struct tl_error *error)
{
	const struct tl_figure *figure = tl_html_figure(figures, name);

	return figure ? tl_html_picture(html, figure, source, error) : TL_OK;
}

/* ---- key numbers ---- */

static void tile(struct tl_html *html, const char *label, const char *metric,
                 enum tl_number_form form)
{
	if (!tl_html_metric(html, metric))
		return;
	tl_html_printf(html, "<div class=\"tile\"><dt>%s <code>%s</code></dt><dd>", label, metric);
	tl_html_number(html, metric, form);
	tl_html_raw(html, "</dd></div>\n");
}

static void tiles(struct tl_html *html)
{
	tl_html_raw(html, "<dl class=\"tiles\">\n");
	tile(html, "total cost", "cost_total", TL_FORM_UNIT);
	tile(html, "cost of useful work", "cost_total_per_useful_gpu_h", TL_FORM_UNIT);
	tile(html, "useful work", "useful_gpu_h", TL_FORM_UNIT);
	tile(html, "GPU time in productive use, shared counts once", "effective_utilisation",
	     TL_FORM_PERCENT);
	tile(html, "GPU time held", "allocation_ratio", TL_FORM_PERCENT);
	tile(html, "mean wait", "wait_mean_s", TL_FORM_UNIT);
	tile(html, "jobs completed", "completed", TL_FORM_PLAIN);
	tile(html, "preemptions", "preemptions", TL_FORM_PLAIN);
	tile(html, "work lost", "lost_work_gpu_s", TL_FORM_UNIT);
	tl_html_raw(html, "</dl>\n");
}

/* ---- services ---- */

static void service_cell(struct tl_html *html, const struct tl_report_service *service,
                         const char *metric, enum tl_number_form form)
{
	char name[TL_ROW_NAME_SIZE];

	(void)snprintf(name, sizeof(name), "%.48s.%s", service->name, metric);
	tl_html_raw(html, "<td class=\"num\">");
	tl_html_number(html, name, form);
	tl_html_raw(html, "</td>");
}

/* Where breaches say less than they seem to. */
static void few_requests(struct tl_html *html, const struct tl_report_run *run)
{
	char requests[TL_NUMBER_SIZE], window[TL_NUMBER_SIZE];

	for (size_t i = 0; i < run->service_count; i++) {
		const struct tl_report_service *service = &run->services[i];

		if (!service->has_windows || !tl_report_few_requests(service))
			continue;
		tl_html_printf(
		    html,
		    "<p>A window of <strong>%s</strong> (%s) has %s requests in the median: its "
		    "p99 is nearly the slowest of them, so windows in breach come and go while "
		    "the promise over all requests is kept. A longer <code>metrics.window</code> "
		    "tells more.</p>\n",
		    service->name, tl_number_duration((double)service->window_ns / 1e9, window),
		    tl_number(service->window_requests, requests));
	}
}

static enum tl_status services(struct tl_html *html, const struct tl_report_run *run,
                               const struct tl_figures *figures, struct tl_error *error)
{
	static const char *const headings[] = {"service",   "#99 % within", "#requests", "#in time",
	                                       "#p99",      "#in breach",   "#breaches", "#lost",
	                                       "#occupied", "#penalty",     NULL};
	enum tl_status status = TL_OK;
	char text[TL_NUMBER_SIZE];

	if (run->service_count == 0)
		return TL_OK;
	tl_html_section(html, "services", "Services and their promises");
	tl_html_table(html, "Requests in time, by service", headings);
	for (size_t i = 0; i < run->service_count; i++) {
		const struct tl_report_service *service = &run->services[i];
		double target_s =
		    service->has_windows ? (double)service->target_ns / 1e9 : (double)NAN;

		tl_html_printf(html, "<tr><th scope=\"row\">%s</th>", service->name);
		tl_html_cell_number(html, tl_number_duration(target_s, text),
		                    "/services/…/windows: target_ns");
		service_cell(html, service, "requests", TL_FORM_PLAIN);
		service_cell(html, service, "attainment", TL_FORM_PERCENT);
		service_cell(html, service, "p99_s", TL_FORM_UNIT);
		service_cell(html, service, "overload_s", TL_FORM_UNIT);
		tl_html_cell_number(
		    html, service->has_windows ? tl_number((double)service->breaches, text) : "–",
		    "/services/…/windows: stretches of overload");
		service_cell(html, service, "dropped", TL_FORM_PLAIN);
		service_cell(html, service, "occupied_ratio", TL_FORM_PERCENT);
		service_cell(html, service, "penalty", TL_FORM_UNIT);
		tl_html_raw(html, "</tr>\n");
	}
	tl_html_table_end(html);
	tl_html_raw(html, "<p>Occupied is the share of the ready replicas' time with a request in "
	                  "service, be it one.</p>\n");
	few_requests(html, run);
	for (size_t i = 0; i < figures->count && status == TL_OK; i++)
		if (strncmp(figures->items[i].name, "service-", 8) == 0)
			status =
			    tl_html_picture(html, &figures->items[i], "/services/…/windows", error);
	tl_html_section_end(html);
	return status;
}

/* ---- GPU time ---- */

static void share_cell(struct tl_html *html, double part, double all)
{
	char text[TL_NUMBER_SIZE], width[TL_NUMBER_SIZE];
	double share = all > 0.0 ? part / all : 0.0;

	(void)snprintf(width, sizeof(width), "%.2f", 100.0 * share);
	tl_html_printf(html,
	               "<td class=\"num\" title=\"from /ledger\">%s<span class=\"bar\" "
	               "style=\"--w:%s%%\" aria-hidden=\"true\"></span></td>",
	               tl_number_percent(share, text), width);
}

static void tenant_row(struct tl_html *html, const struct tl_report_run *run,
                       const struct tl_report_tenant *tenant, const char *name)
{
	char text[TL_NUMBER_SIZE];

	tl_html_printf(html, "<tr><th scope=\"row\">%s</th>", name[0] ? name : "(no name)");
	tl_html_cell_number(html, tl_number(tenant->held_gpu_s / 3600.0, text), "from /ledger");
	share_cell(html, tenant->held_gpu_s, run->capacity_gpu_s);
	share_cell(html, tenant->productive_gpu_s, tenant->held_gpu_s);
	share_cell(html, tenant->standby_gpu_s, tenant->held_gpu_s);
	share_cell(html, tenant->slower_gpu_s, tenant->held_gpu_s);
	share_cell(html, tenant->saving_gpu_s, tenant->held_gpu_s);
	share_cell(html, tenant->rework_gpu_s, tenant->held_gpu_s);
	tl_html_raw(html, "</tr>\n");
}

static void tenants(struct tl_html *html, const struct tl_report_run *run)
{
	static const char *const headings[] = {
	    "tenant",   "#GPU h",  "#of capacity",         "#productive",
	    "#standby", "#slowed", "#start, save, resume", "#lost and redone",
	    NULL};
	struct tl_report_tenant rest = {.held_gpu_s = 0.0};
	char name[64];

	tl_html_section(html, "ledger", "Who held the GPUs");
	if (!run->has_ledger) {
		tl_html_raw(html,
		            "<p class=\"missing\">The result has no table <code>/ledger</code>: "
		            "<code>output.tables</code> of the scenario asks for it.</p>\n");
		tl_html_section_end(html);
		return;
	}
	tl_html_table(html,
	              "GPU time by tenant; after “of capacity”, shares of what the tenant held",
	              headings);
	for (size_t i = 0; i < run->tenant_count; i++) {
		const struct tl_report_tenant *tenant = &run->tenants[i];

		if (i < TENANTS_SHOWN) {
			tenant_row(html, run, tenant, tenant->name);
			continue;
		}
		rest.held_gpu_s += tenant->held_gpu_s;
		rest.productive_gpu_s += tenant->productive_gpu_s;
		rest.standby_gpu_s += tenant->standby_gpu_s;
		rest.slower_gpu_s += tenant->slower_gpu_s;
		rest.saving_gpu_s += tenant->saving_gpu_s;
		rest.rework_gpu_s += tenant->rework_gpu_s;
	}
	if (run->tenant_count > TENANTS_SHOWN) {
		(void)snprintf(name, sizeof(name), "%zu others", run->tenant_count - TENANTS_SHOWN);
		tenant_row(html, run, &rest, name);
	}
	tl_html_table_end(html);
	tl_html_section_end(html);
}

/* ---- faults ---- */

static const char *after(int64_t end_ns, int64_t begin_ns, char text[static TL_NUMBER_SIZE])
{
	return end_ns < 0 ? "not in the run"
	                  : tl_number_duration((double)(end_ns - begin_ns) / 1e9, text);
}

static void number_cell(struct tl_html *html, double value, const char *column)
{
	char text[TL_NUMBER_SIZE];

	tl_html_cell_number(html, tl_number(value, text), column);
}

static void fault_row(struct tl_html *html, const struct tl_report_run *run,
                      const struct tl_row_fault *fault)
{
	char text[TL_NUMBER_SIZE];
	double lost = fault->lost_work_gpu_s + fault->preempted_lost_gpu_s;

	tl_html_printf(html, "<tr><th scope=\"row\">%s</th>", fault->kind);
	tl_html_cell_number(html, tl_format_instant(fault->t_ns, text, sizeof(text)), "t_ns");
	tl_html_cell(html, fault->service[0]               ? fault->service
	                   : fault->node < run->node_count ? run->nodes[fault->node].name
	                                                   : "");
	number_cell(html, fault->jobs_hit, "jobs_hit");
	number_cell(html, (double)fault->gpus_hit_mgpu / 1000.0, "gpus_hit_mgpu");
	tl_html_cell_number(
	    html, fault->repaired_ns < 0 ? "–" : after(fault->repaired_ns, fault->t_ns, text),
	    "repaired_ns - t_ns");
	tl_html_cell_number(html, after(fault->recovered_ns, fault->t_ns, text),
	                    "recovered_ns - t_ns");
	tl_html_cell_number(html, tl_number_duration((double)fault->overload_ns / 1e9, text),
	                    "overload_ns");
	number_cell(html, (double)fault->dropped, "dropped");
	number_cell(html, (double)fault->late, "late");
	number_cell(html, (double)fault->preemptions, "preemptions");
	tl_html_cell_number(html, tl_number_of_unit(lost / 3600.0, "gpu.h", text),
	                    "lost_work_gpu_s + preempted_lost_gpu_s");
	tl_html_raw(html, "</tr>\n");
}

static void faults(struct tl_html *html, const struct tl_report_run *run)
{
	static const char *const headings[] = {"what",
	                                       "#when",
	                                       "where",
	                                       "#jobs hit",
	                                       "#GPUs hit",
	                                       "#cause ends after",
	                                       "#well again after",
	                                       "#overload",
	                                       "#requests lost",
	                                       "#late",
	                                       "#preemptions",
	                                       "#work lost",
	                                       NULL};

	tl_html_section(html, "incidents", "Incidents");
	if (!run->has_faults)
		tl_html_raw(html,
		            "<p class=\"missing\">The result has no table <code>/faults</code>: "
		            "<code>output.tables</code> of the scenario asks for it.</p>\n");
	else if (run->fault_count == 0)
		tl_html_raw(html, "<p>None: <code>/faults</code> has no row.</p>\n");
	if (run->fault_count > 0) {
		tl_html_table(html, "Faults and surges, as they were got over (/faults)", headings);
		for (size_t i = 0; i < run->fault_count && i < FAULTS_SHOWN; i++)
			fault_row(html, run, &run->faults[i]);
		tl_html_table_end(html);
	}
	if (run->fault_count > FAULTS_SHOWN)
		tl_html_printf(html, "<p>The first %zu of %zu.</p>\n", (size_t)FAULTS_SHOWN,
		               run->fault_count);
	tl_html_section_end(html);
}

/* ---- the whole ---- */

static void contents(struct tl_html *html, const struct tl_report_run *run)
{
	tl_html_raw(html, "<nav aria-label=\"Contents\"><ul>\n");
	if (run->service_count > 0)
		tl_html_raw(html, "<li><a href=\"#services\">Services</a></li>\n");
	tl_html_raw(html, "<li><a href=\"#use\">GPU time</a></li>\n"
	                  "<li><a href=\"#waiting\">Waiting</a></li>\n"
	                  "<li><a href=\"#ledger\">Tenants</a></li>\n"
	                  "<li><a href=\"#incidents\">Incidents</a></li>\n"
	                  "<li><a href=\"#nodes\">Nodes</a></li>\n"
	                  "<li><a href=\"#metrics\">All metrics</a></li>\n"
	                  "<li><a href=\"#source\">Source</a></li>\n</ul></nav>\n");
}

static void source(struct tl_html *html, const struct tl_report_run *run)
{
	tl_html_section(html, "source", "Where this comes from");
	tl_html_printf(
	    html,
	    "<p>Every number links to its row in the table of all metrics, or says on "
	    "hovering which table of the result it was made of; "
	    "<code>results/METRICS.md</code> defines the metrics. A service keeps its promise "
	    "where at least 99 %% of its requests were answered within its target; a window is "
	    "in breach where its p99 was above the target, or requests were lost. Made by "
	    "tidelab %s",
	    run->tool_version ? run->tool_version : "?");
	if (run->tool_commit && run->tool_commit[0])
		tl_html_printf(html, " (%s)", run->tool_commit);
	tl_html_raw(html, ".</p>\n");
	if (run->scenario)
		tl_html_printf(html,
		               "<details><summary>The scenario as it was run</summary>\n<pre "
		               "tabindex=\"0\">%s</pre>\n</details>\n",
		               run->scenario);
	tl_html_section_end(html);
}

enum tl_status tl_report_run_body(struct tl_html *html, const struct tl_report_run *run,
                                  const struct tl_figures *figures, struct tl_error *error)
{
	enum tl_status status;

	tiles(html);
	contents(html, run);
	status = services(html, run, figures, error);
	tl_html_section(html, "use", "What the GPUs did");
	if (status == TL_OK)
		status = picture(html, figures, "purposes", "/cluster/purposes", error);
	if (status == TL_OK)
		status = picture(html, figures, "utilisation", "/cluster/timeline", error);
	tl_html_section_end(html);
	tl_html_section(html, "waiting", "Who waited how long");
	if (status == TL_OK)
		status = picture(html, figures, "waiting", "/jobs", error);
	tl_html_section_end(html);
	tenants(html, run);
	faults(html, run);
	tl_html_section(html, "nodes", "Nodes and fragmentation");
	if (status == TL_OK)
		status = picture(html, figures, "fragmentation", "/cluster/timeline", error);
	if (status == TL_OK)
		status = picture(html, figures, "gantt", "/placements", error);
	tl_html_section_end(html);
	tl_html_section(html, "metrics", "All metrics");
	tl_html_metrics(html, "#value");
	tl_html_section_end(html);
	source(html, run);
	return status;
}
