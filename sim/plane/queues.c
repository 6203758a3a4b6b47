/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits in which queue, longest first: a list a queue, in order of waiting_since,
 * which is the order of joining. Join, leave and the oldest are O(1). */
#include "sim/plane/world.h"

static struct tl_queue_list *list_of(struct tl_trial *trial, tl_job_id id)
{
	return &trial->queue_lists[tl_job_view_of(&trial->jobs, id)->queue];
}

void tl_queues_join(struct tl_trial *trial, tl_job_id id)
{
	struct tl_queue_list *list = list_of(trial, id);
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	job->wait_before = list->last;
	job->wait_after = 0;
	if (list->last != 0)
		tl_job_of(&trial->jobs, list->last)->wait_after = id;
	else
		list->first = id;
	list->last = id;
	list->count++;
}

void tl_queues_leave(struct tl_trial *trial, tl_job_id id)
{
	struct tl_queue_list *list = list_of(trial, id);
	const struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (job->wait_before != 0)
		tl_job_of(&trial->jobs, job->wait_before)->wait_after = job->wait_after;
	else
		list->first = job->wait_after;
	if (job->wait_after != 0)
		tl_job_of(&trial->jobs, job->wait_after)->wait_before = job->wait_before;
	else
		list->last = job->wait_before;
	list->count--;
}

const struct tl_queue_view *tl_queues_view(struct tl_trial *trial, uint32_t queue)
{
	const struct tl_queue_list *list = &trial->queue_lists[queue];
	struct tl_queue_view *view = &trial->queue_views[queue];

	view->waiting = list->count;
	view->oldest_wait_since_ns =
	    list->first != 0 ? tl_job_view_of(&trial->jobs, list->first)->waiting_since_ns
			     : TL_NONE;
	return view;
}
