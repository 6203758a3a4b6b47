/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/machines.h"

#include "sim/base/arena.h"
#include "traces/csv_input.h"
#include "traces/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_machine_format_names[] = {
    [TL_MACHINES_OPENB] = "openb",
    [TL_MACHINES_PAI] = "pai",
    [TL_MACHINES_LINGJUN] = "lingjun",
    [TL_MACHINES_LINGJUN + 1] = NULL,
};

enum {
	COLUMNS_MAX = 5,
	GPUS_MAX = 1024, /* in one machine */
	LINGJUN_GPUS = 8,
	LINGJUN_CPU_MILLI = 128000 /* assumed, as the default node */
};
#define LINGJUN_RAM_BYTES (1024 * TL_GIB)
#define CPU_MAX_MILLI INT64_C(1000000000)
#define RAM_MAX_BYTES (INT64_C(1) << 50)

struct list {
	struct tl_csv csv;
	struct tl_lint lint; /* the text's dirt is repaired alike, and not reported here */
	int positions[COLUMNS_MAX];
	struct tl_intern names, leaves, pods;
	struct tl_machine *machines;
	size_t count, capacity;
};

static const char *text_of(const struct list *list, size_t column)
{
	return tl_csv_field(&list->csv, list->positions[column]);
}

static enum tl_status bad_value(const struct list *list, const char *what, const char *got,
                                const char *wanted, struct tl_error *error)
{
	return tl_error_set(error, TL_E_DATA, list->csv.input.path, list->csv.line, 0,
	                    "%s, got `%.80s`, wanted %s", what, got, wanted);
}

/* A whole number × unit, from 0 to max. */
static enum tl_status read_quantity(const struct list *list, size_t column, const char *what,
                                    int64_t unit, int64_t max, int64_t *out, struct tl_error *error)
{
	const char *text = text_of(list, column);
	struct tl_number number = tl_number_parse(text, 0);

	if (number.kind != TL_NUMBER_VALUE || number.value < 0 || number.value > max / unit)
		return bad_value(list, what, text, "a number from 0 to what a machine can have",
		                 error);
	*out = number.value * unit;
	return TL_OK;
}

static enum tl_status take_name(struct list *list, const char *name, struct tl_machine *machine,
                                struct tl_error *error)
{
	size_t length = strlen(name);

	if (length == 0)
		return bad_value(list, "machine name", name, "one", error);
	if (tl_intern_find(&list->names, name) >= 0)
		return bad_value(list, "machine name", name, "each once", error);
	tl_intern_put(&list->names, name);
	if (length >= sizeof machine->name)
		length = sizeof machine->name - 1;
	memcpy(machine->name, name, length);
	return TL_OK;
}

static enum tl_status take_model(struct list *list, const char *model, struct tl_machine *machine,
                                 struct tl_error *error)
{
	size_t length = strlen(model);

	if (length >= sizeof machine->model)
		return bad_value(list, "GPU model", model, "at most 31 bytes", error);
	memcpy(machine->model, model, length);
	return TL_OK;
}

/* openb's and PAI's columns, in one order: name, cpu, memory, gpus, model. */
static enum tl_status read_hardware(struct list *list, int64_t cpu_unit, int64_t memory_unit,
                                    struct tl_machine *machine, struct tl_error *error)
{
	int64_t gpus = 0;
	enum tl_status status = take_name(list, text_of(list, 0), machine, error);

	if (status == TL_OK)
		status = read_quantity(list, 1, "CPU", cpu_unit, CPU_MAX_MILLI, &machine->cpu_milli,
		                       error);
	if (status == TL_OK)
		status = read_quantity(list, 2, "memory", memory_unit, RAM_MAX_BYTES,
		                       &machine->ram_bytes, error);
	if (status == TL_OK)
		status = read_quantity(list, 3, "GPUs", 1, GPUS_MAX, &gpus, error);
	machine->gpus = (uint32_t)gpus;
	const char *model = text_of(list, 4);
	if (strcmp(model, "CPU") == 0)
		model = "";
	if (status == TL_OK)
		status = take_model(list, model, machine, error);
	return status;
}

static enum tl_status read_lingjun(struct list *list, struct tl_machine *machine,
                                   struct tl_error *error)
{
	enum tl_status status = take_name(list, text_of(list, 0), machine, error);
	char place[3 * TL_TRACE_NAME_MAX + 3];

