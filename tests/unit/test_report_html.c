/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report's page is written with: escaped text, numbers, pictures within. */
#include "analysis/report_html.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *text;
static size_t size;
static struct tl_html html;

static void begin(void)
{
	static const struct tl_row_summary metrics[] = {
	    {.metric = "cost", .unit = "CNY", .value = 19266.36},
	    {.metric = "a<b.attainment", .unit = "1", .value = 0.99987, .ci_low = NAN},
	    {.metric = "wait_mean_s", .unit = "s", .value = 226.1},
	};

	html = (struct tl_html){
	    .out = open_memstream(&text, &size), .metrics = metrics, .metric_count = 3};
}

static void end(void)
{
	if (html.out)
		fclose(html.out);
	free(text);
	text = NULL;
}

TestSuite(report_html, .init = begin, .fini = end);

static void wrote(const char *wanted)
{
	fclose(html.out);
	html.out = NULL;
	cr_assert_str_eq(text, wanted, "got `%s`, wanted `%s`", text, wanted);
}

Test(report_html, markup_is_text)
{
	tl_html_text(&html, "<script>alert(\"1\" & '2')</script>");
	wrote("&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;");
}

Test(report_html, what_is_no_text_is_replaced)
{
	/* two controls, a lone continuation, an overlong slash, a surrogate, a character cut off */
	tl_html_text(&html, "a\x01\x7f|\x80|\xc0\xaf|\xed\xa0\x80|é中😀\n|\xe4\xb8");
	wrote("a\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
	      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|é中😀\n|\xef\xbf\xbd\xef\xbf\xbd");
}

Test(report_html, format_is_markup_and_what_it_prints_is_not)
{
	tl_html_printf(&html, "<b title=\"%s\">%zu %% of %s</b>", "\"", (size_t)7, "<i>");
	wrote("<b title=\"&quot;\">7 % of &lt;i&gt;</b>");
}

static void number(double value, const char *wanted)
{
	char got[TL_NUMBER_SIZE];

	cr_assert_str_eq(tl_number(value, got), wanted, "%g: got %s", value, got);
}

Test(report_html, numbers_are_read_by_people)
{
	number(0, "0");
	number(7, "7");
	number(-1234567, "-1,234,567");
	number(999.94, "999.9");
	number(999.96, "1,000");
	number(51.752, "51.75");
	number(0.0042, "0.0042");
	number(-0.25, "-0.25");
	number(1e20, "1e+20");
	number(NAN, "–");
	number(INFINITY, "∞");
	number(-INFINITY, "-∞");
}

static void percent(double ratio, const char *wanted)
{
	char got[TL_NUMBER_SIZE];

	cr_assert_str_eq(tl_number_percent(ratio, got), wanted, "%g: got %s", ratio, got);
}

Test(report_html, ratios_near_one_keep_what_tells_them_from_it)
{
	percent(0.959, "95.9 %");
	percent(0.9987, "99.87 %");
	percent(0.99998, "> 99.99 %");
	percent(0.999990491, "> 99.99 %");
	percent(0.99, "99.00 %");
	percent(0.99994, "99.99 %");
	percent(1.0, "100.0 %");
	percent(0.0, "0.0 %");
	percent(0.00042, "0.042 %");
	percent(1.046, "104.6 %");
	percent(NAN, "–");
}

static void of_unit(double value, const char *unit, const char *wanted)
{
	char got[TL_NUMBER_SIZE];

	cr_assert_str_eq(tl_number_of_unit(value, unit, got), wanted, "%g %s: got %s", value, unit,
	                 got);
}

Test(report_html, units_are_words)
{
	of_unit(0.1337, "s", "133.7ms");
	of_unit(12.5, "s", "12.5s");
	of_unit(5025, "s", "1h 24min");
	of_unit(355.54, "gpu.h", "355.5 GPU h");
	of_unit(51.58, "CNY/gpu.h", "51.58 CNY per GPU h");
	of_unit(3, "1", "3");
	of_unit(NAN, "CNY", "–");
	of_unit(1, "fifteen bytes..", "1 fifteen bytes..");
}

Test(report_html, number_links_to_its_metric)
{
	tl_html_number(&html, "a<b.attainment", TL_FORM_PERCENT);
	tl_html_number(&html, "cost", TL_FORM_UNIT);
	tl_html_number(&html, "no<such", TL_FORM_UNIT);
	wrote("<a class=\"n\" href=\"#m1\" title=\"a&lt;b.attainment\">99.99 %</a>"
	      "<a class=\"n\" href=\"#m0\" title=\"cost\">19,266 CNY</a>"
	      "<span class=\"n\" title=\"no&lt;such: not in this result\">–</span>");
}

Test(report_html, metrics_are_grouped_and_anchored)
{
	tl_html_metrics(&html, "#value");
	fflush(html.out);
	cr_assert(strstr(text, "<caption>Services</caption>"));
	cr_assert(strstr(text, "<tr id=\"m1\"><th scope=\"row\"><code>a&lt;b.attainment</code>"));
	cr_assert(strstr(text, "<td class=\"num exact\">19266.36 CNY</td>"), "%s", text);
	cr_assert(strstr(text, "Services") < strstr(text, "Waiting"));
	cr_assert(strstr(text, "Waiting") < strstr(text, "Cost"));
}

/* ---- pictures ---- */

static char path[256];

static void write_picture(const char *content)
{
	const char *temporary = getenv("TMPDIR");
	FILE *file;

	snprintf(path, sizeof path, "%s/tidelab-svg-%ld", temporary ? temporary : "/tmp",
	         (long)getpid());
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(content, file);
	fclose(file);
}

Test(report_html, picture_takes_the_page_s_colours)
{
	struct tl_error error = TL_ERROR_INIT;

	write_picture(
	    "<?xml version=\"1.0\"?>\n<svg \n viewBox=\"0 0 12 7\"\n>\n<title>Gnuplot</title>\n"
	    "<g id=\"gnuplot_canvas\"><rect fill=\"#ffffff\"/><circle id='gpDot'/>"
	    "<use xlink:href='#gpDot' stroke='rgb( 51,  51,  51)'/>"
	    "<text fill=\"rgb(51,51,51)\">&lt;b></text></g></svg>");
	cr_assert_eq(tl_svg_inline(html.out, path, "so \"much\"", 3, &error), TL_OK, "%s",
	             error.message);
	unlink(path);
	wrote("<svg viewBox=\"0 0 12 7\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" "
	      "aria-label=\"so &quot;much&quot;\">\n"
	      "<g id=\"p3-gnuplot_canvas\"><rect fill=\"var(--paper)\"/><circle id='p3-gpDot'/>"
	      "<use xlink:href='#p3-gpDot' stroke='var(--ink)'/>"
	      "<text fill=\"var(--ink)\">&lt;b></text></g></svg>");
}

Test(report_html, picture_that_is_none)
{
	struct tl_error error = TL_ERROR_INIT;

	write_picture("<svg viewBox=\"0 0");
	cr_assert_eq(tl_svg_inline(html.out, path, "", 1, &error), TL_E_DATA);
	unlink(path);
	cr_assert_eq(tl_svg_inline(html.out, path, "", 1, &error), TL_E_NOINPUT);
}
