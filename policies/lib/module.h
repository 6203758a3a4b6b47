/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What nearly every module's create() does: an instance from the host's memory, or a line
 * why not. Options come as an array in the order of the module's own table: name the rows
 * with an enum. */
#ifndef TIDELAB_LIB_MODULE_H
#define TIDELAB_LIB_MODULE_H

#include "policies/abi/tidelab_policy.h"

#include <string.h>

/* Puts a line into create->error (cut to its room) and returns -1. */
static inline int tl_module_fail(const struct tl_create *create, const char *why)
{
	size_t length = strlen(why);

	if (create->error && create->error_size > 0) {
		if (length >= create->error_size)
			length = create->error_size - 1;
		memcpy(create->error, why, length);
		create->error[length] = '\0';
	}
	return -1;
}

/* Zeroed memory for the instance in *self: 0, or -1 with the reason. */
static inline int tl_module_instance(const struct tl_host *host, const struct tl_create *create,
                                     size_t size, void **self)
{
	*self = host->alloc(host, size);
	return *self ? 0 : tl_module_fail(create, "out of memory");
}

/* A real option's value, which is not negative, in thousandths. */
static inline int64_t tl_module_milli(struct tl_option_value value)
{
	return (int64_t)(value.f * 1000.0 + 0.5);
}

#endif
