/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The truth, bursts and incidents included: the bound on what any forecast can bring.
 * Its use is stamped into the results. */
#include "policies/lib/module.h"

struct forecast {
	const struct tl_host *host;
	const struct tl_oracle *oracle;
};

static int64_t rate_per_ks(void *self, uint32_t service, int64_t at_ns)
{
	const struct forecast *forecast = self;

	return forecast->oracle->arrivals_per_ks(forecast->host, service, at_ns);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct forecast), self) != 0)
		return -1;
	struct forecast *forecast = *self;

	forecast->host = host;
	forecast->oracle = host->extension(host, TL_EXTENSION_ORACLE);
	return forecast->oracle ? 0 : tl_module_fail(create, "the host has no oracle");
}

static const struct tl_forecast_ops ops = {.struct_size = sizeof(ops), .rate_per_ks = rate_per_ks};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_FORECAST),
    .capabilities = TL_NEEDS_ORACLE | TL_NEEDS_SERVICES,
    .name = "oracle",
    .version = "1.0",
    .summary = "the truth: the bound on any forecast",
    .create = create,
    .ops = &ops,
};
