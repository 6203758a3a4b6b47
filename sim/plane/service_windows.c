/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service's windows: the requests of each one by one, or by formulas where those hold;
 * what is told of it to policies, books and results. */
#include "sim/plane/service_core.h"

#include "sim/base/assert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- requests, one by one or by formulas ---- */

static void feed(struct tl_trial *trial, struct tl_service *service, int64_t index)
{
	struct tl_arrival_block *block = &service->block;
	struct tl_error error = TL_ERROR_INIT;

	tl_arrivals_window(service->arrivals, index, block);
	if (block->has_tokens) {
		service->tokens = tl_grow(service->tokens, &service->token_capacity,
		                          block->count + 1, sizeof(*service->tokens));
		for (size_t i = 0; i < block->count; i++)
			service->tokens[i] = (struct tl_service_tokens){
			    .context = (uint32_t)block->context_tokens[i],
			    .generated = (uint32_t)block->generated_tokens[i]};
	}
	if (tl_requests_feed(service->requests, block->times_ns,
	                     block->has_tokens ? service->tokens : NULL, block->count,
	                     &error) != TL_OK)
		tl_trial_fail(trial, TL_E_INTERNAL, "service `%s`: %s", service->setting->name,
		              error.message);
}

/* Replicas or speeds are about to change: the open window's requests are wanted after all. */
void tl_service_materialise(struct tl_trial *trial, struct tl_service *service)
{
	service->changes++;
	if (!service->deferred || service->setting->mode == TL_MODE_FLUID)
		return;
	service->deferred = false;
	feed(trial, service, service->index);
}

/* Draining replicas that have finished give their GPUs back. */
static void end_drained(struct tl_trial *trial, struct tl_service *service)
{
	uint64_t key;
	int64_t at_ns;

	while (tl_requests_replica_drained(service->requests, &key, &at_ns)) {
		service->departing = key;
		tl_life_end_replica(trial, key);
		service->departing = 0;
	}
}

/* ---- closing a window ---- */

/* Latencies told by quantiles alone, spread over a histogram: geometric steps between them.
 * A window's share of a step is seldom whole: what is owed is kept for the next. */
static void spread(struct tl_service_run *run, const struct tl_request_window *window,
                   int64_t least_ns)
{
	static const double share[TL_SPREAD_PARTS] = {0.5, 0.45, 0.04, 0.009, 0.001};
	const int64_t to_ns[TL_SPREAD_PARTS] = {window->p50_ns, window->p95_ns, window->p99_ns,
	                                        window->p999_ns, window->p999_ns};
	double from = (double)(least_ns < window->p50_ns ? least_ns : window->p50_ns);

	if (window->served == 0)
		return;
	from = from < 1.0 ? 1.0 : from;
	for (size_t k = 0; k < TL_SPREAD_PARTS; k++) {
		double to = to_ns[k] > (int64_t)from ? (double)to_ns[k] : from;
		double ratio = pow(to / from, 1.0 / TL_SPREAD_STEPS), at = from * sqrt(ratio);
		double part = share[k] * (double)window->served / TL_SPREAD_STEPS;

		for (size_t i = 0; i < TL_SPREAD_STEPS; i++, at *= ratio) {
			run->owed[k][i] += part;
			uint64_t n = (uint64_t)run->owed[k][i];

			run->owed[k][i] -= (double)n;
			if (n > 0)
				tl_histogram_add_many(run->latency, (int64_t)at, n);
		}
		from = to;
	}
}

static void add_run(struct tl_service *service, const struct tl_request_window *window)
{
	struct tl_service_run *run = &service->run;

	run->arrivals += window->arrivals;
	run->served += window->served;
	run->lost += window->dropped + window->timed_out;
	run->attained += window->attained;
	run->wait_ns += window->wait_ns;
	run->busy_ns += window->busy_ns;
	run->present_ns += window->present_ns;
	if (window->latency != NULL)
		tl_histogram_merge(run->latency, window->latency);
}

