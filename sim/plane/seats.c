/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instances of the scenario's policy modules, one a seat. */
#include "sim/plane/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loading and unloading run a module's code too: whatever ends there is its doing. */
static void enter_loader(struct tl_trial *trial, enum tl_seat_kind seat, const char *module,
                         const char *step)
{
	struct tl_pulse *pulse = trial->pulse;

	snprintf(pulse->module, sizeof(pulse->module), "%s", module);
	snprintf(pulse->callback, sizeof(pulse->callback), "%s", step);
	atomic_store_explicit(&pulse->seat, (uint32_t)seat, memory_order_relaxed);
}

/* Wrong at the place where the seat is filled: a flag, or a line of the file. */
static enum tl_status seat_fault(const struct tl_scenario *scenario, enum tl_seat_kind seat,
                                 enum tl_status status, const char *text, struct tl_error *error)
{
	const struct tl_seat_setting *setting = &scenario->seats[seat];
	char key[TL_NAME_MAX];

	(void)snprintf(key, sizeof key, "policy.%s", tl_seat_names[seat]);
	if (setting->flag == NULL)
		return tl_error_set(error, status, scenario->path, setting->line, setting->column,
		                    "%s: %s", key, text);
	if (status == TL_E_CONFIG)
		status = TL_E_USAGE;
	if (tl_flag_names_key(setting->flag, key))
		return tl_error_set(error, status, setting->flag, 0, 0, "%s", text);
	return tl_error_set(error, status, setting->flag, 0, 0, "%s: %s", key, text);
}

/* Options that a file gives to the module it names are no longer right where a flag put another
 * one there: `policy.place.use` keeps them, `policy.place` does not. */
static enum tl_status set_options(const struct tl_scenario *scenario, enum tl_seat_kind seat,
                                  struct tl_instance *instance, struct tl_error *error)
{
	const struct tl_seat_setting *setting = &scenario->seats[seat];
	enum tl_status status =
	    tl_module_options(instance->loaded.module, setting->settings, setting->count,
	                      scenario->path, &instance->values, error);

	if (status != TL_E_CONFIG || setting->flag == NULL || seat == TL_SEAT_SCHEDULER)
		return status;
	return tl_error_set(error, status, scenario->path, error->line, error->column,
	                    "%s; the file wrote it for another module: policy.%s=%s, or "
	                    "policy.%s={use: %s, …}, leaves it out where policy.%s.use=%s keeps it",
	                    error->message, tl_seat_names[seat], setting->use, tl_seat_names[seat],
	                    setting->use, tl_seat_names[seat], setting->use);
}

static enum tl_status load_one(struct tl_trial *trial, enum tl_seat_kind seat,
                               struct tl_error *error)
{
	const struct tl_seat_setting *setting = &trial->scenario->seats[seat];
	struct tl_instance *instance = &trial->seats[seat];
	char text[TL_ERROR_MESSAGE_MAX];

	enter_loader(trial, seat, setting->use, "load");
	enum tl_status status = tl_module_load(setting->use, &instance->loaded, error);

	tl_seats_enter(trial, NULL, NULL);
	if (status == TL_E_UNAVAILABLE && error->file[0] == '\0') { /* no such module */
		snprintf(text, sizeof(text), "%s", error->message);
		return seat_fault(trial->scenario, seat, status, text, error);
	}
	if (status != TL_OK)
		return status;
	const struct tl_module *module = instance->loaded.module;

	text[0] = '\0';
	if (module->seat != (uint32_t)seat)
		snprintf(text, sizeof(text),
		         "got `%s`, a module for the %s seat, wanted one for %s", setting->use,
		         tl_seat_names[module->seat], tl_seat_names[seat]);
	else if ((module->capabilities & TL_NEEDS_SERVICES) != 0 &&
	         trial->scenario->service_count == 0)
		snprintf(text, sizeof(text), "`%s` needs services, and the scenario has none",
		         setting->use);
	if (text[0] != '\0')
		return seat_fault(trial->scenario, seat, TL_E_CONFIG, text, error);
	instance->trial = trial;
	instance->seat = seat;
	instance->number = (uint32_t)seat;
	tl_rng_init(&instance->rng, trial->scenario->seed, TL_STREAM_POLICY, instance->number);
	tl_host_fill(instance);
	return set_options(trial->scenario, seat, instance, error);
}

