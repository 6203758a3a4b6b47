/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload: - {service: NAME, …}: an online service, as read. */
#ifndef TIDELAB_CONFIG_SERVICE_SETTING_H
#define TIDELAB_CONFIG_SERVICE_SETTING_H

#include "sim/work/requests.h"
#include "workloads/arrivals.h"

#include <stdbool.h>
#include <stdint.h>

enum { TL_POOLS_MAX = 128 }; /* bytes of `A|B` with its NUL */

/* How a window's requests are simulated. */
enum tl_request_mode {
	TL_MODE_AUTO, /* one by one wherever the approximation fails its own bound */
	TL_MODE_EXACT,
	TL_MODE_FLUID
};

struct tl_service_setting {
	char name[64], tenant[64], queue[64]; /* queue: empty: the scenario's first */
	char pool[TL_POOLS_MAX];              /* `A|B`: where replicas go; empty: anywhere */
	uint64_t pool_mask;                   /* the cluster's models of those; 0: any */
	struct tl_request_model model;        /* target_ns: slo.p99 */
	struct tl_arrival_spec arrivals;      /* its arrays and trace are the scenario's */
	char *arrivals_path;                  /* recorded requests; NULL */
	enum tl_request_mode mode;
	uint32_t replicas_min, replicas_max, replicas_initial; /* initial ones are ready at t = 0 */
	/* What a replica holds. */
	int64_t gpus_mgpu, gpu_memory_bytes, cpu_milli, ram_bytes;
	int32_t slice;       /* its number in sim/work/slices.h; 0: none */
	uint64_t model_mask; /* of those that give it; all ones: any */
	/* The start chain (model, Jobs): container, image pull where the node has not got it,
	 * weights, the engine's init. */
	int64_t container_ns, image_bytes, pull_bytes_per_s, weights_bytes, load_bytes_per_s,
	    init_ns;
	/* Hot nodes: the first `hot_nodes` nodes that can hold a replica keep the image and a
	 * loaded minimal instance: a start there takes hot_start_ns. */
	uint32_t hot_nodes;
	int64_t hot_start_ns;
	int64_t penalty_micros_per_1000; /* price of 1,000 missed requests, in micro-units */
	long line, column;
};

#endif
