/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The arrays that one process has, and those that earlier ones have left. */
#include "analysis/slurm.h"

#include "sim/base/arena.h"
#include "sim/base/output.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tl_slurm_array *tl_slurm_arrays_add(struct tl_slurm_arrays *arrays, char *folder,
                                           size_t count)
{
	struct tl_slurm_array *array;

	arrays->items =
	    tl_grow(arrays->items, &arrays->capacity, arrays->count + 1, sizeof *arrays->items);
	array = &arrays->items[arrays->count++];
	*array = (struct tl_slurm_array){.folder = folder,
	                                 .name = strrchr(folder, '/') + 1,
	                                 .places = tl_calloc(count + 1, sizeof *array->places),
	                                 .count = count};
	for (size_t i = 0; i < count; i++)
		array->places[i].task = TL_SLURM_NOBODY;
	return array;
}

void tl_slurm_array_drop(struct tl_slurm_array *array)
{
	if (!array->leave)
		tl_slurm_array_remove(array->folder);
	free(array->folder);
	free(array->places);
}

struct wanted {
	const char *output;
	size_t task;
};

static int by_output(const void *a, const void *b)
{
	return strcmp(((const struct wanted *)a)->output, ((const struct wanted *)b)->output);
}

/* A task that it has under way, or has done, is not submitted again. */
static void adopt(struct tl_slurm_array *array, const struct tl_slurm_record *records,
                  const struct wanted *wanted, size_t wanted_count,
                  const struct tl_slurm_element *elements, size_t element_count, bool *taken)
{
	for (size_t i = 0; i < array->count; i++) {
		const struct wanted key = {.output = records[i].output};
		const struct wanted *found =
		    wanted_count ? bsearch(&key, wanted, wanted_count, sizeof key, by_output)
				 : NULL;
		const struct tl_slurm_element *element =
		    tl_slurm_find(elements, element_count, array->name, records[i].element);
		int exit_code = 0;
		bool ended = tl_slurm_array_ended(array->folder, i, &exit_code);

		array->places[i].element = records[i].element;
		if (element)
			array->job = element->job;
		if (!found || taken[found->task] || (ended && exit_code != 0) ||
		    (!ended && !(element && element->live)))
			continue;
		array->places[i].task = (ptrdiff_t)found->task;
		array->waited++;
		taken[found->task] = true;
	}
}

/* Elements that live and that nobody waits for. */
static enum tl_status cancel_unwanted(struct tl_slurm_array *array,
                                      const struct tl_slurm_element *elements, size_t element_count,
                                      struct tl_error *error)
{
	enum { ID_SIZE = 48 };
	char(*ids)[ID_SIZE] = tl_calloc(array->count + 1, sizeof *ids);
	const char **words = tl_calloc(array->count + 1, sizeof *words);
	size_t count = 0;
	enum tl_status status;

	for (size_t i = 0, next; i < array->count; i = next) {
		size_t which = array->places[i].element;
		const struct tl_slurm_element *element =
		    tl_slurm_find(elements, element_count, array->name, which);
		bool waited = false;

		for (next = i; next < array->count && array->places[next].element == which; next++)
			waited |= array->places[next].task != TL_SLURM_NOBODY;
		if (waited || !element || !element->live)
			continue;
		(void)snprintf(ids[count], ID_SIZE, "%ld_%zu", element->job, which);
		words[count] = ids[count];
		count++;
	}
	status = tl_slurm_scancel(words, count, false, error);
	array->leave = status != TL_OK;
	free(words);
	free(ids);
	return status;
}

static enum tl_status settle(struct tl_slurm_array *array, const struct tl_slurm_record *records,
                             const struct wanted *wanted, size_t wanted_count, bool *taken,
                             struct tl_error *error)
{
	const char *const name = array->name;
	struct tl_slurm_element *elements = NULL;
	size_t count = 0;
	enum tl_status status = tl_slurm_squeue(&name, 1, false, &elements, &count, error);
	char *stop = tl_join(array->folder, "stop");

	array->leave = true; /* until it is known what becomes of its job */
	if (status == TL_OK) {
		adopt(array, records, wanted, wanted_count, elements, count, taken);
		status = cancel_unwanted(array, elements, count, error);
	}
	if (status == TL_OK && array->waited > 0)
		(void)unlink(stop);
	free(stop);
	free(elements);
	return status;
}

enum tl_status tl_slurm_adopt(const char *folder, const struct tl_task *tasks, size_t count,
                              bool *taken, struct tl_slurm_arrays *arrays, struct tl_error *error)
{
	struct wanted *wanted = tl_calloc(count + 1, sizeof *wanted);
	DIR *all = opendir(folder);
	struct dirent *entry;
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count; i++)
		wanted[i] = (struct wanted){.output = tasks[i].output, .task = i};
	qsort(wanted, count, sizeof *wanted, by_output);
	while (all && status == TL_OK && (entry = readdir(all))) {
		struct tl_slurm_record *records;
		struct tl_slurm_array *array;
		size_t record_count;
		char *path;

		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= TL_SLURM_NAME_MAX)
			continue;
		path = tl_join(folder, entry->d_name);
		tl_slurm_array_read(path, &records, &record_count);
		array = tl_slurm_arrays_add(arrays, path, record_count);
		status = settle(array, records, wanted, count, taken, error);
		tl_slurm_records_free(records, record_count);
		if (array->waited == 0) {
			tl_slurm_array_drop(array);
			arrays->count--;
		}
	}
	if (all)
		(void)closedir(all);
	free(wanted);
	return status;
}
