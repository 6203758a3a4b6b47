/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema of an online service: the keys of `workload: - {service: NAME, …}`. */
#include "sim/config/config.h"
#include "sim/config/table.h"
#include "sim/work/slices.h"

/* Laid out by hand, as schema.c. */
/* clang-format off */

#define SERVICE_AT(member) AT(tl_workload_config, service.member)
#define SETTING_AT(member) AT(tl_workload_config, service.setting.member)
#define TIME_AT(member) SETTING_AT(model.service.member)
#define ARRIVALS_AT(member) SETTING_AT(arrivals.member)
#define MAP(key_name, table, text) \
	{.name = (key_name), .type = TL_KEY_MAP, .standard = "{}", .section = &(table), .help = (text)}
#define SHORT(key_name, table, word, text) \
	{.name = (key_name), .type = TL_KEY_CUSTOM, .custom = &tl_custom_short, .standard = "{}", \
	 .section = &(table), .shorthand = (word), .help = (text)}

/* ---- replicas ---- */

static const struct tl_config_key replicas_keys[] = {
    {.name = "min", .type = TL_KEY_INT, .unit = "replicas", .standard = "1", .min = 0, .max = 100000,
     SETTING_AT(replicas_min), .help = "never fewer"},
    {.name = "max", .type = TL_KEY_INT, .unit = "replicas", .standard = "as-min", .min = 1,
     .max = 100000, .words = {{"as-min", 0}}, SETTING_AT(replicas_max), .help = "never more"},
    {.name = "initial", .type = TL_KEY_INT, .unit = "replicas", .standard = "as-min", .min = 0,
     .max = 100000, .words = {{"as-min", -1}}, SETTING_AT(replicas_initial),
     .help = "there and ready at time 0, as far as they fit"},
};
static const struct tl_section replicas_section = {SECTION(replicas_keys)};

/* ---- how long requests take ---- */

static const struct tl_config_key service_time_keys[] = {
    {.name = "dist", .type = TL_KEY_CHOICE, .standard = "affine",
     .choices = "affine|deterministic|exponential|lognormal|gamma|empirical|llm", TIME_AT(kind),
     .help = "affine: a batch of b takes alpha + beta × b; llm: continuous batching of tokens; "
             "else a draw for each request, a batch taking the greatest of its own"},
    {.name = "alpha", .type = TL_KEY_DURATION, .unit = "ns", .standard = "12ms",
     .max = TL_SERVICE_MAX_NS / 2, TIME_AT(alpha_ns),
     .help = "affine: of a batch, whatever its size; a game's policy net [A]"},
    {.name = "beta", .type = TL_KEY_DURATION, .unit = "ns", .standard = "2ms",
     .max = TL_SERVICE_MAX_NS / 5000, TIME_AT(beta_ns),
     .help = "affine: of each request in a batch; a game's policy net [A]"},
    {.name = "mean", .type = TL_KEY_DURATION, .unit = "ns", .standard = "none", .min = 1,
     .max = TL_SERVICE_MAX_NS, .words = {{"none", 0}}, TIME_AT(mean_ns),
     .help = "deterministic, exponential, lognormal, gamma: must be given"},
    {.name = "cv", .type = TL_KEY_NUMBER, .standard = "1", .low = 0, .high = TL_SERVICE_CV_MAX,
     .open_low = true, TIME_AT(cv),
     .help = "lognormal, gamma: coefficient of variation; llm: that of context and generated [A]"},
    {.name = "values", .type = TL_KEY_CUSTOM, .unit = "ns", .standard = "[]",
     .custom = &tl_custom_values, SERVICE_AT(values),
     .help = "empirical: what is drawn from, each alike; must be given"},
    {.name = "prefill", .type = TL_KEY_DURATION, .unit = "ns", .standard = "100us",
     .max = TL_NS_PER_S, TIME_AT(prefill_ns), .help = "llm: of each context token [A]"},
    {.name = "step", .type = TL_KEY_DURATION, .unit = "ns", .standard = "20ms", .max = TL_NS_PER_MIN,
     TIME_AT(step_ns), .help = "llm: of a step, which gives all members of a batch a token [A]"},
    {.name = "member", .type = TL_KEY_DURATION, .unit = "ns", .standard = "500us",
     .max = TL_NS_PER_S, TIME_AT(member_ns), .help = "llm: of each member in a step, besides [A]"},
    {.name = "context", .type = TL_KEY_NUMBER, .unit = "tokens", .standard = "1155", .low = 1,
     .high = 1e9, TIME_AT(context_mean),
     .help = "llm: mean of context tokens where no recording brings them [D]"},
    {.name = "generated", .type = TL_KEY_NUMBER, .unit = "tokens", .standard = "211", .low = 1,
     .high = 1e9, TIME_AT(generated_mean),
     .help = "llm: mean of generated tokens where no recording brings them [D]"},
};
const struct tl_section tl_service_time_section = {SECTION(service_time_keys),
                                                   .applies = tl_service_time_applies};

