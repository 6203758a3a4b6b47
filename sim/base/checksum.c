/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/checksum.h"

#include "sim/base/file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_BYTES = 32, READ_BLOCK = 16 * 1024 };

_Static_assert(TL_SHA256_HEX == 2 * SHA256_BYTES + 1, "two digits a byte and a NUL");

static void to_hex(const unsigned char *digest, char out[TL_SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < SHA256_BYTES; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[TL_SHA256_HEX - 1] = '\0';
}

static enum tl_status crypto_failed(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_INTERNAL, path, 0, 0,
	                    "SHA-256: libcrypto refused to compute it");
}

static enum tl_status digest_stream(EVP_MD_CTX *context, FILE *stream, const char *path,
                                    char out[TL_SHA256_HEX], struct tl_error *error)
{
	unsigned char block[READ_BLOCK];
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t got;

	if (EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1)
		return crypto_failed(path, error);
	while ((got = fread(block, 1, sizeof block, stream)) > 0)
		if (EVP_DigestUpdate(context, block, got) != 1)
			return crypto_failed(path, error);
	if (ferror(stream))
		return tl_error_set(error, TL_E_IO, path, 0, 0, "cannot be read: %s",
		                    strerror(errno));
	if (EVP_DigestFinal_ex(context, digest, NULL) != 1)
		return crypto_failed(path, error);
	to_hex(digest, out);
	return TL_OK;
}

enum tl_status tl_sha256_file(const char *path, char out[TL_SHA256_HEX], struct tl_error *error)
{
	FILE *stream = NULL;
	EVP_MD_CTX *context;
	enum tl_status status = tl_file_open(path, &stream, error);

	if (status != TL_OK)
		return status;
	context = EVP_MD_CTX_new();
	status =
	    context ? digest_stream(context, stream, path, out, error) : crypto_failed(path, error);
	EVP_MD_CTX_free(context);
	(void)fclose(stream);
	return status;
}

enum tl_status tl_sha256_bytes(const void *data, size_t size, char out[TL_SHA256_HEX],
                               struct tl_error *error)
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	if (EVP_Digest(size ? data : "", size, digest, NULL, EVP_sha256(), NULL) != 1)
		return crypto_failed(NULL, error);
	to_hex(digest, out);
	return TL_OK;
}
