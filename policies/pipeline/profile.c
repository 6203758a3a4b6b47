/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machines' future: a view of now and the list of what leaves and comes, by instant.
 * A stretch is judged on the least that is free of each GPU anywhere in it, so a job that
 * is promised one sits still through it.
 */
#include "policies/pipeline/pipeline.h"

struct tl_promise {
	int64_t at_ns;
	const struct tl_shape *shape;
	uint32_t first_number, worker_count, gpu_count; /* in profile->numbers: nodes, then GPUs */
	uint32_t comes;                                 /* 0: leaves */
};

static struct tl_placement placement_of(const struct tl_profile *profile,
                                        const struct tl_promise *event)
{
	uint32_t *numbers = profile->numbers + event->first_number;
	return (struct tl_placement){.nodes = numbers,
	                             .gpus = numbers + event->worker_count,
	                             .worker_count = event->worker_count,
	                             .gpu_count = event->gpu_count};
}

/* Keeps a copy of a placement; the event's time and direction are the caller's. */
static int keep(struct tl_pipeline *p, const struct tl_shape *shape,
                const struct tl_placement *where, struct tl_promise *event)
{
	struct tl_profile *profile = &p->profile;
	uint32_t more = where->worker_count + where->gpu_count;
	int failed = 0;
	TL_GROW(p->host, profile->numbers, profile->number_room, profile->number_count + more + 1,
	        failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	uint32_t *numbers = profile->numbers + profile->number_count;
	memcpy(numbers, where->nodes, where->worker_count * sizeof(*numbers));
	if (where->gpu_count > 0)
		memcpy(numbers + where->worker_count, where->gpus,
		       where->gpu_count * sizeof(*numbers));
	*event = (struct tl_promise){.shape = shape,
	                             .first_number = profile->number_count,
	                             .worker_count = where->worker_count,
	                             .gpu_count = where->gpu_count};
	profile->number_count += more;
	return 0;
}

/* Puts an event in by (instant, those that leave first). */
static int insert(struct tl_pipeline *p, struct tl_promise event, int64_t at_ns, uint32_t comes)
{
	struct tl_profile *profile = &p->profile;
	int failed = 0;
	TL_GROW(p->host, profile->events, profile->event_room, profile->event_count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	event.at_ns = at_ns;
	event.comes = comes;
	uint32_t at = profile->event_count++;
	for (; at > 0; at--) {
		const struct tl_promise *other = &profile->events[at - 1];
		if (other->at_ns < at_ns || (other->at_ns == at_ns && other->comes <= comes))
			break;
		profile->events[at] = *other;
	}
	profile->events[at] = event;
	return 0;
}

int tl_profile_begin(struct tl_pipeline *p)
{
	struct tl_profile *profile = &p->profile;
	profile->event_count = 0;
	profile->number_count = 0;
	if (tl_leavers_sort(p) != 0)
		return -1;
	if (tl_scratch_copy(&profile->base, p->host, p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < p->leavers.count; i++) {
		const struct tl_leaving *one = &p->leavers.jobs[i];
		struct tl_placement where;
		struct tl_promise event;
		if (one->end_ns == TL_TIME_NEVER)
			break;
		if (p->host->allocation(p->host, one->id, &where) != 0)
			continue;
		if (keep(p, tl_pipeline_shape(p, one->id), &where, &event) != 0 ||
		    insert(p, event, one->end_ns, 0) != 0)
			return -1;
	}
	return 0;
}

/* Carries out all events of the next instant on a view; returns the one after them. */
static uint32_t advance(const struct tl_profile *profile, struct tl_scratch_view *view,
                        uint32_t next)
{
	int64_t at_ns = profile->events[next].at_ns;
	for (; next < profile->event_count && profile->events[next].at_ns == at_ns; next++) {
		const struct tl_promise *event = &profile->events[next];
		struct tl_placement where = placement_of(profile, event);
		if (event->comes)
			tl_scratch_take(view, event->shape, &where);
		else
			tl_scratch_give(view, event->shape, &where, 0);
	}
	return next;
}

static int comes_before(const struct tl_profile *profile, uint32_t next, int64_t until_ns)
{
	for (; next < profile->event_count && profile->events[next].at_ns < until_ns; next++)
		if (profile->events[next].comes)
			return 1;
	return 0;
}

/* Whether the shape, which fits profile->at, fits in one place until then: 1 with p->spot, 0, -1. */
static int stays(struct tl_pipeline *p, const struct tl_shape *shape, uint32_t next,
                 int64_t until_ns)
{
	struct tl_profile *profile = &p->profile;
	if (!comes_before(profile, next, until_ns))
		return 1;
	if (tl_scratch_copy(&profile->over, p->host, &profile->at.view) != 0 ||
	    tl_scratch_copy(&profile->low, p->host, &profile->at.view) != 0)
		return tl_pipeline_break(p);
	while (next < profile->event_count && profile->events[next].at_ns < until_ns) {
		uint32_t first = next;
		next = advance(profile, &profile->over, next);
		for (uint32_t i = first; i < next; i++) {
			const struct tl_promise *event = &profile->events[i];
			struct tl_placement where = placement_of(profile, event);
			if (event->comes)
				tl_hypo_lower(&profile->low, &profile->over, event->shape, &where);
		}
	}
	return tl_pipeline_choose(p, &profile->low.view, shape, &p->spot);
}

static int64_t after(int64_t at_ns, int64_t long_ns)
{
	return at_ns > TL_TIME_NEVER - long_ns ? TL_TIME_NEVER : at_ns + long_ns;
}

int64_t tl_profile_find(struct tl_pipeline *p, const struct tl_shape *shape, int64_t long_ns,
                        int now_too)
{
	struct tl_profile *profile = &p->profile;
	int64_t at_ns = p->now_ns;
	uint32_t next = 0;
	if (tl_scratch_copy(&profile->at, p->host, &profile->base.view) != 0)
		return tl_pipeline_break(p);
	for (;;) {
		if ((at_ns > p->now_ns || now_too) &&
		    tl_pipeline_choose(p, &profile->at.view, shape, &p->spot)) {
			int found = stays(p, shape, next, after(at_ns, long_ns));
			if (found != 0)
				return found > 0 ? at_ns : -1;
		}
		if (next == profile->event_count)
			return TL_TIME_NEVER;
		at_ns = profile->events[next].at_ns;
		next = advance(profile, &profile->at, next);
	}
}

int tl_profile_take(struct tl_pipeline *p, const struct tl_shape *shape, int64_t at_ns,
                    int64_t long_ns)
{
	struct tl_promise event;
	int64_t end_ns = after(at_ns, long_ns);
	if (keep(p, shape, &p->spot.where, &event) != 0)
		return -1;
	if (at_ns == p->now_ns)
		tl_scratch_take(&p->profile.base, shape, &p->spot.where);
	else if (insert(p, event, at_ns, 1) != 0)
		return -1;
	return end_ns == TL_TIME_NEVER ? 0 : insert(p, event, end_ns, 0);
}
