/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the schema fills, before it becomes a struct tl_scenario. All pointers are the
 * arena's. The first member of a list's element is the node it was read from. */
#ifndef TIDELAB_CONFIG_CONFIG_H
#define TIDELAB_CONFIG_CONFIG_H

#include "sim/config/scenario.h"
#include "sim/config/schema.h"
#include "sim/config/service_config.h"

struct tl_cluster_group {
	const struct tl_tree *node;
	char name[32];
	uint32_t count, gpus;
	char model[TL_MODEL_NAME_MAX];
	int64_t gpu_memory_bytes; /* -1: by the model's name */
	int64_t cpu_milli, ram_bytes;
	char pool[TL_POOL_NAME_MAX];
	uint32_t nodes_per_rack, nodes_per_leaf, nodes_per_pod; /* leaf 0: as pod */
};

struct tl_cluster_config {
	const struct tl_tree *node; /* the map that was read */
	char name[TL_NODE_NAME_MAX];
	struct tl_cluster_group *groups;
	size_t group_count;
	const char *list;         /* as written; "": by groups */
	int32_t list_format;      /* enum tl_machine_format */
	int64_t gpu_memory_bytes; /* list: of GPUs whose model is not known; -1: there are none */
	const char *use; /* a cluster known by name, path or compact form; "": this map is it */
	uint32_t nodes;  /* of a single group; 0: as it says */
};

struct tl_workload_config {
	const struct tl_tree *node;
	bool is_service;
	const char *path;            /* as written */
	const char *resolved;        /* as seen from the working folder */
	struct tl_workload workload; /* its path is set last */
	struct tl_service_config service;
};

struct tl_queue_config {
	const struct tl_tree *node;
	struct tl_queue_setting queue;
};

/* One ratio, or `{training: 1.2, others: 1}`. */
struct tl_ratio_config {
	const char *pool;
	int32_t ratio_milli;
};

struct tl_oversubscription_config {
	const struct tl_tree *node;
	int32_t others_milli;
	struct tl_ratio_config *pools;
	size_t pool_count;
};

struct tl_tenant_config {
	const struct tl_tree *node;
	struct tl_tenant_setting tenant;
};

struct tl_fault_config {
	const struct tl_tree *node;
	struct tl_fault_setting fault;
	uint32_t jobs;
	char service[TL_SERVICE_NAME_MAX];
	double factor;
};

struct tl_estimates_config {
	enum tl_estimates how;
	double sigma;
};

struct tl_seat_config {
	const char *written; /* `use` as written */
	struct tl_seat_setting seat;
};

struct tl_window_config {
	int64_t start_ns, length_ns;
};

struct tl_config {
	struct tl_scenario scenario; /* the plain fields */
	struct tl_cluster_config cluster;
	struct tl_oversubscription_config oversubscription;
	struct tl_seat_config seats[TL_SEAT_COUNT];
	struct tl_workload_config *workloads;
	size_t workload_count;
	struct tl_queue_config *queues;
	size_t queue_count;
	struct tl_tenant_config *tenants;
	size_t tenant_count;
	struct tl_fault_config *faults;
	size_t fault_count;
	struct tl_estimates_config estimates;
	bool failures;
};

/* ---- customs: keys that are more than a scalar of one type ---- */

extern const struct tl_custom tl_custom_cluster;   /* struct tl_cluster_config */
extern const struct tl_custom tl_custom_seat;      /* struct tl_seat_config */
extern const struct tl_custom tl_custom_estimates; /* struct tl_estimates_config */
extern const struct tl_custom tl_custom_window;    /* struct tl_trace_options */
extern const struct tl_custom tl_custom_tables;    /* uint32_t */
extern const struct tl_custom tl_custom_speeds;    /* struct tl_sharing */
extern const struct tl_custom tl_custom_pools;     /* char[TL_POOLS_MAX] */
extern const struct tl_custom tl_custom_ratios;    /* struct tl_oversubscription_config */
extern const struct tl_custom tl_custom_price;     /* int64_t, micro-units */
extern const struct tl_custom tl_custom_penalty;   /* the same, of 1,000 */

/* policy: keys that are no seat are options of the scheduler. base: struct tl_config. */
enum tl_status tl_policy_other(struct tl_fill *fill, void *base, const struct tl_tree_key *key,
                               const struct tl_tree *node);
void tl_policy_emit_other(const void *base, unsigned indent, FILE *out);

/* workload: - {generate: NAME, …}. Its other keys are options of the generator. */
extern const struct tl_section tl_generate_section;
/* Settles and checks the generator's options; the n-th of its name, for its draws. */
void tl_generate_config_derive(struct tl_workload_config *entry, const struct tl_scenario *scenario,
                               uint64_t number);
enum tl_status tl_generate_config_check(struct tl_fill *fill,
                                        const struct tl_workload_config *entry);

/* Pools: of a group, then of all that names them once the cluster is built. */
enum tl_status tl_pool_check(struct tl_fill *fill, const struct tl_cluster_group *group);
extern const struct tl_section tl_oversubscription_section;
void tl_config_pools_derive(struct tl_config *config);
enum tl_status tl_config_pools_check(struct tl_fill *fill, const struct tl_config *config);
void tl_config_pools_keep(struct tl_config *config); /* arrays to the scenario, which owns them */

/* faults: which keys go with what a fault does. */
bool tl_fault_applies(const struct tl_config_key *key, const void *base);
extern const struct tl_section tl_fault_section;

/* sharing: which keys go with the others. */
bool tl_sharing_applies(const struct tl_config_key *key, const void *base);
extern const struct tl_section tl_sharing_section;

/* ---- steps of loading ---- */

/* Applies one --set to the tree. */
enum tl_status tl_set_apply(struct tl_arena *arena, struct tl_tree *root,
                            const struct tl_override *override, struct tl_error *error);
/* What one key alone does not show: names that must exist, sums, pairs of limits. */
enum tl_status tl_config_check(struct tl_fill *fill, const struct tl_config *config,
                               const struct tl_tree *root);
bool tl_config_has_queue(const struct tl_config *config, const char *name);
/* Something is wrong with a key of the map, `observe.delay` say: tl_fill_fault() with the place of
 * what is written of it, and the key before the text. */
enum tl_status tl_fill_fault_at(struct tl_fill *fill, const struct tl_tree *map, const char *key,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A service's slice: share, memory and models by its name; and whether it goes with the rest. */
void tl_config_slice_derive(struct tl_service_setting *setting,
                            const struct tl_cluster_spec *cluster);
enum tl_status tl_config_slice_check(struct tl_fill *fill, const struct tl_workload_config *entry,
                                     const struct tl_cluster_spec *cluster);

/* What a service's settings follow from; after it each is as it is used. */
void tl_config_services_derive(struct tl_arena *arena, struct tl_config *config);
/* What one key of a service does not show; opens its recording, which is then to be closed
 * (tl_config_services_release), whatever comes of it. */
enum tl_status tl_config_services_check(struct tl_fill *fill, struct tl_config *config,
                                        const struct tl_tree *root);
void tl_config_services_release(struct tl_config *config);
/* To the scenario, which owns it all: arrays, paths and recordings. */
void tl_config_services_keep(struct tl_config *config);
/* Groups or list to nodes, into spec (to be freed with tl_cluster_spec_fini on success). */
enum tl_status tl_cluster_build(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                                struct tl_cluster_spec *spec);
/* SHA-256 of the list, or an empty text where there is none. */
enum tl_status tl_cluster_checksum(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                                   char out[TL_SHA256_HEX]);
#endif
