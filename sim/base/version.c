/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/version.h"

#if !defined(TL_VERSION) || !defined(TL_COMMIT) || !defined(TL_LIBDIR) || !defined(TL_DATADIR)
#error "TL_VERSION, TL_COMMIT, TL_LIBDIR and TL_DATADIR come from the Makefile"
#endif

const char tl_version[] = TL_VERSION;
const char tl_commit[] = TL_COMMIT;
const char tl_libdir[] = TL_LIBDIR;
const char tl_datadir[] = TL_DATADIR;
