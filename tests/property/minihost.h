/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small host for schedulers: jobs with a submission, a run time and an estimate on a
 * cluster, run at full speed with fixed start-up and save times. It keeps the contract to
 * the letter where schedulers could tell, and logs every start and suspension. For tests
 * that compare schedules; nothing here knows the simulator's own plane but its loader.
 */
#ifndef TIDELAB_TESTS_MINIHOST_H
#define TIDELAB_TESTS_MINIHOST_H

#include "policies/abi/tidelab_policy.h"
#include "sim/cluster/cluster.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MINI_NAME_MAX = 32, MINI_SETTINGS_MAX = 20, MINI_TENANTS_MAX = 8 };

struct mini_job {
	int64_t submit_ns, duration_ns;
	int64_t estimate_ns; /* -1: unknown */
	int64_t gpus_mgpu, cpu_milli, ram_bytes;
	uint32_t workers; /* 0: derived */
	uint32_t tenant, queue;
	bool fixed;   /* not preemptible */
	bool replica; /* of a service */
	bool guaranteed;
	int32_t utilisation_milli; /* known once it runs */
};

struct mini_world {
	const struct tl_cluster_spec *spec;
	const struct mini_job *jobs; /* by submission */
	uint32_t job_count;
	int64_t restart_ns, save_ns;
	int64_t checkpoint_ns; /* a kill loses what was run since a multiple of it; 0: everything */
	uint32_t tenant_count, queue_count;    /* at least 1 each */
	int64_t quotas_mgpu[MINI_TENANTS_MAX]; /* 0: none */
	uint32_t weights[MINI_TENANTS_MAX];    /* of queues; 0: 1 */
	int64_t ratio_milli;                   /* oversubscription; 0: none */
	uint32_t watch;                        /* a job that is asked about, + 1; 0 */
};

struct mini_setting {
	enum tl_seat_kind seat;
	const char *name, *value;
};

struct mini_policy {
	const char *use[TL_SEAT_COUNT];                  /* module names; NULL: empty */
	struct mini_setting settings[MINI_SETTINGS_MAX]; /* up to the first without a name */
};

enum mini_what { MINI_START, MINI_SUSPEND, MINI_RESERVE, MINI_REJECT, MINI_MIGRATE };

struct mini_entry {
	int64_t at_ns, value; /* value: instant of a reservation */
	uint32_t job, what;
	uint64_t where; /* hash of the placement */
};

struct mini_run {
	struct mini_entry *log;
	size_t count, capacity;
	int64_t *starts_ns, *ends_ns; /* by job: first start, end; -1 */
	uint64_t calls, refused;
	uint64_t seconds; /* starts beside another on an oversubscribed GPU */
	char said[512];   /* the last reason given for the watched job */
};

/* Runs the world to its end (all jobs done, or nothing left to happen). Fails the test
 * where a module cannot be loaded. */
void mini_run(const struct mini_world *world, const struct mini_policy *policy,
              struct mini_run *run);
void mini_run_fini(struct mini_run *run);
/* The first entry in which two runs differ but for reservations; -1: none. */
long mini_differ(const struct mini_run *a, const struct mini_run *b);

#endif
