/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/pipeline/queue.h"

#include "policies/pipeline/treap.h"

static int lane_before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct tl_queue *queue = ctx;
	const struct tl_item *x = &queue->items[queue->lanes[a].head];
	const struct tl_item *y = &queue->items[queue->lanes[b].head];
	return tl_treap_before(x, y->key, y->sequence);
}

static int expiry_before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct tl_queue *queue = ctx;
	const struct tl_item *x = &queue->items[a], *y = &queue->items[b];
	return x->valid_until_ns != y->valid_until_ns ? x->valid_until_ns < y->valid_until_ns
	                                              : x->sequence < y->sequence;
}

static struct tl_heap_order all_order(const struct tl_queue *queue)
{
	return (struct tl_heap_order){
	    .before = lane_before, .ctx = queue, .place = queue->all_places};
}

static struct tl_heap_order open_order(const struct tl_queue *queue)
{
	return (struct tl_heap_order){
	    .before = lane_before, .ctx = queue, .place = queue->open_places};
}

static struct tl_heap_order expiry_order(const struct tl_queue *queue)
{
	return (struct tl_heap_order){
	    .before = expiry_before, .ctx = queue, .place = queue->expiry_places};
}

void tl_queue_init(struct tl_queue *queue, const struct tl_host *host, int by_tenant)
{
	*queue = (struct tl_queue){.host = host, .by_tenant = by_tenant};
}

int tl_queue_reserve(struct tl_queue *queue, uint32_t slot)
{
	int failed = 0, more = 0;
	if (slot == TL_NO_INDEX)
		return -1;
	TL_GROW(queue->host, queue->items, queue->item_room, slot + 1, failed);
	TL_GROW(queue->host, queue->expiry_places, queue->expiry_room, slot + 1, more);
	return failed != 0 || more != 0 ? -1 : 0;
}

/* ---- lanes ---------------------------------------------------------------------- */

static uint32_t group_of(struct tl_queue *queue, int64_t slope_per_ns)
{
	uint32_t group = tl_map_find(&queue->group_map, 0, slope_per_ns);
	if (group != TL_NO_INDEX)
		return group;
	int failed = 0;
	TL_GROW(queue->host, queue->groups, queue->group_room, queue->group_count + 1, failed);
	group = queue->group_count;
	if (failed != 0 || tl_map_add(queue->host, &queue->group_map, 0, slope_per_ns, group) != 0)
		return TL_NO_INDEX;
	queue->groups[group] = (struct tl_lane_group){.slope_per_ns = slope_per_ns};
	queue->group_count++;
	return group;
}

static uint32_t class_of(struct tl_queue *queue, uint32_t shape, uint32_t tenant)
{
	uint64_t name = (uint64_t)shape << 32 | tenant;
	uint32_t class = tl_map_find(&queue->class_map, name, 0);
	if (class != TL_NO_INDEX)
		return class;
	int failed = 0, more = 0;
	TL_GROW(queue->host, queue->classes, queue->class_room, queue->class_count + 1, failed);
	TL_GROW(queue->host, queue->tenants, queue->tenant_room, tenant + 1, more);
	class = queue->class_count;
	if (failed != 0 || more != 0 ||
	    tl_map_add(queue->host, &queue->class_map, name, 0, class) != 0)
		return TL_NO_INDEX;
	queue->classes[class] = (struct tl_lane_class){
	    .first_lane = TL_NO_INDEX, .next_of_tenant = queue->tenants[tenant] - 1};
	queue->tenants[tenant] = class + 1;
	queue->class_count++;
	return class;
}

