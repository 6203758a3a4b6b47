/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"
#include "traces/canonical.h"

static const char dirty[] = SAMPLES "dirty-canonical.csv";

Test(trace_canonical, every_class_of_dirt)
{
	static const struct expected_class expected[] = {
	    {"quoted-field", 1, {5}},   {"quoted-comma", 1, {5}},   {"long-fraction", 1, {5}},
	    {"backward-time", 1, {4}},  {"duplicate-id", 1, {6}},   {"empty-window", 3, {5}},
	    {"fractional-gpu", 1, {4}}, {"repeated-model", 1, {5}}, {"over-requested-time", 1, {3}},
	};
	struct tl_trace *trace = must_open_plain(dirty);
	expect_classes(trace, expected, sizeof expected / sizeof *expected);
	tl_trace_close(trace);
}

Test(trace_canonical, every_column)
{
	struct tl_trace *trace = must_open_plain(SAMPLES "canonical.csv");
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_assert_eq(count, 6);
	const struct tl_trace_record *train = &records[0], *sim = &records[2], *actor = &records[4];
	cr_expect_str_eq(train->id, "train-1");
	cr_expect_eq(train->duration_ns, 3600500 * TL_NS_PER_MS);
	cr_expect_eq(train->gpus_mgpu, 16000);
	cr_expect_eq(train->workers, 2);
	cr_expect_eq(train->gpu_memory_bytes, 32 * TL_GIB);
	cr_expect_eq(train->estimate_ns, 2 * TL_NS_PER_HOUR);
	cr_expect_eq(train->deadline_ns, TL_NONE);
	cr_expect_eq(train->state_bytes, INT64_C(4000000000));
	cr_expect_eq(train->utilisation_milli, 490);
	cr_expect_str_eq(tl_trace_tenants(trace)->names[train->tenant], "vision");
	cr_expect_str_eq(tl_trace_queues(trace)->names[train->queue], "normal");
	cr_expect_str_eq(tl_trace_models(trace)->names[train->models], "A100|H100");
	cr_expect_eq(train->role, UINT32_MAX);
	cr_expect_eq(train->outcome, TL_OUTCOME_COMPLETED);
	cr_expect_eq(records[1].submit_ns, 1);
	cr_expect_eq(records[1].priority, 5);
	cr_expect_eq(sim->kind, TL_KIND_SIMULATION);
	cr_expect_eq(sim->cpu_milli, 64000);
	cr_expect_eq(sim->ram_bytes, 256 * TL_GIB);
	cr_expect_eq(sim->priority, -1);
	cr_expect_eq(sim->deadline_ns, 90010 * TL_NS_PER_S);
	cr_expect_str_eq(tl_trace_roles(trace)->names[sim->role], "simulator");
	cr_expect_eq(records[3].kind, TL_KIND_EVALUATION);
	cr_expect_eq(records[3].deadline_ns, 86420250 * TL_NS_PER_MS);
	cr_expect_eq(actor->workers, 4);
	cr_expect_eq(actor->outcome, TL_OUTCOME_CANCELLED);
	cr_expect_eq(records[5].duration_ns, TL_NEVER);
	cr_expect_eq(records[5].kind, TL_KIND_OTHER);
	cr_expect_str_eq(tl_trace_tenants(trace)->names[records[5].tenant], "default");
	free(records);
	tl_trace_close(trace);
}

Test(trace_canonical, gzip_reads_the_same)
{
	struct tl_trace *plain = must_open_plain(SAMPLES "canonical.csv");
	struct tl_trace *packed = must_open_plain(SAMPLES "canonical.csv.gz");
	size_t count, packed_count;
	struct tl_trace_record *records = read_all(plain, &count);
	struct tl_trace_record *packed_records = read_all(packed, &packed_count);

	cr_assert_eq(count, packed_count);
	for (size_t i = 0; i < count; i++)
		cr_expect_str_eq(records[i].id, packed_records[i].id);
	cr_expect_str_neq(tl_trace_get_stats(plain)->sha256, tl_trace_get_stats(packed)->sha256);
	free(records);
	free(packed_records);
	tl_trace_close(plain);
	tl_trace_close(packed);
}

static const char *name_of(const struct tl_intern *intern, uint32_t number)
{
	return number < intern->count ? intern->names[number] : "";
}

