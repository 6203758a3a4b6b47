/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The watchdogs that need no clock: a policy that leaves an empty cluster idle while work
 * waits (stall), and one that stops the same work again and again (loop). */
#include "sim/plane/world.h"

#include <stdio.h>

static bool stalled(const struct tl_trial *trial)
{
	return trial->jobs.waiting.count > 0 && trial->jobs.holding.count == 0;
}

/* Jobs that the policy could start on a cluster where nothing runs. The others wait for a
 * node that is down, or ask for more than their tenant may ever hold. O(waiting × nodes). */
static size_t startable(struct tl_trial *trial)
{
	size_t count = 0;

	for (size_t i = 0; i < trial->jobs.waiting.count; i++) {
		tl_job_id id = trial->jobs.waiting.ids[i];
		const struct tl_shape *shape = tl_job_of(&trial->jobs, id)->shape;
		int64_t quota_mgpu =
		    tl_trial_tenant(trial, tl_job_view_of(&trial->jobs, id)->tenant)->quota_mgpu;

		count += (quota_mgpu < 0 || shape->total_mgpu <= quota_mgpu) &&
		         tl_cluster_could_fit_up(&trial->cluster, shape);
	}
	return count;
}

bool tl_watch_scheduled(struct tl_trial *trial)
{
	int64_t now_ns = tl_trial_now(trial);

	if (trial->failure.code != TL_OK)
		return false;
	if (!stalled(trial) || trial->never_starts) {
		trial->idle_since_ns = TL_NONE;
		return true;
	}
	if (trial->idle_since_ns < 0)
		trial->idle_since_ns = now_ns;
	if (now_ns - trial->idle_since_ns < trial->scenario->watchdog_stall_ns)
		return true;
	size_t count = startable(trial);
	char since[48];

	if (count == 0) { /* asked again after as long a time */
		trial->idle_since_ns = now_ns;
		return true;
	}
	tl_trial_fail(trial, TL_E_POLICY,
	              "stall: %zu jobs wait and every node has been empty since %s, yet the policy "
	              "starts nothing",
	              count, tl_format_duration(trial->idle_since_ns, since, sizeof(since)));
	return false;
}

void tl_watch_suspended(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t gained_ns = job->progress.committed_ns - job->progress_mark_ns;

	if (!job->migrating && gained_ns < view->save_ns + view->restart_ns)
		trial->counts.futile++;
	if (job->progress.committed_ns > job->progress_mark_ns) {
		job->progress_mark_ns = job->progress.committed_ns;
		job->fruitless = 0;
		return;
	}
	if (++job->fruitless < trial->scenario->watchdog_preemptions)
		return;
	tl_trial_fail(trial, TL_E_POLICY,
	              "loop: job %s has been stopped %u times in a row without progress", job->id,
	              job->fruitless);
}

void tl_watch_ended(struct tl_trial *trial, enum tl_engine_end end)
{
	if (end == TL_ENGINE_LOOP)
		tl_trial_fail(trial, TL_E_POLICY,
		              "loop: more than %d rounds of scheduling at one instant",
		              TL_ENGINE_MAX_ROUNDS);
	if (end != TL_ENGINE_EMPTY || trial->jobs.waiting.count == 0 || trial->never_starts)
		return;
	size_t count = stalled(trial) ? startable(trial) : 0;

	if (count > 0)
		tl_trial_fail(
		    trial, TL_E_POLICY,
		    "stall: %zu jobs wait, nothing is left to happen, and the policy starts none",
		    count);
	else if (trial->options->diagnostics != NULL)
		fprintf(
		    trial->options->diagnostics,
		    "%zu jobs are left waiting for ever: for nodes that stay down, for room that is "
		    "never given back, or for more than their tenant's quota\n",
		    trial->jobs.waiting.count);
}
