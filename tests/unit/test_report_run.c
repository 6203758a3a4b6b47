/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of a run whose numbers are planted. */
#include "analysis/report_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS = 8 };

/* A week with a seventh of it idle for want of work, and nothing else to speak of. */
static struct tl_row_summary metrics[METRICS] = {
    {.metric = "gpu_h_productive", .unit = "gpu.h", .value = 35000.0},
    {.metric = "gpu_h_idle_free", .unit = "gpu.h", .value = 5717.0},
    {.metric = "wait_mean_s", .unit = "s", .value = 10.0},
    {.metric = "wait_p99_s", .unit = "s", .value = 60.0},
    {.metric = "chat.attainment", .unit = "1", .value = 0.9995},
    {.metric = "chat.requests", .unit = "1", .value = 7600000.0},
    {.metric = "chat.overload_s", .unit = "s", .value = 14640.0},
    {.metric = "deadline_missed", .unit = "1", .value = 0.0},
};
static char name[] = "chat";
static struct tl_report_service service;
static struct tl_report_run run;

static void init(void)
{
	service = (struct tl_report_service){.name = name,
	                                     .has_windows = true,
	                                     .target_ns = 1,
	                                     .window_ns = 1,
	                                     .window_requests = 1000.0};
	run = (struct tl_report_run){.metrics = metrics,
	                             .metric_count = METRICS,
	                             .services = &service,
	                             .service_count = 1,
	                             .has_timeline = true};
}

TestSuite(report_run, .init = init);

static bool says(const char *wanted)
{
	struct tl_html html = {.metrics = metrics, .metric_count = METRICS};
	char *text = NULL;
	size_t size = 0, used = 0;

	html.out = open_memstream(&text, &size);
	tl_report_run_lead(&html, &run);
	fclose(html.out);
	for (const char *at = text; *at; at++) {
		if (*at == '<')
			at = strchr(at, '>');
		else
			text[used++] = *at;
	}
	text[used] = '\0';
	bool found = strstr(text, wanted) != NULL;

	free(text);
	return found;
}

Test(report_run, idle_and_never_short_is_too_many_nodes)
{
	run.waiting_share = 0.01;
	cr_assert(says("fewer nodes, or more work, would do"));
}

/* Idle at night, short at the release. */
Test(report_run, idle_at_other_hours_than_work_waits_is_not)
{
	run.waiting_share = 0.61;
	run.most_waited_gpus = 2455.0;
	cr_assert_not(says("fewer nodes, or more work"));
	cr_assert(says("idle at other hours than those in which work waits"));
	cr_assert(says("something waited in 61.0 % of the time, for 2,455 GPUs at most"));
}

Test(report_run, without_a_timeline_waits_and_deadlines_tell)
{
	run.has_timeline = false;
	metrics[3].value = 21.0 * 3600.0;
	cr_assert_not(says("fewer nodes, or more work"));
	metrics[3].value = 60.0;
	cr_assert(says("fewer nodes, or more work"));
	metrics[7].value = 1.0;
	cr_assert_not(says("fewer nodes, or more work"));
}

Test(report_run, breaches_of_few_requests_are_told_as_such)
{
	cr_assert_not(says("nearly the slowest"));
	service.window_requests = 63.0;
	cr_assert(says("of the 63 requests that a window has in the median, p99 is nearly the "
	               "slowest"));
}
