/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests into shapes: how GPUs, CPU and memory are split over workers. */
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/work/shapes.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { BIG = 4, SMALL = 2, CPU = 1, NODES = BIG + SMALL + CPU };
enum { A100, T4 };

static struct tl_gpu_model models[2] = {{.name = "A100", .memory_bytes = 80 * TL_GIB},
                                        {.name = "T4", .memory_bytes = 16 * TL_GIB}};
static struct tl_node_spec nodes[NODES];
static struct tl_cluster_spec spec = {
    .models = models, .model_count = 2, .nodes = nodes, .node_count = NODES};
static struct tl_cluster cluster;
static struct tl_shapes shapes;

/* Four nodes of 8 A100, two of 2 T4, one without GPUs. */
static void setup(void)
{
	struct tl_error error = TL_ERROR_INIT;

	for (uint32_t n = 0; n < NODES; n++) {
		nodes[n] = (struct tl_node_spec){.gpus = n < BIG           ? 8
		                                         : n < BIG + SMALL ? 2
		                                                           : 0,
		                                 .model = n < BIG           ? A100
		                                          : n < BIG + SMALL ? T4
		                                                            : TL_NO_INDEX,
		                                 .cpu_milli = 64000,
		                                 .ram_bytes = 512 * TL_GIB};
		(void)snprintf(nodes[n].name, sizeof nodes[n].name, "n%u", n);
	}
	cr_assert_eq(tl_cluster_init(&cluster, &spec, &error), TL_OK, "%s", error.message);
	tl_shapes_init(&shapes, &cluster, &spec);
}

static void teardown(void)
{
	tl_shapes_fini(&shapes);
	tl_cluster_fini(&cluster);
}

TestSuite(shapes, .init = setup, .fini = teardown);

static struct tl_request ask(int64_t gpus_mgpu, uint32_t workers)
{
	return (struct tl_request){.gpus_mgpu = gpus_mgpu,
	                           .workers = workers,
	                           .gpu_memory_bytes = TL_NONE,
	                           .cpu_milli = TL_NONE,
	                           .ram_bytes = TL_NONE,
	                           .model_mask = UINT64_MAX};
}

static struct tl_shape *intern(int64_t gpus_mgpu, uint32_t workers)
{
	struct tl_request request = ask(gpus_mgpu, workers);

	return tl_shapes_intern(&shapes, &request, false);
}

