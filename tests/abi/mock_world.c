/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a test puts into its mock host: shapes, jobs, module instances. */
#include "sim/plane/module.h"
#include "tests/abi/mock_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t tl_mock_shape(struct tl_mock *mock, const struct tl_shape *like)
{
	struct tl_shape *shape = tl_alloc(sizeof *shape);
	int64_t fulls = (int64_t)like->workers - 1;

	*shape = *like;
	shape->id = (uint32_t)mock->shape_count;
	shape->gpus = (uint32_t)fulls * like->full.gpus + like->last.gpus;
	shape->total_mgpu = fulls * like->full.gpus * like->full.share_mgpu +
	                    (int64_t)like->last.gpus * like->last.share_mgpu;
	shape->total_cpu_milli = fulls * like->full.cpu_milli + like->last.cpu_milli;
	shape->total_ram_bytes = fulls * like->full.ram_bytes + like->last.ram_bytes;
	mock->shapes =
	    tl_grow(mock->shapes, &mock->shape_room, mock->shape_count + 1, sizeof(void *));
	mock->shapes[mock->shape_count++] = shape;
	return shape->id;
}

tl_job_id tl_mock_job(struct tl_mock *mock, const struct tl_job_view *like)
{
	struct tl_job_view *job;
	size_t slot = mock->job_count > 0 ? mock->job_count : 1;

	if (slot + 1 > mock->job_room) {
		size_t room = mock->job_room;

		mock->jobs = tl_grow(mock->jobs, &room, slot + 1, sizeof *mock->jobs);
		room = mock->job_room;
		mock->allocs = tl_grow(mock->allocs, &room, slot + 1, sizeof *mock->allocs);
		mock->job_room = room;
		mock->waiting = tl_realloc_array(mock->waiting, room, sizeof *mock->waiting);
		mock->holding = tl_realloc_array(mock->holding, room, sizeof *mock->holding);
	}
	mock->job_count = slot + 1;
	job = &mock->jobs[slot];
	*job = *like;
	job->id = UINT64_C(1) << 32 | slot;
	job->sequence = slot;
	job->state = TL_JOB_PENDING;
	job->waiting_since_ns = job->submit_ns;
	job->first_start_ns = job->started_ns = job->committed_ns = -1;
	job->expected_end_ns = TL_TIME_NEVER;
	if (job->estimate_ns == 0)
		job->estimate_ns = -1;
	if (job->deadline_ns == 0)
		job->deadline_ns = -1;
	if (!(job->flags & TL_JOB_REPLICA))
		job->service = TL_NO_INDEX;
	return job->id;
}

int tl_mock_create_with(struct tl_mock *mock, const struct tl_module *module,
                        const struct tl_setting *settings, size_t count, void **self, char *why)
{
	struct tl_option_value *values = NULL, *kept;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_create with = {
	    .struct_size = sizeof with, .error = why, .error_size = why ? TL_MOCK_TEXT : 0};

	if (tl_module_options(module, settings, count, "mock", &values, &error) != TL_OK) {
		if (why)
			(void)snprintf(why, TL_MOCK_TEXT, "%.*s", TL_MOCK_TEXT - 1, error.message);
		return -1;
	}
	/* For the trial's life, as the contract promises for texts. */
	kept = tl_arena_alloc(&mock->arena, (module->option_count + 1) * sizeof *kept);
	for (uint32_t o = 0; o < module->option_count; o++) {
		kept[o] = values[o];
		if (values[o].text)
			kept[o].text = tl_arena_strdup(&mock->arena, values[o].text);
	}
	free(values);
	with.options = kept;
	return module->create(&mock->host, &with, self);
}

int tl_mock_create(struct tl_mock *mock, const struct tl_module *module, const char *name,
                   const char *value, void **self, char *why)
{
	char name_copy[TL_MOCK_TEXT] = "", value_copy[TL_MOCK_TEXT] = "";
	const struct tl_setting setting = {.name = name_copy, .value = value_copy};

	(void)snprintf(name_copy, sizeof name_copy, "%s", name ? name : "");
	(void)snprintf(value_copy, sizeof value_copy, "%s", value ? value : "");
	return tl_mock_create_with(mock, module, &setting, name != NULL, self, why);
}