static void expect_same(const struct tl_trace *a, const struct tl_trace_record *x,
                        const struct tl_trace *b, const struct tl_trace_record *y)
{
	cr_expect_str_eq(x->id, y->id);
	cr_expect_eq(x->submit_ns, y->submit_ns);
	cr_expect_eq(x->duration_ns, y->duration_ns, "%s", x->id);
	cr_expect_eq(x->estimate_ns, y->estimate_ns);
	cr_expect_eq(x->deadline_ns, y->deadline_ns);
	cr_expect_eq(x->gpus_mgpu, y->gpus_mgpu);
	cr_expect_eq(x->workers, y->workers);
	cr_expect_eq(x->gpu_memory_bytes, y->gpu_memory_bytes);
	cr_expect_eq(x->cpu_milli, y->cpu_milli);
	cr_expect_eq(x->ram_bytes, y->ram_bytes);
	cr_expect_eq(x->state_bytes, y->state_bytes);
	cr_expect_eq(x->utilisation_milli, y->utilisation_milli);
	cr_expect_eq(x->priority, y->priority);
	cr_expect_eq(x->kind, y->kind);
	cr_expect_eq(x->outcome, y->outcome);
	cr_expect_str_eq(name_of(tl_trace_tenants(a), x->tenant),
	                 name_of(tl_trace_tenants(b), y->tenant));
	cr_expect_str_eq(name_of(tl_trace_queues(a), x->queue),
	                 name_of(tl_trace_queues(b), y->queue));
	cr_expect_str_eq(name_of(tl_trace_models(a), x->models),
	                 name_of(tl_trace_models(b), y->models));
	cr_expect_str_eq(name_of(tl_trace_roles(a), x->role), name_of(tl_trace_roles(b), y->role));
}

static void write_file(struct tl_trace *trace, const char *path)
{
	struct tl_error error = TL_ERROR_INIT;
	FILE *out = fopen(path, "w");

	cr_assert_not_null(out);
	cr_assert_eq(tl_canonical_write(trace, out, &error), TL_OK, "%s", error.message);
	cr_assert_eq(fclose(out), 0);
}

/* Written and read back, a trace of any format hands out the same records; written
 * again, the same bytes. */
static void round_trip(const char *path)
{
	char copy[64], again[64], command[160];
	struct tl_trace *trace = must_open_plain(path);
	size_t count, copy_count;

	snprintf(copy, sizeof copy, "/tmp/tidelab-%ld-copy.csv", (long)getpid());
	snprintf(again, sizeof again, "/tmp/tidelab-%ld-again.csv", (long)getpid());
	write_file(trace, copy);
	tl_trace_close(trace);
	trace = must_open_plain(path);
	struct tl_trace *copied = must_open_plain(copy);
	struct tl_trace_record *records = read_all(trace, &count);
	struct tl_trace_record *copies = read_all(copied, &copy_count);
	cr_assert_eq(count, copy_count);
	for (size_t i = 0; i < count; i++)
		expect_same(trace, &records[i], copied, &copies[i]);
	cr_expect(tl_trace_get_stats(trace)->gpu_time_mgpu_ns ==
	          tl_trace_get_stats(copied)->gpu_time_mgpu_ns);
	free(records);
	free(copies);
	tl_trace_close(trace);
	tl_trace_close(copied);
	copied = must_open_plain(copy);
	write_file(copied, again);
	tl_trace_close(copied);
	snprintf(command, sizeof command, "cmp %s %s", copy, again);
	cr_expect_eq(system(command), 0);
	unlink(copy);
	unlink(again);
}

Test(trace_canonical, round_trips)
{
	round_trip(SAMPLES "canonical.csv");
	round_trip(dirty);
	round_trip(SAMPLES "dirty-philly.csv");
	round_trip(SAMPLES "dirty-openb.csv");
	round_trip(SAMPLES "dirty.swf");
	round_trip(SAMPLES "dirty-tiresias.csv");
	round_trip(SAMPLES "day-philly.csv");
	round_trip(SAMPLES "day-kalos.csv.gz");
}

Test(trace_canonical, a_failed_write_is_told)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_trace *trace = must_open_plain(SAMPLES "canonical.csv");
	if (access("/dev/full", W_OK) == 0) {
		FILE *full = fopen("/dev/full", "w");
		cr_expect_eq(tl_canonical_write(trace, full, &error), TL_E_IO);
		fclose(full);
	}
	tl_trace_close(trace);
}

static void refuse_row(const char *row, const char *part)
{
	struct tl_trace_options options = default_options();
	char text[512];
	snprintf(
	    text, sizeof text,
	    "id,submit_s,duration_s,gpus,workers,deadline_s,utilisation,priority,kind,outcome\n%s\n",
	    row);
	const char *path = write_text_file("canonical.csv", text);
	expect_refused(path, &options, TL_E_DATA, 2, part);
	unlink(path);
}

