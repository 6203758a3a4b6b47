/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run in a paragraph: promises, cost, where the GPU time went, what to look at first. Each
 * sentence is there where its numbers are, and each number says its metric. */
#include "analysis/report.h"
#include "analysis/report_run.h"

#include "results/metrics.h"
#include "sim/base/units.h"

#include <math.h>
#include <string.h>

static double of_service(const struct tl_html *html, const struct tl_report_service *service,
                         const char *metric, char name[static TL_ROW_NAME_SIZE])
{
	(void)snprintf(name, TL_ROW_NAME_SIZE, "%.48s.%s", service->name, metric);
	return tl_html_value(html, name);
}

static void duration(struct tl_html *html, int64_t ns, const char *source)
{
	char text[TL_NUMBER_SIZE];

	tl_html_derived(html, tl_number_duration((double)ns / 1e9, text), source);
}

/* ---- promises ---- */

/* The service furthest below its target, or the one nearest to it. */
static const struct tl_report_service *worst_service(const struct tl_html *html,
                                                     const struct tl_report_run *run, size_t *kept,
                                                     size_t *judged)
{
	const struct tl_report_service *worst = NULL;
	double least = INFINITY;
	char name[TL_ROW_NAME_SIZE];

	*kept = *judged = 0;
	for (size_t i = 0; i < run->service_count; i++) {
		double attainment = of_service(html, &run->services[i], "attainment", name);

		if (!isfinite(attainment))
			continue;
		++*judged;
		*kept += attainment >= TL_REPORT_PROMISE;
		if (attainment < least) {
			least = attainment;
			worst = &run->services[i];
		}
	}
	return worst;
}

/* Windows in breach beside a promise that is kept, where p99 is of too few to say much. */
static void few_requests(struct tl_html *html, const struct tl_report_service *service)
{
	char text[TL_NUMBER_SIZE];

	tl_html_raw(html, "; of the ");
	tl_html_derived(html, tl_number(service->window_requests, text),
	                "/services/…/windows: arrivals, median");
	tl_html_raw(html, " requests that a window has in the median, p99 is nearly the slowest, "
	                  "so a longer <code>metrics.window</code> tells more of breaches");
}

static void breaches(struct tl_html *html, const struct tl_report_service *service)
{
	char name[TL_ROW_NAME_SIZE], text[TL_NUMBER_SIZE];

	if (!(of_service(html, service, "overload_s", name) > 0.0))
		return;
	tl_html_raw(html, ", and it was in breach for ");
	tl_html_number(html, name, TL_FORM_UNIT);
	if (service->longest.to_ns > 0) {
		tl_html_raw(html, " in ");
		tl_html_derived(html, tl_number((double)service->breaches, text),
		                "/services/…/windows: stretches of overload");
		tl_html_raw(html,
		            service->breaches > 1 ? " stretches, the longest " : " stretch of ");
		duration(html, service->longest.to_ns - service->longest.from_ns,
		         "/services/…/windows: overload");
		tl_html_raw(html, " from ");
		tl_html_derived(html,
		                tl_format_instant(service->longest.from_ns, text, sizeof(text)),
		                "/services/…/windows: t_ns");
	}
	if (service->has_windows && tl_report_few_requests(service))
		few_requests(html, service);
}

static void services(struct tl_html *html, const struct tl_report_run *run)
{
	size_t kept, judged;
	const struct tl_report_service *worst = worst_service(html, run, &kept, &judged);
	char name[TL_ROW_NAME_SIZE];

	if (!worst)
		return;
	if (judged == 1 && kept == 1)
		tl_html_printf(html,
		               "The service <strong>%s</strong> kept its promise: ", worst->name);
	else if (judged == 1)
		tl_html_printf(html,
		               "<strong class=\"bad\">The service %s missed its promise:</strong> ",
		               worst->name);
	else if (kept == judged)
		tl_html_printf(html,
		               "<strong>All %zu services kept their promise</strong>; nearest to "
		               "missing it is <strong>%s</strong>: ",
		               judged, worst->name);
	else
		tl_html_printf(html,
		               "<strong class=\"bad\">%zu of %zu services missed their "
		               "promise</strong>, %s the furthest: ",
		               judged - kept, judged, worst->name);
	(void)of_service(html, worst, "attainment", name);
	tl_html_number(html, name, TL_FORM_PERCENT);
	tl_html_raw(html, " of its ");
	(void)of_service(html, worst, "requests", name);
	tl_html_number(html, name, TL_FORM_PLAIN);
	tl_html_raw(html, " requests were answered in time");
	if (worst->has_windows) {
		tl_html_raw(html, " (99 % are to be within ");
		duration(html, worst->target_ns, "/services/…/windows: target_ns");
		tl_html_raw(html, ")");
	}
	breaches(html, worst);
	tl_html_raw(html, ". ");
}

