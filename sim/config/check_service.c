/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services: which keys go together, what follows from several, what is impossible. */
#include "sim/base/units.h"
#include "sim/config/config.h"

#include <stdlib.h>
#include <string.h>

static const int64_t time_max_ns = INT64_MAX / 4; /* of workloads/arrivals.h */

/* ---- which keys say anything ---- */

static bool is_one_of(const struct tl_config_key *key, const char *names)
{
	return tl_choice_index(names, key->name) >= 0;
}

bool tl_service_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_workload_config *entry = base;
	enum tl_arrival_process process = entry->service.setting.arrivals.process;

	if (strcmp(key->name, "peak_rps") == 0)
		return process != TL_ARRIVALS_TRACE;
	if (is_one_of(key, "gpu_milli|memory"))
		return entry->service.setting.slice == 0;
	return strcmp(key->name, "curve") != 0 || process == TL_ARRIVALS_NHPP ||
	       process == TL_ARRIVALS_MMPP;
}

bool tl_arrivals_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_workload_config *entry = base;
	enum tl_arrival_process process = entry->service.setting.arrivals.process;

	if (strcmp(key->name, "burst") == 0)
		return process == TL_ARRIVALS_MMPP;
	if (strcmp(key->name, "rate") == 0)
		return process != TL_ARRIVALS_TRACE;
	return strcmp(key->name, "process") == 0 || process == TL_ARRIVALS_TRACE;
}

bool tl_service_time_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_workload_config *entry = base;

	if (strcmp(key->name, "dist") == 0)
		return true;
	switch (entry->service.setting.model.service.kind) {
	case TL_SERVICE_AFFINE:
		return is_one_of(key, "alpha|beta");
	case TL_SERVICE_DETERMINISTIC:
	case TL_SERVICE_EXPONENTIAL:
		return is_one_of(key, "mean");
	case TL_SERVICE_LOGNORMAL:
	case TL_SERVICE_GAMMA:
		return is_one_of(key, "mean|cv");
	case TL_SERVICE_EMPIRICAL:
		return is_one_of(key, "values");
	case TL_SERVICE_LLM:
		return is_one_of(key, "prefill|step|member|context|generated|cv");
	}
	return false;
}

bool tl_curve_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_curve_config *curve = base;

	if (is_one_of(key, "peak_hour|peak_trough|sharpness"))
		return curve->hours.count == 0;
	return strcmp(key->name, "period") != 0 || curve->hours.count > 0;
}

/* ---- what follows ---- */

static size_t surges_of(const struct tl_config *config, const char *name,
                        struct tl_arrival_event *out)
{
	size_t count = 0;

	for (size_t i = 0; i < config->fault_count; i++) {
		const struct tl_fault_config *fault = &config->faults[i];
		int64_t for_ns = fault->fault.for_ns;

		if (fault->fault.what != TL_FAULT_TRAFFIC || strcmp(fault->service, name) != 0)
			continue;
		if (out)
			out[count] = (struct tl_arrival_event){
			    .at_ns = fault->fault.at_ns,
			    .for_ns = for_ns < time_max_ns ? for_ns : time_max_ns,
			    .ramp_ns = fault->fault.ramp_ns,
			    .factor = fault->factor};
		count++;
	}
	return count;
}

static void derive_arrivals(struct tl_arena *arena, const struct tl_config *config,
                            struct tl_service_config *service)
{
	struct tl_arrival_spec *spec = &service->setting.arrivals;
	size_t known = service->calendar.count, count = known + service->event_count;
	struct tl_arrival_event *events = tl_arena_alloc(arena, (count + 1) * sizeof *events);
	struct tl_arrival_event *surges;

	for (size_t i = 0; i < count; i++)
		events[i] = i < known ? service->calendar.events[i].event
		                      : service->events[i - known].event;
	spec->surge_count = surges_of(config, service->name, NULL);
	surges = tl_arena_alloc(arena, (spec->surge_count + 1) * sizeof *surges);
	(void)surges_of(config, service->name, surges);
	spec->events = events;
	spec->event_count = count;
	spec->surges = surges;
	spec->window_ns = config->scenario.window_ns;
	spec->rate_rps = service->rate_rps >= 0 ? service->rate_rps : service->peak_rps;
	spec->curve = service->curve.spec;
	spec->curve.points = service->curve.hours.points;
	spec->curve.point_count = service->curve.hours.count;
}

static void derive_one(struct tl_arena *arena, const struct tl_config *config,
                       struct tl_workload_config *entry)
{
	struct tl_service_config *service = &entry->service;
	struct tl_service_setting *setting = &service->setting;
	struct tl_service_time *time = &setting->model.service;
	bool llm = time->kind == TL_SERVICE_LLM;

