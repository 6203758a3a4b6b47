/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of an array: named, written, read by whoever comes later, removed. */
#include "analysis/slurm.h"

#include "sim/base/arena.h"
#include "sim/base/output.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static enum tl_status cannot_write(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0, "cannot be written: %s",
	                    strerror(errno));
}

/* Slurm knows of a job for a while after its end: a name is never had twice. */
char *tl_slurm_array_path(const char *parent)
{
	static unsigned made;
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return tl_format("%s/tidelab-%llx-%lx-%lx-%x", parent,
	                 (unsigned long long)now.tv_sec & 0xffffffff, (unsigned long)now.tv_nsec,
	                 (unsigned long)getpid() & 0xffffff, made++ & 0xfff);
}

static enum tl_status write_file(const char *folder, const char *name,
                                 void (*write)(const struct tl_slurm_plan *plan, FILE *out),
                                 const struct tl_slurm_plan *plan, struct tl_error *error)
{
	char *path = tl_join(folder, name);
	FILE *out = fopen(path, "w");
	enum tl_status status = TL_OK;
	bool bad;

	if (!out) {
		status = cannot_write(path, error);
	} else {
		write(plan, out);
		bad = ferror(out) != 0;
		if (fclose(out) != 0 || bad)
			status = tl_error_set(error, TL_E_IO, path, 0, 0, "cannot be written: %s",
			                      strerror(errno));
	}
	free(path);
	return status;
}

static void write_tasks(const struct tl_slurm_plan *plan, FILE *out)
{
	for (size_t i = 0; i < plan->count; i++) {
		(void)fprintf(out, "%zu %s", i / plan->chunk, plan->tasks[plan->which[i]].output);
		(void)fputc('\0', out);
	}
}

enum tl_status tl_slurm_array_write(const struct tl_slurm_plan *plan, struct tl_error *error)
{
	char *ended = tl_join(plan->folder, "ended");
	enum tl_status status = TL_OK;

	if (mkdir(plan->folder, 0777) != 0)
		status = cannot_write(plan->folder, error);
	else if (mkdir(ended, 0777) != 0)
		status = cannot_write(ended, error);
	if (status == TL_OK)
		status = write_file(plan->folder, "script", tl_slurm_script, plan, error);
	if (status == TL_OK)
		status = write_file(plan->folder, "tasks", write_tasks, plan, error);
	free(ended);
	return status;
}

void tl_slurm_array_read(const char *folder, struct tl_slurm_record **records, size_t *count)
{
	char *path = tl_join(folder, "tasks"), *record = NULL, *output;
	FILE *in = fopen(path, "r");
	size_t room = 0, capacity = 0;

	*records = NULL;
	*count = 0;
	free(path);
	if (!in)
		return;
	while (getdelim(&record, &room, '\0', in) > 0) {
		size_t element = (size_t)strtoumax(record, &output, 10);

		if (*output != ' ')
			break;
		*records = tl_grow(*records, &capacity, *count + 1, sizeof **records);
		(*records)[(*count)++] =
		    (struct tl_slurm_record){.element = element, .output = tl_strdup(output + 1)};
	}
	free(record);
	(void)fclose(in);
}

void tl_slurm_records_free(struct tl_slurm_record *records, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(records[i].output);
	free(records);
}

bool tl_slurm_array_ended(const char *folder, size_t number, int *exit_code)
{
	char *path = tl_format("%s/ended/%zu", folder, number);
	FILE *in = fopen(path, "r");
	bool read;

	free(path);
	if (!in)
		return false;
	read = fscanf(in, "%d", exit_code) == 1;
	(void)fclose(in);
	return read;
}

static void remove_files(const char *folder)
{
	DIR *all = opendir(folder);
	struct dirent *entry;

	if (!all)
		return;
	while ((entry = readdir(all))) {
		char *path = tl_join(folder, entry->d_name);

		(void)unlink(path); /* refuses `.`, `..` and other folders */
		free(path);
	}
	(void)closedir(all);
}

void tl_slurm_array_remove(const char *folder)
{
	char *ended = tl_join(folder, "ended");

	remove_files(ended);
	(void)rmdir(ended);
	remove_files(folder);
	(void)rmdir(folder);
	free(ended);
}
