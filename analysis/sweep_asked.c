/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search has asked for: one design after another, told as the one of all their cells. */
#include "analysis/sweep_private.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"

#include <stdlib.h>
#include <string.h>

static size_t seed_of(const struct tl_design *design, uint64_t seed)
{
	size_t i = 0;

	while (i < design->seed_count && design->seeds[i] != seed)
		i++;
	return i;
}

static bool any_asked(const struct tl_sweep_run *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (runs[i].state != TL_RUN_UNASKED)
			return true;
	return false;
}

/* The place of a cell, at the end where it is new. */
static size_t place_of(struct tl_design *asked, const struct tl_design *design, size_t cell)
{
	const char *const *values = (const char *const *)design->values + cell * design->key_count;
	const size_t found = tl_design_find(asked, values);

	return found < asked->cell_count ? found : tl_design_add(asked, values);
}

/* The runs there were, among those of the cells and seeds that there are now. */
static void lay_out(struct tl_sweep *sweep, size_t old_cells, size_t old_seeds)
{
	const struct tl_design *asked = &sweep->asked;
	const size_t width = asked->seed_count;
	struct tl_sweep_run *runs;

	if (asked->cell_count == old_cells && width == old_seeds)
		return;
	runs = tl_calloc(asked->cell_count * width + 1, sizeof *runs);
	for (size_t i = 0; i < asked->cell_count * width; i++)
		runs[i] = (struct tl_sweep_run){
		    .cell = i / width, .seed = asked->seeds[i % width], .state = TL_RUN_UNASKED};
	for (size_t i = 0; i < old_cells * old_seeds; i++)
		runs[i / old_seeds * width + i % old_seeds] = sweep->asked_runs[i];
	free(sweep->asked_runs);
	sweep->asked_runs = runs;
}

static void take(struct tl_sweep_run *to, const struct tl_sweep_run *from)
{
	memcpy(to->hash, from->hash, sizeof to->hash);
	to->state = from->state;
	to->exit_code = from->exit_code;
	free(to->reason);
	to->reason = from->reason ? tl_strdup(from->reason) : NULL;
}

void tl_asked_add(struct tl_sweep *sweep, const struct tl_design *design,
                  const struct tl_sweep_run *runs)
{
	struct tl_design *asked = &sweep->asked;
	const size_t seeds = design->seed_count, old_cells = asked->cell_count;
	const size_t old_seeds = asked->seed_count;
	size_t *places = tl_calloc(design->cell_count + 1, sizeof *places);

	if (!asked->name)
		tl_design_init(asked, design->name, (const char *const *)design->keys,
		               design->key_count);
	for (size_t i = 0; i < seeds; i++)
		if (seed_of(asked, design->seeds[i]) == asked->seed_count)
			tl_design_seed(asked, design->seeds[i]);
	for (size_t cell = 0; cell < design->cell_count; cell++)
		if (any_asked(runs + cell * seeds, seeds))
			places[cell] = place_of(asked, design, cell);
	lay_out(sweep, old_cells, old_seeds);
	for (size_t i = 0; i < design->cell_count * seeds; i++)
		if (runs[i].state != TL_RUN_UNASKED)
			take(&sweep->asked_runs[places[i / seeds] * asked->seed_count +
			                        seed_of(asked, design->seeds[i % seeds])],
			     &runs[i]);
	free(places);
}

enum tl_status tl_asked_begin(struct tl_sweep *sweep, struct tl_manifest *held,
                              struct tl_error *error)
{
	const struct tl_subject *subject = sweep->subject;

	for (size_t i = 0; i < held->run_count; i++) {
		struct tl_sweep_run *run = &held->runs[i];
		struct tl_error unwanted = TL_ERROR_INIT;
		char hash[TL_SHA256_HEX];
		enum tl_status status = tl_stop_check(error);

		if (status != TL_OK)
			return status;
		if (run->state == TL_RUN_UNASKED)
			continue;
		if (subject->identify(subject->context, &held->design, run->cell, run->seed, hash,
		                      &unwanted) != TL_OK ||
		    strcmp(hash, run->hash) != 0)
			run->state = TL_RUN_UNASKED;
	}
	if (any_asked(held->runs, held->run_count))
		tl_asked_add(sweep, &held->design, held->runs);
	return TL_OK;
}

void tl_asked_fini(struct tl_sweep *sweep)
{
	tl_sweep_runs_free(sweep->asked_runs, sweep->asked.cell_count * sweep->asked.seed_count);
	tl_design_fini(&sweep->asked);
}
