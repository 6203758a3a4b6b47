/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as what an earlier process and Slurm have left of a job array: the records of its
 * tasks, a task's exit code, and squeue's lines. What is no such thing is not there; what is
 * there is found again. */
#include "analysis/slurm.h"
#include "tests/fuzz/input.h"

#include <sys/stat.h>

static void read_elements(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct tl_slurm_element *elements = NULL;
	size_t count = 0;

	tl_slurm_elements_read(text, &elements, &count);
	for (size_t i = 0; i < count; i++) {
		const struct tl_slurm_element *found =
		    tl_slurm_find(elements, count, elements[i].name, elements[i].element);

		TL_ASSERT(found != NULL && strcmp(found->name, elements[i].name) == 0);
		TL_ASSERT(found->element == elements[i].element && found->job > 0);
		TL_ASSERT(!(found->live && found->ended_bad));
	}
	free(elements);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tl_slurm_record *records = NULL;
	char path[FUZZ_PATH_SIZE];
	size_t count = 0;
	int exit_code = 0;

	(void)snprintf(path, sizeof path, "%s/ended", fuzz_folder());
	(void)mkdir(path, 0777);
	fuzz_file("ended/0", data, size, path);
	(void)tl_slurm_array_ended(fuzz_folder(), 0, &exit_code);
	fuzz_file("tasks", data, size, path);
	tl_slurm_array_read(fuzz_folder(), &records, &count);
	for (size_t i = 0; i < count; i++)
		TL_ASSERT(strlen(records[i].output) <= size);
	tl_slurm_records_free(records, count);
	read_elements(data, size);
	return 0;
}
