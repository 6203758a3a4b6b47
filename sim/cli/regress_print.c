/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/regress.h"

#include "sim/base/utf8.h"
#include "sim/cli/cli.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 256, NUMBER_SIZE = 32 };

static const char *const tests[] = {"auto", "value", "difference", "equivalence", "ignore"};
static const char *const states[] = {"ok",     "ignored", "better", "moved", "worse",
                                     "unsure", "uneven",  "gone",   "new",   "unit"};

static const char *number(double value, char buffer[NUMBER_SIZE])
{
	(void)snprintf(buffer, NUMBER_SIZE, "%.9g", value);
	return buffer;
}

/* Why it stands where it does. */
static const char *reason(const struct tl_regression *row, char buffer[TEXT_MAX])
{
	size_t used;

	switch (row->state) {
	case TL_REGRESS_OK:
		if (row->a_count == row->a_runs && row->b_count == row->b_runs)
			return states[row->state];
		(void)snprintf(buffer, TEXT_MAX,
		               "ok, of the runs with a value: %zu of %zu, now %zu of %zu",
		               row->a_count, row->a_runs, row->b_count, row->b_runs);
		return buffer;
	case TL_REGRESS_IGNORED:
		return states[row->state];
	case TL_REGRESS_UNEVEN:
		(void)snprintf(buffer, TEXT_MAX,
		               "uneven: other runs have a value: %zu of %zu, now %zu of %zu",
		               row->a_count, row->a_runs, row->b_count, row->b_runs);
		return buffer;
	case TL_REGRESS_GONE:
		return "gone: only the baseline has it";
	case TL_REGRESS_NEW:
		return "new: the baseline has it not";
	case TL_REGRESS_UNIT:
		(void)snprintf(buffer, TEXT_MAX, "unit: `%s` became `%s`", row->a_unit,
		               row->b_unit);
		return buffer;
	default:
		break;
	}
	if (isnan(row->a) || isnan(row->b)) {
		(void)snprintf(buffer, TEXT_MAX, "%s: a value on one side alone",
		               states[row->state]);
		return buffer;
	}
	used = (size_t)snprintf(buffer, TEXT_MAX, "%s", states[row->state]);
	if (isfinite(row->p))
		used += (size_t)snprintf(buffer + used, TEXT_MAX - used, ", p %.2g", row->p);
	if (row->interval.high > row->interval.low)
		used += (size_t)snprintf(buffer + used, TEXT_MAX - used, " [%.3g, %.3g]",
		                         row->interval.low, row->interval.high);
	if (!row->exact)
		(void)snprintf(buffer + used, TEXT_MAX - used, ", allowed ±%.3g", row->margin);
	return buffer;
}

static void print_row(const struct tl_regression *row, FILE *out)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], change[NUMBER_SIZE] = "-", why[TEXT_MAX];

	if (isfinite(row->a) && isfinite(row->b) && fabs(row->a) > 0)
		(void)snprintf(change, sizeof change, "%+.4g %%",
		               100 * (row->b - row->a) / fabs(row->a));
	(void)fprintf(out, "  %-28s %14s %14s %12s  %s\n", row->metric,
	              row->a_unit ? number(row->a, a) : "absent",
	              row->b_unit ? number(row->b, b) : "absent", change, reason(row, why));
}

void tl_gate_print(const struct tl_gate *gate, bool all, FILE *out)
{
	bool titled = false;

	for (size_t i = 0; i < gate->count; i++) {
		const struct tl_regression *row = &gate->rows[i];

		if (!all && (row->state == TL_REGRESS_OK || row->state == TL_REGRESS_IGNORED))
			continue;
		if (!titled)
			(void)fprintf(out, "  %-28s %14s %14s %12s  %s\n", "metric", "baseline",
			              "now", "change", "why");
		titled = true;
		print_row(row, out);
	}
	(void)fprintf(out, "%s: %zu of %zu metrics left their margins", gate->baseline,
	              gate->failed, gate->count - gate->ignored);
	if (gate->ignored > 0)
		(void)fprintf(out, ", %zu ignored", gate->ignored);
	(void)fputc('\n', out);
}

json_t *tl_gate_json(const struct tl_gate *gate)
{
	json_t *all = json_object(), *metrics = json_object();

	for (size_t i = 0; i < gate->count; i++) {
		const struct tl_regression *row = &gate->rows[i];
		json_t *one = json_object();

		(void)json_object_set_new(one, "state", json_string(states[row->state]));
		(void)json_object_set_new(one, "fails", json_boolean(tl_regress_fails(row)));
		(void)json_object_set_new(one, "test", json_string(tests[row->test]));
		(void)json_object_set_new(one, "baseline", tl_json_number(row->a));
		(void)json_object_set_new(one, "now", tl_json_number(row->b));
		(void)json_object_set_new(one, "baseline_values",
		                          json_integer((json_int_t)row->a_count));
		(void)json_object_set_new(one, "now_values",
		                          json_integer((json_int_t)row->b_count));
		(void)json_object_set_new(one, "margin", tl_json_number(row->margin));
		(void)json_object_set_new(one, "p", tl_json_number(row->p));
		(void)json_object_set_new(metrics, row->metric, one);
	}
	(void)json_object_set_new(all, "baseline", json_string(gate->baseline));
	(void)json_object_set_new(all, "candidate", json_string(gate->candidate));
	(void)json_object_set_new(all, "failed", json_integer((json_int_t)gate->failed));
	(void)json_object_set_new(all, "metrics", metrics);
	return all;
}

/* ---- JUnit ---- */

/* XML has no way to write control characters, nor what is no UTF-8: `?` stands for them. */
static void put_xml(const char *text, FILE *out)
{
	for (size_t length; *text; text += length > 0 ? length : 1) {
		length = tl_utf8_length(text);
		switch (*text) {
		case '&':
			(void)fputs("&amp;", out);
			break;
		case '<':
			(void)fputs("&lt;", out);
			break;
		case '>':
			(void)fputs("&gt;", out);
			break;
		case '"':
			(void)fputs("&quot;", out);
			break;
		default:
			if (length == 0 || (unsigned char)*text < ' ')
				(void)fputc('?', out);
			else
				(void)fwrite(text, 1, length, out);
		}
	}
}

static void put_case(const struct tl_gate *gate, const struct tl_regression *row, FILE *out)
{
	char why[TEXT_MAX], a[NUMBER_SIZE], b[NUMBER_SIZE];

	(void)fputs("  <testcase classname=\"", out);
	put_xml(gate->baseline, out);
	(void)fputs("\" name=\"", out);
	put_xml(row->metric, out);
	if (row->state == TL_REGRESS_IGNORED) {
		(void)fputs("\"><skipped/></testcase>\n", out);
	} else if (!tl_regress_fails(row)) {
		(void)fputs("\"/>\n", out);
	} else {
		(void)fputs("\"><failure message=\"", out);
		put_xml(row->metric, out);
		(void)fputs(" ", out);
		put_xml(reason(row, why), out);
		(void)fputs("\">baseline ", out);
		put_xml(row->a_unit ? number(row->a, a) : "absent", out);
		(void)fputs(", now ", out);
		put_xml(row->b_unit ? number(row->b, b) : "absent", out);
		(void)fputs("</failure></testcase>\n", out);
	}
}

void tl_gate_junit(const struct tl_gate *gate, FILE *out)
{
	(void)fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	put_xml(gate->baseline, out);
	(void)fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
	              gate->count, gate->failed, gate->ignored);
	for (size_t i = 0; i < gate->count; i++)
		put_case(gate, &gate->rows[i], out);
	(void)fputs("</testsuite>\n", out);
}
