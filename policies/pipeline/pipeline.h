/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The standard scheduler: what its files share.
 *
 * One call of schedule() is: scale; take in what changed (intake.c); one pass over the waiting
 * jobs (pass.c, easy.c, conservative.c; or reference.c, which does the same the plain way),
 * with room made for those that find none (evict.c) and kept for them (claim.c); defrag. Where
 * replicas come or go by scaling, the pass is left to the next call at the same instant.
 *
 * The rules of a pass, in which both ways agree start by start:
 *  - Waiting jobs go by (key, sequence). A job that the gate holds is passed over, and with
 *    it the later ones of its tenant and shape.
 *  - In order, each job that fits starts. One that does not has room made for it, where the
 *    preempt seat says so: then it owns a claim, and the pass goes on past it. The first that
 *    owns none, or the last of `claims` that do, is the head.
 *  - none: nothing behind the head starts. skip: whatever fits starts, in order.
 *  - easy: the head is promised the earliest instant at which it fits by estimates (running
 *    jobs leaving in order of expected end; an unknown end is never). A later job of known
 *    estimate starts if it fits and either ends by then or leaves the head its room then.
 *  - conservative: each waiting job in order, up to `depth` of them, is promised the earliest
 *    stretch that disturbs no earlier promise; it starts where that stretch begins now. A
 *    job of unknown estimate stays for ever, and never starts before an earlier one.
 *  - What is claimed is free for the owner alone until it starts: for all that come later,
 *    backfilled ones included. An earlier one that finds no room and owns no claim takes no
 *    notice of later ones where that gets it room, now or from what drains or with victims:
 *    they die, and are made anew after its own, in order, from what drains already. So who
 *    comes first by key claims first what drains.
 *  - Behind the head, replicas of services have room made for them too, under skip and easy;
 *    under easy as far as the head keeps its promise.
 *  - Where others own claims, the head's promise under easy counts them as sitting there;
 *    conservative passes nobody while a claim stands.
 */
#ifndef TIDELAB_PIPELINE_PIPELINE_H
#define TIDELAB_PIPELINE_PIPELINE_H

#include "policies/pipeline/hypo.h"
#include "policies/pipeline/queue.h"

enum tl_backfill { TL_BACKFILL_NONE, TL_BACKFILL_SKIP, TL_BACKFILL_EASY, TL_BACKFILL_CONSERVATIVE };

/* A placement with arrays of its own. */
struct tl_spot {
	struct tl_placement where;
};

/* A job that holds GPUs, by expected end. */
struct tl_leaving {
	int64_t end_ns;
	uint64_t sequence;
	tl_job_id id;
};

struct tl_leavers {
	struct tl_leaving *jobs; /* by (end, sequence) */
	uint32_t *places;        /* by slot: index + 1 */
	uint32_t count, room, place_room;
};

/* What is promised to the head under `easy`. */
struct tl_shadow {
	int known;                   /* computed in this pass */
	int64_t at_ns;               /* TL_TIME_NEVER: never by estimates */
	struct tl_scratch_view then; /* the machines at that instant, without the head */
	struct tl_spot spot;         /* where the head would go */
};

/* Room made for one job by stopping others, and kept for it. */
struct tl_claim {
	tl_job_id job; /* for whom: its owner */
	struct tl_spot spot;
	tl_job_id *victims; /* still to be stopped */
	uint32_t victim_room, victim_count;
	enum tl_suspend_mode mode;
	int64_t step_ns;
	int passed; /* the owner has had its turn in this pass */
	int tried;  /* and found no room on the live view of this version */
	uint64_t tried_version;
};

struct tl_claims {
	struct tl_claim *all; /* in order of their making */
	uint32_t count, room, most;
	tl_job_id *doomed; /* by slot: a victim still to be stopped; 0 */
	uint32_t doomed_room;
	int rest_known;
	uint64_t rest_version;               /* of the live view it was made from */
	struct tl_scratch_view rest, others; /* the live view without all claims; all but one */
	int64_t step_at_ns; /* paced victims: not before, but for those of the last node */
	uint32_t step_node;
};

/* A running job that has its GPUs to itself, beside which another may come. */
struct tl_partner {
	tl_job_id id;
	uint64_t sequence;
	const struct tl_shape *shape;
	int64_t free_mgpu;         /* beside it, of all its GPUs */
	int64_t free_memory_bytes; /* on the fullest of those whose memory is known */
	int32_t utilisation_milli;
	int guaranteed;
};

