/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the manifest of a sweep's folder: refused with a reason, or read; what is read
 * is the same once written and read again. They are tried as they are, and, up to an empty line
 * and from there on, with the sum in between that makes the former whole. */
#include "analysis/manifest.h"
#include "tests/fuzz/input.h"

static void compare(const struct tl_manifest *a, const struct tl_manifest *b)
{
	TL_ASSERT(strcmp(a->identity, b->identity) == 0);
	TL_ASSERT(strcmp(a->scenario, b->scenario) == 0);
	TL_ASSERT(a->design.cell_count == b->design.cell_count);
	TL_ASSERT(a->design.seed_count == b->design.seed_count);
	TL_ASSERT(a->run_count == b->run_count);
	for (size_t i = 0; i < a->run_count; i++) {
		TL_ASSERT(strcmp(a->runs[i].hash, b->runs[i].hash) == 0);
		TL_ASSERT(a->runs[i].cell == b->runs[i].cell);
		TL_ASSERT(a->runs[i].seed == b->runs[i].seed);
		TL_ASSERT(a->runs[i].state == b->runs[i].state);
	}
}

static void write_again(const struct tl_manifest *manifest)
{
	const struct tl_subject subject = {.name = manifest->scenario_name,
	                                   .text = manifest->scenario};
	struct tl_manifest again;
	struct tl_error error = TL_ERROR_INIT;
	char path[FUZZ_PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/again", fuzz_folder());
	TL_ASSERT(tl_manifest_write(path, manifest->identity, &subject, &manifest->design,
	                            manifest->runs, manifest->run_count, &error) == TL_OK);
	TL_ASSERT(tl_manifest_read(path, &again, &error) == TL_OK);
	compare(manifest, &again);
	tl_manifest_fini(&again);
}

static void try_bytes(const uint8_t *data, size_t size)
{
	struct tl_manifest manifest;
	struct tl_error error = TL_ERROR_INIT;
	char path[FUZZ_PATH_SIZE];

	fuzz_file("manifest", data, size, path);
	if (tl_manifest_read(path, &manifest, &error) == TL_OK) {
		write_again(&manifest);
		tl_manifest_fini(&manifest);
	} else {
		fuzz_refused(&error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *gap = strstr(text, "\n\n");
	char *whole = NULL, sum[TL_SHA256_HEX];
	size_t length = 0, before = gap ? (size_t)(gap - text) + 1 : 0;
	FILE *out;

	try_bytes(data, size);
	out = gap ? open_memstream(&whole, &length) : NULL;
	if (out) {
		TL_ASSERT(tl_sha256_bytes(text, before, sum, NULL) == TL_OK);
		(void)fwrite(text, 1, before, out);
		(void)fprintf(out, "{\"sha256\":\"%s\"}\n", sum);
		(void)fwrite(text + before + 1, 1, size - before - 1, out);
		TL_ASSERT(fclose(out) == 0);
		try_bytes((const uint8_t *)whole, length);
	}
	free(whole);
	free(text);
	return 0;
}
