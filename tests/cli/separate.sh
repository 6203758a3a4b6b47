#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Separate clusters against shared ones of several sizes, by a sweep and a comparison: the same
# work and requests under each, rows that line up, and the cost at equal work.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

cat >mixed.yaml <<'END'
name: mixed
horizon: 2d
cluster: a100-4x8
workload:
  - service: player
    pool: inference
    peak_rps: 200
    replicas: {min: 1, max: 4, initial: 2}
    service_time: {alpha: 40ms, beta: 5ms}
    slo: {p99: 500ms}
    requests: fluid
  - {generate: philly, pool: training, rate: 3/h, span: 18h, max_run: 6h, limit_gpus: 8, evaluation: 0, inference: 0, simulation: 0}
  - {generate: release-evaluation, pool: evaluation, tasks: 100, at: 3h, span: 18h, deadline: 12h}
policy: {order: {use: priority-queues, mode: strict}, place: topology, preempt: priority, backfill: easy, scale: threshold}
metrics: {window: 30s}
output: {tables: [jobs, nodes, placements, summary]}
END
cat >walls.yaml <<'END'
groups:
  - {name: training, pool: training, count: 3, gpus: 8}
  - {name: inference, pool: inference, gpus: 8}
  - {name: evaluation, pool: evaluation, gpus: 8}
END
run 0 sweep mixed.yaml --vary 'cluster=./walls.yaml,a100-4x8,{use: a100-4x8, nodes: 3}' -o layouts
run 0 compare layouts --metrics 'until_done_cost,pool.training.jct_mean_s,player.attainment,deadline_met_ratio'
for metric in until_done_cost pool.training.jct_mean_s player.attainment deadline_met_ratio; do
	says out "$metric"
done

run 0 plan mixed.yaml --over cluster.nodes=2:4 --checks 1 --seeds 1..2 -o sizes \
	--subject-to 'pool.training.jct_mean_s<=12000' --subject-to 'attainment>=0.9'
says out "the smallest value that keeps it"

value() { # file, metric
	"$TIDELAB" summary "$1" --csv | sed -n "s/^$2,\([^,]*\),.*/\1/p"
}
run 0 run mixed.yaml -o separate.h5 --cluster ./walls.yaml
run 0 run mixed.yaml -o shared.h5
for metric in player.requests pool.training.jobs pool.evaluation.jobs; do
	[ "$(value separate.h5 $metric)" = "$(value shared.h5 $metric)" ] || fail "the layouts differ in $metric"
	[ -n "$(value shared.h5 $metric)" ] || fail "there is no $metric"
done
[ "$(value separate.h5 pool.training.unfinished)" = 0 ] || fail "training did not end"
# Shared: 32 GPUs until the last job; separate: no more than all 40 of them so long.
awk -v separate="$(value separate.h5 until_done_gpu_h)" -v shared="$(value shared.h5 until_done_gpu_h)" \
	-v training="$(value shared.h5 pool.training.done_s)" -v evaluation="$(value shared.h5 pool.evaluation.done_s)" '
	BEGIN {
		last = training > evaluation ? training : evaluation
		gap = shared - 32 * last / 3600
		exit !(gap * gap < 1e-6 && separate > shared * 0.5 && separate <= 40 * 48)
	}' || fail "until_done_gpu_h is not what was held"

# A run that ends too early says so by leaving the price out.
run 0 run mixed.yaml -o early.h5 --horizon 12h
[ "$(value early.h5 until_done_cost)" = nan ] || fail "work that is not done has a price: $(value early.h5 until_done_cost)"

# Nothing of one pool ran in another's nodes.
if python=$(sh "$ROOT/tests/tools/python.sh" h5py); then
	"$python" - <<'END' || fail "work left its pool"
import h5py, sys
file = h5py.File("separate.h5")
pool = file["nodes"]["pool"]
ids = file["jobs"]["id"]
for row in file["placements"][:]:
    if row["job"] < len(ids):
        want = b"training" if ids[row["job"]].startswith(b"philly") else b"evaluation"
        if pool[row["node"]] != want:
            sys.exit(1)
END
fi
run 64 check mixed.yaml --set 'workload[1].pool=trainin' --cluster ./walls.yaml
says err 'wanted a pool of the cluster; did you mean `training`?'
finish