struct tl_partners {
	struct tl_partner *all; /* by (make, utilisation, sequence) */
	uint32_t count, room;
	int known;        /* listed in this call, and nobody's leaving has been decided since, */
	uint64_t version; /* from the live view as of this version */
};

struct tl_promise;

/* The machines' future under `conservative`. */
struct tl_profile {
	struct tl_promise *events;
	struct tl_scratch_view base, at, over, low;
	uint32_t *numbers; /* nodes and GPUs of all placements in it */
	uint32_t event_room, event_count, number_room, number_count;
};

/* A waiting job in the plain way's list, or a candidate for eviction. */
struct tl_listed {
	tl_wide key; /* now */
	uint64_t sequence;
	tl_job_id id;
};

struct tl_pipeline {
	const struct tl_host *host;
	struct tl_seat seats[TL_SEAT_COUNT];
	const struct tl_order_ops *order;
	const struct tl_place_ops *place;
	const struct tl_admit_ops *admit; /* NULL: the seat is empty; so below */
	const struct tl_preempt_ops *preempt;
	const struct tl_scale_ops *scale;
	const struct tl_defrag_ops *defrag;

	enum tl_backfill backfill;
	uint32_t depth;
	int32_t pair_below_milli; /* utilisation of a job up to which another may come beside it */
	int too_busy;             /* somebody was passed over for that since all were last tried */
	int reference;
	int64_t defrag_every_ns;

	int64_t now_ns;
	int64_t wake_ns; /* the earliest wake this call asks for */
	int64_t defrag_at_ns;
	int broken;             /* memory was out: nothing is decided any more */
	tl_job_id head;         /* of this pass: the first in order that is not let past; 0 */
	tl_job_id promised;     /* whose reservation the host has been told; 0 */
	uint64_t promised_hash; /* of when and where */

	struct tl_queue queue;
	struct tl_claims claims;
	struct tl_shadow shadow;
	struct tl_leavers leavers;
	struct tl_partners partners;
	struct tl_profile profile;
	struct tl_spot spot, spare; /* of the job in hand; of a dry run */
	struct tl_scratch_view trial, dry, drained;

	tl_job_id *ids, *victims;
	struct tl_key *keys;
	struct tl_listed *list;
	int64_t *list_keys;
	struct tl_scale_target *targets;
	uint32_t *cursors, *cursor_places; /* lanes of a walk, by lane */
	uint32_t *cursor_slots, *cursor_tested;
	struct tl_heap walk;
	tl_job_id *replicas; /* waiting replicas of services, and some that no longer wait */
	struct tl_listed *behind;
	tl_job_id *watched;      /* waiting jobs somebody asks about */
	struct tl_listed *plain; /* the plain way: waiting jobs in order, */
	tl_job_id *running;      /* running ones, */
	uint64_t *held;          /* and classes held in this pass */
	uint32_t id_room, victim_room, key_room, list_room, list_key_room, target_room;
	uint32_t cursor_place_room, cursor_slot_room, cursor_tested_room;
	uint32_t replica_room, replica_count, behind_room;
	uint32_t watched_room, watched_count, held_room, held_count, plain_room, running_room;
};

enum tl_outcome { TL_STARTED, TL_NO_ROOM, TL_HELD };

/* Marks the instance broken and says so once. Returns -1. */
int tl_pipeline_break(struct tl_pipeline *p);

/* ---- seats.c: questions to the seats ------------------------------------------------ */

/* Room in a spot for any placement of the shape: 0 or -1. */
int tl_spot_reserve(struct tl_spot *spot, const struct tl_host *host, const struct tl_shape *shape);
/* 1 with the spot filled. */
int tl_pipeline_choose(struct tl_pipeline *p, const struct tl_view *view,
                       const struct tl_shape *shape, struct tl_spot *spot);
/* Room for the job in hand, p->spot: where the place seat says on this view, or else beside
 * another job. 1 or 0. */
