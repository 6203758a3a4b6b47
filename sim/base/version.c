/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/version.h"

/* The Makefile defines these for this file; a tool that reads it alone goes without. */
#ifndef TL_VERSION
#define TL_VERSION "unknown"
#define TL_COMMIT "unknown"
#define TL_LIBDIR "/usr/local/lib/tidelab"
#define TL_DATADIR "/usr/local/share/tidelab"
#endif

const char tl_version[] = TL_VERSION;
const char tl_commit[] = TL_COMMIT;
const char tl_libdir[] = TL_LIBDIR;
const char tl_datadir[] = TL_DATADIR;
