/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TIDELAB_TRACES_GZIP_OUT_H
#define TIDELAB_TRACES_GZIP_OUT_H

#include <stdio.h>

/* A stream whose text is gzipped into the descriptor, which it takes. NULL on failure,
 * where the descriptor is still the caller's. */
FILE *tl_gzip_out(int descriptor);

#endif
