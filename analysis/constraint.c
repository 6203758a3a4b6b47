/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/constraint.h"

#include "analysis/stats.h"
#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_verdict_names[] = {"holds", "not shown", "fails"};

enum tl_status tl_constraint_parse(const char *text, struct tl_constraint *out,
                                   struct tl_error *error)
{
	const char *sign = strpbrk(text, "<>=");
	struct tl_error unread = TL_ERROR_INIT;
	size_t length = sign ? (size_t)(sign - text) : 0;

	*out = (struct tl_constraint){.metric = NULL};
	while (length > 0 && text[length - 1] == ' ')
		length--;
	if (length == 0 || sign[0] == '=' || sign[1] != '=' ||
	    tl_parse_double(sign + 2 + strspn(sign + 2, " "), &out->bound, &unread) != TL_OK ||
	    !isfinite(out->bound))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--subject-to: got `%.100s`, wanted METRIC>=NUMBER or "
		                    "METRIC<=NUMBER, as in 'attainment>=0.999'",
		                    text);
	out->at_least = sign[0] == '>';
	out->metric = tl_strndup(text, length);
	return TL_OK;
}

void tl_constraint_fini(struct tl_constraint *constraint)
{
	free(constraint->metric);
	*constraint = (struct tl_constraint){.metric = NULL};
}

struct tl_judgement tl_constraint_judge(const struct tl_constraint *constraint,
                                        const double *values, size_t count, double confidence)
{
	double side = constraint->at_least ? 1 : -1; /* values × side ≥ bound × side */
	double bound = constraint->bound * side, low, high;
	struct tl_judgement judgement = {.verdict = TL_VERDICT_UNSHOWN,
	                                 .mean = tl_stats_sample(values, count).mean};
	struct tl_stats_interval interval = tl_stats_t_interval(values, count, 2 * confidence - 1);

	if (!isfinite(judgement.mean)) {
		judgement.verdict = TL_VERDICT_FAILS;
		judgement.limit = judgement.mean;
		judgement.shortfall = (double)INFINITY;
		return judgement;
	}
	if (count < 2)
		interval = (struct tl_stats_interval){judgement.mean, judgement.mean};
	low = side > 0 ? interval.low : -interval.high;
	high = side > 0 ? interval.high : -interval.low;
	if (high < bound)
		judgement.verdict = TL_VERDICT_FAILS;
	else if (low >= bound && count > 1)
		judgement.verdict = TL_VERDICT_HOLDS;
	judgement.limit = low * side;
	judgement.shortfall =
	    low >= bound ? 0 : (bound - low) / (constraint->bound != 0 ? fabs(bound) : 1);
	return judgement;
}

enum tl_constraint_verdict tl_verdict_worst(enum tl_constraint_verdict a,
                                            enum tl_constraint_verdict b)
{
	return a > b ? a : b;
}