enum tl_status tl_seats_load(struct tl_trial *trial, struct tl_error *error)
{
	for (uint32_t seat = 0; seat < TL_SEAT_COUNT; seat++) {
		if (trial->scenario->seats[seat].use[0] == '\0')
			continue;
		enum tl_status status = load_one(trial, (enum tl_seat_kind)seat, error);

		if (status != TL_OK)
			return status;
	}
	if (trial->seats[TL_SEAT_SCHEDULER].loaded.module == NULL)
		return tl_error_set(error, TL_E_CONFIG, trial->scenario->path, 0, 0,
		                    "policy.scheduler: got none, wanted a module");
	return TL_OK;
}

void tl_seats_unload(struct tl_trial *trial)
{
	for (uint32_t seat = TL_SEAT_COUNT; seat-- > 0;) {
		struct tl_instance *instance = &trial->seats[seat];
		const struct tl_module *module = instance->loaded.module;

		if (instance->created && !instance->failed && module->destroy != NULL) {
			tl_seats_enter(trial, instance, "destroy");
			module->destroy(instance->self);
			tl_seats_enter(trial, NULL, NULL);
		}
		free(instance->values);
		if (module == NULL)
			continue;
		enter_loader(trial, (enum tl_seat_kind)seat, trial->scenario->seats[seat].use,
		             "unload");
		tl_module_unload(&instance->loaded);
		tl_seats_enter(trial, NULL, NULL);
	}
}

void tl_seats_enter(struct tl_trial *trial, const struct tl_instance *instance,
                    const char *callback)
{
	struct tl_pulse *pulse = trial->pulse;

	trial->calling = (struct tl_calling){.instance = instance, .callback = callback};
	if (instance == NULL) {
		atomic_store_explicit(&pulse->seat, TL_SEAT_COUNT, memory_order_relaxed);
		return;
	}
	if (atomic_load_explicit(&pulse->seat, memory_order_relaxed) != (uint32_t)instance->seat ||
	    strcmp(pulse->callback, callback) != 0) {
		snprintf(pulse->module, sizeof(pulse->module), "%s", instance->loaded.module->name);
		snprintf(pulse->callback, sizeof(pulse->callback), "%s", callback);
	}
	atomic_store_explicit(&pulse->seat, (uint32_t)instance->seat, memory_order_relaxed);
}

static void fail_creation(struct tl_trial *trial, const struct tl_instance *instance,
                          const char *reason)
{
	char text[TL_ERROR_MESSAGE_MAX];

	if (trial->failure.code != TL_OK)
		return;
	(void)snprintf(text, sizeof(text), "policy module `%s` could not be created: %s",
	               instance->loaded.module->name,
	               reason[0] != '\0' ? reason : "it gives no reason");
	tl_trial_fail(trial, TL_E_UNAVAILABLE, "%s", text);
	(void)seat_fault(trial->scenario, instance->seat, TL_E_UNAVAILABLE, text, &trial->failure);
}

