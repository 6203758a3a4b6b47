/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that take their name only when they are whole. */
#ifndef TIDELAB_BASE_OUTPUT_H
#define TIDELAB_BASE_OUTPUT_H

#include "sim/base/error.h"

#include <stdbool.h>

/* FOLDER/NAME; malloc'd. */
char *tl_join(const char *folder, const char *name);

/* The path may be written to: its folder is there, and it is a plain file that force
 * allows to replace, or nothing. TL_E_CANTCREAT. */
enum tl_status tl_output_check(const char *path, bool force, struct tl_error *error);

/* The name to write under: hidden, of this process, and beside the final one, so that a
 * rename is enough; malloc'd. */
char *tl_output_partial(const char *path);

/* An error that names the file written under is of the final name, which was asked for. */
void tl_output_rename_error(const char *partial, const char *path, struct tl_error *error);

/* Gives the whole file its name; without force nothing that came meanwhile is replaced. */
enum tl_status tl_output_publish(const char *partial, const char *path, bool force,
                                 struct tl_error *error);

#endif