/* Of the running replicas, as of now: slower ones carry less, so load rises. */
static int64_t mean_speed_ppb(const struct tl_trial *trial, const struct tl_service *service)
{
	int64_t sum_ppb = 0, count = 0;

	for (size_t i = 0; i < service->replicas.count; i++) {
		uint32_t slot = TL_JOB_SLOT(service->replicas.ids[i]);

		if (trial->jobs.views[slot].state != TL_JOB_RUNNING || trial->jobs.jobs[slot].dead)
			continue;
		sum_ppb += trial->jobs.jobs[slot].progress.speed_ppb;
		count++;
	}
	return count > 0 ? sum_ppb / count : TL_PPB;
}

/* The open window by formulas, up to now. False where its own bound does not hold and the
 * scenario wants the requests then. */
static bool close_fluid(struct tl_trial *trial, struct tl_service *service,
                        struct tl_request_window *out)
{
	struct tl_request_window idle;
	struct tl_fluid_quality quality;
	int64_t now_ns = tl_trial_now(trial);
	const struct tl_fluid_input input = {
	    .start_ns = service->index * trial->services->window_ns,
	    .end_ns = now_ns,
	    .arrivals = tl_arrivals_count(service->arrivals, service->index),
	    .arrival_scv = 1.0,
	    .replicas = service->view.ready,
	    .speed_ppb = mean_speed_ppb(trial, service),
	    .changed = service->changes > 0};

	tl_fluid_window(service->fluid, &input, out, &quality);
	if (service->setting->mode != TL_MODE_FLUID && !quality.valid) {
		tl_fluid_set_queue(service->fluid, 0.0);
		return false;
	}
	service->run.fluid_requests += out->arrivals;
	service->run.unsure_requests += quality.valid ? 0 : out->arrivals;
	spread(&service->run, out,
	       (int64_t)tl_service_time_mean_ns(&service->setting->model.service, 1) + 1);
	/* The engine passes the window without arrivals: what was in service ends in it. */
	tl_requests_window(service->requests, now_ns, &idle);
	tl_histogram_merge(service->run.latency, idle.latency);
	out->served += idle.served;
	out->attained += idle.attained;
	out->wait_ns += idle.wait_ns;
	out->mean_wait_ns = out->served > 0 ? (int64_t)(out->wait_ns / out->served) : TL_NONE;
	out->present_ns = idle.present_ns;
	if (out->busy_ns > out->present_ns)
		out->busy_ns = out->present_ns;
	return true;
}

/* Whether the window that opens may be told by formulas: nothing is left over from before,
 * and all replicas run at one speed. */
static bool may_defer(const struct tl_trial *trial, const struct tl_service *service)
{
	enum tl_request_mode mode = service->setting->mode;

	if (mode == TL_MODE_FLUID)
		return true;
	/* A batch a replica may wait in the quietest of times; more is a queue carried over. */
	if (mode == TL_MODE_EXACT || service->view.ready == 0 ||
	    service->view.queued >
	        (int64_t)service->view.ready * service->setting->model.batch_limit)
		return false;
	int64_t speed_ppb = 0;

	for (size_t i = 0; i < service->replicas.count; i++) {
		const struct tl_job *job = &trial->jobs.jobs[TL_JOB_SLOT(service->replicas.ids[i])];
		int64_t own_ppb = job->progress.speed_ppb;

		if (job->draining || (own_ppb != 0 && speed_ppb != 0 && own_ppb != speed_ppb))
			return false;
		speed_ppb = own_ppb != 0 ? own_ppb : speed_ppb;
	}
	return true;
}

static void open_window(struct tl_trial *trial, struct tl_service *service, int64_t index)
{
	service->index = index;
	service->changes = 0;
	service->deferred = may_defer(trial, service);
	if (!service->deferred)
		feed(trial, service, index);
}

static struct tl_row_window row_of(const struct tl_service *service,
                                   const struct tl_request_window *window,
                                   const struct tl_service_view *view)
{
	return (struct tl_row_window){.t_ns = window->start_ns,
	                              .arrivals = window->arrivals,
	                              .served = window->served,
	                              .dropped = window->dropped + window->timed_out,
	                              .attained = window->attained,
	                              .queued = window->queued,
	                              .p50_ns = window->p50_ns,
	                              .p95_ns = window->p95_ns,
	                              .p99_ns = window->p99_ns,
	                              .p999_ns = window->p999_ns,
	                              .mean_wait_ns = window->mean_wait_ns,
	                              .target_ns = service->setting->model.target_ns,
	                              .load = (double)view->load_milli / 1000.0,
	                              .replicas = view->replicas,
	                              .ready = view->ready,
	                              .overload = view->breach_since_ns >= 0};
}

