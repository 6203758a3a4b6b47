/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can never fit the cluster, told before the run: how many jobs of which size, and why. */
#include "sim/plane/world.h"

#include <inttypes.h>
#include <stdlib.h>

/* Requests of one size are told together: traces differ in CPU and memory alone. */
struct infeasible {
	int64_t gpus_mgpu;
	uint32_t models;
	const char *why; /* NULL: not one resource alone, or the GPUs themselves */
	long line;
	uint64_t jobs;
};

enum { INFEASIBLE_TOLD = 10 };

/* The one resource but for which the request would fit; shapes are nobody else's. */
static const char *why_infeasible(struct tl_shapes *shapes, const struct tl_request *request)
{
	static const char *const reasons[] = {
	    "no GPU has the memory asked for",
	    "no nodes have the CPU cores asked for",
	    "no nodes have the RAM asked for",
	    "not in the number of workers stated",
	};

	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		struct tl_request less = *request;

		if (i == 0)
			less.gpu_memory_bytes = TL_NONE;
		else if (i == 1)
			less.cpu_milli = TL_NONE;
		else if (i == 2)
			less.ram_bytes = TL_NONE;
		else
			less.workers = 0;
		const struct tl_shape *shape = tl_shapes_intern(shapes, &less, false);

		if (shape != NULL && tl_shapes_feasible(shapes, shape))
			return reasons[i];
	}
	return NULL;
}

const char *tl_infeasible_why(const struct tl_trial *trial, const struct tl_request *request)
{
	struct tl_shapes scratch; /* a question must not add a shape that policies see */

	tl_shapes_init(&scratch, &trial->cluster, &trial->scenario->cluster);
	const char *why = why_infeasible(&scratch, request);

	tl_shapes_fini(&scratch);
	return why;
}

static void add_infeasible(struct infeasible *told, size_t *count,
                           const struct tl_trace_request *request, const char *why)
{
	for (size_t i = 0; i < *count; i++) {
		if (told[i].gpus_mgpu != request->gpus_mgpu || told[i].models != request->models ||
		    told[i].why != why)
			continue;
		told[i].jobs += request->count;
		if (request->first_line < told[i].line)
			told[i].line = request->first_line;
		return;
	}
	told[(*count)++] = (struct infeasible){.gpus_mgpu = request->gpus_mgpu,
	                                       .models = request->models,
	                                       .why = why,
	                                       .line = request->first_line,
	                                       .jobs = request->count};
}

static void tell_infeasible(const struct tl_trial *trial, const struct tl_source *source,
                            const struct infeasible *told, size_t count, FILE *report)
{
	const struct tl_intern *models = tl_trace_models(source->trace);
	const char *path = source->workload->path;
	double capacity = (double)trial->cluster.view.capacity_mgpu / 1000.0;

	for (size_t i = 0; i < count && i < INFEASIBLE_TOLD; i++)
		fprintf(
		    report,
		    "%s:%ld: infeasible: %" PRIu64 " job%s asking %g GPUs%s%s can never fit this "
		    "cluster (%g GPUs)%s%s\n",
		    path, told[i].line, told[i].jobs, told[i].jobs == 1 ? "" : "s",
		    (double)told[i].gpus_mgpu / 1000.0, told[i].models == UINT32_MAX ? "" : " of ",
		    told[i].models == UINT32_MAX ? "" : models->names[told[i].models], capacity,
		    told[i].why == NULL ? "" : ": ", told[i].why == NULL ? "" : told[i].why);
	if (count > INFEASIBLE_TOLD)
		fprintf(report, "%s: infeasible: and jobs of %zu more sizes\n", path,
		        count - INFEASIBLE_TOLD);
}

uint64_t tl_sources_report_infeasible(struct tl_trial *trial, FILE *report)
{
	uint64_t jobs = 0;

	for (size_t s = 0; s < trial->source_count; s++) {
		const struct tl_source *source = &trial->sources[s];
		size_t count = 0, told_count = 0;
		const struct tl_trace_request *requests = tl_trace_requests(source->trace, &count);
		struct infeasible *told = tl_calloc(count + 1, sizeof(*told));

		for (size_t i = 0; i < count; i++) {
			struct tl_request request = tl_source_request(source, &requests[i]);
			/* Interned at opening: this only finds it. */
			const struct tl_shape *shape =
			    tl_shapes_intern(&trial->shapes, &request, tl_source_clamps(source));

			if (shape != NULL && tl_shapes_feasible(&trial->shapes, shape))
				continue;
			jobs += requests[i].count;
			if (report != NULL)
				add_infeasible(told, &told_count, &requests[i],
				               tl_infeasible_why(trial, &request));
		}
		if (report != NULL)
			tell_infeasible(trial, source, told, told_count, report);
		free(told);
	}
	return jobs;
}
