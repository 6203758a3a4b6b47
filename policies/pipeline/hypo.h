/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pipeline does to hypothetical views beyond policies/lib/view.h. */
#ifndef TIDELAB_PIPELINE_HYPO_H
#define TIDELAB_PIPELINE_HYPO_H

#include "policies/lib/view.h"

/* Takes what is free there of what a job of this shape needs: the rest is still to come
 * free, and is not for others either. O(GPUs of the nodes). */
void tl_hypo_withhold(struct tl_scratch_view *hypo, const struct tl_shape *shape,
                      const struct tl_placement *where);
/* Whether all of it is free there. O(workers² + GPUs of the job). */
int tl_hypo_has(const struct tl_scratch_view *hypo, const struct tl_shape *shape,
                const struct tl_placement *where);
/* Lowers the nodes and GPUs of a placement to what another copy of the same machines has
 * there. O(GPUs of the nodes). */
void tl_hypo_lower(struct tl_scratch_view *hypo, const struct tl_scratch_view *to,
                   const struct tl_shape *shape, const struct tl_placement *where);

#endif
