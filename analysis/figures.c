/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures.h"

#include "analysis/figures_private.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"
#include "sim/base/version.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef enum tl_status (*run_figure)(struct tl_results_reader *reader, FILE *data,
                                     struct tl_figure_plot *plot, struct tl_error *error);

static const struct figure {
	const char *name; /* and of the script */
	const char *title;
	run_figure prepare;
} figures_known[] = {
    {"utilisation", "GPUs over time", tl_figure_utilisation},
    {"purposes", "What the GPUs did", tl_figure_purposes},
    {"waiting", "Waiting time from submission to first start", tl_figure_waiting},
    {"fragmentation", "Free GPUs and fragmentation", tl_figure_fragmentation},
    {"service", "latency, replicas, traffic", tl_figure_service}, /* one a service */
    {"gantt", "Jobs by node", tl_figure_gantt},
};

static const struct format {
	const char *name;
	const char *ending; /* what a whole file has near its end */
} formats[] = {{"png", "IEND"}, {"svg", "</svg>"}};

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

enum tl_status tl_figure_timeline(struct tl_results_reader *reader, struct tl_row_timeline **rows,
                                  size_t *count, struct tl_figure_plot *plot,
                                  struct tl_error *error)
{
	const char *const tables[] = {tl_schema_timeline.path, NULL};
	void *read = NULL;

	*rows = NULL;
	if (!tl_figure_has(reader, tables, plot))
		return TL_OK;
	enum tl_status status = tl_results_read(reader, &tl_schema_timeline, &read, count, error);
	if (status != TL_OK)
		return status;
	struct tl_row_timeline *got = read;
	if (*count == 0)
		snprintf(plot->skip, sizeof(plot->skip), "the timeline has no samples");
	for (size_t i = 1; i < *count && status == TL_OK; i++)
		if (got[i].t_ns < got[i - 1].t_ns)
			status =
			    tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                 "table %s, row %zu: got a time before that of the row "
			                 "above it, wanted rows in order of time",
			                 tl_schema_timeline.path, i);
	if (status == TL_OK && *count > 0)
		*rows = got;
	else
		free(got);
	return status;
}

double tl_figure_time_axis(struct tl_figure_plot *plot, int64_t begin_ns, int64_t end_ns)
{
	double unit_ns = 1.0;
	const char *unit = tl_figure_time_unit(end_ns - begin_ns, &unit_ns);

	snprintf(plot->extras[0], TL_FIGURE_EXTRA_SIZE, "%s", unit);
	snprintf(plot->extras[1], TL_FIGURE_EXTRA_SIZE, "%.9g:%.9g", (double)begin_ns / unit_ns,
	         (double)end_ns / unit_ns);
	return unit_ns;
}

void tl_figure_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

char *tl_figure_quotable(char *text)
{
	for (char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			*at = '\'';
		else if ((unsigned char)*at < ' ' || *at == 127)
			*at = ' ';
	}
	return text;
}

/* ---- paths ---- */

static bool has_scripts(const char *folder)
{
	for (size_t i = 0; i < sizeof(figures_known) / sizeof(figures_known[0]); i++) {
		char *path = tl_format("%s/%s.gp", folder, figures_known[i].name);
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
		char *folder = tl_join(executable, places[i]);

		if (has_scripts(folder))
			return folder;
		free(folder);
	}
	return tl_join(tl_datadir, "plots");
}

/* gnuplot takes a name that begins with `<` for a command, and some others for worse. */
char *tl_figure_plain_path(const char *path)
{
	return strchr("<-+$@!|'\"", path[0]) ? tl_join(".", path) : tl_strdup(path);
}

enum tl_status tl_figure_scripts(const char *asked, char **out, struct tl_error *error)
{
	char *folder = asked ? tl_figure_plain_path(asked) : find_plots();

	*out = NULL;
	if (!has_scripts(folder)) {
		enum tl_status status =
		    tl_error_set(error, TL_E_UNAVAILABLE, folder, 0, 0,
		                 "the gnuplot scripts of the pictures are not there");

		free(folder);
		return status;
	}
	*out = folder;
	return TL_OK;
}

enum tl_status tl_figure_slurp(const char *path, const char *what, char **out,
                               struct tl_error *error)
{
	enum { BLOCK = 65536 };
	FILE *file = fopen(path, "rb");
	size_t room = 0, used = 0, got = 1;
	char *text = NULL;

