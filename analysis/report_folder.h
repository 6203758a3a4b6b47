/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of a report, which takes its name only when it is whole. */
#ifndef TIDELAB_ANALYSIS_REPORT_FOLDER_H
#define TIDELAB_ANALYSIS_REPORT_FOLDER_H

#include "sim/base/error.h"

#include <stdbool.h>

struct tl_report_folder {
	char *path;     /* its name in the end */
	char *partial;  /* its name until then, beside it */
	char *pictures; /* partial/pictures */
	char *page;     /* partial/index.html */
	bool force;     /* a report at path is replaced */
};

/* TL_E_CANTCREAT: path exists and force is not given, or is no report, or cannot be made.
 * tl_report_folder_close() in any case. */
enum tl_status tl_report_folder_open(struct tl_report_folder *folder, const char *path, bool force,
                                     struct tl_error *error);
/* Anything but TL_OK leaves what was there before. TL_E_CANTCREAT: path has come to be since. */
enum tl_status tl_report_folder_close(struct tl_report_folder *folder, enum tl_status status,
                                      struct tl_error *error);

#endif