	memcpy(setting->name, service->name, sizeof service->name);
	setting->line = entry->node->line;
	setting->column = entry->node->column;
	if (setting->replicas_max == 0)
		setting->replicas_max = setting->replicas_min;
	if (setting->replicas_initial == UINT32_MAX)
		setting->replicas_initial = setting->replicas_min;
	if (setting->weights_bytes == TL_NONE)
		setting->weights_bytes = INT64_C(1000000000) * (llm ? 26 : 2);
	if (setting->init_ns == TL_NONE)
		setting->init_ns = TL_NS_PER_S * (llm ? 60 : 3);
	time->tokens_cv = time->cv;
	time->values_ns = service->values.ns;
	time->value_count = service->values.count;
	tl_config_slice_derive(setting, &config->scenario.cluster);
	derive_arrivals(arena, config, service);
}

void tl_config_services_derive(struct tl_arena *arena, struct tl_config *config)
{
	for (size_t i = 0; i < config->workload_count; i++)
		if (config->workloads[i].is_service)
			derive_one(arena, config, &config->workloads[i]);
}

/* ---- what is impossible ---- */

static enum tl_status check_name(struct tl_fill *fill, const struct tl_config *config, size_t i)
{
	const struct tl_workload_config *entry = &config->workloads[i];
	const char *name = entry->service.name;

	if (strchr(name, '/') || name[0] == '.')
		return tl_fill_fault_at(fill, entry->node, "service",
		                        "got `%s`, wanted a name without a slash that does "
		                        "not start with `.`: results are kept under it",
		                        name);
	for (size_t j = 0; j < i; j++)
		if (config->workloads[j].is_service &&
		    strcmp(config->workloads[j].service.name, name) == 0)
			return tl_fill_fault_at(fill, entry->node, "service",
			                        "got `%s` again, wanted each name once", name);
	return TL_OK;
}

static enum tl_status check_applies(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_config_key *dist = tl_section_find(&tl_service_time_section, "dist");
	const struct tl_service_setting *setting = &entry->service.setting;
	char name[32], reason[64];
	enum tl_status status;
	size_t length;

	(void)snprintf(reason, sizeof reason, "`process: %s`",
	               tl_arrival_process_names[setting->arrivals.process]);
	status = tl_section_applies(fill, &tl_service_section, entry->node, entry, reason);
	if (status != TL_OK)
		return status;
	length = tl_fill_enter(fill, "arrivals");
	status = tl_section_applies(fill, &tl_arrivals_section,
	                            tl_tree_get(entry->node, "arrivals"), entry, reason);
	if (status != TL_OK)
		return status;
	tl_fill_leave(fill, length);
	(void)tl_fill_enter(fill, "service_time");
	(void)snprintf(
	    reason, sizeof reason, "`dist: %s`",
	    tl_choice_name(dist->choices, (int64_t)setting->model.service.kind, name, sizeof name));
	status = tl_section_applies(fill, &tl_service_time_section,
	                            tl_tree_get(entry->node, "service_time"), entry, reason);
	if (status == TL_OK)
		tl_fill_leave(fill, length);
	return status;
}

static enum tl_status check_replicas(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_service_setting *setting = &entry->service.setting;
	const unsigned min = setting->replicas_min, max = setting->replicas_max,
		       initial = setting->replicas_initial;

	if (max < 1 || max < min)
		return tl_fill_fault_at(fill, entry->node, "replicas.max",
		                        "got min %u and max %u, wanted max at least 1 and "
		                        "at least min",
		                        min, max);
	if (initial < min || initial > max)
		return tl_fill_fault_at(fill, entry->node, "replicas.initial",
		                        "got %u, wanted one from min, %u, to max, %u", initial, min,
		                        max);
	if (setting->gpus_mgpu > TL_MGPU_PER_GPU && setting->gpus_mgpu % TL_MGPU_PER_GPU != 0)
		return tl_fill_fault_at(fill, entry->node, "gpu_milli",
		                        "got %lld, wanted at most 1000, or whole GPUs such "
		                        "as 2000",
		                        (long long)setting->gpus_mgpu);
	return TL_OK;
}

