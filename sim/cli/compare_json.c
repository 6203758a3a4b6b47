/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as JSON, with every number. */
#include "sim/cli/compare.h"

#include "results/metrics.h"
#include "sim/cli/cli.h"

#include <stdlib.h>

static json_t *interval_json(const struct tl_stats_interval *interval)
{
	json_t *pair = json_array();

	(void)json_array_append_new(pair, tl_json_number(interval->low));
	(void)json_array_append_new(pair, tl_json_number(interval->high));
	return pair;
}

/* Of what is hidden by the correction alone. */
static json_t *seeds_json(const struct tl_shown *shown, const struct tl_comparison *row)
{
	const size_t seeds = tl_compare_is_hidden(row)
	                         ? tl_compare_seeds(row, tl_compare_tested(shown), &shown->options)
	                         : 0;

	return seeds > 0 ? json_integer((json_int_t)seeds) : json_null();
}

static json_t *row_json(const struct tl_shown *shown, const struct tl_comparison *row)
{
	static const char *const names[] = {"same", "not-shown", "lower", "higher", "untested"};
	static const char *const better[] = {NULL, "low", "high"};
	const enum tl_better way = tl_metric_better(row->metric);
	json_t *one = json_object();

	(void)json_object_set_new(one, "unit", json_string(row->unit));
	(void)json_object_set_new(one, "a", tl_json_number(row->a));
	(void)json_object_set_new(one, "b", tl_json_number(row->b));
	(void)json_object_set_new(one, "a_count", json_integer((json_int_t)row->a_count));
	(void)json_object_set_new(one, "b_count", json_integer((json_int_t)row->b_count));
	(void)json_object_set_new(one, "paired", json_boolean(row->paired));
	(void)json_object_set_new(one, "difference", tl_json_number(row->difference));
	(void)json_object_set_new(one, "interval", interval_json(&row->interval));
	(void)json_object_set_new(one, "bootstrap", interval_json(&row->bootstrap));
	(void)json_object_set_new(one, "ratio", tl_json_number(row->ratio));
	(void)json_object_set_new(one, "ratio_interval", interval_json(&row->ratio_interval));
	(void)json_object_set_new(one, row->paired ? "cohen_dz" : "hedges_g",
	                          tl_json_number(row->effect));
	(void)json_object_set_new(one, "p", tl_json_number(row->p));
	(void)json_object_set_new(one, "p_corrected", tl_json_number(row->p_corrected));
	(void)json_object_set_new(one, "seeds_to_show", seeds_json(shown, row));
	(void)json_object_set_new(one, "verdict", json_string(names[row->verdict]));
	(void)json_object_set_new(one, "better",
	                          better[way] ? json_string(better[way]) : json_null());
	(void)json_object_set_new(one, "meaningless",
	                          json_boolean(tl_compare_is_meaningless(shown, row)));
	return one;
}

static json_t *side_json(const struct tl_side *side)
{
	json_t *all = json_object(), *seeds = json_array(), *settling = json_object();
	char *label = tl_runs_label(side->runs);

	for (size_t i = 0; i < side->runs->count; i++)
		(void)json_array_append_new(seeds, json_integer((json_int_t)side->runs->seeds[i]));
	(void)json_object_set_new(all, "label", json_string(label));
	(void)json_object_set_new(all, "source", json_string(side->runs->source));
	(void)json_object_set_new(all, "cell", json_string(side->runs->cell));
	(void)json_object_set_new(all, "seeds", seeds);
	(void)json_object_set_new(all, "missing", json_integer((json_int_t)side->runs->missing));
	(void)json_object_set_new(settling, "judged",
	                          json_integer((json_int_t)side->settling.judged));
	(void)json_object_set_new(settling, "saturated",
	                          json_integer((json_int_t)side->settling.saturated));
	(void)json_object_set_new(settling, "unsettled",
	                          json_integer((json_int_t)side->settling.unsettled));
	(void)json_object_set_new(settling, "warmup_ns",
	                          json_integer((json_int_t)side->settling.warmup_ns));
	(void)json_object_set_new(all, "settling", settling);
	free(label);
	return all;
}

json_t *tl_compare_json(const struct tl_shown *shown)
{
	json_t *all = json_object(), *metrics = json_object(), *differs = json_array();

	for (size_t i = 0; i < shown->differences->count; i++) {
		const struct tl_difference *d = &shown->differences->items[i];
		json_t *one = json_object();

		(void)json_object_set_new(one, "key", json_string(d->key));
		(void)json_object_set_new(one, "a", d->a ? json_string(d->a) : json_null());
		(void)json_object_set_new(one, "b", d->b ? json_string(d->b) : json_null());
		(void)json_array_append_new(differs, one);
	}
	for (size_t i = 0; i < shown->count; i++)
		(void)json_object_set_new(metrics, shown->rows[i].metric,
		                          row_json(shown, &shown->rows[i]));
	(void)json_object_set_new(all, "a", side_json(&shown->a));
	(void)json_object_set_new(all, "b", side_json(&shown->b));
	(void)json_object_set_new(all, "differs", differs);
	(void)json_object_set_new(all, "confidence", json_real(shown->options.confidence));
	(void)json_object_set_new(all, "metrics", metrics);
	if (shown->steady_from_ns >= 0)
		(void)json_object_set_new(all, "steady_from_ns",
		                          json_integer((json_int_t)shown->steady_from_ns));
	return all;
}