Test(trace_canonical, unreadable_values)
{
	refuse_row("a,0,10,3,2,,,,,",
	           "workers, got `2`, wanted workers that share the GPUs evenly");
	refuse_row("a,10,10,1,,5,,,,", "deadline_s, got `5`, wanted a time not before submit_s");
	refuse_row("a,0,10,1,,,1.5,,,", "utilisation, got `1.5`, wanted a number from 0 to 1");
	refuse_row("a,0,10,1,,,,x,,", "priority, got `x`");
	refuse_row("a,0,10,1,,,,,dancing,", "kind, got `dancing`");
	refuse_row("a,0,10,1,,,,,,maybe", "outcome, got `maybe`");
	refuse_row("a,0,soon,1,,,,,,", "duration_s, got `soon`");
	refuse_row("a,1e12,10,1,,,,,,", "submit_s, got `1e12`");
	refuse_row("a,0,10,0.0001,,,,,,", "gpus, got `0.0001`, wanted whole thousandths");
	refuse_row("a,0,10,0.9999,,,,,,", "gpus, got `0.9999`, wanted whole thousandths");
	refuse_row("a,0,10,2.00001,,,,,,", "gpus, got `2.00001`");
	refuse_row("a,0,10,1,0,,,,,", "workers, got `0`, wanted at least 1");
}

/* A run time that no integer holds is too long; it is not the word for never. */
Test(trace_canonical, an_endless_number_is_not_never)
{
	static const char *const endless[] = {"1e300", "9223372036.854775807", "-1e300"};
	struct tl_trace_options options = default_options();
	char text[128];

	options.lint = true;
	for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
		snprintf(text, sizeof text, "id,submit_s,duration_s,gpus\na,0,%s,1\nb,0,1,1\n",
		         endless[i]);
		const char *path = write_text_file("canonical.csv", text);
		struct tl_trace *trace = must_open(path, &options);

		cr_expect_not_null(find_class(trace, "run-time-absurd"), "%s", endless[i]);
		cr_expect_null(find_class(trace, "scientific"), "%s", endless[i]);
		cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 1, "%s", endless[i]);
		tl_trace_close(trace);
		unlink(path);
	}
}

/* Names that the columns of a result would cut are refused; the longest that fit are kept. */
Test(trace_canonical, names_too_long)
{
	static const char head[] = "id,submit_s,duration_s,gpus,tenant,queue\n";
	static const struct {
		int id, tenant, queue;
		const char *says;
	} cases[] = {{63, 63, 31, NULL},
	             {64, 1, 1, "wanted a name of at most 63 bytes"},
	             {1, 64, 1, "wanted a name of at most 63 bytes"},
	             {1, 1, 32, "wanted a name of at most 31 bytes"}};
	struct tl_trace_options options = default_options();
	char text[512], name[65];

	memset(name, 'n', 64);
	name[64] = '\0';
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text, "%s%.*s,0,1,1,%.*s,%.*s\n", head, cases[i].id, name,
		         cases[i].tenant, name, cases[i].queue, name);
		const char *path = write_text_file("canonical.csv", text);

		if (cases[i].says)
			expect_refused(path, &options, TL_E_DATA, 2, cases[i].says);
		else
			tl_trace_close(must_open(path, &options));
		unlink(path);
	}
}

/* Names that no JSON, HTML or HDF5 text could hold are refused; those of any script are kept. */
Test(trace_canonical, names_that_are_no_text)
{
	static const char head[] = "id,submit_s,duration_s,gpus,tenant,queue\n";
	static const char *const bad[] = {"lat\xe9in,0,1,1,a,b", "a,0,1,1,\xed\xa0\x80,b",
	                                  "a,0,1,1,b\x01,c", "a,0,1,1,b,\xc0\xaf"};
	struct tl_trace_options options = default_options();
	char text[256];

	for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
		const bool good = i == sizeof bad / sizeof *bad;

		snprintf(text, sizeof text, "%s%s\n", head,
		         good ? "\xe4\xbd\xa0,0,1,1,\xc3\xa9,b" : bad[i]);
		const char *path = write_text_file("canonical.csv", text);

		if (good)
			tl_trace_close(must_open(path, &options));
		else
			expect_refused(path, &options, TL_E_DATA, 2,
			               "wanted UTF-8 without control characters");
		unlink(path);
	}
}
