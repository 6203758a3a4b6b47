/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every GPU's time, once. Integers all along: the sum over everything is capacity × time
 * exactly, or somebody forgot something.
 */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_FIRST = 64 };

const char *const tl_purpose_names[TL_PURPOSE_COUNT] = {
    [TL_PURPOSE_PRODUCTIVE] = "productive",
    [TL_PURPOSE_COMMUNICATION] = "communication",
    [TL_PURPOSE_INTERFERENCE] = "interference",
    [TL_PURPOSE_CHECKPOINT] = "checkpoint",
    [TL_PURPOSE_START] = "start",
    [TL_PURPOSE_SUSPEND] = "suspend",
    [TL_PURPOSE_RESUME] = "resume",
    [TL_PURPOSE_REWORK] = "rework",
    [TL_PURPOSE_STANDBY] = "standby",
    [TL_PURPOSE_IDLE_RESERVED] = "idle-reserved",
    [TL_PURPOSE_IDLE_FRAGMENTED] = "idle-fragmented",
    [TL_PURPOSE_IDLE_FREE] = "idle-free",
    [TL_PURPOSE_DOWN] = "down",
};

const char *const tl_tier_names[TL_TIER_COUNT] = {
    [TL_TIER_BASE] = "base", [TL_TIER_ELASTIC] = "elastic", [TL_TIER_BID] = "bid"};

void tl_ledger_init(struct tl_ledger *ledger)
{
	*ledger = (struct tl_ledger){0};
}

void tl_ledger_fini(struct tl_ledger *ledger)
{
	free(ledger->lines);
	free(ledger->table);
	*ledger = (struct tl_ledger){0};
}

/* Where the key is in the table, or where it would go. */
static size_t find_slot(const struct tl_ledger *ledger, const uint32_t key[4])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t slot;

	for (int i = 0; i < 4; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	for (slot = (size_t)hash & (ledger->table_size - 1); ledger->table[slot] != 0;
	     slot = (slot + 1) & (ledger->table_size - 1)) {
		const struct tl_ledger_line *line = &ledger->lines[ledger->table[slot] - 1];

		if (line->tenant == key[0] && line->kind == key[1] && line->queue == key[2] &&
		    line->tier == key[3])
			break;
	}
	return slot;
}

static void grow_table(struct tl_ledger *ledger)
{
	ledger->table_size = ledger->table_size ? 2 * ledger->table_size : TABLE_FIRST;
	free(ledger->table);
	ledger->table = tl_calloc(ledger->table_size, sizeof *ledger->table);
	for (size_t i = 0; i < ledger->count; i++) {
		const struct tl_ledger_line *line = &ledger->lines[i];
		uint32_t key[4] = {line->tenant, line->kind, line->queue, line->tier};

		ledger->table[find_slot(ledger, key)] = (uint32_t)(i + 1);
	}
}

uint32_t tl_ledger_account(struct tl_ledger *ledger, uint32_t tenant, uint32_t kind, uint32_t queue,
                           uint32_t tier)
{
	const uint32_t key[4] = {tenant, kind, queue, tier};
	size_t slot;

	if (2 * (ledger->count + 1) > ledger->table_size)
		grow_table(ledger);
	slot = find_slot(ledger, key);
	if (ledger->table[slot] == 0) {
		ledger->lines = tl_grow(ledger->lines, &ledger->capacity, ledger->count + 1,
		                        sizeof *ledger->lines);
		ledger->lines[ledger->count] = (struct tl_ledger_line){
		    .tenant = tenant, .kind = kind, .queue = queue, .tier = tier};
		ledger->table[slot] = (uint32_t)++ledger->count;
	}
	return ledger->table[slot] - 1;
}

static tl_i128 *entry(struct tl_ledger *ledger, uint32_t account, enum tl_purpose purpose)
{
	TL_ASSERT(account < ledger->count);
	TL_ASSERT((unsigned)purpose < TL_PURPOSE_OF_JOBS);
	return &ledger->lines[account].mgpu_ns[purpose];
}

void tl_ledger_add(struct tl_ledger *ledger, uint32_t account, enum tl_purpose purpose,
                   tl_i128 mgpu_ns)
{
	TL_ASSERT(mgpu_ns >= 0);
	*entry(ledger, account, purpose) += mgpu_ns;
}

