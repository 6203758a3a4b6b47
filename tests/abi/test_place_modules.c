/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every place module of the build against the contract: what it chooses is legal, it
 * refuses only what does not fit, it answers the same twice, changes nothing, and writes
 * nothing outside its room. On live and hypothetical views of thousands of random worlds.
 */
#include "policies/lib/view.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_WORLDS = 400, LARGE_WORLDS = 25, ASKS = 12, PLACERS = 32, GUARD = 4 };

struct placer {
	const struct tl_module *module;
	const struct tl_place_ops *ops;
	void *self;
};

static struct placer placers[PLACERS];
static size_t placer_count;

static void make_placers(struct tl_world *world)
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);
	char why[TL_MOCK_TEXT] = "";

	placer_count = 0;
	for (size_t m = 0; m < count; m++) {
		struct placer *placer = &placers[placer_count];

		if (!modules[m].module || modules[m].module->seat != TL_SEAT_PLACE ||
		    placer_count == PLACERS)
			continue;
		placer->module = modules[m].module;
		placer->ops = placer->module->ops;
		cr_assert_eq(
		    tl_mock_create(&world->mock, placer->module, NULL, NULL, &placer->self, why), 0,
		    "%s: %s", modules[m].name, why);
		placer_count++;
	}
	cr_assert_geq(placer_count, 10, "place modules: found %zu", placer_count);
}

static void drop_placers(void)
{
	for (size_t p = 0; p < placer_count; p++)
		if (placers[p].module->destroy)
			placers[p].module->destroy(placers[p].self);
}

struct answer {
	uint32_t nodes[TL_SUITE_WORKERS + 2 * GUARD], gpus[TL_SUITE_GPUS + 2 * GUARD];
	struct tl_placement where;
	int found;
};

/* Asks with exactly the room the shape needs, between guards. */
static void ask(const struct placer *placer, const struct tl_view *view,
                const struct tl_shape *shape, struct answer *out)
{
	memset(out, 0xa5, sizeof *out);
	out->where = (struct tl_placement){.nodes = out->nodes + GUARD,
	                                   .gpus = out->gpus + GUARD,
	                                   .worker_room = shape->workers,
	                                   .gpu_room = shape->gpus};
	out->found = placer->ops->choose(placer->self, view, shape, &out->where);
	for (uint32_t i = 0; i < GUARD; i++) {
		cr_assert(out->nodes[i] == 0xa5a5a5a5 &&
		              out->nodes[GUARD + shape->workers + i] == 0xa5a5a5a5 &&
		              out->gpus[i] == 0xa5a5a5a5 &&
		              out->gpus[GUARD + shape->gpus + i] == 0xa5a5a5a5,
		          "%s writes outside its room", placer->module->name);
	}
	if (out->found)
		cr_assert_null(tl_suite_wrong(view, shape, &out->where), "%s: %s",
		               placer->module->name, tl_suite_wrong(view, shape, &out->where));
}

static bool same(const struct answer *a, const struct answer *b)
{
	return a->found == b->found &&
	       (!a->found || (memcmp(a->nodes, b->nodes, sizeof a->nodes) == 0 &&
	                      memcmp(a->gpus, b->gpus, sizeof a->gpus) == 0));
}

static void no_room(const struct placer *placer, const struct tl_view *view,
                    const struct tl_shape *shape)
{
	uint32_t nodes[1] = {77}, gpus[1] = {77};
	struct tl_placement where = {.nodes = nodes, .gpus = gpus};

	cr_assert_eq(placer->ops->choose(placer->self, view, shape, &where), 0,
	             "%s claims success in no room", placer->module->name);
	cr_assert(nodes[0] == 77 && gpus[0] == 77, "%s writes where there is no room",
	          placer->module->name);
}

/* One shape on one view, asked of everybody. fits: −1 unknown, then all must agree. */
static void ask_all(const struct tl_view *view, const struct tl_shape *shape, int fits)
{
	size_t node_bytes = view->node_count * sizeof *view->nodes;
	size_t gpu_bytes = view->gpu_count * sizeof *view->gpus;
	unsigned char *before = tl_alloc(node_bytes + gpu_bytes);

	memcpy(before, view->nodes, node_bytes);
	memcpy(before + node_bytes, view->gpus, gpu_bytes);
	for (size_t p = 0; p < placer_count; p++) {
		struct answer one, two;

		ask(&placers[p], view, shape, &one);
		ask(&placers[p], view, shape, &two);
		cr_assert(same(&one, &two), "%s answers differently when asked twice",
		          placers[p].module->name);
		if (fits < 0)
			fits = one.found;
		cr_assert_eq(one.found, fits,
		             "%s says %d, it %s: %u workers of %u GPUs × %d, then %u × %d",
		             placers[p].module->name, one.found, fits ? "fits" : "does not fit",
		             shape->workers, shape->full.gpus, shape->full.share_mgpu,
		             shape->last.gpus, shape->last.share_mgpu);
		no_room(&placers[p], view, shape);
	}
	cr_assert(memcmp(before, view->nodes, node_bytes) == 0 &&
	              memcmp(before + node_bytes, view->gpus, gpu_bytes) == 0,
	          "a module changed the view");
	free(before);
}