static const struct tl_config_key batch_keys[] = {
    {.name = "limit", .type = TL_KEY_INT, .unit = "requests", .standard = "8", .min = 1,
     .max = TL_BATCH_LIMIT_MAX, SETTING_AT(model.batch_limit),
     .help = "requests served together by a replica; of an llm, its members [A]"},
    {.name = "delay", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(1),
     SETTING_AT(model.batch_delay_ns),
     .help = "how long the first of them waits for others; none for an llm"},
};
static const struct tl_section batch_section = {SECTION(batch_keys)};

static const struct tl_config_key slo_keys[] = {
    {.name = "p99", .type = TL_KEY_DURATION, .unit = "ns", .standard = "100ms", .min = 1,
     .max = DAYS(365), .words = {{"none", TL_NEVER}}, SETTING_AT(model.target_ns),
     .help = "latency that 99 of 100 requests are to keep; a slower, lost or dropped one missed it [S]"},
    {.name = "penalty", .type = TL_KEY_CUSTOM, .standard = "0 per 1000",
     .custom = &tl_custom_penalty, SETTING_AT(penalty_micros_per_1000),
     .help = "price of 1,000 requests that missed it"},
};
static const struct tl_section slo_section = {SECTION(slo_keys)};

/* ---- how requests come ---- */

static const struct tl_config_key launch_keys[] = {
    {.name = "factor", .type = TL_KEY_NUMBER, .standard = "1", .low = 1, .high = 1000,
     AT(tl_curve_config, spec.launch_factor),
     .help = "demand × this at a season's launch; 1: none; 1.5 is usual (1.2–5) [S]"},
    {.name = "at", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(36500),
     AT(tl_curve_config, spec.launch_ns), .help = "the first one, from the start of the run"},
    {.name = "every", .type = TL_KEY_DURATION, .unit = "ns", .standard = "once", .min = TL_NS_PER_HOUR,
     .max = DAYS(36500), .words = {{"once", 0}}, AT(tl_curve_config, spec.launch_every_ns),
     .help = "time to the next one"},
    {.name = "decay", .type = TL_KEY_DURATION, .unit = "ns", .standard = "7d", .min = 1,
     .max = DAYS(36500), AT(tl_curve_config, spec.launch_decay_ns),
     .help = "after so long a part of 1/e of the rise is left [A]"},
};
static const struct tl_section launch_section = {SECTION(launch_keys)};

