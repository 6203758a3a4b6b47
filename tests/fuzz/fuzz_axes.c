/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as what the flags of a sweep and of a search take: lines are axes, and each is a
 * list of seeds, a constraint and arguments of sbatch too. Refused with a reason, or read, and
 * then good for a design and for a search. */
#include "analysis/constraint.h"
#include "analysis/design.h"
#include "analysis/slurm.h"
#include "analysis/space.h"
#include "tests/fuzz/input.h"

enum { AXES_MAX = 4, CELLS_MAX = 1000 };

static void make_design(const struct tl_axis *axes, size_t count)
{
	static const char *const designs[] = {NULL, "one-at-a-time", "sobol:17"};
	const char *own[AXES_MAX] = {NULL};
	size_t cells = 1;

	for (size_t i = 0; i < count; i++)
		cells *= axes[i].count + 1;
	for (size_t i = 0; i < 3 && cells <= CELLS_MAX; i++) {
		struct tl_design design;
		struct tl_error error = TL_ERROR_INIT;

		if (tl_design_of_axes(designs[i], axes, count, own, &design, &error) == TL_OK)
			tl_design_fini(&design);
		else
			fuzz_refused(&error);
	}
}

static void make_space(const struct tl_axis *axes, size_t count)
{
	struct tl_space space;
	struct tl_error error = TL_ERROR_INIT;

	if (tl_space_of_axes(axes, count, 25, &space, &error) != TL_OK) {
		fuzz_refused(&error);
		return;
	}
	for (size_t i = 0; i < space.count; i++) {
		const struct tl_ladder *ladder = &space.ladders[i];

		TL_ASSERT(ladder->count >= 2);
		for (int rung = 0; rung < ladder->count; rung += 1 + ladder->count / 64) {
			TL_ASSERT(tl_space_rung(ladder, tl_space_place(ladder, rung)) == rung);
			TL_ASSERT(tl_space_near(ladder, tl_space_value(&space, i, rung)) !=
			          TL_SPACE_OWN);
		}
	}
	tl_space_fini(&space);
}

/* What else a line may be. */
static void try_line(const char *line)
{
	static const double values[] = {0.5, 1.0, 1.5};
	struct tl_constraint constraint;
	struct tl_design design;
	struct tl_error error = TL_ERROR_INIT;
	char **words = NULL;

	if (tl_constraint_parse(line, &constraint, &error) == TL_OK) {
		(void)tl_constraint_judge(&constraint, values, 3, 0.95);
		tl_constraint_fini(&constraint);
	} else {
		fuzz_refused(&error);
	}
	tl_design_init(&design, "grid", NULL, 0);
	if (tl_design_seeds_parse(&design, line, &error) == TL_OK)
		TL_ASSERT(design.seed_count > 0 && design.seed_count <= TL_DESIGN_RUNS_MAX);
	tl_design_fini(&design);
	if (tl_words_split(line, &words, &error) == TL_OK)
		tl_words_free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tl_axis axes[AXES_MAX];
	size_t count = 0;

	for (char *line = text; count < AXES_MAX;) {
		struct tl_error error = TL_ERROR_INIT;
		char *end = line + strcspn(line, "\n");
		bool last = *end == '\0';

		*end = '\0';
		try_line(line);
		if (tl_axis_parse("--vary", line, &axes[count], &error) == TL_OK)
			count++;
		else
			fuzz_refused(&error);
		if (last)
			break;
		line = end + 1;
	}
	if (count > 0) {
		make_design(axes, count);
		make_space(axes, count);
	}
	for (size_t i = 0; i < count; i++)
		tl_axis_fini(&axes[i]);
	free(text);
	return 0;
}
