/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Units: time int64 nanoseconds since the scenario's start, GPU share int64
 * milli-GPU, memory bytes. A name ends in its unit: wait_ns, request_mgpu.
 * Products of time and share overflow int64 at scale: add them up in tl_i128 and
 * round once, on export.
 */
#ifndef TIDELAB_BASE_UNITS_H
#define TIDELAB_BASE_UNITS_H

#include "sim/base/error.h"

#include <stdint.h>

__extension__ typedef __int128 tl_i128;
__extension__ typedef unsigned __int128 tl_u128;

#define TL_NS_PER_US INT64_C(1000)
#define TL_NS_PER_MS INT64_C(1000000)
#define TL_NS_PER_S INT64_C(1000000000)
#define TL_NS_PER_MIN (60 * TL_NS_PER_S)
#define TL_NS_PER_HOUR (3600 * TL_NS_PER_S)
#define TL_NS_PER_DAY (86400 * TL_NS_PER_S)
#define TL_NEVER INT64_MAX  /* an instant that does not come */
#define TL_NONE INT64_C(-1) /* an instant that did not come; a quantity not known */

#define TL_MGPU_PER_GPU INT64_C(1000)
#define TL_PPB INT64_C(1000000000) /* parts per billion: the scale of a speed */

#define TL_KIB INT64_C(1024)
#define TL_MIB (1024 * TL_KIB)
#define TL_GIB (1024 * TL_MIB)

struct tl_unit {
	const char *name;
	int64_t factor;
};
enum { TL_DURATION_UNITS = 7 };
/* `d` down to `ns`, in ns; closed by a NULL name. */
extern const struct tl_unit tl_duration_units[TL_DURATION_UNITS + 1];

/* Text to quantity. Each accepts a decimal number and a suffix, the whole of
 * text, and nothing else; TL_E_DATA names what was got and what is wanted.
 *   duration  `90s` `5min` `2h` `7d` `100ms` `10us` `5ns` `1.5h`; `0` alone
 *   size      `512` (bytes) `40GiB` `64MiB` `2TiB` `1KiB` and decimal `GB` `MB` `kB` `TB`
 *   share     `0.5` (of a GPU) or `500m`; result in milli-GPU
 *   rate      `6/h` `80/s` `3/min` `2/d` or a bare number a second; events a second
 * All but plain numbers are ≥ 0. Durations, sizes and shares are read as exact decimals
 * (`0.1s` is 100,000,000 ns); what is not whole is rounded to the nearest ns or byte,
 * halves up, unless that leaves nothing; a share finer than a milli-GPU is refused.
 * On failure *out is untouched. */
enum tl_status tl_parse_duration(const char *text, int64_t *out_ns, struct tl_error *error);
enum tl_status tl_parse_size(const char *text, int64_t *out_bytes, struct tl_error *error);
enum tl_status tl_parse_share(const char *text, int64_t *out_mgpu, struct tl_error *error);
enum tl_status tl_parse_rate(const char *text, double *out_per_s, struct tl_error *error);
enum tl_status tl_parse_int(const char *text, int64_t *out, struct tl_error *error);
enum tl_status tl_parse_double(const char *text, double *out, struct tl_error *error);

/* Quantity to text a person reads (`1d 3h`, `45s`, `120ms`, `never`, `none`; `40GiB`,
 * `1.5MiB`), rounded to two units or a tenth; 32 bytes hold any; returns buffer. */
const char *tl_format_duration(int64_t ns, char *buffer, unsigned long size);
const char *tl_format_size(int64_t bytes, char *buffer, unsigned long size);
/* An instant as a clock shows it, to the second below: `01:23:45`, `1d 01:23:45`, `never`;
 * `none` where negative. 32 bytes hold any; returns buffer. */
const char *tl_format_instant(int64_t at_ns, char *buffer, unsigned long size);

/* ceil(work × TL_PPB / speed): the time that work (reference ns) takes at a speed
 * in parts per billion. speed > 0. TL_NEVER where it does not fit. */
int64_t tl_time_of_work(int64_t work_ns, int64_t speed_ppb);

/* floor(time × speed / TL_PPB): the work done in a time. INT64_MAX where it does not fit. */
int64_t tl_work_of_time(int64_t time_ns, int64_t speed_ppb);

/* a + b, staying at TL_NEVER on overflow. Both ≥ 0. */
int64_t tl_time_add(int64_t a_ns, int64_t b_ns);

#endif
