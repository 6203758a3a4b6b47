/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report_html.h"

#include "results/metrics.h"
#include "sim/base/units.h"
#include "sim/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

void tl_html_escape(FILE *out, const char *text)
{
	while (*text) {
		size_t length = tl_utf8_length(text);

		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			if (length == 0)
				fputs("\xef\xbf\xbd", out);
			else
				fwrite(text, 1, length, out);
		}
		text += length > 0 ? length : 1;
	}
}

void tl_html_text(struct tl_html *html, const char *text)
{
	tl_html_escape(html->out, text);
}

void tl_html_raw(struct tl_html *html, const char *markup)
{
	fputs(markup, html->out);
}

/* Only %s is of outside: the format is written piece by piece, what it prints escaped. */
void tl_html_printf(struct tl_html *html, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	for (const char *at = format; *at;) {
		size_t plain = strcspn(at, "%");

		fwrite(at, 1, plain, html->out);
		at += plain;
		if (!*at)
			break;
		if (at[1] == 's') {
			tl_html_escape(html->out, va_arg(arguments, const char *));
			at += 2;
		} else if (strncmp(at, "%zu", 3) == 0) {
			fprintf(html->out, "%zu", va_arg(arguments, size_t));
			at += 3;
		} else {
			fputc('%', html->out); /* %% */
			at += 2;
		}
	}
	va_end(arguments);
}

/* ---- numbers ---- */

const char *tl_number(double value, char buffer[static TL_NUMBER_SIZE])
{
	char plain[TL_NUMBER_SIZE / 2];
	size_t length, out = 0;

	if (!isfinite(value)) {
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%s",
		               isnan(value) ? "–"
		               : value > 0  ? "∞"
		                            : "-∞");
		return buffer;
	}
	if (fabs(value) >= 1e15 || (fabs(value) < 999.95 && rint(value) != value) ||
	    fabs(value) < 0.5) {
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%.4g", value);
		return buffer;
	}
	length = (size_t)snprintf(plain, sizeof(plain), "%.0f", value);
	for (size_t i = 0; i < length; i++) {
		if (i > 0 && plain[i - 1] != '-' && (length - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = plain[i];
	}
	buffer[out] = '\0';
	return buffer;
}

const char *tl_number_percent(double ratio, char buffer[static TL_NUMBER_SIZE])
{
	double percent = 100.0 * ratio;

	if (!isfinite(ratio))
		return tl_number(ratio, buffer);
	if (fabs(percent) > 0.0 && fabs(percent) < 0.1)
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%.2g %%", percent);
	else if (percent >= 99.995 && percent < 100.0)
		(void)snprintf(buffer, TL_NUMBER_SIZE, "> 99.99 %%");
	else
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%.*f %%",
		               percent >= 99.0 && percent < 100.0 ? 2 : 1, percent);
	return buffer;
}

const char *tl_number_duration(double seconds, char buffer[static TL_NUMBER_SIZE])
{
	if (!isfinite(seconds) || fabs(seconds) > 9e9)
		return tl_number(seconds, buffer);
	if (fabs(seconds) >= 60.0)
		return tl_format_duration((int64_t)(seconds * 1e9), buffer, TL_NUMBER_SIZE);
	if (seconds != 0.0 && fabs(seconds) < 1.0)
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%.4gms", seconds * 1e3);
	else
		(void)snprintf(buffer, TL_NUMBER_SIZE, "%.4gs", seconds);
	return buffer;
}

const char *tl_unit_words(const char *unit, char words[static TL_NUMBER_SIZE])
{
	size_t used = 0;

	words[0] = '\0';
	if (strcmp(unit, "1/d") == 0)
		return memcpy(words, "per day", sizeof("per day"));
	if (strncmp(unit, "1/", 2) == 0) {
		used = (size_t)sprintf(words, "per ");
		unit += 2;
	}
	while (*unit && used + 8 < TL_NUMBER_SIZE / 2) {
		if (*unit == '/') {
			used += (size_t)sprintf(words + used, " per ");
			unit++;
		} else if (strncmp(unit, "gpu.", 4) == 0) {
			used += (size_t)sprintf(words + used, "GPU ");
			unit += 4;
		} else {
			words[used++] = *unit++;
			words[used] = '\0';
		}
	}
	return words;
}