static void create(struct tl_trial *trial, struct tl_instance *instance)
{
	char text[256] = "";
	struct tl_create request = {.struct_size = sizeof(request),
	                            .instance = instance->number,
	                            .options = instance->values,
	                            .error = text,
	                            .error_size = sizeof(text)};
	const struct tl_module *module = instance->loaded.module;
	/* A scheduler opens its seats from create() or schedule(): back there afterwards. */
	struct tl_calling before = trial->calling;
	bool deciding = trial->in_schedule;

	instance->created = true;
	trial->in_schedule = false;
	tl_seats_enter(trial, instance, "create");
	int answer = module->create(&instance->host, &request, &instance->self);

	tl_seats_enter(trial, before.instance, before.callback);
	trial->in_schedule = deciding;
	text[sizeof(text) - 1] = '\0';
	if (answer != 0) {
		instance->failed = true;
		fail_creation(trial, instance, text);
		return;
	}
	if ((module->capabilities & TL_NEVER_STARTS) != 0)
		trial->never_starts = true;
	if (module->observer != NULL)
		trial->observers[trial->observer_count++] = instance;
}

struct tl_seat tl_seats_open(struct tl_trial *trial, enum tl_seat_kind seat)
{
	if ((unsigned)seat >= TL_SEAT_COUNT)
		return (struct tl_seat){0};
	struct tl_instance *instance = &trial->seats[seat];

	if (instance->loaded.module == NULL)
		return (struct tl_seat){0};
	if (!instance->created)
		create(trial, instance);
	if (instance->failed)
		return (struct tl_seat){0};
	if (seat == TL_SEAT_FORECAST)
		return tl_forecasts_hear(instance);
	return (struct tl_seat){.module = instance->loaded.module,
	                        .ops = instance->loaded.module->ops,
	                        .self = instance->self};
}

/* ---- observers ---- */

/* A decision inside an observer would come amid the one that is being carried out. */
static bool stop_deciding(struct tl_trial *trial)
{
	bool deciding = trial->in_schedule;

	trial->in_schedule = false;
	return deciding;
}

void tl_seats_observe_submitted(struct tl_trial *trial, tl_job_id id)
{
	bool deciding = stop_deciding(trial);

	for (uint32_t i = 0; i < trial->observer_count; i++) {
		const struct tl_instance *instance = trial->observers[i];
		const struct tl_observer_ops *ops = instance->loaded.module->observer;

		if (ops->job_submitted != NULL) {
			tl_seats_enter(trial, instance, "job_submitted");
			ops->job_submitted(instance->self, tl_job_view_of(&trial->jobs, id));
			tl_seats_enter(trial, NULL, NULL);
		}
	}
	trial->in_schedule = deciding;
}

/* Inside schedule() the scheduler's name stays in the pulse: observers are told there too. */
void tl_seats_observe_state(struct tl_trial *trial, tl_job_id id, enum tl_job_state from)
{
	bool deciding = stop_deciding(trial);

	for (uint32_t i = 0; i < trial->observer_count; i++) {
		const struct tl_instance *instance = trial->observers[i];
		const struct tl_observer_ops *ops = instance->loaded.module->observer;

		if (ops->job_state_changed != NULL)
			ops->job_state_changed(instance->self, tl_job_view_of(&trial->jobs, id),
			                       from);
	}
	trial->in_schedule = deciding;
}

void tl_seats_observe_window(struct tl_trial *trial, uint32_t service)
{
	bool deciding = stop_deciding(trial);

	for (uint32_t i = 0; i < trial->observer_count; i++) {
		const struct tl_instance *instance = trial->observers[i];
		const struct tl_observer_ops *ops = instance->loaded.module->observer;

		if (ops->window_closed != NULL)
			ops->window_closed(instance->self, service,
			                   tl_services_view(trial, service));
	}
	trial->in_schedule = deciding;
}

void tl_seats_observe_node(struct tl_trial *trial, uint32_t node)
{
	bool deciding = stop_deciding(trial);

	for (uint32_t i = 0; i < trial->observer_count; i++) {
		const struct tl_instance *instance = trial->observers[i];
		const struct tl_observer_ops *ops = instance->loaded.module->observer;

		if (ops->node_changed != NULL)
			ops->node_changed(instance->self, node, &trial->cluster.nodes[node]);
	}
	trial->in_schedule = deciding;
}
