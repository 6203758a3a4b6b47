/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schema: every key of a scenario, with its type, unit, default, range and help. The
 * order here is that of the effective configuration and of the reference. Marks in the
 * help say where a default comes from: [S] a public source, [D] derived or fitted from
 * public data, [R] recalled, [A] assumed.
 */
#include "sim/config/config.h"
#include "sim/config/table.h"

/* Laid out by hand: what a key is called and takes, where it goes, what it means. */
/* clang-format off */

/* ---- cluster ---- */

static const struct tl_config_key group_keys[] = {
    {.name = "count", .type = TL_KEY_INT, .unit = "nodes", .standard = "1", .min = 1, .max = 100000,
     AT(tl_cluster_group, count), .help = "how many nodes like this"},
    {.name = "name", .type = TL_KEY_NAME, .standard = "node", AT(tl_cluster_group, name),
     .help = "start of their names; a running number over the whole cluster follows"},
    {.name = "gpus", .type = TL_KEY_INT, .unit = "GPUs", .standard = "8", .min = 0, .max = 64,
     AT(tl_cluster_group, gpus), .help = "GPUs of one node; 0 for a CPU-only node [S]"},
    {.name = "model", .type = TL_KEY_NAME, .standard = "A100-SXM4-80GB", AT(tl_cluster_group, model),
     .help = "GPU model; jobs of a trace may ask for one by name [S]"},
    {.name = "gpu_memory", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "by-model",
     .min = TL_MIB, .max = 1024 * TL_GIB, .words = {{"by-model", TL_NONE}},
     AT(tl_cluster_group, gpu_memory_bytes),
     .help = "memory of one GPU; by-model where the model is a known one"},
    {.name = "cpus", .type = TL_KEY_FACTOR, .unit = "cores", .standard = "128", .min = 1,
     .max = 100000000, AT(tl_cluster_group, cpu_milli), .help = "CPU cores of one node [S]"},
    {.name = "memory", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "1TiB", .min = TL_MIB,
     .max = 1024 * 1024 * TL_GIB, AT(tl_cluster_group, ram_bytes),
     .help = "host memory of one node [S]"},
    {.name = "pool", .type = TL_KEY_NAME, .standard = "\"\"", AT(tl_cluster_group, pool),
     .help = "walls these nodes off: work that names its pool goes there alone"},
    {.name = "nodes_per_rack", .type = TL_KEY_INT, .unit = "nodes", .standard = "4", .min = 1,
     .max = 100000, AT(tl_cluster_group, nodes_per_rack),
     .help = "nodes of a rack; a group begins a new one [R]"},
    {.name = "nodes_per_leaf", .type = TL_KEY_INT, .unit = "nodes", .standard = "as-pod", .min = 1,
     .max = 100000, .words = {{"as-pod", 0}}, AT(tl_cluster_group, nodes_per_leaf),
     .help = "nodes below one leaf; as-pod for rail leaves, which serve a whole pod [D]"},
    {.name = "nodes_per_pod", .type = TL_KEY_INT, .unit = "nodes", .standard = "16", .min = 1,
     .max = 100000, AT(tl_cluster_group, nodes_per_pod),
     .help = "nodes of a pod; beyond it traffic crosses the spines [D]"},
};
static const struct tl_section group_section = {SECTION(group_keys),
                                                .size = sizeof(struct tl_cluster_group)};

