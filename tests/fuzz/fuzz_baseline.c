/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a baseline, and as a tolerance file: refused with a reason, or read. A baseline
 * that is read is the same once written and read again, and never moves against itself. */
#include "analysis/baseline.h"
#include "analysis/regress.h"
#include "tests/fuzz/input.h"

#include <math.h>

static void compare(const struct tl_runs *a, const struct tl_runs *b)
{
	TL_ASSERT(a->count == b->count && a->metric_count == b->metric_count);
	for (size_t i = 0; i < a->metric_count; i++) {
		TL_ASSERT(strcmp(a->metrics[i], b->metrics[i]) == 0);
		TL_ASSERT(strcmp(a->units[i], b->units[i]) == 0);
		for (size_t run = 0; run < a->count; run++) {
			double x = tl_runs_value(a, i, run), y = tl_runs_value(b, i, run);

			TL_ASSERT((isnan(x) && isnan(y)) || !(x < y || x > y));
		}
	}
}

static void write_again(const struct tl_baseline *baseline)
{
	struct tl_baseline again;
	struct tl_error error = TL_ERROR_INIT;
	char path[FUZZ_PATH_SIZE];
	FILE *out;

	(void)snprintf(path, sizeof path, "%s/again.csv", fuzz_folder());
	out = fopen(path, "w");
	TL_ASSERT(out != NULL);
	tl_baseline_write(baseline->comments, baseline->runs, out);
	TL_ASSERT(fclose(out) == 0);
	TL_ASSERT(tl_baseline_read(path, &again, &error) == TL_OK);
	compare(baseline->runs, again.runs);
	tl_baseline_fini(&again);
}

static void against_itself(const struct tl_runs *runs, const struct tl_tolerances *tolerances)
{
	struct tl_regression *rows = NULL;
	struct tl_error error = TL_ERROR_INIT;
	size_t count = 0;

	if (tl_regress(runs, runs, tolerances, &rows, &count, &error) != TL_OK) {
		fuzz_refused(&error);
		return;
	}
	for (size_t i = 0; i < count; i++)
		TL_ASSERT(rows[i].state <= TL_REGRESS_IGNORED ||
		          rows[i].state == TL_REGRESS_UNCERTAIN);
	free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char standard[] = "metric,value,unit\nwait_s,1.5,s\njobs,3,1\n";
	struct tl_baseline baseline;
	struct tl_tolerances tolerances;
	struct tl_error error = TL_ERROR_INIT, unread = TL_ERROR_INIT;
	char path[FUZZ_PATH_SIZE], other[FUZZ_PATH_SIZE];

	fuzz_file("input.csv", data, size, path);
	if (tl_baseline_read(path, &baseline, &error) == TL_OK) {
		write_again(&baseline);
		against_itself(baseline.runs, &(struct tl_tolerances){.items = NULL});
		tl_baseline_fini(&baseline);
	} else {
		fuzz_refused(&error);
	}
	if (tl_tolerances_read(path, &tolerances, &unread) != TL_OK) {
		fuzz_refused(&unread);
		return 0;
	}
	fuzz_file("other.csv", (const uint8_t *)standard, sizeof standard - 1, other);
	TL_ASSERT(tl_baseline_read(other, &baseline, &error) == TL_OK);
	against_itself(baseline.runs, &tolerances);
	tl_baseline_fini(&baseline);
	tl_tolerances_fini(&tolerances);
	return 0;
}