static void deadlines(struct tl_html *html)
{
	double jobs = tl_html_value(html, "deadline_jobs");

	if (!(jobs > 0))
		return;
	tl_html_raw(html, "Of ");
	tl_html_number(html, "deadline_jobs", TL_FORM_PLAIN);
	tl_html_raw(html, " jobs whose deadline came, ");
	tl_html_number(html, "deadline_met", TL_FORM_PLAIN);
	tl_html_raw(html, " met it. ");
}

/* ---- cost ---- */

static void cost(struct tl_html *html)
{
	double total = tl_html_value(html, "cost_total"), penalty = tl_html_value(html, "penalty");

	if (!isfinite(total)) {
		tl_html_raw(html,
		            "What it cost is not in this result: a scenario with <code>prices: "
		            "{gpu_hour: …}</code> says. ");
		return;
	}
	tl_html_raw(html, "It cost ");
	tl_html_number(html, "cost_total", TL_FORM_UNIT);
	if (penalty > 0.0) {
		char share[TL_NUMBER_SIZE];

		tl_html_raw(html, ", of which ");
		tl_html_number(html, "penalty", TL_FORM_UNIT);
		tl_html_raw(html, " (");
		tl_html_derived(html, tl_number_percent(penalty / total, share),
		                "penalty / cost_total");
		tl_html_raw(html, ") for broken promises");
	}
	tl_html_raw(html, ". It brought ");
	tl_html_number(html, "useful_gpu_h", TL_FORM_UNIT);
	tl_html_raw(html, " of useful work, at ");
	tl_html_number(html, "cost_total_per_useful_gpu_h", TL_FORM_UNIT);
	tl_html_raw(html, ". ");
}

/* ---- use ---- */

/* What GPU time went into besides work, by metric: how it is called in a sentence. */
/* The first is for want of work: advise_idle(). */
static const struct leak {
	const char *metric, *words, *advice;
} leaks[] = {
    {"gpu_h_idle_free", "idle with nothing waiting", NULL},
    {"gpu_h_idle_fragmented", "idle while work waited",
     "see the fragmentation and the sizes that are asked for"},
    {"gpu_h_idle_reserved", "kept free for a waiting job",
     "see the reservations of large jobs (backfill)"},
    {"gpu_h_communication", "lost to distance between workers", "see the placement"},
    {"gpu_h_interference", "lost to co-tenants", "see the scenario's oversubscription and sharing"},
    {"gpu_h_checkpoint", "spent on checkpoints", "see their interval and the storage"},
    {"gpu_h_start", "spent on starting up", "see images, caches and hot nodes"},
    {"gpu_h_rework", "spent on work that was lost",
     "see the checkpoint interval and who is stopped"},
    {"gpu_h_standby", "held by replicas without a request", "see the services' scaling"},
    {"gpu_h_down", "down", "see the nodes' failures and repairs"},
};

/* The largest of those from the given one on. */
static const struct leak *largest_leak(const struct tl_html *html, size_t from)
{
	const struct leak *largest = NULL;
	double most = 0.0;

	for (size_t i = from; i < sizeof(leaks) / sizeof(leaks[0]); i++) {
		double value = tl_html_value(html, leaks[i].metric);

		if (value > most) {
			most = value;
			largest = &leaks[i];
		}
	}
	return largest;
}

static double all_gpu_h(const struct tl_html *html)
{
	double sum = 0.0;

	for (size_t i = 0; i < html->metric_count; i++)
		if (strncmp(html->metrics[i].metric, "gpu_h_", 6) == 0)
			sum += html->metrics[i].value;
	return sum;
}

/* What to do something about: what is idle for want of work is no fault of the policy, so it
 * comes first only where all else is small. */
static const struct leak *first_leak(const struct tl_html *html)
{
	static const double SMALL = 0.02;
	const struct leak *other = largest_leak(html, 1);

	if (other && tl_html_value(html, other->metric) >= SMALL * all_gpu_h(html))
		return other;
	return largest_leak(html, 0);
}

static void use(struct tl_html *html, const struct leak *leak)
{
	char share[TL_NUMBER_SIZE];

	if (!isfinite(tl_html_value(html, "effective_utilisation")))
		return;
	tl_html_number(html, "effective_utilisation", TL_FORM_PERCENT);
	tl_html_raw(html,
	            " of all GPU time was in productive use (a GPU that is shared counts once)");
	if (leak) {
		tl_html_raw(html, "; the largest rest, ");
		tl_html_derived(
		    html,
		    tl_number_percent(tl_html_value(html, leak->metric) / all_gpu_h(html), share),
		    "that metric / sum of all gpu_h_*");
		tl_html_raw(html, " (");
		tl_html_number(html, leak->metric, TL_FORM_UNIT);
		tl_html_printf(html, "), was %s", leak->words);
	}
	tl_html_raw(html, ". ");
}