/* Some of what is held is given back, on paper. */
static void imagine(struct tl_world *world, struct tl_scratch_view *scratch)
{
	cr_assert_eq(tl_scratch_copy(scratch, &world->mock.host, &world->mock.cluster.view), 0);
	for (size_t h = 0; h < world->held_count; h++) {
		struct tl_placement where;
		const struct tl_job_view *job = tl_mock_at(&world->mock, world->held[h]);

		if (tl_world_below(world, 3))
			continue;
		cr_assert_eq(world->mock.host.allocation(&world->mock.host, job->id, &where), 0);
		tl_scratch_give(scratch, world->mock.shapes[job->shape], &where, 0);
	}
}

Test(place_modules, small_worlds_against_trying_everything, .timeout = 120)
{
	uint32_t fitting = 0, asked = 0;

	for (uint64_t seed = 1; seed <= SMALL_WORLDS; seed++) {
		struct tl_world world;
		struct tl_scratch_view scratch = {0};

		tl_world_init(&world, seed, 2 + (uint32_t)(seed % 3), 4);
		make_placers(&world);
		tl_world_fill(&world, (uint32_t)(seed % 12));
		imagine(&world, &scratch);
		for (uint32_t a = 0; a < ASKS; a++) {
			const struct tl_shape *shape = tl_world_shape(&world, 4, 4);
			const struct tl_view *view =
			    a % 2 ? &scratch.view : &world.mock.cluster.view;
			bool fits = tl_suite_fits(view, shape);

			ask_all(view, shape, fits);
			fitting += fits;
			asked++;
		}
		drop_placers();
		tl_world_fini(&world);
	}
	cr_assert(fitting > asked / 8 && fitting < asked - asked / 8,
	          "a one-sided test: %u of %u fit", fitting, asked);
}

Test(place_modules, large_worlds, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= LARGE_WORLDS; seed++) {
		struct tl_world world;
		struct tl_scratch_view scratch = {0};

		tl_world_init(&world, 1000 + seed, 40, 8);
		make_placers(&world);
		tl_world_fill(&world, 150);
		imagine(&world, &scratch);
		for (uint32_t a = 0; a < ASKS; a++) {
			const struct tl_shape *shape = tl_world_shape(&world, TL_SUITE_WORKERS, 8);

			ask_all(&world.mock.cluster.view, shape, -1);
			ask_all(&scratch.view, shape, -1);
		}
		drop_placers();
		tl_world_fini(&world);
	}
}

/* The answer on a view must not hang on which views were seen before: caches are keyed by
 * version. A fresh instance says the same. */
Test(place_modules, past_views_leave_no_trace, .timeout = 120)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct tl_world world;
		struct tl_scratch_view scratch = {0};
		struct placer old[PLACERS];
		const struct tl_shape *shapes[ASKS];

		tl_world_init(&world, 2000 + seed, 8, 8);
		for (uint32_t a = 0; a < ASKS; a++)
			shapes[a] = tl_world_shape(&world, 3, 8);
		make_placers(&world);
		memcpy(old, placers, sizeof old);
		for (uint32_t round = 0; round < 6; round++) {
			struct answer one, two;

			tl_world_fill(&world, 6);
			imagine(&world, &scratch);
			make_placers(&world);
			for (size_t p = 0; p < placer_count; p++) {
				for (uint32_t a = 0; a < ASKS; a++) {
					const struct tl_view *view =
					    a % 2 ? &scratch.view : &world.mock.cluster.view;

					ask(&old[p], view, shapes[a], &one);
					ask(&placers[p], view, shapes[a], &two);
					cr_assert(same(&one, &two),
					          "%s: an old instance answers otherwise",
					          old[p].module->name);
				}
			}
		}
		tl_world_fini(&world);
	}
}

/* Out of memory: create() says so, choose() finds nothing; neither crashes. */
Test(place_modules, live_without_memory, .timeout = 60)
{
	struct tl_world world;
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);

	tl_world_init(&world, 7, 12, 8);
	for (size_t m = 0; m < count; m++) {
		if (!modules[m].module || modules[m].module->seat != TL_SEAT_PLACE)
			continue;
		for (int64_t left = 0; left < 12; left++) {
			struct placer placer = {modules[m].module, modules[m].module->ops, NULL};
			char why[TL_MOCK_TEXT] = "";
			int made;

			world.mock.allocs_left = left;
			made = tl_mock_create(&world.mock, placer.module, NULL, NULL, &placer.self,
			                      why);
			cr_assert(made == 0 || why[0] != '\0',
			          "%s: create() fails without a reason", modules[m].name);
			for (uint32_t a = 0; made == 0 && a < ASKS; a++) {
				struct answer answer;

				ask(&placer, &world.mock.cluster.view, tl_world_shape(&world, 4, 4),
				    &answer);
			}
		}
		world.mock.allocs_left = -1;
	}
	tl_world_fini(&world);
}
