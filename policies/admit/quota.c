/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hard caps: a tenant never holds more than its quota, and no job asks for more than its
 * share of the cluster. What could never start is refused at submission; what would pass
 * the quota now is held until work of its tenant leaves. Work without GPUs is not counted.
 */
#include "policies/lib/module.h"

enum { OPTION_TENANT_CAP, OPTION_JOB_CAP, OPTION_COUNT };
enum { WHOLE_MGPU = 1000 };

struct quota {
	const struct tl_host *host;
	int64_t tenant_cap, job_cap; /* thousandths of the cluster */
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_TENANT_CAP] = {.name = "tenant_cap",
                           .type = TL_OPTION_SHARE,
                           .unit = "of the cluster",
                           .standard = "1",
                           .min = 1,
                           .max = 1000,
                           .help =
                               "most that a tenant without a quota of its own may hold; low values "
                               "leave GPUs idle while it waits"},
    [OPTION_JOB_CAP] = {.name = "job_cap",
                        .type = TL_OPTION_SHARE,
                        .unit = "of the cluster",
                        .standard = "1",
                        .min = 1,
                        .max = 1000,
                        .help = "most that one job may ask; larger ones are refused at submission"},
};

static int64_t part_of_cluster(const struct quota *quota, int64_t share)
{
	/* Divided first: the whole cluster's capacity times 1000 need not fit. */
	int64_t capacity_mgpu = quota->host->view(quota->host)->capacity_mgpu;
	return capacity_mgpu / WHOLE_MGPU * share + capacity_mgpu % WHOLE_MGPU * share / WHOLE_MGPU;
}

static int64_t quota_of(const struct quota *quota, const struct tl_tenant_view *tenant)
{
	if (tenant->quota_mgpu >= 0)
		return tenant->quota_mgpu;
	/* The whole cluster is no cap: that it is full is not for this seat to say. */
	if (quota->tenant_cap >= WHOLE_MGPU)
		return INT64_MAX;
	return part_of_cluster(quota, quota->tenant_cap);
}

static enum tl_verdict screen(void *self, const struct tl_job_view *job,
                              const struct tl_shape *shape, const char **why)
{
	const struct quota *quota = self;
	const struct tl_tenant_view *tenant = quota->host->tenant(quota->host, job->tenant);
	if (shape->total_mgpu > part_of_cluster(quota, quota->job_cap)) {
		*why = "asks for more of the cluster than job_cap allows";
		return TL_REJECT;
	}
	if (shape->total_mgpu > 0 && tenant != NULL &&
	    shape->total_mgpu > quota_of(quota, tenant)) {
		*why = "asks for more than its tenant's quota";
		return TL_REJECT;
	}
	return TL_ADMIT;
}

static enum tl_verdict gate(void *self, const struct tl_job_view *job, const struct tl_shape *shape,
                            const char **why)
{
	const struct quota *quota = self;
	const struct tl_tenant_view *tenant = quota->host->tenant(quota->host, job->tenant);
	if (shape->total_mgpu == 0 || tenant == NULL ||
	    shape->total_mgpu <= quota_of(quota, tenant) - tenant->held_mgpu)
		return TL_ADMIT;
	*why = "its tenant's quota is used up";
	return TL_HOLD;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct quota), self) != 0)
		return -1;
	struct quota *quota = *self;
	quota->host = host;
	quota->tenant_cap = create->options[OPTION_TENANT_CAP].i;
	quota->job_cap = create->options[OPTION_JOB_CAP].i;
	return 0;
}

static const struct tl_admit_ops ops = {.struct_size = sizeof(ops), .screen = screen, .gate = gate};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ADMIT),
    .name = "quota",
    .version = "1.0",
    .summary = "hard caps: GPUs a tenant may hold, share of the cluster a job may ask",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
