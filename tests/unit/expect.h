/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a call that fills the `error` in scope: that it succeeds, or fails as it should. */
#ifndef TIDELAB_TESTS_EXPECT_H
#define TIDELAB_TESTS_EXPECT_H

#include "sim/base/error.h"

#include <criterion/criterion.h>
#include <string.h>

#define OK(call)                                                                                   \
	do {                                                                                       \
		error = TL_ERROR_INIT;                                                             \
		enum tl_status status_ = (call);                                                   \
		cr_assert_eq(status_, TL_OK, "%s: %s: %s", #call, error.file, error.message);      \
	} while (0)

#define WANT(wanted, part, call)                                                                   \
	do {                                                                                       \
		error = TL_ERROR_INIT;                                                             \
		enum tl_status status_ = (call);                                                   \
		cr_assert_eq(status_, wanted, "%s: got %d: %s", #call, status_, error.message);    \
		cr_assert(strstr(error.message, part), "wanted `%s` in: %s", part, error.message); \
		cr_assert_eq(error.code, wanted);                                                  \
	} while (0)

#endif
