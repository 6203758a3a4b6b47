/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replica counts stay as they are, or are set once: what scaling is measured against. */
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum { OPTION_REPLICAS, OPTION_COUNT };

struct fixed {
	const struct tl_host *host;
	int64_t replicas;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_REPLICAS] = {.name = "replicas",
                         .type = TL_OPTION_INT,
                         .unit = "",
                         .standard = "0",
                         .min = 0,
                         .max = 1e6,
                         .help =
                             "of every service, within its bounds; 0: what it starts with. Sized "
                             "for the mean it breaks at the peak, for the peak it idles"},
};

static uint32_t targets(void *self, int64_t now_ns, const struct tl_changes *changes,
                        struct tl_scale_target *out, uint32_t room)
{
	struct fixed *fixed = self;
	uint32_t services = fixed->host->service_count(fixed->host), count = 0;

	(void)now_ns;
	(void)changes;
	for (uint32_t s = 0; s < services && fixed->replicas > 0; s++) {
		const struct tl_service_view *view = fixed->host->service(fixed->host, s);

		count =
		    tl_scale_put(out, count, room, s, view, tl_scale_clamp(view, fixed->replicas));
	}
	return count;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct fixed), self) != 0)
		return -1;
	struct fixed *fixed = *self;

	fixed->host = host;
	fixed->replicas = create->options[OPTION_REPLICAS].i;
	return 0;
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .name = "static",
    .version = "1.0",
    .summary = "replica counts stay as they are",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
