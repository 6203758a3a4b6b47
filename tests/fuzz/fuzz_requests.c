/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as recorded requests, in each format: refused with a reason, or read, and then
 * sorted, from 0 on, and good for arrivals. */
#include "tests/fuzz/input.h"
#include "workloads/arrivals.h"

static void draw(const struct tl_request_trace *trace)
{
	struct tl_arrival_spec spec;
	struct tl_arrivals *arrivals = NULL;
	struct tl_arrival_block block = {0};
	struct tl_error error = TL_ERROR_INIT;

	tl_arrival_spec_default(&spec);
	spec.process = TL_ARRIVALS_TRACE;
	spec.trace = trace;
	spec.scale = 1e-4; /* a rate of 10^6 is no finding */
	if (tl_arrivals_create(&spec, 1, 0, &arrivals, &error) != TL_OK)
		return;
	tl_arrivals_window(arrivals, 0, &block);
	TL_ASSERT(block.count == tl_arrivals_count(arrivals, 0));
	tl_arrival_block_fini(&block);
	tl_arrivals_destroy(arrivals);
}

static void read_file(const char *path, enum tl_request_format format)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	size_t count;

	if (tl_request_trace_open(path, format, false, &trace, &error) != TL_OK) {
		fuzz_refused(&error);
		return;
	}
	const struct tl_recorded_request *requests = tl_request_trace_requests(trace, &count);
	for (size_t i = 0; i < count; i++)
		TL_ASSERT(i == 0 ? requests[i].time_ns == 0
		                 : requests[i].time_ns >= requests[i - 1].time_ns);
	draw(trace);
	tl_request_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[FUZZ_PATH_SIZE];

	fuzz_file("requests", data, size, path);
	for (int format = TL_REQUESTS_AUTO; format < TL_REQUESTS_FORMAT_COUNT; format++)
		read_file(path, (enum tl_request_format)format);
	return 0;
}
