/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Oversubscription: how much may be asked of each pool of nodes beyond
 * what is there. Private to sim/cluster.
 */
#ifndef TIDELAB_CLUSTER_RATIOS_H
#define TIDELAB_CLUSTER_RATIOS_H

#include "sim/cluster/cluster.h"

struct tl_ratio {
	struct tl_oversubscription view;
	const char *name;    /* the spec's; empty: nodes of no pool */
	int64_t ratio_milli; /* 1000: none */
	int64_t gpus;        /* not down */
	int64_t asked_mgpu;  /* excess, by the placement being checked; zero between calls */
};

/* One for each name among the models, and its GPUs, all there. */
void tl_ratios_init(struct tl_cluster *cluster);
void tl_ratios_fini(struct tl_cluster *cluster);
/* That of a node; NULL: it has no GPUs and is in no pool. */
struct tl_ratio *tl_ratio_of(const struct tl_cluster *cluster, const struct tl_node_view *node);
/* GPUs were lost (negative) or are back. */
void tl_ratio_add_gpus(struct tl_ratio *ratio, int64_t gpus);
/* Work took what is there and more (negative: gave back). */
void tl_ratio_take(struct tl_ratio *ratio, int64_t physical_mgpu, int64_t excess_mgpu);
/* Asserts each pool against a recount of its nodes. */
void tl_ratios_verify(const struct tl_cluster *cluster);

#endif