static enum tl_status check_model(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_request_model *model = &entry->service.setting.model;
	const struct tl_service_time *time = &model->service;
	const struct tl_tree *node = entry->node;

	if (time->kind >= TL_SERVICE_DETERMINISTIC && time->kind <= TL_SERVICE_GAMMA &&
	    time->mean_ns == 0)
		return tl_fill_fault_at(fill, node, "service_time.mean",
		                        "got none, wanted a duration such as 10ms");
	if (time->kind == TL_SERVICE_EMPIRICAL && time->value_count == 0)
		return tl_fill_fault_at(fill, node, "service_time.values",
		                        "got none, wanted at least one");
	if (time->kind == TL_SERVICE_AFFINE && time->alpha_ns + time->beta_ns < 1)
		return tl_fill_fault_at(fill, node, "service_time.alpha",
		                        "got no time at all, wanted alpha or beta above 0");
	if (time->kind == TL_SERVICE_LLM && time->step_ns + time->member_ns < 1)
		return tl_fill_fault_at(fill, node, "service_time.step",
		                        "got no time at all, wanted step or member above 0");
	if (model->batch_delay_ns > 0 && time->kind == TL_SERVICE_LLM)
		return tl_fill_fault_at(fill, node, "batch.delay",
		                        "does not go with `dist: llm`, whose members join "
		                        "as they come");
	if (model->batch_delay_ns > 0 && model->queue_limit < 1)
		return tl_fill_fault_at(fill, node, "queue_limit",
		                        "got 0, wanted at least 1, since requests wait for "
		                        "batch.delay");
	if (model->timeout_ns < model->batch_delay_ns)
		return tl_fill_fault_at(fill, node, "timeout",
		                        "got less than batch.delay, wanted at least that");
	return TL_OK;
}

static enum tl_status check_rate(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_service_config *service = &entry->service;
	const bool peak = service->peak_rps >= 0, rate = service->rate_rps >= 0;

	if (service->setting.arrivals.process == TL_ARRIVALS_TRACE) {
		if (service->path[0] != '\0')
			return TL_OK;
		return tl_fill_fault_at(fill, entry->node, "arrivals.path",
		                        "got none, wanted the file of recorded requests");
	}
	if (peak && rate)
		return tl_fill_fault_at(fill, entry->node, "arrivals.rate",
		                        "got one beside `peak_rps`, wanted one of the two");
	if (peak || rate)
		return TL_OK;
	return tl_fill_fault(fill, entry->node,
	                     "got no rate of requests, wanted `peak_rps`, `arrivals.rate` or a "
	                     "recording (`arrivals: {process: trace, path: …}`)");
}

static enum tl_status check_curve(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_curve_config *curve = &entry->service.curve;
	const struct tl_hours_config *hours = &curve->hours;
	char last[32], period[32];

	if (hours->count == 0 || curve->spec.period_ns == 0 ||
	    hours->at_ns[hours->count - 1] < curve->spec.period_ns)
		return TL_OK;
	return tl_fill_fault_at(
	    fill, entry->node, "curve", "got an hour at %s, wanted all before the period's end, %s",
	    tl_exact_duration(hours->at_ns[hours->count - 1], last, sizeof last),
	    tl_exact_duration(curve->spec.period_ns, period, sizeof period));
}

static enum tl_status check_events(struct tl_fill *fill, const struct tl_workload_config *entry)
{
	const struct tl_service_config *service = &entry->service;
	size_t count = service->setting.arrivals.event_count;

	for (size_t i = 0; i < count; i++) {
		const struct tl_event_config *one =
		    i < service->calendar.count ? &service->calendar.events[i]
						: &service->events[i - service->calendar.count];

		if (one->event.ramp_ns > one->event.for_ns)
			return tl_fill_fault_at(fill, one->node, "ramp",
			                        "got more than `for`, wanted at most that");
	}
	if (count > TL_ARRIVAL_EVENTS_MAX)
		return tl_fill_fault(fill, entry->node,
		                     "calendar and events: got %zu, wanted at most %d", count,
		                     TL_ARRIVAL_EVENTS_MAX);
	return TL_OK;
}

/* Puts what another part of the program says at a place of the scenario. */
static enum tl_status said_at(struct tl_fill *fill, const struct tl_tree *node, const char *what,
                              const struct tl_error *said)
{
	const char *colon = said->file[0] != '\0' ? ": " : "";
	char place[40] = "";

	if (said->line > 0)
		(void)snprintf(place, sizeof place, ":%ld", said->line);
	(void)tl_fill_fault(fill, node, "%s%s%s%s%s", what, said->file, place, colon,
	                    said->message);
	if (fill->error)
		fill->error->code = said->code;
	return said->code;
}

static enum tl_status open_recording(struct tl_fill *fill, struct tl_workload_config *entry)
{
	struct tl_service_config *service = &entry->service;
	const struct tl_tree *arrivals = tl_tree_get(entry->node, "arrivals");
	const struct tl_tree *node = arrivals ? tl_tree_get(arrivals, "path") : NULL;
	struct tl_error said = TL_ERROR_INIT;
	struct tl_request_trace *trace = NULL;
	enum tl_status status;