const char *tl_number_of_unit(double value, const char *unit, char buffer[static TL_NUMBER_SIZE])
{
	char number[TL_NUMBER_SIZE], words[TL_NUMBER_SIZE];

	if (strcmp(unit, "s") == 0)
		return tl_number_duration(value, buffer);
	if (strcmp(unit, "1") == 0 || !unit[0] || !isfinite(value))
		return tl_number(value, buffer);
	(void)snprintf(buffer, TL_NUMBER_SIZE, "%.30s %.30s", tl_number(value, number),
	               tl_unit_words(unit, words));
	return buffer;
}

const struct tl_row_summary *tl_html_metric(const struct tl_html *html, const char *metric)
{
	for (size_t i = 0; i < html->metric_count; i++)
		if (strcmp(html->metrics[i].metric, metric) == 0)
			return &html->metrics[i];
	return NULL;
}

double tl_html_value(const struct tl_html *html, const char *metric)
{
	const struct tl_row_summary *row = tl_html_metric(html, metric);

	return row ? row->value : (double)NAN;
}

void tl_html_number(struct tl_html *html, const char *metric, enum tl_number_form form)
{
	const struct tl_row_summary *row = tl_html_metric(html, metric);
	char text[TL_NUMBER_SIZE];

	if (!row) {
		tl_html_printf(html, "<span class=\"n\" title=\"%s: not in this result\">–</span>",
		               metric);
		return;
	}
	if (form == TL_FORM_PERCENT)
		(void)tl_number_percent(row->value, text);
	else if (form == TL_FORM_PLAIN)
		(void)tl_number(row->value, text);
	else
		(void)tl_number_of_unit(row->value, row->unit, text);
	tl_html_printf(html, "<a class=\"n\" href=\"#m%zu\" title=\"%s\">%s</a>",
	               (size_t)(row - html->metrics), metric, text);
}

void tl_html_derived(struct tl_html *html, const char *text, const char *source)
{
	tl_html_printf(html, "<span class=\"n\" title=\"from %s\">%s</span>", source, text);
}

/* ---- the page ---- */

void tl_html_begin(struct tl_html *html, const struct tl_html_head *head)
{
	tl_html_raw(html,
	            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	            "<meta name=\"viewport\" content=\"width=device-width, "
	            "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
	            /* nothing is fetched and nothing runs, whatever a name may try */
	            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
	            "'none'; style-src 'unsafe-inline'; img-src data:\">\n"
	            "<link rel=\"icon\" href=\"data:,\">\n");
	tl_html_printf(html, "<title>%s</title>\n<style>\n", head->title);
	tl_html_raw(html, head->style);
	tl_html_printf(html,
	               "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the "
	               "report</a>\n<header>\n<h1>%s</h1>\n<p class=\"subtitle\">%s</p>\n"
	               "</header>\n<main id=\"main\" tabindex=\"-1\">\n",
	               head->title, head->subtitle);
}

void tl_html_end(struct tl_html *html)
{
	tl_html_raw(html, "</main>\n</body>\n</html>\n");
}

void tl_html_section(struct tl_html *html, const char *id, const char *title)
{
	tl_html_printf(html,
	               "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">"
	               "%s</h2>\n",
	               id, id, id, title);
}

void tl_html_section_end(struct tl_html *html)
{
	tl_html_raw(html, "</section>\n");
}

void tl_html_table(struct tl_html *html, const char *caption, const char *const *headings)
{
	tl_html_printf(html,
	               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n"
	               "<table>\n<caption>%s</caption>\n<thead><tr>",
	               caption, caption);
	for (size_t i = 0; headings[i]; i++) {
		bool number = headings[i][0] == '#';

		tl_html_raw(html,
		            number ? "<th scope=\"col\" class=\"num\">" : "<th scope=\"col\">");
		tl_html_text(html, headings[i] + number);
		tl_html_raw(html, "</th>");
	}
	tl_html_raw(html, "</tr></thead>\n<tbody>\n");
}

