/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TIDELAB_PLANE_ELF_H
#define TIDELAB_PLANE_ELF_H

#include "sim/base/error.h"

/* A whole shared object for this machine, as far as its headers tell: the loader of the C
 * library maps what they say unchecked, and dies of a file cut short. TL_E_UNAVAILABLE. */
enum tl_status tl_elf_check(const char *path, struct tl_error *error);

#endif
