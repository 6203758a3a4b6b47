/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this build is, and where `make install` puts its parts: told by the Makefile. */
#ifndef TIDELAB_BASE_VERSION_H
#define TIDELAB_BASE_VERSION_H

extern const char tl_version[]; /* `0.1.0` */
extern const char tl_commit[];  /* of the source, or `unknown` */
extern const char tl_libdir[];  /* `/usr/local/lib/tidelab`: policies/ in it */
extern const char tl_datadir[]; /* `/usr/local/share/tidelab`: clusters/, scenarios/ in it */

#endif
