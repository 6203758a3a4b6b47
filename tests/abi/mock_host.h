/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small host for tests of policy modules: a real cluster, jobs and services as the test
 * states them, decisions that are validated and carried out at once, and a record of what
 * was asked. Time stands where the test puts it.
 *
 *   struct tl_mock mock;
 *   tl_mock_init(&mock, &spec);
 *   shape = tl_mock_shape(&mock, &(struct tl_shape){…});       fills ids and totals
 *   id = tl_mock_job(&mock, &(struct tl_job_view){.shape = shape, …});
 *   module->create(&mock.host, &with, &self);
 *   tl_mock_fini(&mock);
 */
#ifndef TIDELAB_TESTS_MOCK_HOST_H
#define TIDELAB_TESTS_MOCK_HOST_H

#include "policies/abi/tidelab_policy.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/cluster/cluster.h"

enum { TL_MOCK_ROWS = 64, TL_MOCK_TEXT = 256 };

enum tl_mock_what {
	TL_MOCK_START,
	TL_MOCK_SUSPEND,
	TL_MOCK_MIGRATE,
	TL_MOCK_RESIZE,
	TL_MOCK_SCALE,
	TL_MOCK_RESERVE,
	TL_MOCK_REJECT
};

struct tl_mock_decision {
	enum tl_mock_what what;
	enum tl_refusal answer;
	tl_job_id job;
	int64_t value; /* suspend: mode; scale: replicas; resize: workers; reserve: at */
};

struct tl_mock {
	struct tl_host host;
	struct tl_cluster cluster;
	struct tl_arena arena; /* what the policy was given */
	int64_t now_ns;
	int64_t wake_ns;              /* TL_TIME_NEVER: none asked */
	struct tl_job_view *jobs;     /* by slot; slot 0 is unused */
	struct tl_alloc *allocs;      /* by slot */
	tl_job_id *waiting, *holding; /* filled when asked for */
	size_t job_count, job_room;
	struct tl_shape **shapes;
	size_t shape_count, shape_room;
	struct tl_tenant_view tenants[TL_MOCK_ROWS];
	struct tl_queue_view queues[TL_MOCK_ROWS];
	struct tl_service_view services[TL_MOCK_ROWS];
	uint32_t tenant_count, queue_count, service_count;
	struct tl_seat seats[TL_SEAT_COUNT];
	struct tl_mock_decision *decisions;
	size_t decision_count, decision_room;
	struct tl_rng rng;
	int64_t allocs_left; /* host->alloc fails after so many; -1: never */
	uint64_t log_count, explain_count;
	char last_text[TL_MOCK_TEXT]; /* of log, explain or reject */
	int deciding;                 /* 0: decisions are refused as outside schedule() */
	struct tl_model_view models[TL_MODELS_MAX];
	/* What oracle and calendar say of a service's traffic; NULL: the last window's, for ever. */
	int64_t (*traffic_per_ks)(uint32_t service, int64_t at_ns);
};

/* The spec outlives the mock. */
void tl_mock_init(struct tl_mock *mock, const struct tl_cluster_spec *spec);
void tl_mock_fini(struct tl_mock *mock);

/* A shape like the given one, with id and totals filled in; always a new one. */
uint32_t tl_mock_shape(struct tl_mock *mock, const struct tl_shape *like);
/* A Pending job like the given one; id, sequence, state and unset instants filled in. */
tl_job_id tl_mock_job(struct tl_mock *mock, const struct tl_job_view *like);
struct tl_job_view *tl_mock_at(struct tl_mock *mock, tl_job_id id);
/* What the world does: a Suspending job's save is done; a holding job ends. */
void tl_mock_saved(struct tl_mock *mock, tl_job_id id);
void tl_mock_end(struct tl_mock *mock, tl_job_id id);

/* An instance of a module with its defaults, or those with one option set (name NULL: none).
 * Returns create()'s answer; why: room for TL_MOCK_TEXT bytes, or NULL. */
int tl_mock_create(struct tl_mock *mock, const struct tl_module *module, const char *name,
                   const char *value, void **self, char *why);
/* The same with several options set. */
struct tl_setting;
int tl_mock_create_with(struct tl_mock *mock, const struct tl_module *module,
                        const struct tl_setting *settings, size_t count, void **self, char *why);

#endif
