/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which known word a mistyped one is nearest to. */
#include "sim/config/schema.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 40 };

/* Edits (insert, delete, replace, swap of neighbours) from a to b; both ≤ WORD_MAX long. */
static size_t edits(const char *a, const char *b)
{
	size_t rows[3][WORD_MAX + 1];
	size_t n = strlen(a), m = strlen(b);

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);

			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[n % 3][m];
}

/* Near enough to be a slip: a third of the letters, or the start of the word. */
static size_t nearness(const char *name, const char *got)
{
	size_t length = strlen(name), distance;

	if (strlen(got) > WORD_MAX || length > WORD_MAX || got[0] == '\0')
		return SIZE_MAX;
	distance = edits(name, got);
	if (distance <= 1 + length / 4)
		return distance;
	return strlen(got) >= 3 && strncmp(name, got, strlen(got)) == 0 ? length : SIZE_MAX;
}

/* A name with a dot in it (`player.attainment`) may be meant by what comes behind the dot. */
static size_t nearness_of_part(const char *name, const char *got)
{
	const char *dot = strrchr(name, '.');
	size_t whole = nearness(name, got), part;

	if (!dot || strchr(got, '.'))
		return whole;
	part = nearness(dot + 1, got);
	return part < whole ? part : whole;
}

const char *tl_suggest(const char *const *names, size_t count, const char *got)
{
	const char *best = NULL;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t distance = nearness_of_part(names[i], got);

		if (distance < least) {
			least = distance;
			best = names[i];
		}
	}
	return best;
}

const char *tl_suggest_text(const char *const *names, size_t count, const char *got, char *buffer,
                            size_t size)
{
	const char *near = tl_suggest(names, count, got);
	size_t used = 0;

	buffer[0] = '\0';
	if (near) {
		(void)snprintf(buffer, size, "; did you mean `%s`?", near);
		return buffer;
	}
	for (size_t i = 0; i < count; i++) {
		/* Room for the mark of what was left off. */
		if (used + strlen(names[i]) + 16 > size) {
			(void)snprintf(buffer + used, size - used, ", …");
			break;
		}
		used += (size_t)snprintf(buffer + used, size - used, "%s%s",
		                         i == 0 ? "; there are " : ", ", names[i]);
	}
	return buffer;
}

const char *tl_suggest_key(const struct tl_section *section, const char *got)
{
	const char *best = NULL;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < section->count; i++) {
		size_t distance = nearness(section->keys[i].name, got);

		if (distance < least) {
			least = distance;
			best = section->keys[i].name;
		}
	}
	return best;
}