static uint32_t lane_of(struct tl_queue *queue, const struct tl_job_view *job, int64_t slope_per_ns)
{
	uint32_t tenant = queue->by_tenant ? job->tenant : 0;
	uint32_t kind = job->shape << 1 | ((job->flags & TL_JOB_GUARANTEED) != 0);
	uint64_t name = (uint64_t)kind << 32 | tenant;
	uint32_t lane = tl_map_find(&queue->lane_map, name, slope_per_ns);
	if (lane != TL_NO_INDEX)
		return lane;
	int a = 0, b = 0, c = 0, d = 0, e = 0;
	uint32_t count = queue->lane_count + 1;
	TL_GROW(queue->host, queue->lanes, queue->lane_room, count, a);
	TL_GROW(queue->host, queue->all_places, queue->all_room, count, b);
	TL_GROW(queue->host, queue->open_places, queue->open_room, count, c);
	TL_GROW(queue->host, queue->kinds, queue->kind_room, kind + 1, d);
	TL_GROW(queue->host, queue->blocked, queue->blocked_room, queue->kind_room, e);
	if (a != 0 || b != 0 || c != 0 || d != 0 || e != 0)
		return TL_NO_INDEX;
	uint32_t group = group_of(queue, slope_per_ns);
	uint32_t class = class_of(queue, job->shape, tenant);
	lane = queue->lane_count;
	if (group == TL_NO_INDEX || class == TL_NO_INDEX ||
	    tl_map_add(queue->host, &queue->lane_map, name, slope_per_ns, lane) != 0)
		return TL_NO_INDEX;
	struct tl_lane_kind *of_kind = &queue->kinds[kind];
	queue->lanes[lane] = (struct tl_lane){.shape = job->shape,
	                                      .kind = kind,
	                                      .class_of = class,
	                                      .group = group,
	                                      .next_of_kind = of_kind->first_lane - 1,
	                                      .next_of_class = queue->classes[class].first_lane,
	                                      .root = TL_NO_INDEX,
	                                      .head = TL_NO_INDEX};
	of_kind->first_lane = lane + 1;
	queue->classes[class].first_lane = lane;
	queue->lane_count++;
	return lane;
}

static int may_start(const struct tl_queue *queue, const struct tl_lane *lane)
{
	return lane->head != TL_NO_INDEX && !queue->classes[lane->class_of].held;
}

/* Puts a lane among the open ones, or not, as its kind is blocked or not now. */
static int settle_open(struct tl_queue *queue, uint32_t index)
{
	const struct tl_lane *lane = &queue->lanes[index];
	struct tl_heap *heap = &queue->groups[lane->group].open;
	const struct tl_heap_order order = open_order(queue);
	tl_heap_remove(heap, &order, index);
	if (!may_start(queue, lane) || queue->kinds[lane->kind].blocked)
		return 0;
	return tl_heap_add(queue->host, heap, &order, index);
}

/* Puts a lane where its head, and what blocks or holds it, says it belongs. */
static int settle(struct tl_queue *queue, uint32_t index)
{
	const struct tl_lane *lane = &queue->lanes[index];
	struct tl_heap *heap = &queue->groups[lane->group].all;
	const struct tl_heap_order order = all_order(queue);
	tl_heap_remove(heap, &order, index);
	if (may_start(queue, lane) && tl_heap_add(queue->host, heap, &order, index) != 0)
		return -1;
	return settle_open(queue, index);
}

static int leave_lane(struct tl_queue *queue, uint32_t slot)
{
	struct tl_item *item = &queue->items[slot];
	uint32_t index = item->lane;
	struct tl_lane *lane = &queue->lanes[index];
	lane->root = tl_treap_take(queue->items, lane->root, slot);
	lane->waiting--;
	queue->waiting--;
	item->lane = TL_NO_INDEX;
	if (lane->head != slot)
		return 0;
	lane->head = tl_treap_first(queue->items, lane->root);
	return settle(queue, index);
}

static int enter_lane(struct tl_queue *queue, uint32_t slot, uint32_t index)
{
	struct tl_item *item = &queue->items[slot];
	struct tl_lane *lane = &queue->lanes[index];
	item->lane = index;
	item->left = TL_NO_INDEX;
	item->right = TL_NO_INDEX;
	lane->root = tl_treap_add(queue->items, lane->root, slot);
	lane->waiting++;
	queue->waiting++;
	uint32_t head = lane->head;
	if (head != TL_NO_INDEX &&
	    !tl_treap_before(item, queue->items[head].key, queue->items[head].sequence))
		return 0;
	lane->head = slot;
	return settle(queue, index);
}

/* ---- jobs ------------------------------------------------------------------------ */

static int expect(struct tl_queue *queue, uint32_t slot, int64_t valid_until_ns)
{
	const struct tl_heap_order order = expiry_order(queue);
	tl_heap_remove(&queue->expiries, &order, slot);
	queue->items[slot].valid_until_ns = valid_until_ns;
	if (valid_until_ns == TL_TIME_NEVER)
		return 0;
	return tl_heap_add(queue->host, &queue->expiries, &order, slot);
}

