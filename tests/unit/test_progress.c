/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed form of a running job's progress against stepping through it, ns by ns. */
#include "sim/base/rng.h"
#include "sim/work/progress.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>

/* ---- the stepper: one nanosecond at a time, no closed form anywhere ---- */

struct stepper {
	struct tl_checkpoint_plan plan;
	int64_t work, done, committed, snapshot, position;
	int64_t base, run_since; /* done at the last change of speed, and running time since */
	int64_t speed;
};

static bool has_checkpoints(const struct stepper *s)
{
	return s->plan.interval_ns != TL_NEVER;
}

static void step(struct stepper *s, struct tl_stretch *seen)
{
	bool runs = !has_checkpoints(s) || s->position < s->plan.interval_ns ||
	            s->position >= s->plan.interval_ns + s->plan.stall_ns;
	int64_t before = s->done;

	s->run_since += runs;
	s->done = s->base + (int64_t)((tl_i128)s->run_since * s->speed / TL_PPB);
	if (s->done > s->work)
		s->done = s->work;
	s->position++;
	seen->wall_ns++;
	seen->run_ns += runs;
	seen->work_ns += s->done - before;
	if (!has_checkpoints(s))
		return;
	if (s->position == s->plan.interval_ns)
		s->snapshot = s->done;
	if (s->position == s->plan.interval_ns + s->plan.stall_ns + s->plan.drain_ns) {
		s->committed = s->snapshot;
		s->position = 0;
	}
}

static void rebase(struct stepper *s, int64_t speed)
{
	s->base = s->done;
	s->run_since = 0;
	s->speed = speed;
}

static int64_t steps_to_end(struct stepper s)
{
	struct tl_stretch ignored = {0};
	int64_t steps = 0;

	for (; s.done < s.work; steps++)
		step(&s, &ignored);
	return steps;
}

static void agree(const struct tl_progress *p, const struct stepper *s, uint64_t trial)
{
	cr_assert_eq(p->done_ns, s->done, "trial %" PRIu64 ": done %" PRId64 ", stepped %" PRId64,
	             trial, p->done_ns, s->done);
	cr_assert_eq(p->committed_ns, s->committed,
	             "trial %" PRIu64 ": committed %" PRId64 ", stepped %" PRId64, trial,
	             p->committed_ns, s->committed);
	cr_assert_eq(tl_progress_cycle_start(p), p->anchor_ns - s->position, "trial %" PRIu64,
	             trial);
	cr_assert_eq(tl_progress_end(p), p->anchor_ns + steps_to_end(*s),
	             "trial %" PRIu64 ": end %" PRId64 ", stepped %" PRId64, trial,
	             tl_progress_end(p), p->anchor_ns + steps_to_end(*s));
}

static int64_t below(struct tl_rng *rng, uint64_t n)
{
	return (int64_t)tl_rng_below(rng, n);
}

static int64_t any_speed(struct tl_rng *rng)
{
	static const int64_t speeds[] = {TL_PPB,    990000000, 960000000, 850000000,
	                                 500000000, 333333333, 123456789, 1500000000};

	return speeds[below(rng, 8)];
}

static struct tl_checkpoint_plan any_plan(struct tl_rng *rng)
{
	int64_t kind = below(rng, 4);
	struct tl_checkpoint_plan plan = {.interval_ns = 1 + below(rng, 20)};

	if (kind == 0)
		plan.interval_ns = TL_NEVER;
	if (kind == 1 || kind == 3)
		plan.stall_ns = below(rng, 8);
	if (kind == 2 || kind == 3)
		plan.drain_ns = below(rng, 8);
	return plan;
}

/* One job's life: settled at random points, re-rated, saved, rolled back, begun anew. */
static void one_life(struct tl_rng *rng, uint64_t trial)
{
	struct tl_checkpoint_plan plan = any_plan(rng);
	int64_t speed = any_speed(rng), now = below(rng, 100);
	struct tl_progress p = {.plan = plan, .work_ns = below(rng, 150)};
	struct stepper s = {.plan = plan, .work = p.work_ns, .speed = speed};

	tl_progress_begin(&p, now, speed);
	agree(&p, &s, trial);
	for (int move = 0; move < 12; move++) {
		struct tl_stretch stepped = {0}, settled;
		int64_t wall = below(rng, 40);

		now += wall;
		for (int64_t i = 0; i < wall; i++)
			step(&s, &stepped);
		settled = tl_progress_settle(&p, now);
		cr_assert_eq(settled.wall_ns, stepped.wall_ns);
		cr_assert_eq(settled.run_ns, stepped.run_ns, "trial %" PRIu64, trial);
		cr_assert_eq(settled.work_ns, stepped.work_ns, "trial %" PRIu64, trial);
		rebase(&s, s.speed); /* settling forgets the fraction of a ns */
		agree(&p, &s, trial);
		switch (below(rng, 4)) {
		case 0:
			p.speed_ppb = any_speed(rng);
			rebase(&s, p.speed_ppb);
			break;
		case 1:
			if (below(rng, 2) != 0) {
				tl_progress_commit(&p);
				s.committed = s.done;
			} else {
				int64_t lost = s.done - s.committed;

				cr_assert_eq(tl_progress_roll_back(&p), lost, "trial %" PRIu64,
				             trial);
				s.done = s.committed;
			}
			now += below(rng, 30); /* away from the GPUs */
			p.speed_ppb = any_speed(rng);
			rebase(&s, p.speed_ppb);
			s.position = 0;
			s.snapshot = s.done;
			tl_progress_begin(&p, now, p.speed_ppb);
			break;
		default:
			break;
		}
		agree(&p, &s, trial);
	}
}

