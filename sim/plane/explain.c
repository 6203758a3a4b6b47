/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The story of the one job that somebody asks about. */
#include "sim/plane/world.h"

#include "sim/base/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *story(const struct tl_trial *trial)
{
	return trial->options->explain_file;
}

static bool has_ended(struct tl_trial *trial, tl_job_id id)
{
	return tl_job_view_of(&trial->jobs, id)->state >= TL_JOB_SUCCEEDED;
}

/* How long the job waited and ran. */
static void sum_up(struct tl_trial *trial, tl_job_id id)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	enum tl_job_state state = tl_job_view_of(&trial->jobs, id)->state;
	int64_t in_ns[TL_JOB_STATE_COUNT], other_ns = 0;
	char waited[48], ran[48], other[48], when[48];

	memcpy(in_ns, job->in_state_ns, sizeof(in_ns));
	in_ns[state] += tl_trial_now(trial) - job->state_since_ns;
	for (int s = 0; s < TL_JOB_SUCCEEDED; s++)
		if (s != TL_JOB_PENDING && s != TL_JOB_SUSPENDED && s != TL_JOB_RUNNING)
			other_ns += in_ns[s];
	fprintf(story(trial),
	        "%-12s job %s: %s %s: waited %s, ran %s, starting and saving took %s\n",
	        tl_format_instant(tl_trial_now(trial), when, sizeof(when)), job->id,
	        has_ended(trial, id) ? "ended as" : "at the end of the run still",
	        tl_schema_state_names[state],
	        tl_format_duration(in_ns[TL_JOB_PENDING] + in_ns[TL_JOB_SUSPENDED], waited,
	                           sizeof(waited)),
	        tl_format_duration(in_ns[TL_JOB_RUNNING], ran, sizeof(ran)),
	        tl_format_duration(other_ns, other, sizeof(other)));
}

/* A text without its numbers. */
static void strip_digits(const char *text, char *out)
{
	for (; *text != '\0'; text++)
		if (*text < '0' || *text > '9')
			*out++ = *text;
	*out = '\0';
}

/* A reason to wait that changes in nothing but its numbers is told once an hour. */
void tl_trial_explain(struct tl_trial *trial, tl_job_id id, const char *format, ...)
{
	char text[sizeof(trial->explained_text)], bare[sizeof(text)], when[48];
	int64_t now_ns = tl_trial_now(trial);
	va_list arguments;

	if (story(trial) == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	strip_digits(text, bare);
	if (strstr(text, ": waits: ") != NULL && strcmp(bare, trial->explained_text) == 0 &&
	    now_ns - trial->explained_at_ns < TL_NS_PER_HOUR)
		return;
	memcpy(trial->explained_text, bare, sizeof(bare));
	trial->explained_at_ns = now_ns;
	fprintf(story(trial), "%-12s job %s: %s\n", tl_format_instant(now_ns, when, sizeof(when)),
	        tl_job_of(&trial->jobs, id)->id, text);
	if (has_ended(trial, id))
		sum_up(trial, id);
}

/* Asked for by its id, or by `#` and its row. */
static bool is_asked(const struct tl_trial *trial, const struct tl_trace_record *record,
                     uint64_t row)
{
	const char *asked = trial->options->explain_id;
	char number[24];

	if (asked == NULL)
		return false;
	if (strcmp(record->id, asked) == 0)
		return true;
	snprintf(number, sizeof(number), "#%" PRIu64, row);
	return strcmp(number, asked) == 0;
}

void tl_explain_submitted(struct tl_trial *trial, const struct tl_trace_record *record,
                          uint64_t row, tl_job_id id)
{
	char when[48];

	if (!is_asked(trial, record, row) || story(trial) == NULL || trial->explained_count++ > 0)
		return;
	if (id == 0) {
		fprintf(story(trial), "%-12s job %s: submitted, and can never fit this cluster\n",
		        tl_format_instant(tl_trial_now(trial), when, sizeof(when)), record->id);
		return;
	}
	const struct tl_shape *shape = tl_job_of(&trial->jobs, id)->shape;

	trial->explained = id;
	tl_trial_explain(trial, id, "submitted (row %" PRIu64 "): %g GPU%s over %u worker%s", row,
	                 (double)shape->total_mgpu / 1000.0, shape->total_mgpu == 1000 ? "" : "s",
	                 shape->workers, shape->workers == 1 ? "" : "s");
}

void tl_explain_finish(struct tl_trial *trial)
{
	if (story(trial) == NULL)
		return;
	if (tl_job_table_get(&trial->jobs, trial->explained) != NULL &&
	    !has_ended(trial, trial->explained))
		sum_up(trial, trial->explained);
	if (trial->explained_count > 1 && trial->options->diagnostics != NULL)
		fprintf(trial->options->diagnostics,
		        "%" PRIu64
		        " jobs have the id `%s`: the first is told; `#ROW` (a row of /jobs) "
		        "names one\n",
		        trial->explained_count, trial->options->explain_id);
}