static const struct tl_config_key cluster_keys[] = {
    {.name = "use", .type = TL_KEY_TEXT, .standard = "\"\"", AT(tl_cluster_config, use),
     .help = "another cluster by name, path or compact form, to be changed by `nodes` or `name`"},
    {.name = "nodes", .type = TL_KEY_INT, .unit = "nodes", .standard = "as-counted", .min = 1,
     .max = 100000, .words = {{"as-counted", 0}}, AT(tl_cluster_config, nodes),
     .help = "number of nodes of a cluster that has one group"},
    {.name = "name", .type = TL_KEY_NAME, .standard = "cluster", AT(tl_cluster_config, name),
     .help = "what the results call it"},
    {.name = "groups", .type = TL_KEY_LIST, .standard = "[]", .section = &group_section,
     LIST_AT(tl_cluster_config, groups, group_count), .help = "nodes, alike within a group"},
    {.name = "list", .type = TL_KEY_TEXT, .standard = "\"\"", AT(tl_cluster_config, list),
     .help = "a file that lists machines, instead of groups"},
    {.name = "format", .type = TL_KEY_CHOICE, .standard = "openb", .choices = "openb|pai|lingjun",
     AT(tl_cluster_config, list_format), .help = "how that file is written"},
    {.name = "gpu_memory", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "by-model",
     .min = TL_MIB, .max = 1024 * TL_GIB, .words = {{"by-model", TL_NONE}},
     AT(tl_cluster_config, gpu_memory_bytes),
     .help = "with a list: memory of the GPUs whose model is not a known one; by-model takes "
             "32GiB for those [A]"},
};
const struct tl_section tl_cluster_section = {
    SECTION(cluster_keys),
    .help = "Instead of a map: the name of a shipped cluster or of a file NAME.yaml beside the "
            "scenario; a path to a file that holds such a map; or the compact form "
            "`NxG[:cpus=…,mem=…,model=…,gpu_mem=…,rack=…,leaf=…,pod=…]`, N nodes of G GPUs."};

/* ---- workload ---- */

#define TRACE_AT(member) AT(tl_workload_config, workload.trace.member)

static const struct tl_config_key window_keys[] = {
    {.name = "start", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(36500),
     AT(tl_window_config, start_ns), .help = "since the trace's first submission"},
    {.name = "length", .type = TL_KEY_DURATION, .unit = "ns", .standard = "all", .min = 1,
     .max = DAYS(36500), .words = {{"all", 0}}, AT(tl_window_config, length_ns),
     .help = "how long"},
};
static const struct tl_section window_section = {SECTION(window_keys)};

static const struct tl_config_key workload_keys[] = {
    {.name = "trace", .type = TL_KEY_TEXT, AT(tl_workload_config, path),
     .help = "a file of recorded jobs, plain or .gz, relative to the scenario's file"},
    {.name = "format", .type = TL_KEY_CHOICE, .standard = "auto",
     .choices = "auto|philly|openb|swf|tiresias|canonical", TRACE_AT(format),
     .help = "how the file is written; auto looks at its header, then at its name"},
    {.name = "window", .type = TL_KEY_CUSTOM, .standard = "all", .custom = &tl_custom_window,
     .section = &window_section, .shorthand = "length",
     .offset = offsetof(struct tl_workload_config, workload.trace),
     .help = "keep the jobs submitted in this stretch of the trace: a length, or a map"},
    {.name = "limit", .type = TL_KEY_INT, .unit = "jobs", .standard = "none", .min = 1,
     .words = {{"none", 0}}, TRACE_AT(limit), .help = "keep the first so many jobs"},
    {.name = "scale_time", .type = TL_KEY_NUMBER, .standard = "1", .low = 0, .high = 1e6,
     .open_low = true, TRACE_AT(scale_time),
     .help = "times between submissions × this; below 1 is more load"},
    {.name = "scale_size", .type = TL_KEY_NUMBER, .standard = "1", .low = 0, .high = 1e6,
     .open_low = true, TRACE_AT(scale_size), .help = "run times × this; above 1 is more load"},
    {.name = "min_gpus", .type = TL_KEY_SHARE, .unit = "GPUs", .standard = "0", .max = 1000000000,
     TRACE_AT(min_gpus_mgpu), .help = "leave out jobs that ask for fewer GPUs"},
    {.name = "max_gpus", .type = TL_KEY_SHARE, .unit = "GPUs", .standard = "none", .min = 1,
     .max = 1000000000, .words = {{"none", 0}}, TRACE_AT(max_gpus_mgpu),
     .help = "leave out jobs that ask for more GPUs"},
    {.name = "limit_gpus", .type = TL_KEY_SHARE, .unit = "GPUs", .standard = "none", .min = 1,
     .max = 1000000000, .words = {{"none", 0}}, TRACE_AT(limit_gpus_mgpu),
     .help = "make jobs that ask for more GPUs ask for so many"},
    {.name = "tenant", .type = TL_KEY_NAME, .standard = "\"\"", TRACE_AT(tenant),
     .help = "keep the jobs of this tenant only; empty keeps all"},
    {.name = "drop_duplicates", .type = TL_KEY_BOOL, .standard = "false", TRACE_AT(drop_duplicates),
     .help = "leave out exact repetitions of a row; they are reported either way"},
    {.name = "drop_zero_gpu", .type = TL_KEY_BOOL, .standard = "false", TRACE_AT(drop_zero_gpu),
     .help = "leave out jobs that ask for no GPU"},
    {.name = "static", .type = TL_KEY_BOOL, .standard = "false", TRACE_AT(is_static),
     .help = "packing: row i comes at second i, never departs, and is dropped if it does not fit"},
    {.name = "shuffle", .type = TL_KEY_BOOL, .standard = "false", TRACE_AT(shuffle),
     .help = "order of the rows drawn from the seed"},
    {.name = "demand", .type = TL_KEY_NUMBER, .standard = "none", .low = 0, .high = 1000,
     .open_low = true, .words = {{"none", 0}}, TRACE_AT(demand),
     .help = "draw rows with replacement until they ask for this × the cluster's GPUs"},
    {.name = "assign_tenant", .type = TL_KEY_NAME, .standard = "\"\"",
     AT(tl_workload_config, workload.tenant),
     .help = "all jobs belong to this tenant; empty leaves them as recorded"},
    {.name = "queue", .type = TL_KEY_NAME, .standard = "\"\"",
     AT(tl_workload_config, workload.queue),
     .help = "queue of the jobs that state none; empty is the middle one of `queues`"},
    {.name = "pool", .type = TL_KEY_CUSTOM, .standard = "\"\"", .custom = &tl_custom_pools,
     AT(tl_workload_config, workload.pool),
     .help = "the nodes its jobs go to: those of this pool, or of a list of pools; empty: any"},
    {.name = "kind", .type = TL_KEY_CHOICE, .standard = "recorded", .base = -1,
     .choices = "recorded|training|inference|evaluation|simulation|other",
     AT(tl_workload_config, workload.kind), .help = "what kind of work all jobs are"},
    {.name = "infeasible", .type = TL_KEY_CHOICE, .standard = "reject", .choices = "reject|clamp",
     AT(tl_workload_config, workload.infeasible),
     .help = "jobs larger than the cluster: reject each, or clamp them to what there is"},
};
static const struct tl_section workload_section = {SECTION(workload_keys),
                                                   .size = sizeof(struct tl_workload_config),
                                                   .variants = {{"service", &tl_service_section},
                                                                {"generate", &tl_generate_section}}};