static void waiting(struct tl_html *html, const struct tl_report_run *run)
{
	double never = tl_html_value(html, "never_started");
	char text[TL_NUMBER_SIZE];

	if (!isfinite(tl_html_value(html, "wait_mean_s")))
		return;
	tl_html_raw(html, "Jobs waited ");
	tl_html_number(html, "wait_mean_s", TL_FORM_UNIT);
	tl_html_raw(html, " on average, one in a hundred longer than ");
	tl_html_number(html, "wait_p99_s", TL_FORM_UNIT);
	if (run->has_timeline && run->waiting_share > 0.0) {
		tl_html_raw(html, "; something waited in ");
		tl_html_derived(html, tl_number_percent(run->waiting_share, text),
		                "/cluster/timeline: pending_jobs");
		tl_html_raw(html, " of the time, for ");
		tl_html_derived(html, tl_number(run->most_waited_gpus, text),
		                "/cluster/timeline: pending_mgpu");
		tl_html_raw(html, " GPUs at most");
	}
	if (never > 0) {
		tl_html_raw(html, ", and ");
		tl_html_number(html, "never_started", TL_FORM_PLAIN);
		tl_html_raw(html, " never started");
	}
	tl_html_raw(html, ". ");
}

static void incidents(struct tl_html *html)
{
	double struck = tl_html_value(html, "faults");
	double open = tl_html_value(html, "faults_unrecovered");

	if (!(struck > 0))
		return;
	tl_html_raw(html, open > 0 ? "Of " : struck > 1 ? "All " : "The ");
	tl_html_number(html, "faults", TL_FORM_PLAIN);
	tl_html_raw(html, struck > 1 ? " incidents" : " incident");
	if (open > 0) {
		tl_html_raw(html, ", ");
		tl_html_number(html, "faults_unrecovered", TL_FORM_PLAIN);
		tl_html_raw(html, " went on to the end of the run");
	} else {
		tl_html_raw(html, struck > 1 ? " were got over" : " was got over");
	}
	if (open < struck) {
		tl_html_raw(html, "; recovery took ");
		tl_html_number(html, "recovery_max_s", TL_FORM_UNIT);
		tl_html_raw(html, " at most");
	}
	tl_html_raw(html, ". ");
}

static void horizon(struct tl_html *html)
{
	if (!tl_metric_cut_short(tl_html_value(html, "jobs"), tl_html_value(html, "unsubmitted")))
		return;
	tl_html_raw(html,
	            "<strong class=\"bad\">The run is short</strong>: the horizon came before ");
	tl_html_number(html, "unsubmitted", TL_FORM_PLAIN);
	tl_html_raw(html, " of ");
	tl_html_number(html, "jobs", TL_FORM_PLAIN);
	tl_html_raw(html, " jobs were submitted, and nothing here tells of them. ");
}

/* ---- what to look at ---- */

/* Why the longest breach lasted, from what stood in its windows. */
static void explain_breach(struct tl_html *html, const struct tl_report_service *service)
{
	const struct tl_breach *breach = &service->longest;
	char ready[TL_NUMBER_SIZE], wanted[TL_NUMBER_SIZE], load[TL_NUMBER_SIZE],
	    idle[TL_NUMBER_SIZE], at[TL_NUMBER_SIZE];

	(void)snprintf(ready, sizeof(ready), "%.1f", breach->ready);
	(void)snprintf(wanted, sizeof(wanted), "%.1f", breach->wanted);
	tl_html_printf(html, "the longest breach of %s, from %s: on average ", service->name,
	               tl_format_instant(breach->from_ns, at, sizeof(at)));
	tl_html_derived(html, ready, "/services/…/windows: ready");
	tl_html_raw(html, " replicas were ready of ");
	tl_html_derived(html, wanted, "/services/…/windows: replicas");
	tl_html_raw(html, " wanted, at a load of ");
	tl_html_derived(html, tl_number_percent(breach->load, load), "/services/…/windows: load");
	if (isfinite(breach->free_gpus)) {
		(void)snprintf(idle, sizeof(idle), "%.1f", breach->free_gpus);
		tl_html_raw(html, ", while ");
		tl_html_derived(html, idle, "/cluster/timeline: free_whole_gpus");
		tl_html_raw(html, " GPUs were wholly free");
	}
	if (breach->ready < 0.9 * breach->wanted && breach->free_gpus >= 1.0)
		tl_html_raw(html,
		            ". There was room, and replicas did not come: look at what kept it "
		            "(reservations, placement, start-up time). ");
	else if (breach->ready < 0.9 * breach->wanted)
		tl_html_raw(html,
		            ". There was no room: look at how fast, and whom, the service may "
		            "preempt. ");
	else if (breach->load >= 0.8)
		tl_html_raw(html,
		            ". More replicas were needed than were asked for: look at the scaling "
		            "(check interval, lead, thresholds, most replicas). ");
	else
		tl_html_raw(html,
		            ". The load alone does not explain it: look at the queue limit, the "
		            "timeout, the batch and the routing. ");
}