static const struct tl_config_key curve_keys[] = {
    {.name = "start", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(7) - 1,
     AT(tl_curve_config, spec.start_ns), .help = "time of the week at which the run begins, since Monday 0:00"},
    {.name = "peak_hour", .type = TL_KEY_NUMBER, .unit = "h", .standard = "20", .low = 0, .high = 24,
     AT(tl_curve_config, spec.peak_hour), .help = "hour of the day of the peak [A]"},
    {.name = "peak_trough", .type = TL_KEY_NUMBER, .standard = "5", .low = 1, .high = 1000,
     AT(tl_curve_config, spec.peak_trough),
     .help = "peak over trough, which lies twelve hours away; 1: flat (2–10) [A]"},
    {.name = "sharpness", .type = TL_KEY_NUMBER, .standard = "1", .low = 0.25, .high = 8,
     AT(tl_curve_config, spec.sharpness), .help = "above 1 the peak is narrower, below it the trough [A]"},
    {.name = "hours", .type = TL_KEY_CUSTOM, .standard = "{}", .custom = &tl_custom_hours,
     AT(tl_curve_config, hours),
     .help = "instead of the three above: times of the day and factors, {0h: 0.3, 8h: 0.5} say, "
             "linear between them"},
    {.name = "period", .type = TL_KEY_DURATION, .unit = "ns", .standard = "1d", .min = 1,
     .max = DAYS(36500), .words = {{"none", 0}}, AT(tl_curve_config, spec.period_ns),
     .help = "hours: after which they repeat; none: the last one holds"},
    {.name = "weekend", .type = TL_KEY_NUMBER, .standard = "1.2", .low = 0, .high = 1000,
     AT(tl_curve_config, spec.weekend), .help = "Saturday and Sunday × this [A]"},
    MAP("launch", launch_section, "seasons"),
};
const struct tl_section tl_curve_section = {
    SECTION(curve_keys),
    .help = "A name: `daily` (the defaults below), `flat` (one rate at all times), `night` (its "
            "peak at 8), `season` (daily, launched × 1.5 at the start); or a map of these keys; or "
            "the hours alone, `{0h: 0.3, 8h: 0.5}`, whose weekend is 1. A factor of 1 is `peak_rps`.",
    .applies = tl_curve_applies};

static const struct tl_config_key event_keys[] = {
    {.name = "at", .type = TL_KEY_DURATION, .unit = "ns", .max = DAYS(25000),
     AT(tl_event_config, event.at_ns), .help = "when it begins"},
    {.name = "for", .type = TL_KEY_DURATION, .unit = "ns", .min = 1, .max = DAYS(25000),
     AT(tl_event_config, event.for_ns), .help = "how long until it begins to end"},
    {.name = "factor", .type = TL_KEY_NUMBER, .low = 0, .high = 1000,
     AT(tl_event_config, event.factor), .help = "requests × this"},
    {.name = "ramp", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(25000),
     AT(tl_event_config, event.ramp_ns), .help = "how long it rises, and falls after `for`"},
};
static const struct tl_section event_section = {SECTION(event_keys),
                                                .size = sizeof(struct tl_event_config)};

static const struct tl_config_key burst_keys[] = {
    {.name = "factor", .type = TL_KEY_NUMBER, .standard = "3", .low = 1, .high = 1000,
     ARRIVALS_AT(burst_factor), .help = "rate × this in a burst [A]"},
    {.name = "mean", .type = TL_KEY_DURATION, .unit = "ns", .standard = "1min", .min = TL_NS_PER_MS,
     .max = DAYS(365), ARRIVALS_AT(burst_ns), .help = "mean length of a burst [A]"},
    {.name = "calm", .type = TL_KEY_DURATION, .unit = "ns", .standard = "10min", .min = TL_NS_PER_MS,
     .max = DAYS(365), ARRIVALS_AT(calm_ns), .help = "mean time between two [A]"},
};
static const struct tl_section burst_section = {SECTION(burst_keys)};

static const struct tl_config_key arrivals_keys[] = {
    {.name = "process", .type = TL_KEY_CHOICE, .standard = "nhpp", .choices = "poisson|nhpp|mmpp|trace",
     ARRIVALS_AT(process),
     .help = "poisson: one rate; nhpp: the rate follows `curve`; mmpp: with bursts besides; trace: "
             "recorded requests"},
    {.name = "rate", .type = TL_KEY_RATE, .unit = "requests/s", .standard = "peak", .low = 0,
     .high = 1e9, .words = {{"peak", -1}}, SERVICE_AT(rate_rps),
     .help = "requests a second where the curve is 1; another way to say peak_rps"},
    {.name = "path", .type = TL_KEY_TEXT, .standard = "\"\"", SERVICE_AT(path),
     .help = "trace: the file or folder of recorded requests, relative to the scenario's file"},
    {.name = "format", .type = TL_KEY_CHOICE, .standard = "auto",
     .choices = "auto|azure-llm|mooncake|servegen", SERVICE_AT(format),
     .help = "trace: how it is written; auto looks at its first line"},
    {.name = "strict", .type = TL_KEY_BOOL, .standard = "true", SERVICE_AT(strict),
     .help = "trace: refuses requests that are out of order or repeat another in every field; "
             "else they are sorted and kept, and that is said"},
    {.name = "scale", .type = TL_KEY_NUMBER, .standard = "1", .low = 0, .high = 1000,
     .open_low = true, ARRIVALS_AT(scale), .help = "trace: times the recorded requests"},
    {.name = "repeat", .type = TL_KEY_BOOL, .standard = "true", ARRIVALS_AT(repeat),
     .help = "trace: starts over at its end; else there is no request after it"},
    {.name = "span", .type = TL_KEY_DURATION, .unit = "ns", .standard = "recorded", .min = 1,
     .max = DAYS(25000), .words = {{"recorded", 0}}, ARRIVALS_AT(span_ns),
     .help = "trace: after which it starts over; must lie beyond its last request"},
    MAP("burst", burst_section, "mmpp: the burst state"),
};
const struct tl_section tl_arrivals_section = {SECTION(arrivals_keys),
                                               .applies = tl_arrivals_applies};

