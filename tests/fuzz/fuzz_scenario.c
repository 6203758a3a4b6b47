/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any text as a scenario, and any text as a --set: refused or accepted, never a crash; what
 * is accepted has an effective text that reads back as itself. */
#include "sim/config/scenario.h"
#include "tests/fuzz/input.h"

static void read_back(const struct tl_scenario *scenario)
{
	struct tl_scenario *again = NULL;
	struct tl_error error = TL_ERROR_INIT;

	TL_ASSERT(tl_scenario_parse("again", scenario->text, NULL, 0, &again, &error) == TL_OK);
	TL_ASSERT(strcmp(scenario->text, again->text) == 0);
	tl_scenario_destroy(again);
}

static void try_text(const char *text, const struct tl_override *set, size_t sets)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	if (tl_scenario_parse("fuzz", text, set, sets, &scenario, &error) == TL_OK) {
		read_back(scenario);
		tl_scenario_destroy(scenario);
	} else {
		fuzz_refused(&error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	char *equals;

	try_text(text, NULL, 0);
	equals = strchr(text, '=');
	if (equals) {
		struct tl_override set = {.key = text, .value = equals + 1};

		*equals = '\0';
		try_text("workload: [{trace: a}]", &set, 1);
	}
	free(text);
	return 0;
}
