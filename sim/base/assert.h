/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Assertions that stay on in release: for what would corrupt a result
 * (conservation, over-allocation, an illegal transition). They are for our own
 * errors; what the world can get wrong is reported through struct tl_error.
 */
#ifndef TIDELAB_BASE_ASSERT_H
#define TIDELAB_BASE_ASSERT_H

_Noreturn void tl_assert_fail(const char *condition, const char *file, int line,
                              const char *function);

#define TL_ASSERT(condition)                                                                       \
	((condition) ? (void)0 : tl_assert_fail(#condition, __FILE__, __LINE__, __func__))

#endif
