/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a trial shows of itself while it runs, in memory shared with the process that
 * supervises it: how far it is, which policy callback it is in, and its last decisions.
 * Written by plain stores of the one trial thread; read by the supervisor for a progress
 * line, for the CPU-time watchdog, and for the dump after a crash or a hang.
 */
#ifndef TIDELAB_PLANE_PULSE_H
#define TIDELAB_PLANE_PULSE_H

#include "sim/base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TL_PULSE_DECISIONS = 32, TL_PULSE_REASON_MAX = 512 };

struct tl_pulse_decision {
	int64_t t_ns;
	uint64_t row; /* of the job; UINT64_MAX: none */
	uint32_t node;
	uint16_t refusal;
	uint8_t kind; /* enum tl_decision */
};

struct tl_pulse {
	_Atomic int64_t now_ns;
	_Atomic uint64_t events;
	_Atomic uint64_t progress; /* events that were not mere wake-ups, and ended callbacks */
	_Atomic uint64_t rows_done, rows_total;
	_Atomic uint32_t
	    seat; /* enum tl_seat_kind of the callback under way; TL_SEAT_COUNT: ours */
	_Atomic uint32_t waiting, holding;
	_Atomic uint64_t decisions; /* made so far; the ring holds the last */
	struct tl_pulse_decision ring[TL_PULSE_DECISIONS];
	char module[64]; /* of the callback under way */
	char callback[32];
	/* The child's last word, once it has spoken: a policy may exit() before that. */
	_Atomic bool spoken;
	enum tl_status status;
	struct tl_error error;
};

#endif
