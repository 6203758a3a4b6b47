/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slurm's commands, and what they say. */
#include "analysis/program.h"
#include "analysis/slurm.h"

#include "sim/base/arena.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* These would change what squeue and scancel are asked. */
static const char *const dropped[] = {"SQUEUE_", "SCANCEL_", NULL};

static enum tl_status slurm(const char *const *arguments, bool undisturbed,
                            struct tl_program_end *end, struct tl_error *error)
{
	const struct tl_program program = {.arguments = arguments,
	                                   .dropped = dropped,
	                                   .undisturbed = undisturbed,
	                                   .what_for = "which is Slurm's"};

	return tl_program_run(&program, end, error);
}

/* Its first line; Slurm's words are `sbatch: error: what`. */
static enum tl_status refused(const char *what, struct tl_program_end *end, struct tl_error *error)
{
	end->errors[strcspn(end->errors, "\n")] = '\0';
	(void)tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0, "%s: %.500s", what,
	                   end->errors[0] != '\0' ? end->errors : "ended badly, and said nothing");
	tl_program_end_fini(end);
	return TL_E_UNAVAILABLE;
}

enum tl_status tl_slurm_limits(size_t *most_elements, struct tl_error *error)
{
	static const char key[] = "MaxArraySize";
	const char *const arguments[] = {"scontrol", "show", "config", NULL};
	struct tl_program_end end;
	enum tl_status status = slurm(arguments, false, &end, error);
	const char *line;

	if (status != TL_OK)
		return status;
	if (end.exit_code != 0)
		return refused("Slurm does not answer", &end, error);
	line = strstr(end.out, key);
	line = line ? strchr(line, '=') : NULL;
	*most_elements = line ? (size_t)strtoull(line + 1, NULL, 10) : 0;
	tl_program_end_fini(&end);
	if (*most_elements == 0)
		return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                    "Slurm: this cluster takes no job arrays (%s is 0 or not "
		                    "shown), wanted one that does",
		                    key);
	return TL_OK;
}

enum tl_status tl_slurm_sbatch(char *const *words, long *job, struct tl_error *error)
{
	struct tl_program_end end;
	enum tl_status status = slurm((const char *const *)words, false, &end, error);

	if (status != TL_OK)
		return status;
	if (end.exit_code != 0)
		return refused("the runs could not be handed to Slurm", &end, error);
	*job = strtol(end.out, NULL, 10); /* `JOB`, or `JOB;CLUSTER` */
	if (*job <= 0)
		status = tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                      "sbatch: said `%.100s`, wanted the number of a job", end.out);
	tl_program_end_fini(&end);
	return status;
}

/* ---- squeue ---- */

static bool listed(const char *state, const char *const *states)
{
	for (; *states; states++)
		if (strcmp(state, *states) == 0)
			return true;
	return false;
}

/* `NAME|JOB|ELEMENT|STATE`; ELEMENT is `N/A` for all that were cancelled before they began. */
static bool parse_element(char *line, struct tl_slurm_element *element)
{
	static const char *const over[] = {"COMPLETED", "FAILED", NULL};
	static const char *const bad[] = {"CANCELLED",     "TIMEOUT",   "NODE_FAIL",
	                                  "PREEMPTED",     "BOOT_FAIL", "DEADLINE",
	                                  "OUT_OF_MEMORY", "REVOKED",   NULL};
	char *fields[4], *end;

	for (int i = 0; i < 4; i++) {
		fields[i] = line;
		line += strcspn(line, "|");
		if (*line != '\0')
			*line++ = '\0';
	}
	if (strlen(fields[0]) >= sizeof element->name || strlen(fields[3]) >= sizeof element->state)
		return false;
	*element = (struct tl_slurm_element){.job = strtol(fields[1], NULL, 10)};
	element->element = (size_t)strtoumax(fields[2], &end, 10);
	if (end == fields[2] || *end != '\0')
		element->element = TL_SLURM_REST;
	if (element->job <= 0)
		return false;
	memcpy(element->name, fields[0], strlen(fields[0]) + 1);
	memcpy(element->state, fields[3], strlen(fields[3]) + 1);
	element->ended_bad = listed(element->state, bad);
	element->live = !element->ended_bad && !listed(element->state, over);
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct tl_slurm_element *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->element > y->element) - (x->element < y->element);
}

const struct tl_slurm_element *tl_slurm_find(const struct tl_slurm_element *elements, size_t count,
                                             const char *name, size_t element)
{
	struct tl_slurm_element wanted = {.element = element};

	const struct tl_slurm_element *found;

	(void)snprintf(wanted.name, sizeof wanted.name, "%s", name);
	found = count ? bsearch(&wanted, elements, count, sizeof wanted, by_place) : NULL;
	wanted.element = TL_SLURM_REST;
	return found || !count ? found : bsearch(&wanted, elements, count, sizeof wanted, by_place);
}

static char *joined(const char *const *names, size_t count)
{
	char *text = tl_strdup("--name=");

	for (size_t i = 0; i < count; i++)
		tl_append(&text, "%s%s", i ? "," : "", names[i]);
	return text;
}

void tl_slurm_elements_read(char *text, struct tl_slurm_element **elements, size_t *count)
{
	struct tl_slurm_element *found = NULL;
	size_t capacity = 0;

	*count = 0;
	for (char *line = text, *next; *line != '\0'; line = next) {
		next = line + strcspn(line, "\n");
		if (*next != '\0')
			*next++ = '\0';
		found = tl_grow(found, &capacity, *count + 1, sizeof *found);
		if (parse_element(line, &found[*count]))
			++*count;
	}
	if (found)
		qsort(found, *count, sizeof *found, by_place);
	*elements = found;
}

enum tl_status tl_slurm_squeue(const char *const *names, size_t count, bool undisturbed,
                               struct tl_slurm_element **elements, size_t *element_count,
                               struct tl_error *error)
{
	char *name = joined(names, count);
	const char *const arguments[] = {
	    "squeue", "--noheader", "--array", "--states=all", name, "--format=%j|%F|%K|%T", NULL};
	struct tl_program_end end;
	enum tl_status status = slurm(arguments, undisturbed, &end, error);

	free(name);
	if (status != TL_OK)
		return status;
	if (end.exit_code != 0)
		return refused("Slurm does not answer", &end, error);
	tl_slurm_elements_read(end.out, elements, element_count);
	tl_program_end_fini(&end);
	return TL_OK;
}

enum tl_status tl_slurm_scancel(const char *const *ids, size_t count, bool pending,
                                struct tl_error *error)
{
	enum { AT_A_TIME = 100 };
	const char *arguments[AT_A_TIME + 4];
	struct tl_program_end end;
	enum tl_status status = TL_OK;

	for (size_t done = 0; done < count && status == TL_OK;) {
		size_t words = 0;

		arguments[words++] = "scancel";
		arguments[words++] = "--quiet"; /* one that has ended meanwhile is no error */
		if (pending)
			arguments[words++] = "--state=PENDING";
		for (size_t i = 0; i < AT_A_TIME && done < count; i++)
			arguments[words++] = ids[done++];
		arguments[words] = NULL;
		status = slurm(arguments, true, &end, error);
		if (status == TL_OK && end.exit_code != 0)
			return refused("jobs could not be cancelled", &end, error);
		if (status == TL_OK)
			tl_program_end_fini(&end);
	}
	return status;
}
