/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cluster's fragmentation (FGD's F, policies/lib/fragmentation.h) over the shapes the
 * input is expected to bring. A node is computed again only when it has changed: O(nodes)
 * a reading, and the real work O(changed nodes × tasks).
 */
#ifndef TIDELAB_ACCOUNT_FRAGMENTATION_H
#define TIDELAB_ACCOUNT_FRAGMENTATION_H

#include "policies/abi/tidelab_policy.h"

#include <stddef.h>
#include <stdint.h>

struct tl_frag_book; /* opaque */

/* shapes[i], i < count, with their expected counts; read here and not kept. */
struct tl_frag_book *tl_frag_book_create(const struct tl_shape *const *shapes, size_t count,
                                         uint32_t node_count);
void tl_frag_book_destroy(struct tl_frag_book *book); /* NULL will do */
/* Σ over nodes, in mgpu. */
int64_t tl_frag_book_mgpu(struct tl_frag_book *book, const struct tl_view *view);

#endif
