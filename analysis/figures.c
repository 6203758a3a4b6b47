/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures.h"

#include "analysis/figures_private.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct figure {
	const char *name;
	const char *title;
	enum tl_status (*prepare)(struct tl_results_reader *reader, FILE *data,
	                          struct tl_figure_plot *plot, struct tl_error *error);
} figures_known[] = {
    {"utilisation", "GPUs over time", tl_figure_utilisation},
    {"waiting", "Waiting time from submission to first start", tl_figure_waiting},
    {"gantt", "Jobs by node", tl_figure_gantt},
};

static const struct format {
	const char *name;
	const char *ending; /* what a whole file has near its end */
} formats[] = {{"png", "IEND"}, {"svg", "</svg>"}};

struct job {
	const char *result_path;
	const char *out_dir;
	const char *plots_dir;
	char *name; /* of the run */
	struct tl_results_reader *reader;
	struct tl_figures *figures;
};

/* ---- shared with the pictures ---- */

bool tl_figure_has(struct tl_results_reader *reader, const char *const *tables,
                   struct tl_figure_plot *plot)
{
	for (size_t i = 0; tables[i]; i++) {
		if (!tl_results_has(reader, tables[i])) {
			snprintf(plot->skip, sizeof(plot->skip),
			         "the result has no table %s; output.tables asks for it",
			         tables[i]);
			return false;
		}
	}
	return true;
}

const char *tl_figure_time_unit(int64_t span_ns, double *unit_ns)
{
	if (span_ns <= 3 * TL_NS_PER_HOUR) {
		*unit_ns = (double)TL_NS_PER_MIN;
		return "minutes";
	}
	if (span_ns <= 4 * TL_NS_PER_DAY) {
		*unit_ns = (double)TL_NS_PER_HOUR;
		return "hours";
	}
	*unit_ns = (double)TL_NS_PER_DAY;
	return "days";
}

size_t tl_figure_kind(const char *name)
{
	size_t kind = 0;

	while (kind < TL_ROW_KIND_COUNT - 1 && strcmp(tl_schema_kind_names[kind], name) != 0)
		kind++;
	return kind;
}

/* ---- paths ---- */

static char *join(const char *folder, const char *a, const char *b, const char *c)
{
	size_t size = strlen(folder) + strlen(a) + strlen(b) + strlen(c) + 2;
	char *path = tl_alloc(size);

	snprintf(path, size, "%s/%s%s%s", folder, a, b, c);
	return path;
}

static bool has_scripts(const char *folder)
{
	for (size_t i = 0; i < sizeof(figures_known) / sizeof(figures_known[0]); i++) {
		char *path = join(folder, figures_known[i].name, ".gp", "");
		bool there = access(path, R_OK) == 0;

		free(path);
		if (!there)
			return false;
	}
	return true;
}