/* Ready replicas stand by, and are productive while they serve. */
static void book_busy(struct tl_trial *trial, struct tl_service *service, tl_i128 busy_ns,
                      tl_i128 present_ns)
{
	struct tl_ledger *ledger = tl_account_ledger(trial->account);
	int64_t busy_ppb = present_ns > 0 ? (int64_t)(busy_ns * TL_PPB / present_ns) : 0;

	for (size_t i = 0; i < service->replicas.count; i++)
		tl_life_book_replica(trial, service->replicas.ids[i], busy_ppb);
	if (service->wall_ns > 0) {
		tl_i128 each_mgpu = service->booked_mgpu_ns / service->wall_ns;
		tl_i128 slow_mgpu = service->slow_mgpu_ns / service->wall_ns;

		tl_ledger_move(ledger, service->account, TL_PURPOSE_STANDBY, TL_PURPOSE_PRODUCTIVE,
		               busy_ns * (each_mgpu - slow_mgpu));
		tl_ledger_move(ledger, service->account, TL_PURPOSE_STANDBY,
		               TL_PURPOSE_INTERFERENCE, busy_ns * slow_mgpu);
	}
	service->wall_ns = service->booked_mgpu_ns = service->slow_mgpu_ns = 0;
}

/* What each of its replicas uses of a GPU: of its share, as much as what it served takes of its
 * time in full batches at full speed. The time in which it has a request would not do: replicas
 * that batch have one nearly always, long before they are loaded. To whole hundredths, as
 * monitors tell it; by the service's mean. */
static int32_t measured_milli(const struct tl_service *service, uint64_t served, double could_serve)
{
	double used = could_serve > 0.0 ? fmin((double)served / could_serve, 1.0) : 0.0;

	return (int32_t)(used * (double)service->shape->full.share_mgpu / 10.0 + 0.5) * 10;
}

static void measure(struct tl_trial *trial, const struct tl_service *service)
{
	for (size_t i = 0; i < service->replicas.count; i++) {
		tl_job_id id = service->replicas.ids[i];

		if (tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING)
			tl_cotenants_measured(trial, id, service->measured_milli);
	}
}

/* A window is in breach where p99 is above target, or requests were lost. */
static bool breached(const struct tl_service *service, const struct tl_request_window *window)
{
	int64_t target_ns = service->setting->model.target_ns;

	return (window->served > 0 && window->p99_ns > target_ns) ||
	       window->dropped + window->timed_out > 0;
}

/* What the monitor looked at becomes what policies see. What the control plane does itself
 * it knows as it is. */
static void show(struct tl_trial *trial, uint32_t number, const struct tl_look *look)
{
	struct tl_service *service = &trial->services->items[number];
	struct tl_service_view *view = &service->view;
	uint32_t replicas = view->replicas, ready = view->ready;

	*view = look->view;
	view->replicas = replicas;
	view->ready = ready;
	view->starting = (uint32_t)service->replicas.count - ready;
	for (size_t i = 0; i < service->replicas.count; i++) {
		tl_job_id id = service->replicas.ids[i];

		if (tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING)
			tl_cotenants_seen(trial, id, look->measured_milli);
	}
	tl_changes_window(trial, number);
	tl_seats_observe_window(trial, number);
}

static struct tl_look *look_at(struct tl_services *services, uint32_t place)
{
	return &services->looks[(place % services->look_room) * services->count];
}

void tl_services_show(struct tl_trial *trial)
{
	struct tl_services *services = trial->services;
	const struct tl_look *looks = look_at(services, services->look_first);

	TL_ASSERT(services->look_count > 0);
	for (uint32_t s = 0; s < services->count; s++)
		show(trial, s, &looks[s]);
	services->look_first = (services->look_first + 1) % services->look_room;
	services->look_count--;
}

/* The open window is closed: measured, written, and returned as a monitor that looks now
 * sees it. */
