/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/provenance.h"

#include "results/results.h"
#include "sim/base/arena.h"
#include "sim/base/version.h"
#include "sim/plane/module.h"
#include "traces/requests_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tl_checksum {
	char *path;
	char sha256[TL_SHA256_HEX];
};

static void add(struct tl_provenance *provenance, const char *name, const char *value)
{
	provenance->facts = tl_grow(provenance->facts, &provenance->room, provenance->count + 1,
	                            sizeof(*provenance->facts));
	provenance->facts[provenance->count++] =
	    (struct tl_fact){.name = tl_strdup(name), .value = tl_strdup(value)};
}

void tl_provenance_init(struct tl_provenance *provenance, const struct tl_scenario *scenario)
{
	char name[128];

	*provenance = (struct tl_provenance){.count = 0};
	add(provenance, "tool_version", tl_version);
	add(provenance, "tool_commit", tl_commit);
	add(provenance, "scenario_name", scenario->name);
	add(provenance, "scenario", scenario->text);
	if (scenario->cluster_sha256[0] != '\0')
		add(provenance, "sha256.cluster", scenario->cluster_sha256);
	for (size_t s = 0; s < scenario->service_count; s++) {
		const struct tl_service_setting *service = &scenario->services[s];

		if (service->arrivals.trace == NULL)
			continue;
		(void)snprintf(name, sizeof(name), "sha256.service.%s", service->name);
		add(provenance, name, tl_request_trace_stats(service->arrivals.trace)->sha256);
	}
}

void tl_provenance_fini(struct tl_provenance *provenance)
{
	for (size_t i = 0; i < provenance->count; i++) {
		free(provenance->facts[i].name);
		free(provenance->facts[i].value);
	}
	free(provenance->facts);
	*provenance = (struct tl_provenance){.count = 0};
}

void tl_provenance_add_trace(struct tl_provenance *provenance, size_t workload, const char *sha256)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "sha256.workload.%zu", workload);
	add(provenance, name, sha256);
}

void tl_provenance_add_module(struct tl_provenance *provenance, size_t seat, const char *sha256)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "sha256.policy.%s", tl_seat_names[seat]);
	add(provenance, name, sha256);
}

void tl_provenance_identity(const struct tl_provenance *provenance, char out[TL_SHA256_HEX])
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		tl_out_of_memory(0);
	(void)fprintf(stream, "schema %d.%d\n", TL_RESULTS_SCHEMA_MAJOR, TL_RESULTS_SCHEMA_MINOR);
	/* Lengths, so that no value can pass for another fact. */
	for (size_t i = 0; i < provenance->count; i++)
		(void)fprintf(stream, "%s %zu %s\n", provenance->facts[i].name,
		              strlen(provenance->facts[i].value), provenance->facts[i].value);
	if (fclose(stream) != 0 || tl_sha256_bytes(text, size, out, NULL) != TL_OK)
		tl_out_of_memory(size);
	free(text);
}

/* ---- before the run ---- */

void tl_checksums_fini(struct tl_checksums *known)
{
	for (size_t i = 0; i < known->count; i++)
		free(known->items[i].path);
	free(known->items);
	*known = (struct tl_checksums){.count = 0};
}

static enum tl_status checksum(struct tl_checksums *known, const char *path, const char **out,
                               struct tl_error *error)
{
	struct tl_checksum *item;
	enum tl_status status;

	for (size_t i = 0; i < known->count; i++) {
		*out = known->items[i].sha256;
		if (strcmp(known->items[i].path, path) == 0)
			return TL_OK;
	}
	known->items = tl_grow(known->items, &known->room, known->count + 1, sizeof(*known->items));
	item = &known->items[known->count];
	status = tl_sha256_file(path, item->sha256, error);
	if (status != TL_OK)
		return status;
	item->path = tl_strdup(path);
	known->count++;
	*out = item->sha256;
	return TL_OK;
}

enum tl_status tl_provenance_foretell(const struct tl_scenario *scenario,
                                      struct tl_checksums *known, char out[TL_SHA256_HEX],
                                      struct tl_error *error)
{
	struct tl_provenance provenance;
	enum tl_status status = TL_OK;
	const char *sha256 = "";

	tl_provenance_init(&provenance, scenario);
	for (size_t i = 0; i < scenario->workload_count && status == TL_OK; i++) {
		if (scenario->workloads[i].is_made)
			continue;
		status = checksum(known, scenario->workloads[i].path, &sha256, error);
		if (status == TL_OK)
			tl_provenance_add_trace(&provenance, i, sha256);
	}
	for (size_t seat = 0; seat < TL_SEAT_COUNT && status == TL_OK; seat++) {
		char *path = NULL;

		if (scenario->seats[seat].use[0] == '\0')
			continue;
		status = tl_module_find(scenario->seats[seat].use, &path, error);
		if (status != TL_OK)
			status = tl_error_set(error, status, error ? error->file : NULL, 0, 0,
			                      "policy.%s: %.700s", tl_seat_names[seat],
			                      error ? error->message : "");
		else
			status = checksum(known, path, &sha256, error);
		if (status == TL_OK)
			tl_provenance_add_module(&provenance, seat, sha256);
		free(path);
	}
	if (status == TL_OK)
		tl_provenance_identity(&provenance, out);
	tl_provenance_fini(&provenance);
	return status;
}