/* ---- policy ---- */

#define SEAT(seat_name, number, filler, text)                                                      \
	{                                                                                          \
		.name = (seat_name), .type = TL_KEY_CUSTOM, .standard = (filler),                  \
		.custom = &tl_custom_seat, .shorthand = "use", AT(tl_config, seats[number]),     \
		.help = (text)                                                                     \
	}

static const struct tl_config_key policy_keys[] = {
    SEAT("scheduler", TL_SEAT_SCHEDULER, "pipeline",
         "the scheduling loop: pipeline, which runs the seats below, or a whole scheduler"),
    SEAT("admit", TL_SEAT_ADMIT, "open", "who may come in: quotas and caps"),
    SEAT("order", TL_SEAT_ORDER, "fifo", "who is next"),
    SEAT("place", TL_SEAT_PLACE, "topology", "on which nodes and GPUs"),
    SEAT("preempt", TL_SEAT_PREEMPT, "none", "whom to stop for a job that does not fit"),
    SEAT("scale", TL_SEAT_SCALE, "\"\"", "how many replicas services get; empty: nobody decides"),
    SEAT("defrag", TL_SEAT_DEFRAG, "\"\"", "what to move; empty: nothing is moved"),
    SEAT("forecast", TL_SEAT_FORECAST, "\"\"", "what load is to come; empty: no forecast"),
};
static const struct tl_section policy_section = {
    SECTION(policy_keys),
    .help = "Each seat is the NAME of a module (or a path with a slash to one), or "
            "`{use: NAME, option: value, …}`; `tidelab policies NAME` shows a module's options.",
    .other = tl_policy_other,
    .emit_other = tl_policy_emit_other,
    .other_help = "any other key is an option of the scheduler module, `backfill: easy` say"};

/* ---- costs ---- */