static struct tl_look close_one(struct tl_trial *trial, uint32_t number)
{
	struct tl_service *service = &trial->services->items[number];
	struct tl_service_view look = service->view;
	struct tl_request_window window;
	int64_t now_ns = tl_trial_now(trial);

	if (!service->deferred || !close_fluid(trial, service, &window)) {
		if (service->deferred)
			feed(trial, service, service->index);
		tl_requests_window(service->requests, now_ns, &window);
	}
	service->deferred = false;
	add_run(service, &window);
	tl_forecasts_window(&service->forecasts, &window);
	tl_i128 present_ns = (tl_i128)window.present_ns;
	int64_t speed_ppb = mean_speed_ppb(trial, service);
	double speed = (double)speed_ppb / (double)TL_PPB;
	double could_serve =
	    (double)present_ns / 1e9 * (double)look.replica_capacity_per_ks / 1000.0;
	double capacity = could_serve * speed;

	look.window_start_ns = window.start_ns;
	look.window_end_ns = window.end_ns;
	look.arrivals = (int64_t)window.arrivals;
	look.served = (int64_t)window.served;
	look.dropped = (int64_t)(window.dropped + window.timed_out);
	look.queued = (int64_t)window.queued;
	look.p50_ns = window.p50_ns;
	look.p95_ns = window.p95_ns;
	look.p99_ns = window.p99_ns;
	look.p999_ns = window.p999_ns;
	look.mean_wait_ns = window.mean_wait_ns;
	look.load_milli = capacity > 0.0 ? (int64_t)((double)window.arrivals * 1000.0 / capacity)
	                  : window.arrivals > 0 ? 1000000
	                                        : 0;
	if (breached(service, &window)) {
		if (service->breach_since_ns < 0)
			service->breach_since_ns = window.start_ns;
		service->breach_ns += window.end_ns - window.start_ns;
	} else {
		service->breach_since_ns = TL_NONE;
	}
	look.breach_since_ns = service->breach_since_ns;
	book_busy(trial, service, (tl_i128)window.busy_ns, present_ns);
	service->measured_milli = measured_milli(service, window.served, could_serve);
	const struct tl_row_window row = row_of(service, &window, &look);

	if (service->table != NULL)
		*(struct tl_row_window *)tl_table_next(service->table) = row;
	tl_incident_window(trial, number, &row, window.end_ns - window.start_ns);
	end_drained(trial, service);
	return (struct tl_look){.view = look, .measured_milli = service->measured_milli};
}

/* Whether the monitor looks at the windows that close now. */
static bool looks_now(const struct tl_trial *trial)
{
	const struct tl_services *services = trial->services;
	int64_t interval_ns = trial->scenario->observe_interval_ns;

	return interval_ns == 0 || services->next_window * services->window_ns % interval_ns == 0;
}

void tl_services_window(struct tl_trial *trial)
{
	struct tl_services *services = trial->services;
	int64_t delay_ns = trial->scenario->observe_delay_ns;
	bool closes = services->next_window > 0, looks = closes && looks_now(trial);

	if (services->count == 0)
		return;
	for (uint32_t s = 0; s < services->count; s++) {
		if (closes) {
			struct tl_look look = close_one(trial, s);

			if (looks && delay_ns == 0)
				show(trial, s, &look);
			else if (looks)
				look_at(services, services->look_first + services->look_count)[s] =
				    look;
		}
		open_window(trial, &services->items[s], services->next_window);
	}
	for (uint32_t s = 0; s < services->count && closes; s++)
		measure(trial, &services->items[s]);
	if (closes)
		tl_incidents_review(trial);
	if (looks && delay_ns > 0) {
		TL_ASSERT(services->look_count < services->look_room);
		services->look_count++;
		tl_engine_at(&trial->engine, tl_time_add(tl_trial_now(trial), delay_ns),
		             TL_PHASE_TIMER, TL_EVENT_SHOW, 0);
	}
	services->next_window++;
	tl_engine_at(&trial->engine, services->next_window * services->window_ns, TL_PHASE_TIMER,
	             TL_EVENT_WINDOW, 0);
}

/* ---- the end ---- */

static void tell(struct tl_trial *trial, const struct tl_service *service, const char *metric,
                 const char *unit, double value)
{
	char name[TL_ROW_NAME_SIZE];

	snprintf(name, sizeof(name), "%.45s.%s", service->setting->name, metric);
	tl_account_metric(trial->account, name, unit, value);
}

