/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 of files and texts (libcrypto), as 64 lower-case hex digits. */
#ifndef TIDELAB_BASE_CHECKSUM_H
#define TIDELAB_BASE_CHECKSUM_H

#include "sim/base/error.h"

#include <stddef.h>

enum { TL_SHA256_HEX = 65 }; /* with the final NUL */

enum tl_status tl_sha256_file(const char *path, char out[TL_SHA256_HEX], struct tl_error *error);
enum tl_status tl_sha256_bytes(const void *data, size_t size, char out[TL_SHA256_HEX],
                               struct tl_error *error);

#endif
