/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/canonical.h"

#include "sim/base/stop.h"

#include <csv.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *const tl_canonical_columns[TL_CANONICAL_COLUMNS] = {
    [TL_CANONICAL_ID] = "id",
    [TL_CANONICAL_SUBMIT] = "submit_s",
    [TL_CANONICAL_DURATION] = "duration_s",
    [TL_CANONICAL_GPUS] = "gpus",
    [TL_CANONICAL_WORKERS] = "workers",
    [TL_CANONICAL_GPU_MEMORY] = "gpu_memory_bytes",
    [TL_CANONICAL_CPU] = "cpu_milli",
    [TL_CANONICAL_RAM] = "ram_bytes",
    [TL_CANONICAL_ESTIMATE] = "estimate_s",
    [TL_CANONICAL_DEADLINE] = "deadline_s",
    [TL_CANONICAL_STATE] = "state_bytes",
    [TL_CANONICAL_UTILISATION] = "utilisation",
    [TL_CANONICAL_TENANT] = "tenant",
    [TL_CANONICAL_QUEUE] = "queue",
    [TL_CANONICAL_MODELS] = "models",
    [TL_CANONICAL_ROLE] = "role",
    [TL_CANONICAL_PRIORITY] = "priority",
    [TL_CANONICAL_KIND] = "kind",
    [TL_CANONICAL_OUTCOME] = "outcome",
};

void tl_canonical_write_header(FILE *out)
{
	for (size_t i = 0; i < TL_CANONICAL_COLUMNS; i++)
		fprintf(out, "%s%s", i == 0 ? "" : ",", tl_canonical_columns[i]);
	fputc('\n', out);
}

/* value / 10^digits without a needless zero. */
static void write_decimal(FILE *out, int64_t value, int digits)
{
	uint64_t scale = 1;
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	for (int i = 0; i < digits; i++)
		scale *= 10;
	uint64_t fraction = size % scale;
	fprintf(out, "%s%" PRIu64, value < 0 ? "-" : "", size / scale);
	if (fraction == 0)
		return;
	while (fraction % 10 == 0) {
		fraction /= 10;
		digits--;
	}
	fprintf(out, ".%0*" PRIu64, digits, fraction);
}

static void write_known(FILE *out, int64_t value, int digits)
{
	fputc(',', out);
	if (value == TL_NEVER)
		fputs("never", out);
	else if (value != TL_NONE)
		write_decimal(out, value, digits);
}

static void write_text(FILE *out, const char *text)
{
	size_t size = text == NULL ? 0 : strlen(text);
	bool edges = size > 0 && (text[0] == ' ' || text[0] == '\t' || text[size - 1] == ' ' ||
	                          text[size - 1] == '\t');

	if (size == 0)
		return;
	if (edges || strpbrk(text, ",\"\n\r") != NULL)
		csv_fwrite(out, text, size);
	else
		fputs(text, out);
}

static void write_name(FILE *out, const char *text)
{
	fputc(',', out);
	write_text(out, text);
}

void tl_canonical_write_record(FILE *out, const struct tl_trace_record *record,
                               const struct tl_canonical_names *names)
{
	write_text(out, record->id);
	fputc(',', out);
	write_decimal(out, record->submit_ns, 9);
	write_known(out, record->duration_ns, 9);
	fputc(',', out);
	write_decimal(out, record->gpus_mgpu, 3);
	write_known(out, record->workers == 0 ? TL_NONE : (int64_t)record->workers, 0);
	write_known(out, record->gpu_memory_bytes, 0);
	write_known(out, record->cpu_milli, 0);
	write_known(out, record->ram_bytes, 0);
	write_known(out, record->estimate_ns, 9);
	write_known(out, record->deadline_ns, 9);
	write_known(out, record->state_bytes, 0);
	write_known(out, record->utilisation_milli, 3);
	write_name(out, names->tenant);
	write_name(out, names->queue);
	write_name(out, names->models);
	write_name(out, names->role);
	fprintf(out, ",%" PRId32, record->priority);
	write_name(out, tl_work_kind_names[record->kind]);
	write_name(out, tl_outcome_names[record->outcome]);
	fputc('\n', out);
}

static const char *name_of(const struct tl_intern *intern, uint32_t number)
{
	return number < intern->count ? intern->names[number] : NULL;
}

enum tl_status tl_canonical_failed(struct tl_error *error)
{
	return tl_error_set(error, TL_E_IO, NULL, 0, 0, "cannot be written: %s",
	                    errno != 0 ? strerror(errno) : "the stream failed");
}

enum tl_status tl_canonical_write(struct tl_trace *trace, FILE *out, struct tl_error *error)
{
	struct tl_trace_record record;
	enum tl_status status;

	errno = 0;
	tl_canonical_write_header(out);
	while ((status = tl_trace_next(trace, &record, error)) == TL_OK) {
		if ((status = tl_stop_check(error)) != TL_OK)
			return status;
		struct tl_canonical_names names = {
		    .tenant = name_of(tl_trace_tenants(trace), record.tenant),
		    .queue = name_of(tl_trace_queues(trace), record.queue),
		    .models = name_of(tl_trace_models(trace), record.models),
		    .role = name_of(tl_trace_roles(trace), record.role),
		};
		tl_canonical_write_record(out, &record, &names);
		if (ferror(out))
			return tl_canonical_failed(error);
	}
	if (status != TL_END)
		return status;
	if (fflush(out) != 0)
		return tl_canonical_failed(error);
	return TL_OK;
}
