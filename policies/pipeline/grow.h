/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that grow by doubling in the trial's memory. What is left behind is at most as
 * much again; in the steady state nothing is allocated.
 */
#ifndef TIDELAB_PIPELINE_GROW_H
#define TIDELAB_PIPELINE_GROW_H

#include "policies/abi/tidelab_policy.h"

#include <string.h>

enum { TL_GROW_FIRST = 64 };

/* The array with room for `need` elements, the new ones zero; NULL where memory is out
 * (the old one then stays as it was). */
static inline void *tl_grow_array(const struct tl_host *host, void *array, uint32_t *room,
                                  uint32_t need, size_t size)
{
	if (need <= *room &&
	    *room > 0) /* asked for none, it still makes room: NULL is failure alone */
		return array;
	uint64_t wanted = *room > 0 ? *room : TL_GROW_FIRST;
	while (wanted < need)
		wanted *= 2;
	if (wanted > UINT32_MAX)
		return NULL;
	void *fresh = host->alloc(host, (size_t)wanted * size);
	if (fresh == NULL)
		return NULL;
	if (*room > 0)
		memcpy(fresh, array, (size_t)*room * size);
	*room = (uint32_t)wanted;
	return fresh;
}

/* As a statement: 0, or -1 where memory is out. */
#define TL_GROW(host, array, room, need, out)                                                      \
	do {                                                                                       \
		void *tl_grown =                                                                   \
		    tl_grow_array((host), (array), &(room), (need), sizeof(*(array)));             \
		(out) = tl_grown == NULL ? -1 : 0;                                                 \
		if (tl_grown != NULL)                                                              \
			(array) = tl_grown;                                                        \
	} while (0)

#endif