Test(shapes, gpus_over_workers_by_hand)
{
	static const struct {
		int64_t mgpu;
		uint32_t stated, workers, full, last;
		int32_t share;
	} rows[] = {
	    {1000, 0, 1, 1, 1, 1000},  {8000, 0, 1, 8, 8, 1000},  {12000, 0, 2, 8, 4, 1000},
	    {16000, 0, 2, 8, 8, 1000}, {17000, 0, 3, 8, 1, 1000}, {16000, 4, 4, 4, 4, 1000},
	    {9000, 5, 5, 2, 1, 1000},  {500, 0, 1, 1, 1, 500},    {1, 0, 1, 1, 1, 1},
	    {1000, 2, 2, 1, 1, 500},   {900, 3, 3, 1, 1, 300},    {2000, 2, 2, 1, 1, 1000},
	    {0, 0, 1, 0, 0, 0},        {0, 3, 3, 0, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct tl_shape *shape = intern(rows[i].mgpu, rows[i].stated);

		cr_assert_not_null(shape, "row %zu", i);
		cr_assert_eq(shape->workers, rows[i].workers, "row %zu: %u workers", i,
		             shape->workers);
		cr_assert_eq(shape->full.gpus, rows[i].full, "row %zu", i);
		cr_assert_eq(shape->last.gpus, rows[i].last, "row %zu", i);
		cr_assert_eq(shape->full.share_mgpu, rows[i].share, "row %zu", i);
		cr_assert_eq(shape->total_mgpu, rows[i].mgpu, "row %zu", i);
	}
}

Test(shapes, what_is_no_shape_has_none)
{
	cr_assert_null(intern(1500, 0), "neither whole nor one share");
	cr_assert_null(intern(1500, 1));
	cr_assert_null(intern(7, 2), "does not divide");
	cr_assert_null(intern(10000, 6), "five times two leave the last none");
	cr_assert_null(intern(-1, 0));
	cr_assert_null(intern(INT64_MAX, 0));
	cr_assert_null(intern((int64_t)INT32_MAX + 1, 0));
	cr_assert_null(intern(0, UINT32_MAX), "a node a worker: nobody writes so many down");
	cr_assert_eq(shapes.count, 0, "ids stay dense");
	cr_assert_eq(intern(1000, 0)->id, 0u);
}

Test(shapes, equal_requests_share_one_address_and_others_do_not)
{
	struct tl_request request = ask(4000, 0), other = request;
	struct tl_shape *first = tl_shapes_intern(&shapes, &request, false);

	for (int64_t mgpu = 1; mgpu <= 999; mgpu++) /* makes the table grow */
		(void)intern(mgpu, 0);
	cr_assert_eq(tl_shapes_intern(&shapes, &request, false), first);
	cr_assert_eq(tl_shapes_at(&shapes, first->id), first);
	other.model_mask = 1;
	cr_assert_neq(tl_shapes_intern(&shapes, &other, false), first);
	other = request;
	other.cpu_milli = 1;
	cr_assert_neq(tl_shapes_intern(&shapes, &other, false), first);
	cr_assert_neq(tl_shapes_intern(&shapes, &request, true), first, "clamped is another thing");
	cr_assert_eq(shapes.count, 1003);
	cr_assert_null(tl_shapes_at(&shapes, 1003));
	cr_assert_null(tl_shapes_at(&shapes, UINT32_MAX));
}

Test(shapes, memory_not_stated_is_a_part_of_the_smallest_card_that_will_do)
{
	struct tl_request request = ask(1000, 0);

	cr_assert_eq(intern(1000, 0)->full.gpu_memory_bytes, 8 * TL_GIB, "half of the T4");
	cr_assert_eq(intern(250, 0)->full.gpu_memory_bytes, 4 * TL_GIB, "a quarter of the T4");
	request.model_mask = 1u << A100;
	cr_assert_eq(tl_shapes_intern(&shapes, &request, false)->full.gpu_memory_bytes,
	             40 * TL_GIB);
	request.gpu_memory_bytes = TL_GIB;
	cr_assert_eq(tl_shapes_intern(&shapes, &request, false)->full.gpu_memory_bytes, TL_GIB);
	cr_assert_eq(intern(0, 1)->full.gpu_memory_bytes, 0, "no GPU, no GPU memory");
}

Test(shapes, cpu_and_memory_go_with_the_gpus)
{
	struct tl_request request = ask(12000, 0);

	request.cpu_milli = 96000;
	request.ram_bytes = 1000;
	const struct tl_shape *shape = tl_shapes_intern(&shapes, &request, false);

	cr_assert_eq(shape->full.cpu_milli, 64000, "8 of 12 GPUs");
	cr_assert_eq(shape->last.cpu_milli, 32000);
	cr_assert_eq(shape->full.ram_bytes, 667, "rounded up");
	cr_assert_eq(shape->last.ram_bytes, 333, "takes the rest");
	cr_assert_eq(intern(12000, 0)->full.cpu_milli, 0, "what is not stated is not asked for");
}

Test(shapes, a_split_always_sums_to_the_whole)
{
	struct tl_rng rng;
	int seen = 0;

	tl_rng_init(&rng, 5, TL_STREAM_TEST, 0);
	for (int i = 0; i < 5000; i++) {
		struct tl_request request =
		    ask((int64_t)tl_rng_below(&rng, 40) * 1000, (uint32_t)tl_rng_below(&rng, 9));

		request.cpu_milli = (int64_t)tl_rng_below(&rng, 2000);
		request.ram_bytes = (int64_t)tl_rng_below(&rng, 50);
		const struct tl_shape *s = tl_shapes_intern(&shapes, &request, false);

		if (s == NULL)
			continue;
		seen++;
		int64_t others = s->workers - 1;

		cr_assert_eq(s->full.cpu_milli * others + s->last.cpu_milli, request.cpu_milli);
		cr_assert_eq(s->full.ram_bytes * others + s->last.ram_bytes, request.ram_bytes);
		cr_assert_eq((s->full.gpus * others + s->last.gpus) * s->full.share_mgpu,
		             request.gpus_mgpu);
		cr_assert(s->last.cpu_milli >= 0 && s->last.ram_bytes >= 0 &&
		          s->full.ram_bytes >= 0);
		cr_assert(s->gpus == 0 || s->last.gpus > 0);
	}
	cr_assert_gt(seen, 3000);
}

Test(shapes, feasibility_is_that_of_the_empty_cluster)
{
	struct tl_request request = ask(32000, 0);

	cr_assert(tl_shapes_feasible(&shapes, tl_shapes_intern(&shapes, &request, false)));
	request.gpus_mgpu = 40000;
	cr_assert_not(tl_shapes_feasible(&shapes, tl_shapes_intern(&shapes, &request, false)));
	request.gpus_mgpu = 3000;
	request.model_mask = 1u << T4;
	cr_assert_not(tl_shapes_feasible(&shapes, tl_shapes_intern(&shapes, &request, false)),
	              "three T4 in one worker");
	request.workers = 3;
	cr_assert(tl_shapes_feasible(&shapes, tl_shapes_intern(&shapes, &request, false)));
	request.model_mask = 0;
	cr_assert_not(tl_shapes_feasible(&shapes, tl_shapes_intern(&shapes, &request, false)));
}

Test(shapes, a_clamp_cuts_down_to_what_there_is)
{
	struct tl_request request = ask(100000, 0);

	request.cpu_milli = 10000000;
	const struct tl_shape *shape = tl_shapes_intern(&shapes, &request, true);

	cr_assert(tl_shapes_feasible(&shapes, shape) || shape->total_mgpu == 36000);
	cr_assert_leq(shape->total_mgpu, 36000);
	request = ask(40000, 0);
	request.model_mask = 1u << A100;
	shape = tl_shapes_intern(&shapes, &request, true);
	cr_assert(tl_shapes_feasible(&shapes, shape));
	cr_assert_eq(shape->total_mgpu, 32000);
	request = ask(2000, 0);
	shape = tl_shapes_intern(&shapes, &request, true);
	cr_assert_eq(shape->total_mgpu, 2000, "what fits is left alone");
}

Test(shapes, model_lists)
{
	cr_assert_eq(tl_cluster_spec_models(&spec, "A100"), 1u << A100);
	cr_assert_eq(tl_cluster_spec_models(&spec, "T4|A100"), (1u << A100) | (1u << T4));
	cr_assert_eq(tl_cluster_spec_models(&spec, "T4|H100"), 1u << T4);
	cr_assert_eq(tl_cluster_spec_models(&spec, "H100"), 0u);
	cr_assert_eq(tl_cluster_spec_models(&spec, ""), 0u);
	cr_assert_eq(tl_cluster_spec_models(&spec, "A10|A1000|a100||"), 0u,
	             "whole names, as written");
}