/* ---- starting ---- */

static const struct tl_config_key start_keys[] = {
    {.name = "container", .type = TL_KEY_DURATION, .unit = "ns", .standard = "3s", .max = DAYS(1),
     SETTING_AT(container_ns), .help = "start of the container [A]"},
    {.name = "image", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "13GB", .max = 1024 * TL_GIB,
     SETTING_AT(image_bytes), .help = "pulled once by each node [S]"},
    {.name = "pull", .type = TL_KEY_BANDWIDTH, .unit = "bytes/s", .standard = "0.2GB/s", .min = 1000,
     .max = INT64_C(1000000000000000), SETTING_AT(pull_bytes_per_s), .help = "how fast [A]"},
    {.name = "weights", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "by-model",
     .max = 1024 * 1024 * TL_GIB, .words = {{"by-model", TL_NONE}}, SETTING_AT(weights_bytes),
     .help = "loaded by each start; by-model is 2GB, of an llm 26GB [A]"},
    {.name = "load", .type = TL_KEY_BANDWIDTH, .unit = "bytes/s", .standard = "1.5GB/s", .min = 1000,
     .max = INT64_C(1000000000000000), SETTING_AT(load_bytes_per_s), .help = "how fast [A]"},
    {.name = "init", .type = TL_KEY_DURATION, .unit = "ns", .standard = "by-model", .max = DAYS(1),
     .words = {{"by-model", TL_NONE}}, SETTING_AT(init_ns),
     .help = "of the engine, at last; by-model is 3s, of an llm 60s [A]"},
};
static const struct tl_section start_section = {SECTION(start_keys)};

static const struct tl_config_key hot_keys[] = {
    {.name = "nodes", .type = TL_KEY_INT, .unit = "nodes", .standard = "0", .min = 0, .max = 100000,
     SETTING_AT(hot_nodes),
     .help = "so many nodes keep the image and a loaded minimal instance: the first that can hold a replica"},
    {.name = "start", .type = TL_KEY_DURATION, .unit = "ns", .standard = "3s", .max = DAYS(1),
     SETTING_AT(hot_start_ns), .help = "what a start there takes, altogether [A]"},
};
static const struct tl_section hot_section = {SECTION(hot_keys)};

/* ---- the service ---- */

