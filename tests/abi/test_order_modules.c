/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every order module against the contract: keys are the same when asked twice, one by one
 * or in batches; they stay in range and hold for some time; nothing else is written.
 */
#include "sim/base/units.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 200, ROUNDS = 5, GUARD = 2 };

static void make_jobs(struct tl_world *world)
{
	for (uint32_t j = 0; j < JOBS; j++) {
		const struct tl_shape *shape = tl_world_shape(world, 3, 8);
		struct tl_job_view job = {
		    .shape = shape->id,
		    .submit_ns = (int64_t)j * TL_NS_PER_MIN,
		    .estimate_ns = tl_world_below(world, 4)
		                       ? 1 + (int64_t)tl_world_below(world, 100000) * TL_NS_PER_S
		                       : -1,
		    .attained_ns = (int64_t)tl_world_below(world, 2) *
		                   tl_world_below(world, 100000) * TL_NS_PER_S,
		    .priority = (int32_t)tl_world_below(world, 7) - 3,
		    .queue = tl_world_below(world, 3),
		    .tenant = tl_world_below(world, 3),
		    .restart_ns = TL_NS_PER_S,
		    .flags = TL_JOB_PREEMPTIBLE,
		    .utilisation_milli = -1};

		if (!tl_world_below(world, 5))
			job.deadline_ns = job.submit_ns + TL_NS_PER_DAY;
		(void)tl_mock_job(&world->mock, &job);
	}
}

static void name_rows(struct tl_mock *mock)
{
	static const char *const names[3] = {"high", "normal", "low"};

	for (uint32_t i = 0; i < 3; i++) {
		mock->queues[i] =
		    (struct tl_queue_view){.name = names[i], .weight = 8 >> i, .waiting = JOBS / 3};
		mock->tenants[i] =
		    (struct tl_tenant_view){.name = names[i], .quota_mgpu = -1, .weight = 1 + i};
	}
	mock->queue_count = mock->tenant_count = 3;
}

static void ask(const struct tl_order_ops *ops, void *self, struct tl_mock *mock,
                const tl_job_id *ids, uint32_t n, struct tl_key *out)
{
	struct tl_jobs jobs = mock->host.jobs(&mock->host);

	ops->keys(self, &jobs, ids, n, mock->now_ns, out);
}

static void check_module(const struct tl_module *module, struct tl_mock *mock)
{
	const struct tl_order_ops *ops = module->ops;
	struct tl_key one[JOBS + 2 * GUARD], two[JOBS + 2 * GUARD];
	tl_job_id ids[JOBS];
	uint32_t count = 0;
	void *self = NULL;
	char why[TL_MOCK_TEXT] = "";
	const tl_job_id *waiting = mock->host.waiting(&mock->host, &count);

	cr_assert_eq(count, JOBS);
	memcpy(ids, waiting, sizeof ids);
	cr_assert_eq(tl_mock_create(mock, module, NULL, NULL, &self, why), 0, "%s: %s",
	             module->name, why);
	cr_assert_not_null(ops->keys, "%s", module->name);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		mock->now_ns = JOBS * TL_NS_PER_MIN + round * 7 * TL_NS_PER_HOUR;
		memset(one, 0xa5, sizeof one);
		memset(two, 0xa5, sizeof two);
		ask(ops, self, mock, ids, JOBS, one + GUARD);
		for (uint32_t j = JOBS; j-- > 0;)
			ask(ops, self, mock, &ids[j], 1, &two[GUARD + j]);
		cr_assert_eq(memcmp(one, two, sizeof one), 0,
		             "%s: one by one, other keys than in a batch", module->name);
		cr_assert(one[0].key == one[GUARD + JOBS].key &&
		              one[0].key == (int64_t)0xa5a5a5a5a5a5a5a5,
		          "%s writes outside its room", module->name);
		for (uint32_t j = GUARD; j < GUARD + JOBS; j++) {
			cr_assert(one[j].key < INT64_C(1) << 62 && one[j].key > -(INT64_C(1) << 62),
			          "%s: a key beyond 2^62", module->name);
			cr_assert_gt(one[j].valid_until_ns, mock->now_ns,
			             "%s: a key that has run out at once", module->name);
		}
		ask(ops, self, mock, ids, 0, one + GUARD);
	}
	if (module->destroy)
		module->destroy(self);
}

Test(order_modules, keys_are_a_function)
{
	size_t count, seen = 0;
	const struct tl_suite_module *modules = tl_suite_modules(&count);

	for (size_t m = 0; m < count; m++) {
		struct tl_world world;

		if (!modules[m].module || modules[m].module->seat != TL_SEAT_ORDER)
			continue;
		tl_world_init(&world, 11, 6, 8);
		name_rows(&world.mock);
		make_jobs(&world);
		check_module(modules[m].module, &world.mock);
		tl_world_fini(&world);
		seen++;
	}
	cr_assert_geq(seen, 1, "no order module was tested");
}

/* Keys of a replica and of a job of the first queue, and of a replica of the second. */
static void strict_keys(const char *option, const char *value, struct tl_key out[3])
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);
	struct tl_world world;
	tl_job_id ids[3];
	void *self = NULL;
	char why[TL_MOCK_TEXT] = "";

	tl_world_init(&world, 11, 6, 8);
	name_rows(&world.mock);
	for (uint32_t j = 0; j < 3; j++) {
		const struct tl_job_view job = {.shape = tl_world_shape(&world, 3, 8)->id,
		                                .queue = j / 2,
		                                .flags = j == 1 ? 0 : TL_JOB_REPLICA};

		ids[j] = tl_mock_job(&world.mock, &job);
	}
	for (size_t m = 0; m < count; m++) {
		if (strcmp(modules[m].name, "priority-queues") != 0)
			continue;
		cr_assert_eq(
		    tl_mock_create(&world.mock, modules[m].module, option, value, &self, why), 0,
		    "%s", why);
		ask(modules[m].module->ops, self, &world.mock, ids, 3, out);
	}
	cr_assert_not_null(self);
	tl_world_fini(&world);
}

Test(order_modules, services_go_first_in_their_queue)
{
	struct tl_key keys[3];

	strict_keys("mode", "strict", keys);
	cr_assert_lt(keys[0].key, keys[1].key, "a replica before a job of its queue");
	cr_assert_lt(keys[1].key, keys[2].key, "a job before a replica of the next queue");
}