static void fill(struct tl_item *item, const struct tl_job_view *job, const struct tl_key *key,
                 int64_t now_ns)
{
	item->id = job->id;
	item->sequence = job->sequence;
	item->rank = (uint32_t)tl_hash_word(job->sequence);
	item->slope_per_ns = key->slope_per_ns;
	item->key = (tl_wide)key->key - (tl_wide)key->slope_per_ns * now_ns;
	item->remaining_ns = TL_TIME_NEVER;
	if (job->estimate_ns >= 0)
		item->remaining_ns =
		    job->estimate_ns > job->attained_ns ? job->estimate_ns - job->attained_ns : 0;
}

int tl_queue_put(struct tl_queue *queue, const struct tl_job_view *job, const struct tl_key *key,
                 int64_t now_ns)
{
	uint32_t slot = TL_JOB_SLOT(job->id);
	struct tl_item *item = &queue->items[slot];
	if (item->id != 0 && item->lane != TL_NO_INDEX && leave_lane(queue, slot) != 0)
		return -1;
	fill(item, job, key, now_ns);
	item->lane = TL_NO_INDEX;
	uint32_t lane = lane_of(queue, job, key->slope_per_ns);
	if (lane == TL_NO_INDEX || expect(queue, slot, key->valid_until_ns) != 0)
		return -1;
	return enter_lane(queue, slot, lane);
}

int tl_queue_track(struct tl_queue *queue, const struct tl_job_view *job, const struct tl_key *key,
                   int64_t now_ns)
{
	uint32_t slot = TL_JOB_SLOT(job->id);
	fill(&queue->items[slot], job, key, now_ns);
	queue->items[slot].lane = TL_NO_INDEX;
	return expect(queue, slot, key->valid_until_ns);
}

int tl_queue_forget(struct tl_queue *queue, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	if (slot >= queue->item_room || queue->items[slot].id != id)
		return 0;
	const struct tl_heap_order order = expiry_order(queue);
	tl_heap_remove(&queue->expiries, &order, slot);
	queue->items[slot].id = 0;
	return queue->items[slot].lane == TL_NO_INDEX ? 0 : leave_lane(queue, slot);
}

int tl_queue_waits(const struct tl_queue *queue, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	return slot < queue->item_room && queue->items[slot].id == id &&
	       queue->items[slot].lane != TL_NO_INDEX;
}

int tl_queue_tracks(const struct tl_queue *queue, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	return slot < queue->item_room && queue->items[slot].id == id &&
	       queue->items[slot].lane == TL_NO_INDEX;
}

/* ---- order ------------------------------------------------------------------------ */

struct tl_position tl_queue_position(const struct tl_queue *queue, uint32_t slot, int64_t now_ns)
{
	const struct tl_item *item = &queue->items[slot];
	return (struct tl_position){.value = tl_item_key(item, now_ns), .sequence = item->sequence};
}

int tl_position_before(const struct tl_position *a, const struct tl_position *b)
{
	return a->value != b->value ? a->value < b->value : a->sequence < b->sequence;
}

static uint32_t first_of(const struct tl_queue *queue, int open, int64_t now_ns)
{
	uint32_t best = TL_NO_INDEX;
	struct tl_position least = {0};
	for (uint32_t i = 0; i < queue->group_count; i++) {
		const struct tl_lane_group *group = &queue->groups[i];
		const struct tl_heap *heap = open ? &group->open : &group->all;
		if (heap->count == 0)
			continue;
		struct tl_position at =
		    tl_queue_position(queue, queue->lanes[heap->items[0]].head, now_ns);
		if (best != TL_NO_INDEX && !tl_position_before(&at, &least))
			continue;
		best = heap->items[0];
		least = at;
	}
	return best;
}

uint32_t tl_queue_first(const struct tl_queue *queue, int64_t now_ns)
{
	return first_of(queue, 0, now_ns);
}

uint32_t tl_queue_first_open(const struct tl_queue *queue, int64_t now_ns)
{
	return first_of(queue, 1, now_ns);
}