int tl_pipeline_room(struct tl_pipeline *p, tl_job_id id, const struct tl_view *view);
/* Whether the gate lets the job start. */
int tl_pipeline_admits(struct tl_pipeline *p, const struct tl_job_view *job);
/* Starts a job at p->spot. */
enum tl_outcome tl_pipeline_start(struct tl_pipeline *p, tl_job_id id);
/* Whether a job that found no room is dropped by the host: packing input. */
int tl_pipeline_drops(const struct tl_pipeline *p, tl_job_id id);
/* Keys of p->ids[0 … count) into p->keys: 0 or -1. */
int tl_pipeline_keys(struct tl_pipeline *p, uint32_t count);
const struct tl_shape *tl_pipeline_shape(const struct tl_pipeline *p, tl_job_id id);
/* When a job that holds GPUs leaves them by its estimate. */
int64_t tl_pipeline_end(const struct tl_pipeline *p, const struct tl_job_view *job);
/* Now + start-up + estimated time to go of a waiting job; TL_TIME_NEVER unknown. */
int64_t tl_pipeline_end_if_started(const struct tl_pipeline *p, const struct tl_job_view *job);
/* Tells the host what is promised to a waiting job, in place of what was promised before. */
void tl_pipeline_promise(struct tl_pipeline *p, tl_job_id id, int64_t at_ns,
                         const struct tl_spot *spot);
/* Withdraws what was promised to any other than this job. */
void tl_pipeline_unpromise(struct tl_pipeline *p, tl_job_id but);

/* ---- intake.c ------------------------------------------------------------------------ */

/* Takes in the changes and asks keys that are new or have expired: 0 or -1. */
int tl_intake(struct tl_pipeline *p, const struct tl_changes *changes);

/* ---- passes: 0, or -1 where memory is out ---------------------------------------------- */

int tl_pass_run(struct tl_pipeline *p);
int tl_easy_run(struct tl_pipeline *p, const struct tl_position *head);
int tl_reference_run(struct tl_pipeline *p);

/* A walk over the lanes that are not held (or only the open ones) in order, from after a
 * position on, over jobs whose estimate is at most so much. Starts or blocks in between call
 * for a new walk. */
int tl_walk_begin(struct tl_pipeline *p, const struct tl_position *after, int open_only,
                  int64_t most_ns);
/* The lane whose job is next (the job: p->cursor_slots[lane]); TL_NO_INDEX: none. */
uint32_t tl_walk_lane(const struct tl_pipeline *p);
/* Goes on in that lane, to at most so much; or leaves the lane. */
void tl_walk_next(struct tl_pipeline *p, int64_t most_ns);
void tl_walk_leave(struct tl_pipeline *p);

/* ---- shadow.c ---------------------------------------------------------------------------- */

/* Brings p->leavers up to date: who holds GPUs, by expected end. About O(holding): 0 or -1. */
int tl_leavers_sort(struct tl_pipeline *p);

/* Computes p->shadow for the head, unless known: 0 or -1. */
int tl_shadow_find(struct tl_pipeline *p);
/* Whether the head keeps its room at the shadow if the shape sits at p->spot from now on. */
int tl_shadow_keeps(struct tl_pipeline *p, const struct tl_shape *shape);
/* A job just started at p->spot stays beyond the shadow. */
void tl_shadow_take(struct tl_pipeline *p, const struct tl_shape *shape);

/* ---- profile.c, conservative.c ------------------------------------------------------------- */

/* The future as it stands: the live view, and who leaves when. */
int tl_profile_begin(struct tl_pipeline *p);
/* The start of the earliest stretch so long (TL_TIME_NEVER: for ever) in which the shape fits
 * in one place, p->spot, that no promise disturbs; TL_TIME_NEVER: none; -1: memory is out.
 * Now itself is looked at only if `now_too`. */
int64_t tl_profile_find(struct tl_pipeline *p, const struct tl_shape *shape, int64_t long_ns,
                        int now_too);
/* Promises p->spot over a stretch. From now on: to a job that has just started. 0 or -1. */
int tl_profile_take(struct tl_pipeline *p, const struct tl_shape *shape, int64_t at_ns,
                    int64_t long_ns);
int tl_conservative_run(struct tl_pipeline *p, const struct tl_position *head);

/* ---- second.c -------------------------------------------------------------------------------- */

/* A place beside a job that runs, for one that finds no free one: 1 with p->spot filled. The
 * view is the one that the job may use. O(partners of its make); and O(holding log holding) the first time
 * in a call, and after each change of the machines or of who is to leave. */
