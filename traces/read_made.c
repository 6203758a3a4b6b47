/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records that are made behind the iterator, not read from a file. */
#include "traces/reader.h"

static enum tl_status made_open(struct tl_reader *reader, struct tl_error *error)
{
	return reader->maker->begin(reader->maker->of, &reader->making, error);
}

static void made_close(struct tl_reader *reader)
{
	reader->maker->end(reader->making);
}

static enum tl_status made_next(struct tl_reader *reader, struct tl_row *row,
                                struct tl_error *error)
{
	struct tl_trace_made made;
	enum tl_status status = reader->maker->next(reader->making, &made, error);

	if (status != TL_OK)
		return status;
	tl_row_clear(row, reader, error);
	row->record = made.record;
	row->record.tenant = tl_intern_put(&reader->names->tenants, made.tenant);
	row->record.queue = tl_intern_put(&reader->names->queues, made.queue);
	row->line = made.record.line;
	if (made.record.deadline_ns == TL_NONE)
		row->record.deadline_ns = TL_UNKNOWN;
	return TL_OK;
}

/* As `trace generate` writes them. */
const struct tl_reader_ops tl_read_made = {
    .format = TL_FORMAT_CANONICAL,
    .open = made_open,
    .close = made_close,
    .next = made_next,
};
