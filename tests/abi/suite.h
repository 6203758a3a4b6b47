/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the conformance tests share: the built modules, random worlds, and plain readings
 * of the contract to hold the modules against.
 */
#ifndef TIDELAB_TESTS_SUITE_H
#define TIDELAB_TESTS_SUITE_H

#include "tests/abi/mock_host.h"

#include <stdbool.h>

enum {
	TL_SUITE_MODULES = 128,
	TL_SUITE_PATH = 512,
	TL_SUITE_NODES = 64,
	TL_SUITE_WORKERS = 8,
	TL_SUITE_GPUS = 64
};

struct tl_suite_module {
	char path[TL_SUITE_PATH];
	char name[TL_MOCK_TEXT];        /* of the file, without .so */
	const struct tl_module *module; /* NULL: would not load */
};

/* Every module of the build, examples included, by name; loaded once and kept. The folder
 * is $TIDELAB_POLICIES, or ../policies beside the test program; those of $TIDELAB_POLICY_PATH
 * are tested too, so that a policy author can test a module of his own. */
const struct tl_suite_module *tl_suite_modules(size_t *count);
/* The seat's module of that name; the test fails where there is none. */
const struct tl_module *tl_suite_find(enum tl_seat_kind seat, const char *name);

/* ---- random worlds, from a seed ---- */

struct tl_world {
	struct tl_mock mock;
	struct tl_cluster_spec spec;
	struct tl_node_spec nodes[TL_SUITE_NODES];
	struct tl_gpu_model models[3];
	struct tl_rng rng;
	tl_job_id *held; /* jobs placed by fill */
	size_t held_count;
};

uint32_t tl_world_below(struct tl_world *world, uint32_t n);
/* Nodes of 0 … max_gpus GPUs, three models (one of unknown memory), racks, leaves, pods. */
void tl_world_init(struct tl_world *world, uint64_t seed, uint32_t nodes, uint32_t max_gpus);
void tl_world_fini(struct tl_world *world);
/* A random shape of at most so many workers and GPUs a worker, interned. */
const struct tl_shape *tl_world_shape(struct tl_world *world, uint32_t workers, uint32_t gpus);
/* Places jobs at random, as far as `tries` attempts get; cordons and downs a few nodes. */
void tl_world_fill(struct tl_world *world, uint32_t tries);

/* ---- plain readings ---- */

/* Whether a placement is legal on a view, or what is wrong with it. O(anything). */
const char *tl_suite_wrong(const struct tl_view *view, const struct tl_shape *shape,
                           const struct tl_placement *where);
/* Whether the shape fits at all, by trying everything: small views and shapes only. */
bool tl_suite_fits(const struct tl_view *view, const struct tl_shape *shape);

#endif
