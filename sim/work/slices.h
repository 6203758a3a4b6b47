/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * MIG slices of an A100: a share of its multiprocessors, so many eighths of its memory, and
 * no neighbour is noticed. They are counted, not laid out: seven compute and eight memory
 * parts a card, whatever the order in which they came.
 */
#ifndef TIDELAB_WORK_SLICES_H
#define TIDELAB_WORK_SLICES_H

#include "sim/cluster/cluster.h"

#include <stdint.h>

struct tl_slice {
	const char *name;
	int64_t sms;                    /* multiprocessors, of the 98 that slices have */
	int64_t eighths_40, eighths_80; /* of a 40 GB and an 80 GB card's memory; 0: not its */
};

/* `none`, then every slice in the order of their numbers. */
#define TL_SLICE_CHOICES                                                                           \
	"none|1g.5gb|1g.10gb|1g.20gb|2g.10gb|2g.20gb|3g.20gb|3g.40gb|4g.20gb|4g.40gb|7g.40gb|"     \
	"7g.80gb"

/* NULL for 0 (`none`) and past the last. */
const struct tl_slice *tl_slice_at(int32_t number);
int64_t tl_slice_share_mgpu(const struct tl_slice *slice);
int64_t tl_slice_memory_bytes(const struct tl_slice *slice);
/* The mask of the cluster's models that give it: A100s of that memory. */
uint64_t tl_slice_models(const struct tl_slice *slice, const struct tl_cluster_spec *spec);

#endif
