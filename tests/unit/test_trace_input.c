/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are no good as files, and text that is no good as CSV. */
#include "tests/unit/test_trace_util.h"

#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

#define HEADER "id,submit_s,duration_s,gpus\n"

static void refuse(const char *path, enum tl_status wanted, long line, const char *part)
{
	struct tl_trace_options options = default_options();
	expect_refused(path, &options, wanted, line, part);
	options.format = TL_FORMAT_CANONICAL;
	expect_refused(path, &options, wanted, line, part);
}

Test(trace_input, no_such_file)
{
	refuse("/tmp/tidelab-no-such-file.csv", TL_E_NOINPUT, 0, "No such file");
}

Test(trace_input, a_directory)
{
	refuse("traces", TL_E_NOINPUT, 0, "is a folder, wanted a plain file");
}

Test(trace_input, a_device)
{
	refuse("/dev/null", TL_E_NOINPUT, 0, "wanted a plain file");
}

Test(trace_input, unreadable)
{
	if (geteuid() == 0)
		cr_skip_test("root may read everything");
	const char *path = write_text_file("unreadable.csv", HEADER "a,0,1,1\n");
	cr_assert_eq(chmod(path, 0), 0);
	refuse(path, TL_E_NOINPUT, 0, "Permission denied");
	unlink(path);
}

Test(trace_input, empty_and_nearly_so)
{
	const char *path = write_text_file("empty.csv", "");
	refuse(path, TL_E_DATA, 1, "got an empty file");
	path = write_text_file("empty.csv", "\n \n\n");
	refuse(path, TL_E_DATA, 1, "got blank lines alone");
	path = write_text_file("empty.csv", HEADER);
	refuse(path, TL_E_DATA, 1, "got a header alone");
	path = write_text_file("empty.csv", HEADER "\n\n");
	refuse(path, TL_E_DATA, 1, "got a header alone");
	unlink(path);
}

Test(trace_input, a_nul_byte)
{
	static const char text[] = HEADER "a,0,1,1\nb,\0,1,1\n";
	const char *path = write_bytes("nul.csv", text, sizeof text - 1);
	refuse(path, TL_E_DATA, 3, "NUL byte");
	unlink(path);
}

Test(trace_input, quotes)
{
	const char *path = write_text_file("quotes.csv", HEADER "a,0,1,1\n\"b,0,1,1\nc,0,1,1\n");
	refuse(path, TL_E_DATA, 3, "never closes");
	path = write_text_file("quotes.csv", HEADER "a,0,1,1\nb\"x,0,1,1\n");
	refuse(path, TL_E_DATA, 3, "quote in the middle");
	path = write_text_file("quotes.csv", HEADER "a,0,1,1\n\"b\"x,0,1,1\n");
	refuse(path, TL_E_DATA, 3, "quote in the middle");
	unlink(path);
}

Test(trace_input, columns)
{
	struct tl_trace_options options = default_options();
	const char *path = write_text_file("columns.csv", "id,submit_s,gpus\na,0,1\n");
	options.format = TL_FORMAT_CANONICAL;
	expect_refused(path, &options, TL_E_DATA, 1,
	               "column `duration_s` is missing, got id,submit_s,gpus");
	path = write_text_file("columns.csv", "id,submit_s,duration_s,gpus,id\na,0,1,1,b\n");
	expect_refused(path, &options, TL_E_DATA, 1, "column `id` twice");
	options.format = TL_FORMAT_AUTO;
	path = write_text_file("columns.csv", "what,is,this\n1,2,3\n");
	expect_refused(path, &options, TL_E_DATA, 1, "format is unclear, got `what,is,this`");
	unlink(path);
}