	if (service->setting.arrivals.process != TL_ARRIVALS_TRACE || !node)
		return TL_OK;
	entry->resolved = tl_path_from(fill->arena, node->source, service->path);
	status = tl_request_trace_open(entry->resolved, (enum tl_request_format)service->format,
	                               service->strict, &trace, &said);
	if (status != TL_OK)
		return said_at(fill, node, "arrivals.path: ", &said);
	service->setting.arrivals.trace = trace;
	return TL_OK;
}

/* The last word has who draws and serves the requests. */
static enum tl_status check_by_use(struct tl_fill *fill, const struct tl_config *config,
                                   const struct tl_workload_config *entry, uint32_t number)
{
	const struct tl_service_setting *setting = &entry->service.setting;
	struct tl_error said = TL_ERROR_INIT;
	struct tl_arrivals *arrivals = NULL;
	enum tl_status status = tl_request_model_check(&setting->model, &said);

	if (status == TL_OK)
		status = tl_arrivals_create(&setting->arrivals, config->scenario.seed, number,
		                            &arrivals, &said);
	if (status != TL_OK)
		return said_at(fill, entry->node, "", &said);
	tl_arrivals_destroy(arrivals);
	return TL_OK;
}

static enum tl_status check_one(struct tl_fill *fill, struct tl_config *config, size_t i,
                                uint32_t number)
{
	struct tl_workload_config *entry = &config->workloads[i];
	const char *queue = entry->service.setting.queue;
	size_t length = tl_fill_enter(fill, "workload");
	enum tl_status status;

	(void)tl_fill_enter_index(fill, i);
	status = check_name(fill, config, i);
	if (status == TL_OK && queue[0] != '\0' && !tl_config_has_queue(config, queue))
		status = tl_fill_fault_at(fill, entry->node, "queue",
		                          "got `%s`, wanted one of `queues`", queue);
	if (status == TL_OK)
		status = tl_config_slice_check(fill, entry, &config->scenario.cluster);
	if (status == TL_OK)
		status = check_applies(fill, entry);
	if (status == TL_OK)
		status = check_replicas(fill, entry);
	if (status == TL_OK)
		status = check_model(fill, entry);
	if (status == TL_OK)
		status = check_rate(fill, entry);
	if (status == TL_OK)
		status = check_curve(fill, entry);
	if (status == TL_OK)
		status = check_events(fill, entry);
	if (status == TL_OK)
		status = open_recording(fill, entry);
	if (status == TL_OK)
		status = check_by_use(fill, config, entry, number);
	if (status == TL_OK)
		tl_fill_leave(fill, length);
	return status;
}

enum tl_status tl_config_services_check(struct tl_fill *fill, struct tl_config *config,
                                        const struct tl_tree *root)
{
	uint32_t number = 0;
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < config->workload_count && status == TL_OK; i++)
		if (config->workloads[i].is_service)
			status = check_one(fill, config, i, number++);
	if (status == TL_OK && number > 0 && config->scenario.horizon_ns == TL_NEVER)
		status = tl_fill_fault_at(
		    fill, root, "horizon",
		    "got none, wanted when the run ends, as in `horizon: 1d`: a service "
		    "never ends by itself");
	return status;
}

void tl_config_services_release(struct tl_config *config)
{
	for (size_t i = 0; i < config->workload_count; i++)
		if (config->workloads[i].is_service)
			tl_request_trace_close(
			    (struct tl_request_trace *)(uintptr_t)config->workloads[i]
				.service.setting.arrivals.trace);
}

/* ---- to the scenario ---- */

static void *copy(const void *from, size_t count, size_t size)
{
	void *to = tl_calloc(count, size);

	if (count > 0)
		memcpy(to, from, count * size);
	return to;
}

void tl_config_services_keep(struct tl_config *config)
{
	struct tl_scenario *scenario = &config->scenario;

	scenario->services = tl_calloc(config->workload_count, sizeof *scenario->services);
	for (size_t i = 0; i < config->workload_count; i++) {
		const struct tl_workload_config *entry = &config->workloads[i];
		struct tl_service_setting *to;
		struct tl_arrival_spec *spec;
		struct tl_service_time *time;

		if (!entry->is_service)
			continue;
		to = &scenario->services[scenario->service_count++];
		*to = entry->service.setting;
		spec = &to->arrivals;
		time = &to->model.service;
		to->arrivals_path = spec->trace ? tl_strdup(entry->resolved) : NULL;
		spec->events = copy(spec->events, spec->event_count, sizeof *spec->events);
		spec->surges = copy(spec->surges, spec->surge_count, sizeof *spec->surges);
		spec->curve.points =
		    copy(spec->curve.points, spec->curve.point_count, sizeof *spec->curve.points);
		time->values_ns = copy(time->values_ns, time->value_count, sizeof *time->values_ns);
	}
}