Test(progress, closed_form_equals_stepping)
{
	for (uint64_t trial = 0; trial < 4000; trial++) {
		struct tl_rng rng;

		tl_rng_init(&rng, 17, TL_STREAM_TEST, trial);
		one_life(&rng, trial);
	}
}

/* ---- by hand ---- */

Test(progress, blocking_checkpoints_by_hand)
{
	/* 10 s of work, 3 s apart, 1 s each: writes at 3-4, 7-8, 11-12; the end at 13. */
	struct tl_progress p = {.plan = {.interval_ns = 3, .stall_ns = 1}, .work_ns = 10};

	tl_progress_begin(&p, 0, TL_PPB);
	cr_assert_eq(tl_progress_period(&p.plan), 4);
	cr_assert_eq(tl_progress_end(&p), 13);
	tl_progress_settle(&p, 7);
	cr_assert_eq(p.done_ns, 6);
	cr_assert_eq(p.committed_ns, 3, "the write that began at 7 is not whole yet");
	cr_assert_eq(tl_progress_end(&p), 13, "settling does not move the end at full speed");
	tl_progress_settle(&p, 8);
	cr_assert_eq(p.committed_ns, 6);
}

Test(progress, work_that_ends_with_an_interval_does_not_wait_for_its_checkpoint)
{
	struct tl_progress p = {.plan = {.interval_ns = 5, .stall_ns = 100}, .work_ns = 5};

	tl_progress_begin(&p, 0, TL_PPB);
	cr_assert_eq(tl_progress_end(&p), 5);
}

Test(progress, an_asynchronous_commit_holds_what_was_done_when_its_write_began)
{
	struct tl_progress p = {.plan = {.interval_ns = 10, .stall_ns = 1, .drain_ns = 4},
	                        .work_ns = 1000};

	tl_progress_begin(&p, 0, TL_PPB);
	tl_progress_settle(&p, 12); /* amid the drain: 10 + 1 done */
	cr_assert_eq(p.done_ns, 11);
	cr_assert_eq(p.committed_ns, 0);
	tl_progress_settle(&p, 15);
	cr_assert_eq(p.done_ns, 14);
	cr_assert_eq(p.committed_ns, 10, "anchored anew amid the write, the snapshot stays");
	cr_assert_eq(tl_progress_roll_back(&p), 4);
	cr_assert_eq(p.done_ns, 10);
}

Test(progress, a_job_that_never_ends_and_one_without_work)
{
	struct tl_progress p = {.plan = {.interval_ns = TL_NEVER}, .work_ns = TL_NEVER};

	tl_progress_begin(&p, 5, TL_PPB);
	cr_assert_eq(tl_progress_end(&p), TL_NEVER);
	p.work_ns = 0;
	cr_assert_eq(tl_progress_end(&p), 5);
}

Test(progress, centuries_of_work_saturate_and_never_overflow)
{
	struct tl_progress p = {
	    .plan = {.interval_ns = 300 * TL_NS_PER_S, .stall_ns = 5 * TL_NS_PER_S},
	    .work_ns = TL_NEVER - 1};

	tl_progress_begin(&p, 0, TL_PPB);
	cr_assert_eq(tl_progress_end(&p), TL_NEVER);
	p.plan = (struct tl_checkpoint_plan){.interval_ns = TL_NEVER};
	tl_progress_begin(&p, 100, 1);
	cr_assert_eq(tl_progress_end(&p), TL_NEVER);
	p.plan = (struct tl_checkpoint_plan){.interval_ns = 1, .stall_ns = TL_NS_PER_DAY};
	p.work_ns = TL_NS_PER_DAY; /* each ns of it costs a day */
	tl_progress_begin(&p, 0, TL_PPB);
	cr_assert_eq(tl_progress_end(&p), TL_NEVER);
}

Test(progress, going_back_in_time_is_an_error_of_ours, .signal = SIGABRT)
{
	struct tl_progress p = {.plan = {.interval_ns = TL_NEVER}, .work_ns = 10};

	tl_progress_begin(&p, 5, TL_PPB);
	tl_progress_settle(&p, 4);
}

Test(progress, no_speed_is_an_error_of_ours, .signal = SIGABRT)
{
	struct tl_progress p = {.plan = {.interval_ns = TL_NEVER}, .work_ns = 10};

	tl_progress_begin(&p, 5, 0);
}

/* ---- Young's interval ---- */

Test(progress, young_by_hand)
{
	/* √(2 × 5 s × 86,400 s) = √864,000 s = 929.516003… s */
	cr_assert_eq(tl_checkpoint_optimal_ns(5 * TL_NS_PER_S, TL_NS_PER_DAY),
	             INT64_C(929516003089));
	cr_assert_eq(tl_checkpoint_optimal_ns(2 * TL_NS_PER_S, TL_NS_PER_S), 2 * TL_NS_PER_S,
	             "√(2·2·1) = 2 s exactly");
	cr_assert_eq(tl_checkpoint_optimal_ns(0, TL_NS_PER_DAY), TL_NS_PER_S, "at least a second");
	cr_assert_eq(tl_checkpoint_optimal_ns(INT64_MAX, INT64_MAX), INT64_MAX, "it saturates");
}