	*out = NULL;
	if (!file)
		return tl_error_set(error, TL_E_NOINPUT, path, 0, 0, "cannot read the %s: %s", what,
		                    strerror(errno));
	while (got > 0) {
		text = tl_grow(text, &room, used + BLOCK + 1, 1);
		got = fread(text + used, 1, BLOCK, file);
		used += got;
	}
	text[used] = '\0';
	bool failed = ferror(file) != 0;
	(void)fclose(file);
	if (failed) {
		free(text);
		return tl_error_set(error, TL_E_IO, path, 0, 0, "cannot read the %s", what);
	}
	*out = text;
	return TL_OK;
}

enum tl_status tl_figure_style(const char *scripts, char **out, struct tl_error *error)
{
	char *path = tl_join(scripts, "report.css");
	enum tl_status status = tl_figure_slurp(path, "style sheet", out, error);

	free(path);
	return status;
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

static enum tl_status draw(const struct tl_drawing *drawing, const char *script, const char *name,
                           const char *title, const struct format *format, const char *data,
                           const struct tl_figure_plot *plot, char **out, struct tl_error *error)
{
	char *path = tl_format("%s/%s.%s", drawing->out_dir, name, format->name);
	char *partial = tl_format("%s/%s.partial.%s", drawing->out_dir, name, format->name);
	char heading[TL_FIGURE_ALT_SIZE];

	snprintf(heading, sizeof(heading), "%s%s%s", drawing->of, drawing->of[0] ? ": " : "",
	         title);
	enum tl_status status = tl_gnuplot_run(drawing->plots_dir, script, data, partial,
	                                       format->name, heading, plot, error);
	if (status == TL_OK && !is_whole(partial, format->ending))
		status = tl_error_set(error, TL_E_IO, path, 0, 0,
		                      "gnuplot did not write the picture to its end");
	if (status == TL_OK && rename(partial, path) != 0)
		status = tl_error_set(error, TL_E_IO, path, 0, 0, "cannot write the picture: %s",
		                      strerror(errno));
	if (status != TL_OK) {
		unlink(partial);
		free(path);
		path = NULL;
	}
	*out = path;
	free(partial);
	return status;
}

static enum tl_status write_data(const struct tl_drawing *drawing, const char *path,
                                 tl_figure_prepare prepare, void *source,
                                 struct tl_figure_plot *plot, struct tl_error *error)
{
	FILE *data = fopen(path, "w");

	if (!data)
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "cannot write the picture's data: %s", strerror(errno));
	enum tl_status status = prepare(source, data, plot, error);
	if (status == TL_E_DATA && error && !error->file[0])
		tl_error_set(error, status, drawing->source_path, 0, 0, "%s", error->message);
	bool failed = ferror(data) != 0;
	failed = fclose(data) != 0 || failed;
	if (status == TL_OK && failed)
		status = tl_error_set(error, TL_E_IO, path, 0, 0,
		                      "cannot write the picture's data: %s", strerror(errno));
	return status;
}

enum tl_status tl_figure_draw(const struct tl_drawing *drawing, const char *script,
                              const char *name, const char *title, tl_figure_prepare prepare,
                              void *source, struct tl_figure_plot *plot, struct tl_error *error)
{
	struct tl_figures *figures = drawing->figures;
	struct tl_figure figure = {.name = NULL};
	char *data = tl_format("%s/%s.partial.dat", drawing->out_dir, name);
	enum tl_status status = tl_stop_check(error);

	if (status == TL_OK)
		status = write_data(drawing, data, prepare, source, plot, error);
	if (status == TL_OK && !plot->skip[0]) {
		status =
		    draw(drawing, script, name, title, &formats[0], data, plot, &figure.png, error);
		if (status == TL_OK)
			status = draw(drawing, script, name, title, &formats[1], data, plot,
			              &figure.svg, error);
		figures->written += status == TL_OK;
	} else if (status == TL_OK) {
		figure.skipped = tl_strdup(plot->skip);
	}
	if (figure.png || figure.skipped) {
		figure.name = tl_strdup(name);
		figure.title = tl_strdup(title);
		figure.alt = tl_strdup(plot->alt);
		figures->items = tl_grow(figures->items, &figures->room, figures->count + 1,
		                         sizeof(*figures->items));
		figures->items[figures->count++] = figure;
	}
	unlink(data);
	free(data);
	return status;
}