static double per(double a, double b)
{
	return b > 0.0 ? a / b : (double)NAN;
}

static double quantile_s(const struct tl_service_run *run, double q)
{
	return run->served > 0 ? (double)tl_histogram_quantile(run->latency, q) / 1e9 : (double)NAN;
}

static void tell_forecasts(struct tl_trial *trial, const struct tl_service *service)
{
	const struct tl_forecasts *forecasts = &service->forecasts;
	double compared = (double)forecasts->compared;

	tell(trial, service, "forecasts", "1", compared);
	tell(trial, service, "forecast_accuracy", "1", 1.0 - per(forecasts->error, compared));
	tell(trial, service, "forecast_lead_s", "s",
	     per((double)forecasts->lead_ns / 1e9, compared));
}

/* Formulas that are told to go on where they do not hold may tell of calm in a breach. */
static void note_unsure(const struct tl_trial *trial, const struct tl_service *service)
{
	const struct tl_service_run *run = &service->run;
	double share = per((double)run->unsure_requests, (double)run->arrivals);

	if (share >= 0.01 && trial->options->diagnostics != NULL &&
	    trial->options->explain_id == NULL)
		fprintf(
		    trial->options->diagnostics,
		    "service `%s`: %.0f %% of its requests were told by formulas beyond their own "
		    "bound (`requests: fluid`), which may not see short breaches: `auto` "
		    "simulates those requests\n",
		    service->setting->name, 100 * share);
}

static void finish_one(struct tl_trial *trial, struct tl_service *service)
{
	const struct tl_service_run *run = &service->run;
	double served = (double)run->served, lost = (double)run->lost;

	tell(trial, service, "requests", "1", (double)run->arrivals);
	tell(trial, service, "requests_fluid", "1", (double)run->fluid_requests);
	tell(trial, service, "requests_unsure", "1", (double)run->unsure_requests);
	tell(trial, service, "served", "1", served);
	tell(trial, service, "dropped", "1", lost);
	tell(trial, service, "attainment", "1", per((double)run->attained, served + lost));
	tell(trial, service, "p50_s", "s", quantile_s(run, 0.5));
	tell(trial, service, "p99_s", "s", quantile_s(run, 0.99));
	tell(trial, service, "p999_s", "s", quantile_s(run, 0.999));
	tell(trial, service, "wait_mean_s", "s", per((double)run->wait_ns / 1e9, served));
	tell(trial, service, "overload_s", "s", (double)service->breach_ns / 1e9);
	tell(trial, service, "replica_starts", "1", (double)service->starts);
	tell(trial, service, "cold_starts", "1", (double)service->cold_starts);
	tell(trial, service, "scale_ups", "1", (double)service->scale_ups);
	tell(trial, service, "scale_downs", "1", (double)service->scale_downs);
	tell(trial, service, "occupied_ratio", "1",
	     per((double)run->busy_ns, (double)run->present_ns));
	int64_t capacity_per_ks = service->view.replica_capacity_per_ks;
	const struct tl_service_account account = {
	    .useful_mgpu_ns = capacity_per_ks > 0 ? (tl_i128)run->served * 1000 * TL_NS_PER_S *
	                                                service->shape->total_mgpu / capacity_per_ks
	                                          : 0,
	    .penalty_micros = (tl_i128)(run->served + run->lost - run->attained) *
	                      service->setting->penalty_micros_per_1000 / 1000};

	tell(trial, service, "penalty", trial->scenario->prices.currency,
	     (double)account.penalty_micros / 1e6);
	tl_account_service(trial->account, &account);
	if (trial->seats[TL_SEAT_FORECAST].created)
		tell_forecasts(trial, service);
	note_unsure(trial, service);
}

void tl_services_finish(struct tl_trial *trial)
{
	struct tl_services *services = trial->services;

	/* What the last, cut window brought counts too. */
	for (uint32_t s = 0; s < services->count; s++) {
		if (services->window_ns * (services->next_window - 1) < tl_trial_now(trial))
			(void)close_one(trial, s);
		finish_one(trial, &services->items[s]);
	}
}
