/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixing of 64-bit words: for ties drawn at random by a pure function, and for caches. */
#ifndef TIDELAB_LIB_HASH_H
#define TIDELAB_LIB_HASH_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection. */
static inline uint64_t tl_hash_word(uint64_t word)
{
	word += UINT64_C(0x9e3779b97f4a7c15);
	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return word ^ (word >> 31);
}

/* hash continued with one more word; the order of words matters. */
static inline uint64_t tl_hash_more(uint64_t hash, uint64_t word)
{
	return tl_hash_word(hash ^ tl_hash_word(word));
}

#endif
