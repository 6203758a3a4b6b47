/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machines: what there is (spec), and who holds what of it (cluster).
 *
 * The state of nodes and GPUs is kept in the policy contract's own view structs, so a
 * policy's view is a pointer, not a copy. Only the functions here write it. GPU shares,
 * GPU memory, CPU and RAM are integers and conserved exactly: taking what is not free,
 * or releasing what is not held, trips an assertion.
 *
 * Oversubscription is of GPU shares alone: what the residents of a GPU ask for may pass
 * its 1000 m where they are two, as long as all that is asked for beyond, over the pool
 * of the node, stays within (ratio − 1) × the pool's capacity that is not down. So a
 * pool's nominal sum never passes ratio × that capacity (but by nodes lost later, which
 * evict nobody), and a start on GPUs with room is never refused for it. The nodes of no
 * pool, all of them in a cluster without pools, are one pool too.
 */
#ifndef TIDELAB_CLUSTER_CLUSTER_H
#define TIDELAB_CLUSTER_CLUSTER_H

#include "policies/abi/tidelab_policy.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_SECOND_RESIDENTS = 2 }; /* most on a GPU that is oversubscribed */
enum { TL_NODE_NAME_MAX = 64, TL_MODEL_NAME_MAX = 32, TL_MODELS_MAX = 64 };
enum { TL_POOL_NAME_MAX = 32 };

/* A model in two pools is two of these: who may go where is then a mask of numbers. */
struct tl_gpu_model {
	char name[TL_MODEL_NAME_MAX]; /* empty: of a pool's nodes without GPUs */
	int64_t memory_bytes;
	char pool[TL_POOL_NAME_MAX]; /* empty: of no pool */
};

struct tl_node_spec {
	char name[TL_NODE_NAME_MAX];
	uint32_t gpus;
	uint32_t model; /* in spec.models; TL_NO_INDEX without GPUs, unless in a pool */
	int64_t cpu_milli, ram_bytes;
	uint32_t rack, leaf, pod; /* dense */
};

struct tl_cluster_spec {
	char name[TL_NODE_NAME_MAX];
	struct tl_gpu_model *models;
	size_t model_count;
	struct tl_node_spec *nodes;
	size_t node_count;
};

/* Frees the arrays. */
void tl_cluster_spec_fini(struct tl_cluster_spec *spec);
/* The number of a model by name and pool (empty: none), added where new (memory_bytes then
 * counts); TL_E_CONFIG past TL_MODELS_MAX. The name may be empty in a pool alone. */
enum tl_status tl_cluster_spec_model(struct tl_cluster_spec *spec, const char *name,
                                     const char *pool, int64_t memory_bytes, uint32_t *out,
                                     struct tl_error *error);
/* Whether any node is in a pool; if none is, work that names one may go anywhere. */
bool tl_cluster_spec_has_pools(const struct tl_cluster_spec *spec);
/* The mask of models whose pool is among `A|B`; 0 where there is none of them. */
uint64_t tl_cluster_spec_pools(const struct tl_cluster_spec *spec, const char *names);
/* The mask of models an `A|B` text names, in whatever pool; 0 where there is none of them. */
uint64_t tl_cluster_spec_models(const struct tl_cluster_spec *spec, const char *names);
/* Memory of a GPU model known by name (`A100-SXM4-80GB`, `V100M32`, `T4` …), or -1. A GPU
 * whose memory is unknown (-1) is taken to hold whatever is asked: nothing is checked. */
int64_t tl_gpu_model_memory(const char *name);
/* Their names, by number; NULL past the last. */
const char *tl_gpu_model_name(size_t number);

/* Where a job's workers sit. Arrays belong to the holder. */
struct tl_alloc {
	uint32_t *nodes; /* [worker_count] */
	uint32_t *gpus;  /* [gpu_count], worker after worker */
	uint32_t worker_count, gpu_count;
};

struct tl_residents; /* who is on a GPU, and how much of it is used whatever the node's state */
struct tl_demand;    /* a node: what the placement being checked asks of it so far */
struct tl_ratio;     /* how much may be asked of its nodes beyond what is there */