/* ---- of a run ---- */

struct run_source {
	struct tl_results_reader *reader;
	run_figure prepare;
};

static enum tl_status prepare_of_run(void *source, FILE *data, struct tl_figure_plot *plot,
                                     struct tl_error *error)
{
	const struct run_source *run = source;

	return run->prepare(run->reader, data, plot, error);
}

/* A service's files are named after it, as far as that makes a plain file name. */
static char *service_name(const struct tl_figures *figures, const char *service, size_t length)
{
	char *name = tl_format("service-%.*s", (int)length, service);

	for (char *at = name; *at; at++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", *at))
			*at = '_';
	for (size_t i = 0; i < figures->count; i++)
		if (strcmp(figures->items[i].name, name) == 0) {
			tl_append(&name, "_");
			i = (size_t)-1; /* that one may be taken too */
		}
	return name;
}

static enum tl_status draw_services(const struct tl_drawing *drawing, const struct figure *figure,
                                    struct run_source *source, struct tl_error *error)
{
	static const char begin[] = "/services/", end[] = "/windows";
	const char *const *tables = tl_results_tables(source->reader);
	enum tl_status status = TL_OK;

	for (size_t i = 0; tables[i] && status == TL_OK; i++) {
		struct tl_figure_plot plot = {.table = tables[i]};
		size_t length = strlen(tables[i]);

		if (strncmp(tables[i], begin, sizeof(begin) - 1) != 0 ||
		    length < sizeof(begin) + sizeof(end) - 1 ||
		    strcmp(tables[i] + length - (sizeof(end) - 1), end) != 0)
			continue;
		const char *service = tables[i] + sizeof(begin) - 1;
		size_t size = length - (sizeof(begin) - 1) - (sizeof(end) - 1);
		char *name = service_name(drawing->figures, service, size);
		char *title = tl_format("%.*s: %s", (int)size, service, figure->title);

		status = tl_figure_draw(drawing, figure->name, name, title, prepare_of_run, source,
		                        &plot, error);
		free(title);
		free(name);
	}
	return status;
}

static enum tl_status draw_all(const struct tl_drawing *drawing, struct tl_results_reader *reader,
                               struct tl_error *error)
{
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < sizeof(figures_known) / sizeof(figures_known[0]); i++) {
		const struct figure *figure = &figures_known[i];
		struct run_source source = {.reader = reader, .prepare = figure->prepare};
		struct tl_figure_plot plot = {.table = NULL};

		if (status != TL_OK)
			break;
		if (figure->prepare == tl_figure_service)
			status = draw_services(drawing, figure, &source, error);
		else
			status = tl_figure_draw(drawing, figure->name, figure->name, figure->title,
			                        prepare_of_run, &source, &plot, error);
	}
	return status;
}

enum tl_status tl_figures_write(const char *result_path, const char *out_dir, const char *plots_dir,
                                struct tl_figures *figures, struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	char *scripts = NULL;

	memset(figures, 0, sizeof(*figures));
	enum tl_status status = tl_results_open(result_path, &reader, error);
	if (status != TL_OK)
		return status;
	char *folder = tl_figure_plain_path(out_dir);
	char *name = tl_results_get_text(reader, "scenario_name");
	struct tl_drawing drawing = {.source_path = result_path,
	                             .out_dir = folder,
	                             .of = name ? name : "",
	                             .figures = figures};
	status = tl_figure_scripts(plots_dir, &scripts, error);
	drawing.plots_dir = scripts;
	if (status == TL_OK)
		status = make_folder(folder, error);
	if (status == TL_OK)
		status = draw_all(&drawing, reader, error);
	free(name);
	free(folder);
	free(scripts);
	tl_results_reader_close(reader);
	return status;
}

void tl_figures_fini(struct tl_figures *figures)
{
	for (size_t i = 0; i < figures->count; i++) {
		struct tl_figure *figure = &figures->items[i];

		free(figure->name);
		free(figure->title);
		free(figure->alt);
		free(figure->png);
		free(figure->svg);
		free(figure->skipped);
	}
	free(figures->items);
	memset(figures, 0, sizeof(*figures));
}