#define PHYSICS_AT(member) AT(tl_scenario, physics.member)

static const struct tl_config_key start_keys[] = {
    {.name = "cold_small", .type = TL_KEY_DURATION, .unit = "ns", .standard = "45s",
     .max = DAYS(1), PHYSICS_AT(cold_small_ns),
     .help = "start or cold restart of a job of up to small_gpus GPUs (15–250 s) [A]"},
    {.name = "cold_large", .type = TL_KEY_DURATION, .unit = "ns", .standard = "70s",
     .max = DAYS(1), PHYSICS_AT(cold_large_ns), .help = "the same of a larger job [A]"},
    {.name = "small_gpus", .type = TL_KEY_INT, .unit = "GPUs", .standard = "8", .min = 0,
     .max = 1000000, PHYSICS_AT(cold_small_gpus), .help = "up to so many GPUs a job is small [S]"},
    {.name = "warm_share", .type = TL_KEY_FACTOR, .standard = "0.1", .max = 1000,
     PHYSICS_AT(warm_milli),
     .help = "cost of a resume from host memory, as a share of a cold restart [S]"},
};
static const struct tl_section start_section = {SECTION(start_keys)};

static const struct tl_config_key checkpoint_keys[] = {
    {.name = "interval", .type = TL_KEY_DURATION, .unit = "ns", .standard = "5min",
     .min = TL_NS_PER_S, .max = DAYS(365), .words = {{"none", 0}, {"optimal", -1}},
     PHYSICS_AT(checkpoint_interval_ns),
     .help = "running time between checkpoints; optimal is Young's and Daly's √(2δM) [S]"},
    {.name = "base", .type = TL_KEY_DURATION, .unit = "ns", .standard = "1s", .max = DAYS(1),
     PHYSICS_AT(checkpoint_base_ns), .help = "what a save takes beside the writing [A]"},
    {.name = "bandwidth", .type = TL_KEY_BANDWIDTH, .unit = "bytes/s", .standard = "1GB/s",
     .min = 1000, .max = INT64_C(1000000000000000), PHYSICS_AT(checkpoint_bytes_per_s),
     .help = "how fast one job writes its state (0.5–3 GB/s) [A]"},
    {.name = "state", .type = TL_KEY_SIZE, .unit = "bytes", .standard = "4GB",
     .max = 1024 * 1024 * TL_GIB, PHYSICS_AT(state_bytes),
     .help = "a job's state where the trace does not tell (3–5 GB) [A]"},
    {.name = "mode", .type = TL_KEY_CHOICE, .standard = "blocking", .choices = "blocking|async",
     PHYSICS_AT(checkpoint_async), .help = "whether work waits for the write, or only for the stall [A]"},
    {.name = "stall", .type = TL_KEY_DURATION, .unit = "ns", .standard = "500ms", .max = DAYS(1),
     PHYSICS_AT(checkpoint_stall_ns), .help = "how long an async checkpoint holds work up [A]"},
};
static const struct tl_section checkpoint_section = {SECTION(checkpoint_keys)};

static const struct tl_config_key suspend_keys[] = {
    {.name = "grace", .type = TL_KEY_DURATION, .unit = "ns", .standard = "45s", .max = DAYS(1),
     PHYSICS_AT(grace_ns),
     .help = "time a victim has to save; what is not saved by then is lost (30–60 s) [A]"},
    {.name = "storage_bandwidth", .type = TL_KEY_BANDWIDTH, .unit = "bytes/s", .standard = "10GB/s",
     .min = 1000, .max = INT64_C(1000000000000000), PHYSICS_AT(storage_bytes_per_s),
     .help = "shared by all saves of victims at one time (2–50 GB/s) [A]"},
    {.name = "keep_memory", .type = TL_KEY_BOOL, .standard = "true", PHYSICS_AT(warm),
     .help = "suspended work keeps its host memory and resumes warm while that is not needed"},
};
static const struct tl_section suspend_section = {SECTION(suspend_keys)};