struct tl_cluster {
	struct tl_view view; /* points at the arrays below */
	struct tl_node_view *nodes;
	struct tl_gpu_view *gpus;
	struct tl_residents *residents; /* one a GPU */
	struct tl_demand *demands;      /* one a node; all zero between calls */
	uint8_t *marks;                 /* a GPU: met in that placement; all zero between calls */
	const struct tl_cluster_spec *spec; /* outlives the cluster */
	int64_t down_mgpu;                  /* capacity of nodes that are down */
	int64_t allocated_mgpu;             /* physical, held by work */
	int64_t excess_mgpu;                /* nominal beyond it, on oversubscribed GPUs */
	struct tl_ratio *ratios;            /* one a pool */
	uint32_t ratio_count;
	uint32_t model_ratios[TL_MODELS_MAX]; /* the number of a model's */
	bool oversubscribed;                  /* a pool at least */
	uint32_t largest_node_gpus;
	uint32_t partial_nodes; /* up nodes with some but not all of their GPU capacity free */
	uint32_t *free_count;   /* free_count[k]: up nodes with k wholly free GPUs */
};

enum tl_status tl_cluster_init(struct tl_cluster *cluster, const struct tl_cluster_spec *spec,
                               struct tl_error *error);
void tl_cluster_fini(struct tl_cluster *cluster);

/* Lets nominal shares in the pool (empty: nodes of none; NULL: each) pass the physical ones
 * up to this ratio in thousandths, ≥ 1000. */
void tl_cluster_oversubscribe(struct tl_cluster *cluster, const char *pool, int64_t ratio_milli);
/* How far they do and may now in the pool of nodes of the model; NULL: no such model. Live,
 * for the cluster's life. */
const struct tl_oversubscription *tl_cluster_oversubscription(const struct tl_cluster *cluster,
                                                              uint32_t model);

/* Whether the placement is legal and free for the shape, or the first thing wrong. The GPUs
 * of a job are distinct, over all its workers (communication libraries refuse two ranks on
 * one device). A negative gpu_memory_bytes takes none. O(workers + GPUs of the job). */
enum tl_refusal tl_cluster_check(const struct tl_cluster *cluster, const struct tl_shape *shape,
                                 const struct tl_placement *where);
/* Takes and gives back, exactly. take asserts what check checks. Draining: the job's GPUs
 * count as draining from mark to release. Releasing on a cordoned node is legal. O(GPUs of
 * the job), but for GPUs with many residents: O(residents). */
void tl_cluster_take(struct tl_cluster *cluster, tl_job_id job, const struct tl_shape *shape,
                     const struct tl_alloc *where);
void tl_cluster_release(struct tl_cluster *cluster, tl_job_id job, const struct tl_shape *shape,
                        const struct tl_alloc *where);
void tl_cluster_mark_draining(struct tl_cluster *cluster, tl_job_id job,
                              const struct tl_shape *shape, const struct tl_alloc *where);

/* What a job that holds those GPUs was measured to use of each of them, in thousandths; -1:
 * not yet known, as it is from take on. No node's version changes. O(GPUs of the job), as above. */
void tl_cluster_measured(struct tl_cluster *cluster, tl_job_id job, const struct tl_alloc *where,
                         int32_t milli);

/* Down: everything on the node must have been released before. Cordoned: nothing new. */
void tl_cluster_set_node_state(struct tl_cluster *cluster, uint32_t number,
                               enum tl_node_state state);

/* Whether the shape fits the empty cluster with every node up. */
bool tl_cluster_could_fit(const struct tl_cluster *cluster, const struct tl_shape *shape);
/* The same with the nodes that are up now. */
bool tl_cluster_could_fit_up(const struct tl_cluster *cluster, const struct tl_shape *shape);

enum tl_distance tl_cluster_distance(const struct tl_cluster *cluster, uint32_t gpu_a,
                                     uint32_t gpu_b);
/* The narrowest distance that holds between all GPUs of a placement (TL_SAME_GPU for one
 * or none). O(GPUs). */
enum tl_distance tl_cluster_spread(const struct tl_cluster *cluster, const struct tl_alloc *where);
/* Jobs on a GPU in order of arrival there; valid until the next take or release. */
const tl_job_id *tl_cluster_gpu_jobs(const struct tl_cluster *cluster, uint32_t gpu,
                                     uint32_t *count);
/* Asserts every sum of the cluster against a recount. O(cluster); tests and run's end. */
void tl_cluster_verify(const struct tl_cluster *cluster);

#endif
