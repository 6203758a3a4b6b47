/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of 64-bit hashes, to find rows and ids that were seen before: 16 to 32 bytes an
 * entry. Two different rows are taken for one with probability n² / 2^65 (10^-7 at
 * two million rows). */
#ifndef TIDELAB_TRACES_SEEN_H
#define TIDELAB_TRACES_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tl_seen {
	uint64_t *slots; /* 0: empty */
	size_t size, count;
};

void tl_seen_init(struct tl_seen *seen);
void tl_seen_fini(struct tl_seen *seen);
/* Puts hash in; true where it was in before. */
bool tl_seen_put(struct tl_seen *seen, uint64_t hash);

/* Mixes bytes to 64 bits; the same on every run and machine of one byte order. */
uint64_t tl_hash_bytes(const void *data, size_t size);

#endif