void tl_html_table_end(struct tl_html *html)
{
	tl_html_raw(html, "</tbody>\n</table>\n</div>\n");
}

void tl_html_cell(struct tl_html *html, const char *text)
{
	tl_html_printf(html, "<td>%s</td>", text);
}

void tl_html_cell_number(struct tl_html *html, const char *text, const char *source)
{
	if (source)
		tl_html_printf(html, "<td class=\"num\" title=\"%s\">%s</td>", source, text);
	else
		tl_html_printf(html, "<td class=\"num\">%s</td>", text);
}

static void metric_row(struct tl_html *html, size_t number, bool intervals)
{
	const struct tl_row_summary *row = &html->metrics[number];
	char value[TL_NUMBER_SIZE], exact[TL_NUMBER_SIZE], low[TL_NUMBER_SIZE],
	    high[TL_NUMBER_SIZE];

	(void)snprintf(exact, sizeof(exact), "%.12g", row->value);
	tl_html_printf(html,
	               "<tr id=\"m%zu\"><th scope=\"row\"><code>%s</code></th><td class=\"num\">"
	               "%s</td>",
	               number, row->metric, tl_number_of_unit(row->value, row->unit, value));
	if (intervals)
		tl_html_printf(html, "<td class=\"num\">%s</td><td class=\"num\">%s</td>",
		               tl_number_of_unit(row->ci_low, row->unit, low),
		               tl_number_of_unit(row->ci_high, row->unit, high));
	if (!isfinite(row->value))
		(void)snprintf(exact, sizeof(exact), "–");
	tl_html_printf(html, "<td class=\"num exact\">%s %s</td></tr>\n", exact,
	               strcmp(row->unit, "1") == 0 ? "" : row->unit);
}

void tl_html_metrics(struct tl_html *html, const char *value_heading)
{
	bool intervals = false;

	for (size_t i = 0; i < html->metric_count; i++)
		intervals = intervals || isfinite(html->metrics[i].ci_low);
	tl_html_raw(html, "<div class=\"metrics\">\n");
	for (size_t g = 0; tl_metric_group_title(g); g++) {
		const char *const plain[] = {"metric", value_heading, "#in full", NULL};
		const char *const bounds[] = {"metric",   value_heading, "#95 % from",
		                              "#95 % to", "#in full",    NULL};
		bool opened = false;

		for (size_t i = 0; i < html->metric_count; i++) {
			if (tl_metric_group(html->metrics[i].metric) != g)
				continue;
			if (!opened)
				tl_html_table(html, tl_metric_group_title(g),
				              intervals ? bounds : plain);
			opened = true;
			metric_row(html, i, intervals);
		}
		if (opened)
			tl_html_table_end(html);
	}
	tl_html_raw(html, "</div>\n");
}

/* ---- pictures ---- */

const struct tl_figure *tl_html_figure(const struct tl_figures *figures, const char *name)
{
	for (size_t i = 0; i < figures->count; i++)
		if (strcmp(figures->items[i].name, name) == 0)
			return &figures->items[i];
	return NULL;
}

enum tl_status tl_html_picture(struct tl_html *html, const struct tl_figure *figure,
                               const char *source, struct tl_error *error)
{
	if (figure->skipped) {
		tl_html_printf(html, "<p class=\"missing\">No picture “%s”: %s.</p>\n",
		               figure->title, figure->skipped);
		return TL_OK;
	}
	tl_html_printf(html,
	               "<figure>\n<div class=\"scroll picture\" tabindex=\"0\" role=\"region\" "
	               "aria-label=\"%s\">\n",
	               figure->title);
	enum tl_status status =
	    tl_svg_inline(html->out, figure->svg, figure->alt, ++html->pictures, error);
	tl_html_printf(
	    html,
	    "</div>\n<figcaption>%s <span class=\"source\">From <code>%s</code>. Files: <a "
	    "href=\"pictures/%s.svg\">SVG</a>, <a "
	    "href=\"pictures/%s.png\">PNG</a>.</span></figcaption>\n</figure>\n",
	    figure->alt, source, figure->name, figure->name);
	return status;
}