static const struct tl_config_key communication_keys[] = {
    {.name = "node", .type = TL_KEY_FACTOR, .standard = "1", .min = 1000, .max = 1000000,
     PHYSICS_AT(slow_node_milli), .help = "run time × this where a gang stays in one node [A]"},
    {.name = "pod", .type = TL_KEY_FACTOR, .standard = "1.02", .min = 1000, .max = 1000000,
     PHYSICS_AT(slow_pod_milli), .help = "where it spans nodes of one pod [A]"},
    {.name = "across", .type = TL_KEY_FACTOR, .standard = "1.05", .min = 1000, .max = 1000000,
     PHYSICS_AT(slow_across_milli), .help = "where it spans pods [A]"},
};
static const struct tl_section communication_section = {SECTION(communication_keys)};

#define SHARING_AT(member) PHYSICS_AT(sharing.member)

static const struct tl_config_key sharing_keys[] = {
    {.name = "interference", .type = TL_KEY_CHOICE, .standard = "measured",
     .choices = "none|measured", SHARING_AT(interference),
     .help = "whether jobs on one GPU slow each other down, by the table"},
    {.name = "table", .type = TL_KEY_CHOICE, .standard = "lucid",
     .choices = "lucid|gavel|time-slice|custom", SHARING_AT(kind),
     .help = "speed of each by Σu, what all use: lucid 0.99 up to 0.6, 0.96 to 0.8, 0.85 to 1, then "
             "0.80/Σu [D]; gavel 0.68, above 1 0.68/Σu [D]; time-slice 0.9/n [A]; custom `speeds`"},
    {.name = "speeds", .type = TL_KEY_CUSTOM, .standard = "{}", .custom = &tl_custom_speeds,
     PHYSICS_AT(sharing), .help = "custom: the speed up to each Σu; beyond the last, × that Σu / Σu; must be given"},
    {.name = "guaranteed", .type = TL_KEY_CHOICE, .standard = "services",
     .choices = "none|services|inference", SHARING_AT(guaranteed),
     .help = "who keeps its speed on an oversubscribed GPU, the other getting what is left "
             "(at least 0.01 [A]): nobody, replicas of services, or recorded inference too"},
    {.name = "utilisation", .type = TL_KEY_CHOICE, .standard = "recorded",
     .choices = "recorded|drawn", SHARING_AT(all_drawn),
     .help = "GPU utilisation of a job alone: as recorded, drawn where it is not, or drawn for all jobs"},
    {.name = "utilisation_mean", .type = TL_KEY_NUMBER, .standard = "by-median", .low = 0.25,
     .high = 1, .words = {{"by-median", -1}}, SHARING_AT(utilisation_mean),
     .help = "mean of the drawn GPU utilisation, instead of the median"},
    {.name = "utilisation_median", .type = TL_KEY_NUMBER, .standard = "0.49", .low = 0, .high = 1,
     .open_low = true, SHARING_AT(utilisation_median),
     .help = "median of the drawn GPU utilisation; the mean is 1.06 × that, 0.52 as measured in Philly [S]"},
};
const struct tl_section tl_sharing_section = {SECTION(sharing_keys), .applies = tl_sharing_applies};

/* ---- jobs, queues, tenants ---- */

static const struct tl_config_key jobs_keys[] = {
    {.name = "max_restarts", .type = TL_KEY_INT, .standard = "3", .min = 0, .max = 1000000,
     AT(tl_scenario, max_restarts), .help = "restarts after failures before a job counts as failed [A]"},
    {.name = "kill_at_estimate", .type = TL_KEY_BOOL, .standard = "false",
     AT(tl_scenario, kill_at_estimate), .help = "end a job once it has run as long as its estimate"},
    {.name = "user_failures", .type = TL_KEY_BOOL, .standard = "true",
     AT(tl_scenario, user_failures),
     .help = "jobs recorded as failed or cancelled end so; else they complete"},
};
static const struct tl_section jobs_section = {SECTION(jobs_keys)};

static const struct tl_config_key queue_keys[] = {
    {.name = "name", .type = TL_KEY_NAME, AT(tl_queue_config, queue.name), .help = "its name"},
    {.name = "weight", .type = TL_KEY_INT, .standard = "1", .min = 1, .max = 1000000,
     AT(tl_queue_config, queue.weight), .help = "its share against the other queues'"},
};
static const struct tl_section queue_section = {SECTION(queue_keys),
                                                .size = sizeof(struct tl_queue_config)};

