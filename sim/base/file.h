/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files to be read. Plain ones alone: a pipe may never begin, end, or be read twice. */
#ifndef TIDELAB_BASE_FILE_H
#define TIDELAB_BASE_FILE_H

#include "sim/base/error.h"

#include <stdio.h>

/* There is a plain file of that name (or a link to one). TL_E_NOINPUT. */
enum tl_status tl_file_check(const char *path, struct tl_error *error);

/* The same, opened for reading. */
enum tl_status tl_file_open(const char *path, FILE **out, struct tl_error *error);

#endif
