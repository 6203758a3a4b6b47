/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The watchdogs that need no clock: a policy that leaves an empty cluster idle while work
 * waits (stall), and one that stops the same work again and again (loop). */
#include "sim/plane/world.h"

static bool stalled(const struct tl_trial *trial)
{
	return trial->jobs.waiting.count > 0 && trial->jobs.holding.count == 0;
}

bool tl_watch_scheduled(struct tl_trial *trial)
{
	int64_t now_ns = tl_trial_now(trial);

	if (trial->failure.code != TL_OK)
		return false;
	if (!stalled(trial) || trial->cluster.down_mgpu > 0 || trial->never_starts) {
		trial->idle_since_ns = TL_NONE;
		return true;
	}
	if (trial->idle_since_ns < 0)
		trial->idle_since_ns = now_ns;
	if (now_ns - trial->idle_since_ns < trial->scenario->watchdog_stall_ns)
		return true;
	char since[48];

	tl_trial_fail(trial, TL_E_POLICY,
	              "stall: %zu jobs wait and every node has been empty since %s, yet the policy "
	              "starts nothing",
	              trial->jobs.waiting.count,
	              tl_format_duration(trial->idle_since_ns, since, sizeof(since)));
	return false;
}

void tl_watch_suspended(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

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
		tl_trial_fail(trial, TL_E_POLICY, "loop: more than %d rounds of scheduling at one instant",
		              TL_ENGINE_MAX_ROUNDS);
	if (end == TL_ENGINE_EMPTY && trial->jobs.waiting.count > 0 && !trial->never_starts)
		tl_trial_fail(trial, TL_E_POLICY,
		              "stall: %zu jobs wait, nothing is left to happen, and the policy starts none",
		              trial->jobs.waiting.count);
}