static const struct tl_config_key tenant_keys[] = {
    {.name = "name", .type = TL_KEY_NAME, AT(tl_tenant_config, tenant.name), .help = "its name"},
    {.name = "quota", .type = TL_KEY_SHARE, .unit = "GPUs", .standard = "none",
     .max = INT64_C(1000000000), .words = {{"none", TL_NONE}}, AT(tl_tenant_config, tenant.quota_mgpu),
     .help = "GPUs it may hold at one time, never more"},
    {.name = "weight", .type = TL_KEY_INT, .standard = "1", .min = 1, .max = 1000000,
     AT(tl_tenant_config, tenant.weight), .help = "its share against the other tenants'"},
};
static const struct tl_section tenant_section = {SECTION(tenant_keys),
                                                 .size = sizeof(struct tl_tenant_config)};

/* ---- faults ---- */

static const struct tl_config_key fault_keys[] = {
    {.name = "at", .type = TL_KEY_DURATION, .unit = "ns", .max = DAYS(36500),
     AT(tl_fault_config, fault.at_ns), .help = "when it strikes"},
    {.name = "do", .type = TL_KEY_CHOICE, .choices = "node-down|kill-jobs|traffic",
     AT(tl_fault_config, fault.what),
     .help = "what happens: nodes go down, jobs are killed, or a service's requests surge"},
    {.name = "nodes", .type = TL_KEY_INT, .unit = "nodes", .standard = "1", .min = 1, .max = 100000,
     AT(tl_fault_config, fault.count), .help = "node-down: how many, drawn from the seed"},
    {.name = "node", .type = TL_KEY_NAME, .standard = "\"\"", AT(tl_fault_config, fault.node),
     .help = "node-down: this node, by name; empty draws"},
    {.name = "jobs", .type = TL_KEY_INT, .unit = "jobs", .standard = "1", .min = 1,
     .max = 1000000000, AT(tl_fault_config, jobs),
     .help = "kill-jobs: how many of those that hold GPUs, drawn from the seed"},
    {.name = "for", .type = TL_KEY_DURATION, .unit = "ns", .standard = "15min", .min = 1,
     .max = DAYS(36500), .words = {{"ever", TL_NEVER}}, AT(tl_fault_config, fault.for_ns),
     .help = "node-down: until repaired; traffic: how long it holds [A]"},
    {.name = "service", .type = TL_KEY_NAME, .standard = "\"\"", AT(tl_fault_config, service),
     .help = "traffic: of this service; must be given"},
    {.name = "factor", .type = TL_KEY_NUMBER, .standard = "2", .low = 0, .high = 1000,
     AT(tl_fault_config, factor), .help = "traffic: requests × this, which no calendar foretells"},
    {.name = "ramp", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = DAYS(36500),
     AT(tl_fault_config, fault.ramp_ns), .help = "traffic: how long it rises, and falls after `for`"},
};
const struct tl_section tl_fault_section = {SECTION(fault_keys),
                                            .size = sizeof(struct tl_fault_config),
                                            .applies = tl_fault_applies};

static const struct tl_config_key failures_keys[] = {
    {.name = "enabled", .type = TL_KEY_BOOL, .standard = "false", AT(tl_config, failures),
     .help = "whether nodes fail at random"},
    {.name = "per_1000_node_days", .type = TL_KEY_NUMBER, .standard = "4", .low = 0, .high = 1e6,
     AT(tl_config, scenario.failures.per_1000_node_days),
     .help = "failures in 1,000 node-days (2.3–6.5) [S/D]"},
    {.name = "repair_short", .type = TL_KEY_DURATION, .unit = "ns", .standard = "15min", .min = 1,
     .max = DAYS(365), AT(tl_config, scenario.failures.repair_short_ns), .help = "a short repair [A]"},
    {.name = "repair_medium", .type = TL_KEY_DURATION, .unit = "ns", .standard = "132min", .min = 1,
     .max = DAYS(365), AT(tl_config, scenario.failures.repair_medium_ns), .help = "a medium one [A]"},
    {.name = "repair_long", .type = TL_KEY_DURATION, .unit = "ns", .standard = "4d", .min = 1,
     .max = DAYS(365), AT(tl_config, scenario.failures.repair_long_ns), .help = "a long one [A]"},
    {.name = "short_share", .type = TL_KEY_FACTOR, .standard = "0.8", .max = 1000,
     AT(tl_config, scenario.failures.repair_short_milli), .help = "share of short repairs [A]"},
    {.name = "medium_share", .type = TL_KEY_FACTOR, .standard = "0.17", .max = 1000,
     AT(tl_config, scenario.failures.repair_medium_milli),
     .help = "share of medium repairs; the rest is long [A]"},
};
static const struct tl_section failures_section = {SECTION(failures_keys)};

