/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keyed random streams: draw n of a stream is a function of (seed, stream,
 * entity, n) alone, so that every policy meets the same arrivals, durations and
 * failures whatever it decides, and a new entity disturbs no other.
 *
 * Philox4x64-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC'11): key = (seed, stream), counter = (block, entity, 0, 0); each block gives
 * four 64-bit words.
 */
#ifndef TIDELAB_BASE_RNG_H
#define TIDELAB_BASE_RNG_H

#include <gsl/gsl_rng.h>
#include <stddef.h>
#include <stdint.h>

/* One number a use, never reused for another: results depend on them. */
enum tl_stream {
	TL_STREAM_POLICY = 1,   /* entity: module instance */
	TL_STREAM_SHUFFLE,      /* entity: workload entry */
	TL_STREAM_RESAMPLE,     /* entity: workload entry */
	TL_STREAM_ARRIVAL,      /* entity: workload entry */
	TL_STREAM_JOB,          /* entity: job of a generator */
	TL_STREAM_UTILISATION,  /* entity: job's input index */
	TL_STREAM_ESTIMATE,     /* entity: job's input index */
	TL_STREAM_NODE_FAILURE, /* entity: node */
	TL_STREAM_REPAIR,       /* entity: node */
	TL_STREAM_FAULT,        /* entity: fault entry */
	TL_STREAM_SERVICE,      /* entity: service */
	TL_STREAM_REQUEST,      /* entity: service, window */
	TL_STREAM_TEST,
	TL_STREAM_SIZE,     /* entity: service; word or counter: number of the request */
	TL_STREAM_ROUTE,    /* entity: service; counter: number, tries */
	TL_STREAM_BOOTSTRAP /* analysis: resamples of runs */
};

enum { TL_RNG_BUFFER = 64 }; /* words drawn at a time; a multiple of 4 */

struct tl_rng {
	uint64_t key[2];
	uint64_t entity;
	uint64_t block; /* next block to draw */
	uint32_t next;  /* next word of buffer */
	uint32_t filled;
	uint64_t buffer[TL_RNG_BUFFER];
};

/* The ten-round Philox4x64 bijection: out[4] from counter[4] and key[2]. */
void tl_philox4x64(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4]);

void tl_rng_init(struct tl_rng *rng, uint64_t seed, enum tl_stream stream, uint64_t entity);
uint64_t tl_rng_u64(struct tl_rng *rng);
/* Uniform in [0, 1), 53 bits. */
double tl_rng_uniform(struct tl_rng *rng);
/* Uniform in {0 … n − 1}, unbiased; n > 0. */
uint64_t tl_rng_below(struct tl_rng *rng, uint64_t n);
/* Draw n of the stream without state: word n of (seed, stream, entity). */
uint64_t tl_rng_at(uint64_t seed, enum tl_stream stream, uint64_t entity, uint64_t n);

/* The same streams for GSL's distributions: gsl_rng_alloc(tl_rng_gsl_type()), then
 * tl_rng_gsl_key() before the first draw. */
const gsl_rng_type *tl_rng_gsl_type(void);
void tl_rng_gsl_key(gsl_rng *gsl, uint64_t seed, enum tl_stream stream, uint64_t entity);

#endif
