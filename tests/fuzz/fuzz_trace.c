/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a trace of jobs, in each format and with each way to read it, and as a list of
 * machines: refused with a reason, or read, and then in the order of submission. */
#include "tests/fuzz/input.h"
#include "traces/machines.h"
#include "traces/trace.h"

static void read_jobs(const char *path, const struct tl_trace_options *options)
{
	struct tl_trace *trace = NULL;
	struct tl_trace_record record;
	struct tl_error error = TL_ERROR_INIT;
	int64_t last_ns = INT64_MIN;
	uint64_t rows = 0;
	enum tl_status status;

	if (tl_trace_open(path, options, &trace, &error) != TL_OK) {
		fuzz_refused(&error);
		return;
	}
	while ((status = tl_trace_next(trace, &record, &error)) == TL_OK) {
		TL_ASSERT(record.submit_ns >= last_ns && record.gpus_mgpu >= 0);
		TL_ASSERT(record.duration_ns >= 0);
		last_ns = record.submit_ns;
		rows++;
	}
	if (status == TL_END)
		TL_ASSERT(rows == tl_trace_get_stats(trace)->rows_kept);
	else
		fuzz_refused(&error);
	tl_trace_close(trace);
}

static void read_machines(const char *path, enum tl_machine_format format)
{
	struct tl_machine *machines = NULL;
	struct tl_error error = TL_ERROR_INIT;
	size_t count = 0;

	if (tl_machines_read(path, format, &machines, &count, &error) == TL_OK)
		free(machines);
	else
		fuzz_refused(&error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tl_trace_options options;
	char path[FUZZ_PATH_SIZE];

	fuzz_file("trace", data, size, path);
	tl_trace_options_default(&options);
	for (int format = TL_FORMAT_AUTO; format <= TL_FORMAT_CANONICAL; format++) {
		options.format = (enum tl_trace_format)format;
		options.lint = false;
		read_jobs(path, &options);
		options.lint = true;
		read_jobs(path, &options);
	}
	options.lint = false;
	options.format = TL_FORMAT_AUTO;
	options.scale_time = 0.5;
	options.scale_size = 2;
	options.window_start_ns = TL_NS_PER_S;
	options.window_ns = TL_NS_PER_DAY;
	options.limit_gpus_mgpu = 4000;
	read_jobs(path, &options);
	tl_trace_options_default(&options);
	options.is_static = options.shuffle = true;
	options.demand = 1.5;
	options.capacity_mgpu = 64000;
	read_jobs(path, &options);
	for (int format = TL_MACHINES_OPENB; format <= TL_MACHINES_LINGJUN; format++)
		read_machines(path, (enum tl_machine_format)format);
	return 0;
}