/* ---- money ---- */

static const struct tl_config_key prices_keys[] = {
    {.name = "gpu_hour", .type = TL_KEY_CUSTOM, .standard = "25", .custom = &tl_custom_price,
     AT(tl_scenario, prices.gpu_hour_micros),
     .help = "of one GPU of the cluster, whether it works, idles or is down (8–34) [A]"},
    {.name = "currency", .type = TL_KEY_NAME, .standard = "CNY", AT(tl_scenario, prices.currency),
     .help = "of all prices, also of `slo.penalty`: the unit of what the results say in money"},
};
static const struct tl_section prices_section = {SECTION(prices_keys)};

/* ---- output ---- */

static const struct tl_config_key output_keys[] = {
    {.name = "tables", .type = TL_KEY_CUSTOM, .standard = "standard", .custom = &tl_custom_tables,
     AT(tl_scenario, tables),
     .help = "tables of the result file; standard is all but placements and decisions"},
    {.name = "timeline", .type = TL_KEY_DURATION, .unit = "ns", .standard = "60s",
     .min = TL_NS_PER_MS, .max = DAYS(365), AT(tl_scenario, timeline_interval_ns),
     .help = "simulated time between two rows of the timeline"},
};
static const struct tl_section output_section = {SECTION(output_keys)};

static const struct tl_config_key metrics_keys[] = {
    {.name = "window", .type = TL_KEY_DURATION, .unit = "ns", .standard = "5s", .min = TL_NS_PER_MS,
     .max = TL_NS_PER_HOUR, AT(tl_scenario, window_ns),
     .help = "services are measured over stretches of this length, and policies see each at its end [A]"},
};
static const struct tl_section metrics_section = {SECTION(metrics_keys)};

static const struct tl_config_key observe_keys[] = {
    {.name = "interval", .type = TL_KEY_DURATION, .unit = "ns", .standard = "as-window",
     .min = TL_NS_PER_MS, .max = DAYS(1), .words = {{"as-window", 0}},
     AT(tl_scenario, observe_interval_ns),
     .help = "the monitor looks so often and shows the window closed last: whole windows; as-window: "
             "shows each"},
    {.name = "delay", .type = TL_KEY_DURATION, .unit = "ns", .standard = "0s", .max = TL_NS_PER_HOUR,
     AT(tl_scenario, observe_delay_ns),
     .help = "policies see so much later what it shows of services, and that a node has failed or is back"},
};
static const struct tl_section observe_section = {SECTION(observe_keys)};

static const struct tl_config_key watchdog_keys[] = {
    {.name = "stall", .type = TL_KEY_DURATION, .unit = "ns", .standard = "1d", .min = TL_NS_PER_S,
     .max = DAYS(36500), AT(tl_scenario, watchdog_stall_ns),
     .help = "work waits, room is free and nothing starts for so long in simulated time: the run ends"},
    {.name = "cpu", .type = TL_KEY_DURATION, .unit = "ns", .standard = "60s", .min = TL_NS_PER_S,
     .max = DAYS(7), AT(tl_scenario, watchdog_cpu_ns),
     .help = "the run makes no progress for so much CPU time: it is ended as hung"},
    {.name = "preemptions", .type = TL_KEY_INT, .standard = "100", .min = 1, .max = 1000000000,
     AT(tl_scenario, watchdog_preemptions),
     .help = "one job is preempted so often without progress: the run ends as a loop"},
};
static const struct tl_section watchdog_section = {SECTION(watchdog_keys)};

/* ---- the scenario ---- */

#define MAP(key_name, table, from, text)                                                           \
	{                                                                                          \
		.name = (key_name), .type = TL_KEY_MAP, .standard = "{}", .section = &(table),     \
		.offset = (from), .help = (text)                                                   \
	}
#define IN_SCENARIO offsetof(struct tl_config, scenario)