	if (status != TL_OK)
		return status;
	for (size_t i = 1; i < 4; i++) {
		const char *text = text_of(list, i);
		if (text[0] == '\0' || strlen(text) >= TL_TRACE_NAME_MAX)
			return bad_value(list, "switch", text, "a name of 1 to 63 bytes", error);
	}
	machine->gpus = LINGJUN_GPUS;
	machine->cpu_milli = LINGJUN_CPU_MILLI;
	machine->ram_bytes = LINGJUN_RAM_BYTES;
	snprintf(place, sizeof place, "%s/%s", text_of(list, 1), text_of(list, 2));
	machine->pod = tl_intern_put(&list->pods, place);
	/* leaves are named anew under each spine */
	snprintf(place, sizeof place, "%s/%s/%s", text_of(list, 1), text_of(list, 2),
	         text_of(list, 3));
	machine->leaf = tl_intern_put(&list->leaves, place);
	return take_model(list, "A100", machine, error);
}

static enum tl_status read_machine(struct list *list, enum tl_machine_format format,
                                   struct tl_machine *machine, struct tl_error *error)
{
	memset(machine, 0, sizeof *machine);
	machine->leaf = UINT32_MAX;
	machine->pod = UINT32_MAX;
	if (format == TL_MACHINES_OPENB)
		return read_hardware(list, 1, TL_MIB, machine, error);
	if (format == TL_MACHINES_PAI)
		return read_hardware(list, 1000, TL_GIB, machine, error);
	return read_lingjun(list, machine, error);
}

static enum tl_status find_columns(struct list *list, enum tl_machine_format format,
                                   struct tl_error *error)
{
	static const struct tl_csv_column openb[] = {{"sn", true, false},
	                                             {"cpu_milli", true, false},
	                                             {"memory_mib", true, false},
	                                             {"gpu", true, false},
	                                             {"model", true, false}};
	static const struct tl_csv_column lingjun[] = {
	    {"ip", true, false}, {"DSW", true, false}, {"PSW", true, false}, {"ASW", true, false}};
	static const int pai[COLUMNS_MAX] = {0, 2, 3, 4, 1};

	if (format == TL_MACHINES_PAI) {
		memcpy(list->positions, pai, sizeof pai);
		return TL_OK;
	}
	if (format == TL_MACHINES_OPENB)
		return tl_csv_header(&list->csv, openb, 5, list->positions, error);
	return tl_csv_header(&list->csv, lingjun, 4, list->positions, error);
}

static enum tl_status read_all(struct list *list, enum tl_machine_format format,
                               struct tl_error *error)
{
	enum tl_status status = find_columns(list, format, error);

	while (status == TL_OK) {
		status = tl_csv_row(&list->csv, error);
		if (status == TL_END)
			break;
		if (status != TL_OK)
			return status;
		list->machines = tl_grow(list->machines, &list->capacity, list->count + 1,
		                         sizeof *list->machines);
		status = read_machine(list, format, &list->machines[list->count], error);
		list->count += status == TL_OK;
	}
	if (status == TL_END && list->count == 0)
		return tl_error_set(error, TL_E_DATA, list->csv.input.path, 1, 0,
		                    "machine list, got no machine, wanted at least one");
	return status == TL_END ? TL_OK : status;
}

enum tl_status tl_machines_read(const char *path, enum tl_machine_format format,
                                struct tl_machine **machines, size_t *count, struct tl_error *error)
{
	struct list list = {.count = 0};

	tl_lint_init(&list.lint);
	enum tl_status status = tl_csv_open(&list.csv, path, &list.lint, error);
	if (status != TL_OK)
		return status;
	tl_intern_init(&list.names);
	tl_intern_init(&list.leaves);
	tl_intern_init(&list.pods);
	status = read_all(&list, format, error);
	tl_csv_close(&list.csv);
	tl_intern_fini(&list.names);
	tl_intern_fini(&list.leaves);
	tl_intern_fini(&list.pods);
	if (status != TL_OK) {
		free(list.machines);
		return status;
	}
	*machines = list.machines;
	*count = list.count;
	return TL_OK;
}

bool tl_machine_format_parse(const char *name, enum tl_machine_format *out)
{
	for (size_t i = 0; tl_machine_format_names[i] != NULL; i++) {
		if (strcmp(name, tl_machine_format_names[i]) == 0) {
			*out = (enum tl_machine_format)i;
			return true;
		}
	}
	return false;
}