void tl_ledger_move(struct tl_ledger *ledger, uint32_t account, enum tl_purpose from,
                    enum tl_purpose to, tl_i128 mgpu_ns)
{
	TL_ASSERT(mgpu_ns >= 0);
	TL_ASSERT(*entry(ledger, account, from) >= mgpu_ns);
	*entry(ledger, account, from) -= mgpu_ns;
	*entry(ledger, account, to) += mgpu_ns;
}

tl_i128 tl_ledger_total(const struct tl_ledger *ledger, enum tl_purpose purpose)
{
	tl_i128 total = ledger->idle[purpose];

	if ((unsigned)purpose < TL_PURPOSE_OF_JOBS)
		for (size_t i = 0; i < ledger->count; i++)
			total += ledger->lines[i].mgpu_ns[purpose];
	return total;
}

tl_i128 tl_ledger_sum(const struct tl_ledger *ledger)
{
	tl_i128 sum = 0;

	for (int purpose = 0; purpose < TL_PURPOSE_COUNT; purpose++)
		sum += tl_ledger_total(ledger, (enum tl_purpose)purpose);
	return sum;
}

void tl_ledger_idle(struct tl_ledger *ledger, const struct tl_levels *levels, int64_t dt_ns)
{
	int64_t free_mgpu = levels->capacity_mgpu - levels->down_mgpu - levels->allocated_mgpu;
	int64_t reserved_mgpu = levels->reserved_mgpu;
	enum tl_purpose rest =
	    levels->waiting_jobs > 0 ? TL_PURPOSE_IDLE_FRAGMENTED : TL_PURPOSE_IDLE_FREE;

	TL_ASSERT(dt_ns >= 0);
	TL_ASSERT(free_mgpu >= 0);
	TL_ASSERT(levels->down_mgpu >= 0 && reserved_mgpu >= 0);
	/* A reservation may name GPUs that are still held: only what is free of it is idle. */
	if (reserved_mgpu > free_mgpu)
		reserved_mgpu = free_mgpu;
	ledger->idle[TL_PURPOSE_DOWN] += (tl_i128)levels->down_mgpu * dt_ns;
	ledger->idle[TL_PURPOSE_IDLE_RESERVED] += (tl_i128)reserved_mgpu * dt_ns;
	ledger->idle[rest] += (tl_i128)(free_mgpu - reserved_mgpu) * dt_ns;
}

static void write_row(struct tl_table *table, const struct tl_row_ledger *who,
                      enum tl_purpose purpose, tl_i128 mgpu_ns)
{
	struct tl_row_ledger *row = tl_table_next(table);

	*row = *who;
	tl_row_text(row->purpose, sizeof row->purpose, tl_purpose_names[purpose]);
	row->gpu_s = (double)mgpu_ns / TL_MGPU_NS_PER_GPU_S;
	row->mgpu_ns_hi = (int64_t)(mgpu_ns >> 64);
	row->mgpu_ns_lo = (uint64_t)mgpu_ns;
}

void tl_ledger_write(const struct tl_ledger *ledger, struct tl_table *table,
                     const struct tl_intern *tenants, const struct tl_intern *queues)
{
	struct tl_row_ledger who;

	for (size_t i = 0; i < ledger->count; i++) {
		const struct tl_ledger_line *line = &ledger->lines[i];

		memset(&who, 0, sizeof who);
		TL_ASSERT(line->tenant < tenants->count && line->queue < queues->count);
		TL_ASSERT(line->kind < TL_ROW_KIND_COUNT && line->tier < TL_TIER_COUNT);
		tl_row_text(who.tenant, sizeof who.tenant, tenants->names[line->tenant]);
		tl_row_text(who.kind, sizeof who.kind, tl_schema_kind_names[line->kind]);
		tl_row_text(who.queue, sizeof who.queue, queues->names[line->queue]);
		tl_row_text(who.tier, sizeof who.tier, tl_tier_names[line->tier]);
		for (int purpose = 0; purpose < TL_PURPOSE_OF_JOBS; purpose++)
			if (line->mgpu_ns[purpose] != 0)
				write_row(table, &who, (enum tl_purpose)purpose,
				          line->mgpu_ns[purpose]);
	}
	memset(&who, 0, sizeof who);
	for (int purpose = TL_PURPOSE_OF_JOBS; purpose < TL_PURPOSE_COUNT; purpose++)
		write_row(table, &who, (enum tl_purpose)purpose, ledger->idle[purpose]);
}
