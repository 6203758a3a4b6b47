/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a gate found, for people, for machines and for CI. */
#ifndef TIDELAB_CLI_REGRESS_H
#define TIDELAB_CLI_REGRESS_H

#include "analysis/regress.h"

#include <jansson.h>
#include <stdio.h>

struct tl_gate {
	const char *baseline, *candidate; /* names */
	const struct tl_regression *rows;
	size_t count;
	size_t failed, ignored;
};

/* The rows that failed or got better, and a closing line; all: every row. */
void tl_gate_print(const struct tl_gate *gate, bool all, FILE *out);
json_t *tl_gate_json(const struct tl_gate *gate);
/* A suite of one case a metric, as JUnit's XML. */
void tl_gate_junit(const struct tl_gate *gate, FILE *out);

#endif