/* A line without end is refused once 1 MiB of it was read, in little time and memory. */
static void expect_long_line_refused(const char *begin, long line, const char *part)
{
	enum { MEBIBYTES = 64 };
	static char block[1 << 20];
	struct tl_trace_options options = default_options();
	struct timespec before, after;
	const char *path = write_text_file("long.csv", begin);
	FILE *file = fopen(path, "ab");

	memset(block, 'x', sizeof block);
	for (int i = 0; i < MEBIBYTES; i++)
		cr_assert_eq(fwrite(block, 1, sizeof block, file), sizeof block);
	cr_assert_eq(fclose(file), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	options.format = TL_FORMAT_CANONICAL;
	expect_refused(path, &options, TL_E_DATA, line, part);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	double seconds =
	    (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
	cr_expect_lt(seconds, 0.1, "took %g s", seconds);
	unlink(path);
}

Test(trace_input, a_line_without_end)
{
	expect_long_line_refused("", 1, "got more than 1048576 bytes");
	expect_long_line_refused(HEADER "a,0,1,1\n", 3, "got more than 1048576 bytes");
}

Test(trace_input, a_quote_open_for_a_mebibyte)
{
	static char text[3 << 20];
	size_t used = (size_t)snprintf(text, sizeof text, HEADER "a,0,1,1\n\"");
	while (used + 100 < sizeof text) {
		memset(text + used, 'x', 99);
		text[used + 99] = '\n';
		used += 100;
	}
	const char *path = write_bytes("open-quote.csv", text, used);
	refuse(path, TL_E_DATA, 3, "open after 1 MiB");
	unlink(path);
}

Test(trace_input, a_long_line_within_the_bound_is_read)
{
	static char text[1 << 20];
	size_t used = (size_t)snprintf(text, sizeof text, HEADER "a,0,1,1,");
	memset(text + used, 'x', sizeof text - used - 100);
	text[sizeof text - 100] = '\n';
	const char *path = write_bytes("bounded.csv", text, sizeof text - 99);
	struct tl_trace *trace = must_open_plain(path);
	cr_expect_eq(find_class(trace, "long-line")->count, 1);
	tl_trace_close(trace);
	unlink(path);
}

static size_t compress_rows(unsigned char *out, size_t size, int rows)
{
	z_stream stream = {.next_out = out, .avail_out = (uInt)size};
	char row[64];

	cr_assert_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	for (int i = -1; i <= rows; i++) {
		int length =
		    i < 0 ? snprintf(row, sizeof row, HEADER)
			  : snprintf(row, sizeof row, "j%d,%d,%d,1\n", i, i, i * 7919 % 1000);
		stream.next_in = (unsigned char *)row;
		stream.avail_in = i == rows ? 0 : (uInt)length;
		deflate(&stream, i == rows ? Z_FINISH : Z_NO_FLUSH);
	}
	deflateEnd(&stream);
	return stream.total_out;
}

Test(trace_input, gzip)
{
	enum { ROWS = 5000 };
	static unsigned char data[1 << 18];
	size_t size = compress_rows(data, sizeof data, ROWS);
	const char *path = write_bytes("data.csv.gz", data, size);
	struct tl_trace *trace = must_open_plain(path);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_read, ROWS);
	tl_trace_close(trace);

	/* cut anywhere it is refused, by name where even the header is gone */
	for (size_t cut = 1; cut < size; cut += 997) {
		struct tl_trace_options options = default_options();
		struct tl_error error = TL_ERROR_INIT;
		options.format = TL_FORMAT_CANONICAL;
		path = write_bytes("data.csv.gz", data, cut);
		cr_expect_eq(tl_trace_open(path, &options, &trace, &error), TL_E_DATA, "cut at %zu",
		             cut);
		cr_expect_not_null(strstr(error.message, "gzip data"), "%s", error.message);
	}
	data[size / 2] ^= 0xFF;
	data[size / 2 + 1] ^= 0xFF;
	path = write_bytes("data.csv.gz", data, size);
	refuse(path, TL_E_DATA, 1, "gzip data, got damage");
	path = write_text_file("data.csv.gz", HEADER "a,0,1,1\n");
	refuse(path, TL_E_DATA, 0, "gzip data, got a file that does not start as one");
	unlink(path);
}

Test(trace_input, a_utf16_file)
{
	static const char text[] = "\xFF\xFEi\0d\0,\0\n\0";
	const char *path = write_bytes("utf16.csv", text, sizeof text - 1);
	refuse(path, TL_E_DATA, 1, "NUL byte");
	unlink(path);
}

Test(trace_input, sha256_is_of_the_bytes)
{
	const char *path = write_text_file("sha.csv", HEADER "a,0,1,1\n");
	struct tl_trace *trace = must_open_plain(path);
	char command[512], digest[65];
	snprintf(command, sizeof command, "sha256sum %s", path);
	FILE *pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	cr_assert_eq(fscanf(pipe, "%64s", digest), 1);
	pclose(pipe);
	cr_expect_str_eq(tl_trace_get_stats(trace)->sha256, digest);
	tl_trace_close(trace);
	unlink(path);
}
