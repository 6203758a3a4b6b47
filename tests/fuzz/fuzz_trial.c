/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as a scenario that is run: what is accepted, and is small, comes to its end or ends
 * with a reason. */
#include "sim/config/scenario.h"
#include "sim/plane/trial.h"
#include "tests/fuzz/input.h"

#include <dlfcn.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* What is more work than an input may take. */
enum { NODES_MAX = 64, GPUS_MAX = 256, JOBS_MAX = 300, REQUESTS_MAX = 30000, TICKS_MAX = 5000 };

static const char recorded[] = "traces/samples/";

static bool small_cluster(const struct tl_cluster_spec *cluster)
{
	uint64_t gpus = 0;

	for (size_t i = 0; i < cluster->node_count && i <= NODES_MAX; i++)
		gpus += cluster->nodes[i].gpus;
	return cluster->node_count <= NODES_MAX && gpus <= GPUS_MAX;
}

static bool small_service(const struct tl_service_setting *service, double span_s)
{
	const struct tl_arrival_spec *arrivals = &service->arrivals;
	double factor = arrivals->burst_factor * tl_curve_max(&arrivals->curve);

	for (size_t i = 0; i < arrivals->event_count; i++)
		factor *= arrivals->events[i].factor > 1 ? arrivals->events[i].factor : 1;
	for (size_t i = 0; i < arrivals->surge_count; i++)
		factor *= arrivals->surges[i].factor > 1 ? arrivals->surges[i].factor : 1;
	return !service->arrivals_path && service->replicas_max <= NODES_MAX &&
	       arrivals->rate_rps * factor * span_s <= REQUESTS_MAX &&
	       (double)(arrivals->burst_ns + arrivals->calm_ns) * TICKS_MAX >= span_s * 1e9;
}

static bool small_workload(const struct tl_workload *workload, double span_s)
{
	const struct tl_generate_options *made = &workload->generate;

	if (!workload->is_made)
		return strncmp(workload->path, recorded, sizeof recorded - 1) == 0 &&
		       workload->trace.demand <= 10;
	if (made->preset == TL_PRESET_RELEASE_EVALUATION)
		return (double)made->tasks * (1 + span_s * 1e9 / (double)made->every_ns) <=
		       JOBS_MAX;
	return made->rate_per_h * made->dispersion * span_s / 3600 <= JOBS_MAX;
}

static bool is_small(const struct tl_scenario *scenario)
{
	double span_s = (double)scenario->horizon_ns / 1e9;
	int64_t tick_ns = scenario->horizon_ns / TICKS_MAX;
	bool small = scenario->horizon_ns <= 7 * TL_NS_PER_DAY && small_cluster(&scenario->cluster);

	small &= scenario->timeline_interval_ns >= tick_ns && scenario->window_ns >= tick_ns;
	small &= scenario->observe_interval_ns == 0 || scenario->observe_interval_ns >= tick_ns;
	small &=
	    scenario->failures.per_1000_node_days / 1000 * NODES_MAX * span_s / 86400 <= JOBS_MAX;
	for (size_t i = 0; i < scenario->workload_count; i++)
		small = small && small_workload(&scenario->workloads[i], span_s);
	for (size_t i = 0; i < scenario->service_count; i++)
		small = small && small_service(&scenario->services[i], span_s);
	return small;
}

static void run(const struct tl_scenario *scenario)
{
	static const struct tl_trial_options options = {.results_path = NULL};
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;

	if (tl_trial_run(scenario, &options, pulse, &error) != TL_OK) {
		fuzz_refused(&error);
		TL_ASSERT(error.code != TL_E_INTERNAL);
	}
	free(pulse);
}

/* The place of the n-th number in data and its length; how many there are where n is past them. */
static size_t find_number(const uint8_t *data, size_t size, size_t n, size_t *at, size_t *length)
{
	size_t count = 0, i = 0;

	while (i < size) {
		size_t end = i;

		while (end < size &&
		       ((data[end] >= '0' && data[end] <= '9') || (data[end] == '.' && end > i)))
			end++;
		if (end > i && count++ == n) {
			*at = i;
			*length = end - i;
			return count;
		}
		i = end > i ? end : i + 1;
	}
	return count;
}

/* Mostly another number in place of one, so that most inputs are still scenarios. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	static const char *const numbers[] = {"0",   "1",    "2",     "3",     "7",    "20",
	                                      "99",  "500",  "1000",  "1e6",   "1e9",  "9999999999",
	                                      "0.1", "0.25", "0.999", "1.001", "1e-9", "9e18"};
	size_t at = 0, length = 0, count = find_number(data, size, SIZE_MAX, &at, &length);
	const char *number = numbers[seed / 64 % (sizeof numbers / sizeof *numbers)];
	size_t more = strlen(number);

	if (seed % 4 == 0 || count == 0 || size + more > room)
		return LLVMFuzzerMutate(data, size, room);
	(void)find_number(data, size, seed / 4096 % count, &at, &length);
	memmove(data + at + more, data + at + length, size - at - length);
	memcpy(data + at, number, more);
	return size - length + more;
}

/* Coverage is counted in the modules too: none may be unmapped. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char **names = tl_paths_modules();

	(void)argc;
	(void)argv;
	for (char **name = names; *name; name++) {
		char *path = tl_paths_module(*name);

		TL_ASSERT(path && dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
		free(path);
	}
	tl_paths_free(names);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	if (tl_scenario_parse("fuzz", text, NULL, 0, &scenario, &error) == TL_OK) {
		if (is_small(scenario))
			run(scenario);
		tl_scenario_destroy(scenario);
	}
	free(text);
	return 0;
}