/* Of the build tree (the command, or a test program), then of the installation. */
static char *find_plots(void)
{
	static const char *const places[] = {"../../analysis/plots", "../../../analysis/plots",
	                                     "../share/tidelab/plots"};
	char executable[4096];
	ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	executable[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(executable, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		char *folder = join(executable, places[i], "", "");

		if (has_scripts(folder))
			return folder;
		free(folder);
	}
	return join(tl_datadir, "plots", "", "");
}

/* gnuplot takes a name that begins with `<` for a command, and some others for worse. */
static char *plain_path(const char *path)
{
	return strchr("<-+$@!|'\"", path[0]) ? join(".", path, "", "") : tl_strdup(path);
}

static enum tl_status make_folder(const char *path, struct tl_error *error)
{
	struct stat status;

	if (mkdir(path, 0777) == 0)
		return TL_OK;
	if (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return TL_OK;
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
	                    "cannot make the folder for the pictures: %s", strerror(errno));
}

/* ---- drawing ---- */

/* gnuplot does not tell of a disk that filled up while it drew. */
static bool is_whole(const char *path, const char *ending)
{
	char tail[64] = "";
	bool whole = false;
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	if (fseek(file, -(long)(sizeof(tail) - 1), SEEK_END) == 0) {
		size_t got = fread(tail, 1, sizeof(tail) - 1, file);

		for (size_t i = 0; i + strlen(ending) <= got && !whole; i++)
			whole = memcmp(tail + i, ending, strlen(ending)) == 0;
	}
	fclose(file);
	return whole;
}

static enum tl_status draw(const struct job *job, const struct figure *figure,
                           const struct format *format, const char *data,
                           const struct tl_figure_plot *plot, struct tl_error *error)
{
	char title[256];
	char *path = join(job->out_dir, figure->name, ".", format->name);
	char *partial = join(job->out_dir, figure->name, ".partial.", format->name);

	snprintf(title, sizeof(title), "%s%s%s", job->name, job->name[0] ? ": " : "",
	         figure->title);
	enum tl_status status = tl_gnuplot_run(job->plots_dir, figure->name, data, partial,
	                                       format->name, title, plot, error);
	if (status == TL_OK && !is_whole(partial, format->ending))
		status = tl_error_set(error, TL_E_IO, path, 0, 0,
		                      "gnuplot did not write the picture to its end");
	if (status == TL_OK && rename(partial, path) != 0)
		status = tl_error_set(error, TL_E_IO, path, 0, 0, "cannot write the picture: %s",
		                      strerror(errno));
	if (status != TL_OK) {
		unlink(partial);
		free(path);
	} else {
		job->figures->written[job->figures->written_count++] = path;
	}
	free(partial);
	return status;
}

static enum tl_status prepare(const struct job *job, const struct figure *figure, const char *path,
                              struct tl_figure_plot *plot, struct tl_error *error)
{
	FILE *data = fopen(path, "w");

	if (!data)
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "cannot write the picture's data: %s", strerror(errno));
	enum tl_status status = figure->prepare(job->reader, data, plot, error);
	if (status == TL_E_DATA && error && !error->file[0])
		tl_error_set(error, status, job->result_path, 0, 0, "%s", error->message);
	bool failed = ferror(data) != 0;
	failed = fclose(data) != 0 || failed;
	if (status == TL_OK && failed)
		status = tl_error_set(error, TL_E_IO, path, 0, 0,
		                      "cannot write the picture's data: %s", strerror(errno));
	return status;
}

static enum tl_status picture(const struct job *job, const struct figure *figure,
                              struct tl_error *error)
{
	struct tl_figure_plot plot = {.skip = ""};
	char *data = join(job->out_dir, figure->name, ".partial.dat", "");
	enum tl_status status = prepare(job, figure, data, &plot, error);

	if (status == TL_OK && plot.skip[0]) {
		size_t size = strlen(figure->name) + sizeof(plot.skip) + 3;
		char *text = tl_alloc(size);

		snprintf(text, size, "%s: %s", figure->name, plot.skip);
		job->figures->skipped[job->figures->skipped_count++] = text;
	} else {
		for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && status == TL_OK; i++)
			status = draw(job, figure, &formats[i], data, &plot, error);
	}
	unlink(data);
	free(data);
	return status;
}

enum tl_status tl_figures_write(const char *result_path, const char *out_dir, const char *plots_dir,
                                struct tl_figures *figures, struct tl_error *error)
{
	struct job job = {.result_path = result_path, .figures = figures};

	memset(figures, 0, sizeof(*figures));
	enum tl_status status = tl_results_open(result_path, &job.reader, error);
	if (status != TL_OK)
		return status;
	char *folder = plain_path(out_dir);
	char *scripts = plots_dir ? plain_path(plots_dir) : find_plots();
	job.out_dir = folder;
	job.plots_dir = scripts;
	job.name = tl_results_get_text(job.reader, "scenario_name");
	if (!job.name)
		job.name = tl_strdup("");
	if (!has_scripts(scripts))
		status = tl_error_set(error, TL_E_UNAVAILABLE, scripts, 0, 0,
		                      "the gnuplot scripts of the pictures are not there");
	if (status == TL_OK)
		status = make_folder(folder, error);
	for (size_t i = 0; i < sizeof(figures_known) / sizeof(figures_known[0]); i++) {
		if (status == TL_OK)
			status = tl_stop_check(error);
		if (status == TL_OK)
			status = picture(&job, &figures_known[i], error);
	}
	free(job.name);
	free(folder);
	free(scripts);
	tl_results_reader_close(job.reader);
	return status;
}

void tl_figures_fini(struct tl_figures *figures)
{
	for (size_t i = 0; i < figures->written_count; i++)
		free(figures->written[i]);
	for (size_t i = 0; i < figures->skipped_count; i++)
		free(figures->skipped[i]);
	memset(figures, 0, sizeof(*figures));
}
