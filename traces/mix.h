/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The request mix: distinct requests, in order of first sight, with how many rows ask each. */
#ifndef TIDELAB_TRACES_MIX_H
#define TIDELAB_TRACES_MIX_H

#include "traces/trace.h"

struct tl_mix {
	struct tl_trace_request *requests;
	size_t count, capacity;
	uint32_t *table; /* open addressing: index + 1, 0 empty */
	size_t table_size;
};

void tl_mix_init(struct tl_mix *mix);
void tl_mix_fini(struct tl_mix *mix);
/* False where the mix is full and the request is none of those it has. */
bool tl_mix_add(struct tl_mix *mix, const struct tl_trace_record *record);

#endif
