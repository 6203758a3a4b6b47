/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/checksum.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FIPS 180-2, appendix B, and the empty message. */
static const struct {
	const char *text, *hex;
} known[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
static const char million_a[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

Test(checksum, known_texts)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		char hex[TL_SHA256_HEX];

		cr_assert_eq(tl_sha256_bytes(known[i].text, strlen(known[i].text), hex, NULL),
		             TL_OK);
		cr_assert_str_eq(hex, known[i].hex);
	}
}

Test(checksum, a_file_of_many_blocks)
{
	char path[] = "/tmp/tidelab-checksum-XXXXXX";
	int descriptor = mkstemp(path);
	FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
	char hex[TL_SHA256_HEX];
	enum tl_status status;

	cr_assert(stream);
	for (int i = 0; i < 1000000; i++)
		(void)fputc('a', stream);
	cr_assert_eq(fclose(stream), 0);
	status = tl_sha256_file(path, hex, NULL);
	(void)unlink(path);
	cr_assert_eq(status, TL_OK);
	cr_assert_str_eq(hex, million_a);
}

Test(checksum, an_absent_file_is_named)
{
	struct tl_error error = TL_ERROR_INIT;
	char hex[TL_SHA256_HEX] = "untouched";

	cr_assert_eq(tl_sha256_file("/nonexistent/trace.csv", hex, &error), TL_E_NOINPUT);
	cr_assert_str_eq(error.file, "/nonexistent/trace.csv");
	cr_assert_str_eq(hex, "untouched");
}

Test(checksum, a_folder_is_refused)
{
	struct tl_error error = TL_ERROR_INIT;
	char hex[TL_SHA256_HEX];

	cr_assert_eq(tl_sha256_file("/", hex, &error), TL_E_NOINPUT);
	cr_assert_str_eq(error.file, "/");
}