uint32_t tl_queue_next(const struct tl_queue *queue, uint32_t lane, const struct tl_position *after,
                       int64_t most_ns, int64_t now_ns)
{
	int64_t slope = queue->groups[queue->lanes[lane].group].slope_per_ns;
	return tl_treap_next(queue->items, queue->lanes[lane].root,
	                     after->value - (tl_wide)slope * now_ns, after->sequence, most_ns);
}

uint32_t tl_queue_rank(const struct tl_queue *queue, const struct tl_position *at, int64_t now_ns)
{
	uint32_t rank = 0;
	for (uint32_t i = 0; i < queue->lane_count; i++) {
		int64_t slope = queue->groups[queue->lanes[i].group].slope_per_ns;
		rank += tl_treap_count(queue->items, queue->lanes[i].root,
		                       at->value - (tl_wide)slope * now_ns, at->sequence);
	}
	return rank;
}

/* ---- blocking and holding ---------------------------------------------------------- */

static int settle_kind(struct tl_queue *queue, uint32_t kind)
{
	for (uint32_t i = queue->kinds[kind].first_lane - 1; i != TL_NO_INDEX;
	     i = queue->lanes[i].next_of_kind)
		if (settle_open(queue, i) != 0)
			return -1;
	return 0;
}

int tl_queue_block(struct tl_queue *queue, uint32_t kind)
{
	if (queue->kinds[kind].blocked)
		return 0;
	queue->kinds[kind].blocked = 1;
	queue->blocked[queue->blocked_count++] = kind;
	return settle_kind(queue, kind);
}

int tl_queue_reopen_all(struct tl_queue *queue)
{
	while (queue->blocked_count > 0) {
		uint32_t kind = queue->blocked[--queue->blocked_count];
		queue->kinds[kind].blocked = 0;
		if (settle_kind(queue, kind) != 0)
			return -1;
	}
	return 0;
}

int tl_queue_reopen_if(struct tl_queue *queue, int (*meant)(const void *ctx, uint32_t shape),
                       const void *ctx)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < queue->blocked_count; i++) {
		uint32_t kind = queue->blocked[i];
		if (!meant(ctx, queue->lanes[queue->kinds[kind].first_lane - 1].shape)) {
			queue->blocked[kept++] = kind;
			continue;
		}
		queue->kinds[kind].blocked = 0;
		if (settle_kind(queue, kind) != 0)
			return -1;
	}
	queue->blocked_count = kept;
	return 0;
}

static int set_held(struct tl_queue *queue, uint32_t class, uint32_t held)
{
	if (queue->classes[class].held == held)
		return 0;
	queue->classes[class].held = held;
	for (uint32_t i = queue->classes[class].first_lane; i != TL_NO_INDEX;
	     i = queue->lanes[i].next_of_class)
		if (settle(queue, i) != 0)
			return -1;
	return 0;
}

int tl_queue_hold(struct tl_queue *queue, uint32_t lane)
{
	return set_held(queue, queue->lanes[lane].class_of, 1);
}

int tl_queue_release(struct tl_queue *queue, uint32_t tenant)
{
	if (!queue->by_tenant || tenant >= queue->tenant_room)
		return 0;
	for (uint32_t i = queue->tenants[tenant] - 1; i != TL_NO_INDEX;
	     i = queue->classes[i].next_of_tenant)
		if (set_held(queue, i, 0) != 0)
			return -1;
	return 0;
}

int tl_queue_release_all(struct tl_queue *queue)
{
	for (uint32_t i = 0; i < queue->class_count; i++)
		if (set_held(queue, i, 0) != 0)
			return -1;
	return 0;
}

/* ---- expiry ------------------------------------------------------------------------- */

uint32_t tl_queue_expired(struct tl_queue *queue, int64_t now_ns)
{
	if (tl_queue_next_expiry(queue) > now_ns)
		return TL_NO_INDEX;
	uint32_t slot = queue->expiries.items[0];
	const struct tl_heap_order order = expiry_order(queue);
	tl_heap_remove(&queue->expiries, &order, slot);
	return slot;
}

int64_t tl_queue_next_expiry(const struct tl_queue *queue)
{
	return queue->expiries.count > 0 ? queue->items[queue->expiries.items[0]].valid_until_ns
	                                 : TL_TIME_NEVER;
}