int tl_second_choose(struct tl_pipeline *p, tl_job_id id, const struct tl_view *view);
/* Reopens the kinds for which such a place may have come about, other than by room that was
 * freed: 0 or -1. O(blocked kinds × jobs that run now). */
int tl_second_news(struct tl_pipeline *p, const struct tl_changes *changes);

/* ---- claim.c: room kept ------------------------------------------------------------------------ */

/* Drops claims that cannot come true, stops further victims when their time has come. O(claims + cluster + holding), and a choice for each claim whose spot is lost. */
int tl_claim_review(struct tl_pipeline *p);
/* The machines as this job may use them; NULL where memory is out. */
const struct tl_view *tl_claim_view(struct tl_pipeline *p, tl_job_id id);
/* Whether the job owns a claim; whether others do. */
int tl_claim_owned(const struct tl_pipeline *p, tl_job_id id);
int tl_claim_others(const struct tl_pipeline *p, tl_job_id id);
/* Whether a job owns a claim and is known to find no room on the live view as it stands. */
int tl_claim_waits(const struct tl_pipeline *p, tl_job_id id);
/* Whether a job that holds GPUs leaves them as soon as may be: it saves, or is to be stopped. */
int tl_claim_leaves(const struct tl_pipeline *p, const struct tl_job_view *job);
/* p->drained: the machines once all that leave are gone, and the owners but one sit on what they
 * claim. How many leave, or -1. O(cluster + holding + claims). */
int64_t tl_claim_settle(struct tl_pipeline *p, tl_job_id but);
/* The order is gone through from the start: no owner has had its turn. */
void tl_claim_restart(struct tl_pipeline *p);
/* Claims whose owners have had no turn die: an earlier job takes their room, or the order is at
 * its end. 0, -1. */
int tl_claim_yield(struct tl_pipeline *p);
/* Until they are put back there are no claims whose owners have had no turn: how many. */
uint32_t tl_claim_set_aside(struct tl_pipeline *p);
void tl_claim_put_back(struct tl_pipeline *p, uint32_t aside);
/* An owner has had its turn: 1 where the pass goes on past it. */
int tl_claim_pass(struct tl_pipeline *p, tl_job_id id);
/* Claims a spot for the job at the cost of these victims, and stops those that are due: 0, -1. */
int tl_claim_add(struct tl_pipeline *p, tl_job_id id, const struct tl_spot *spot,
                 const struct tl_victims *victims);
/* The owner has started: 0, -1. */
int tl_claim_end(struct tl_pipeline *p, tl_job_id id);
/* When the next paced victims are due; TL_TIME_NEVER. */
int64_t tl_claim_wake(const struct tl_pipeline *p);
void tl_claim_give_back(struct tl_pipeline *p, struct tl_scratch_view *hypo, tl_job_id id);

/* ---- evict.c: room made ------------------------------------------------------------------------ */

enum tl_eviction {
	TL_EVICT_NOT,   /* no room is made for the job, or no more: it is the head */
	TL_EVICT_PASS,  /* it owns a claim, and the pass goes on past it */
	TL_EVICT_GONE,  /* it waits no more: packing input that is dropped */
	TL_EVICT_AGAIN, /* there is more room: the order is gone through anew */
	TL_EVICT_OVER, /* its victims were killed: the pass ends, and the host calls again at once */
};

/* What becomes of a job that finds no room, whose key now is given: enum tl_eviction, or -1.
 * O(holding log holding), and the preempt seat's dry runs, each of which is a copy of the
 * cluster and a choice. */
int tl_evict_for(struct tl_pipeline *p, tl_job_id id, tl_wide key);
/* The head is known. Behind it, where the backfill rule lets anybody past, owners of claims start
 * if they can, and room is made for replicas of services as far as the head's promise allows:
 * enum tl_eviction (NOT, AGAIN, OVER), or -1. */
int tl_evict_behind(struct tl_pipeline *p);

/* ---- explain.c --------------------------------------------------------------------------------- */

void tl_explain_start(struct tl_pipeline *p, tl_job_id id);
void tl_explain_hold(struct tl_pipeline *p, tl_job_id id, const char *why);
/* Remembers a waiting job that somebody asks about: 0 or -1. */
int tl_explain_watch(struct tl_pipeline *p, tl_job_id id);
/* Says of each watched job why it still waits. */
void tl_explain_waiting(struct tl_pipeline *p);

#endif