static const struct tl_config_key service_keys[] = {
    {.name = "service", .type = TL_KEY_NAME, SERVICE_AT(name),
     .help = "its name, without a slash: results are kept under it"},
    {.name = "peak_rps", .type = TL_KEY_NUMBER, .unit = "requests/s", .standard = "none", .low = 0,
     .high = 1e9, .words = {{"none", -1}}, SERVICE_AT(peak_rps),
     .help = "requests a second where the curve is 1, which is the peak of a working day"},
    {.name = "curve", .type = TL_KEY_CUSTOM, .standard = "{}", .custom = &tl_custom_curve,
     .section = &tl_curve_section, SERVICE_AT(curve), .help = "how demand moves with the hour and the week"},
    MAP("arrivals", tl_arrivals_section, "how requests come"),
    {.name = "calendar", .type = TL_KEY_CUSTOM, .standard = "[]", .custom = &tl_custom_calendar,
     .section = &event_section, SERVICE_AT(calendar),
     .help = "events known beforehand: a list, or a file that holds one, relative to the scenario's"},
    {.name = "events", .type = TL_KEY_LIST, .standard = "[]", .section = &event_section,
     LIST_AT(tl_workload_config, service.events, service.event_count),
     .help = "further events, after those of the calendar"},
    {.name = "requests", .type = TL_KEY_CHOICE, .standard = "auto",
     .choices = "auto|exact|fluid", SETTING_AT(mode),
     .help = "exact: each is simulated; fluid: windows are told by queueing formulas, which beyond their "
             "bound may miss short breaches; auto: those within it"},
    SHORT("replicas", replicas_section, "min", "how many; a number alone fixes it"),
    {.name = "slice", .type = TL_KEY_CHOICE, .standard = "none", .choices = TL_SLICE_CHOICES,
     SETTING_AT(slice),
     .help = "instead of gpu_milli and memory: a MIG slice of an A100, which no neighbour slows [S]; slices "
             "are counted, seven compute and eight memory parts a card, not laid out"},
    {.name = "gpu_milli", .type = TL_KEY_INT, .unit = "milli-GPU", .standard = "1000", .min = 1,
     .max = 64000, SETTING_AT(gpus_mgpu),
     .help = "GPU share of a replica; above 1000 whole GPUs of one node"},
    {.name = "memory", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "by-share", .min = TL_MIB,
     .max = 1024 * TL_GIB, .words = {{"by-share", TL_NONE}}, SETTING_AT(gpu_memory_bytes),
     .help = "GPU memory of a replica, on each GPU; by-share: all of a whole one, half of a shared one [A]"},
    {.name = "cpus", .type = TL_KEY_FACTOR, .unit = "cores", .standard = "4", .min = 0,
     .max = 100000000, SETTING_AT(cpu_milli), .help = "CPU cores of a replica [A]"},
    {.name = "ram", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "16GiB",
     .max = 1024 * 1024 * TL_GIB, SETTING_AT(ram_bytes), .help = "host memory of a replica [A]"},
    MAP("service_time", tl_service_time_section, "how long a replica works on requests"),
    SHORT("batch", batch_section, "limit", "requests served together: a limit, or a map"),
    {.name = "queue_limit", .type = TL_KEY_INT, .unit = "requests", .standard = "none", .min = 0,
     .max = 1000000000, .words = {{"none", -1}}, SETTING_AT(model.queue_limit),
     .help = "requests that may wait for a replica; those beyond it are dropped"},
    {.name = "timeout", .type = TL_KEY_DURATION, .unit = "ns", .standard = "none", .min = 1,
     .max = DAYS(365), .words = {{"none", TL_NEVER}}, SETTING_AT(model.timeout_ns),
     .help = "a request that has waited for longer is not served any more"},
    {.name = "routing", .type = TL_KEY_CHOICE, .standard = "join-shortest-queue",
     .choices = "round-robin|random|join-shortest-queue|power-of-two|shared-queue",
     SETTING_AT(model.routing), .help = "which replica a request goes to [A]"},
    SHORT("slo", slo_section, "p99", "what is promised: the p99, or a map"),
    MAP("start", start_section, "what starting a replica costs"),
    MAP("hot", hot_section, "nodes on which it costs less"),
    {.name = "queue", .type = TL_KEY_NAME, .standard = "\"\"", SETTING_AT(queue),
     .help = "queue of its replicas; empty is the first of `queues`"},
    {.name = "pool", .type = TL_KEY_CUSTOM, .standard = "\"\"", .custom = &tl_custom_pools,
     SETTING_AT(pool),
     .help = "the nodes its replicas go to: those of this pool, or of a list of pools; empty: any"},
    {.name = "tenant", .type = TL_KEY_NAME, .standard = "services", SETTING_AT(tenant),
     .help = "whom its replicas belong to"},
};
const struct tl_section tl_service_section = {
    SECTION(service_keys), .size = sizeof(struct tl_workload_config), .applies = tl_service_applies,
    .help = "An entry with the key `service` is an online service; it needs a `horizon`."};