static const struct tl_config_key scenario_keys[] = {
    {.name = "name", .type = TL_KEY_NAME, .standard = "scenario", AT(tl_config, scenario.name),
     .help = "what the results call it; the result file is NAME.h5 where no other is asked for"},
    {.name = "horizon", .type = TL_KEY_DURATION, .unit = "ns", .standard = "none", .min = 1,
     .max = DAYS(36500), .words = {{"none", TL_NEVER}}, AT(tl_config, scenario.horizon_ns),
     .help = "the run ends there; none: once all work has ended"},
    {.name = "seed", .type = TL_KEY_INT, .standard = "1", .min = 0, .max = INT64_MAX, AT(tl_config, scenario.seed),
     .help = "of everything drawn; the same seed gives the same draws under every policy"},
    {.name = "cluster", .type = TL_KEY_CUSTOM, .standard = "a100-32x8",
     .custom = &tl_custom_cluster, .section = &tl_cluster_section, .shorthand = "use",
     AT(tl_config, cluster), .help = "the machines [S]"},
    {.name = "workload", .type = TL_KEY_LIST, .standard = "[]", .section = &workload_section,
     LIST_AT(tl_config, workloads, workload_count),
     .help = "the work: recorded jobs (`trace`), made ones (`generate`) and online services (`service`); "
             "at least one entry"},
    {.name = "oversubscription", .type = TL_KEY_CUSTOM, .standard = "1",
     .custom = &tl_custom_ratios, .section = &tl_oversubscription_section, .shorthand = "others",
     AT(tl_config, oversubscription),
     .help = "GPUs that may be asked for against those there are, in each pool of nodes; above 1, "
             "what finds no free room may share a GPU with one other (practice: 1.15, not past "
             "1.3 [S])"},
    MAP("policy", policy_section, 0, "who decides"),
    {.name = "estimates", .type = TL_KEY_CUSTOM, .standard = "trace",
     .custom = &tl_custom_estimates, AT(tl_config, estimates),
     .help = "what policies see as run time: the user's from the trace, the truth, or "
             "noisy(σ) = truth × exp(σ·N(0,1)); anything but trace is stamped as oracle"},
    {.name = "queues", .type = TL_KEY_LIST, .section = &queue_section,
     .standard = "[{name: high, weight: 8}, {name: normal, weight: 3}, {name: low, weight: 1}]",
     LIST_AT(tl_config, queues, queue_count), .help = "highest first [S]"},
    {.name = "tenants", .type = TL_KEY_LIST, .standard = "[]", .section = &tenant_section,
     LIST_AT(tl_config, tenants, tenant_count),
     .help = "those with a quota or a weight; others appear as the work names them"},
    {.name = "faults", .type = TL_KEY_LIST, .standard = "[]", .section = &tl_fault_section,
     LIST_AT(tl_config, faults, fault_count), .help = "scripted trouble"},
    MAP("failures", failures_section, 0, "random failures of nodes, off unless enabled"),
    {.name = "physics", .type = TL_KEY_CHOICE, .standard = "full", .choices = "full|ideal",
     AT(tl_config, scenario.physics.ideal),
     .help = "ideal: starts, checkpoints, suspension, distance and sharing cost nothing"},
    MAP("start", start_section, IN_SCENARIO, "what starting costs"),
    MAP("checkpoint", checkpoint_section, IN_SCENARIO, "periodic checkpoints"),
    MAP("suspend", suspend_section, IN_SCENARIO, "what stopping costs"),
    MAP("communication", communication_section, IN_SCENARIO, "what distance costs a gang"),
    MAP("sharing", tl_sharing_section, IN_SCENARIO, "what neighbours on a GPU cost"),
    MAP("jobs", jobs_section, IN_SCENARIO, "how jobs end"),
    MAP("prices", prices_section, IN_SCENARIO, "what capacity costs"),
    MAP("output", output_section, IN_SCENARIO, "what is written"),
    MAP("metrics", metrics_section, IN_SCENARIO, "how services are measured"),
    MAP("observe", observe_section, IN_SCENARIO, "what policies see, and when"),
    MAP("watchdog", watchdog_section, IN_SCENARIO, "when a run is given up"),
};
const struct tl_section tl_scenario_section = {SECTION(scenario_keys)};