/* Whether the cluster falls short at any time, be it idle at others. */
static bool falls_short(const struct tl_html *html, const struct tl_report_run *run)
{
	static const double SELDOM = 0.02, LONG_S = 600.0;
	char name[TL_ROW_NAME_SIZE];
	bool missed = false;

	for (size_t i = 0; i < run->service_count; i++)
		missed = missed || of_service(html, &run->services[i], "attainment", name) <
		                       TL_REPORT_PROMISE;
	return missed || run->saturated || run->waiting_share > SELDOM ||
	       tl_html_value(html, "wait_p99_s") > LONG_S ||
	       tl_html_value(html, "never_started") > 0 ||
	       tl_html_value(html, "deadline_missed") > 0;
}

/* GPUs idle for want of work: too many nodes only where they are not short at other times. */
static void advise_idle(struct tl_html *html, const struct tl_report_run *run)
{
	if (!falls_short(html, run)) {
		tl_html_raw(html, "the ");
		tl_html_number(html, "gpu_h_idle_free", TL_FORM_UNIT);
		tl_html_raw(html, " idle with nothing waiting: hardly anything waits at any time, "
		                  "so demand, not policy, is the limit: fewer nodes, or more "
		                  "work, would do. ");
		return;
	}
	tl_html_raw(html, "when work comes: the ");
	tl_html_number(html, "gpu_h_idle_free", TL_FORM_UNIT);
	tl_html_raw(html, " idle with nothing waiting are idle at other hours than those in which "
	                  "work waits or falls short. Fewer nodes would make that worse; moving "
	                  "work that can wait into the idle hours, spreading submissions, or "
	                  "sharing and capacity for the peak would help. ");
}

static void advise(struct tl_html *html, const struct tl_report_run *run, const struct leak *leak)
{
	if (!leak->advice) {
		advise_idle(html, run);
		return;
	}
	tl_html_raw(html, "the ");
	tl_html_number(html, leak->metric, TL_FORM_UNIT);
	tl_html_printf(html, " %s: %s. ", leak->words, leak->advice);
}

/* The longest breach, where one is worth a word: of a service that missed its promise, or a
 * long one. Windows in breach now and then are what a promise on p99 allows. */
static const struct tl_report_service *breach_to_explain(const struct tl_html *html,
                                                         const struct tl_report_run *run)
{
	static const int64_t LONG_NS = 5 * TL_NS_PER_MIN;
	const struct tl_report_service *longest = NULL;
	int64_t most_ns = 0;
	char name[TL_ROW_NAME_SIZE];

	for (size_t i = 0; i < run->service_count; i++) {
		const struct tl_report_service *service = &run->services[i];
		int64_t span_ns = service->longest.to_ns - service->longest.from_ns;
		bool missed = of_service(html, service, "attainment", name) < TL_REPORT_PROMISE;

		if (span_ns > most_ns && (missed || span_ns >= LONG_NS)) {
			most_ns = span_ns;
			longest = service;
		}
	}
	return longest;
}

static void look_at(struct tl_html *html, const struct tl_report_run *run, const struct leak *leak)
{
	const struct tl_report_service *longest = breach_to_explain(html, run);

	if (run->saturated)
		tl_html_raw(
		    html,
		    "<strong class=\"bad\">The queue never settles</strong>: more is asked "
		    "for than the cluster can do, and mean waits tell the length of the run. ");
	tl_html_raw(html, "<strong>Look first at</strong> ");
	if (longest)
		explain_breach(html, longest);
	else if (leak)
		advise(html, run, leak);
	else
		tl_html_raw(html, "nothing in particular. ");
}

void tl_report_run_lead(struct tl_html *html, const struct tl_report_run *run)
{
	tl_html_raw(html, "<p class=\"lead\">");
	services(html, run);
	deadlines(html);
	cost(html);
	use(html, largest_leak(html, 0));
	waiting(html, run);
	incidents(html);
	horizon(html);
	look_at(html, run, first_leak(html));
	tl_html_raw(html, "</p>\n");
}
