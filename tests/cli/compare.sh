#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Settings side by side: runs, folders, sweeps and merged files; what is no comparison is refused.
. "$ROOT/tests/cli/_lib.sh"

run 0 sweep demo --vary policy.order=priority-queues,sjf --seeds 1..4 -o sweep
run 0 merge sweep -o sweep.h5
mkdir fifo sjf
for seed in 1 2 3 4; do
	run 0 run demo --seed $seed -o fifo/$seed.h5
	run 0 run demo --seed $seed --policy order=sjf -o sjf/$seed.h5
done

# Folders, a sweep and its file say the same.
run 0 compare fifo sjf
silent err
cp out folders
says folders "4 pairs of the same seed; 95 % intervals by Student's t; Holm's correction over"
says folders "B has policy.order: priority-queues → sjf"
grep -qE "^  wait_mean_s .* \[-.*, -.*\] +-[0-9.]+ %  better$" folders || fail "no verdict on waiting"
grep -qE "^  deadline_met_ratio .* same$" folders || fail "equal is not the same"
grep -qE "^  wait_mean_s +s " folders || fail "no unit"
tested=$(sed -n 's/.*correction over \([0-9]*\) metrics$/\1/p' folders)
same=$(grep -c ' same$' folders)
grep -qE "^of $tested metrics tested [0-9]+ differs?; $same more (is|are) the same in every run:$" folders ||
	fail "the end counts otherwise than the beginning"
says folders "--steady leaves that out"
awk 'length($0) > 100 { print FILENAME ": " $0; bad = 1 } END { exit bad }' folders || fail "wider than 100"
run 0 compare sweep
sed 1,3d folders >rest
sed 1,3d out | cmp -s - rest || fail "the sweep says otherwise than its runs"
run 0 compare sweep.h5
sed -n '/^  mean of/,/ differ/p' folders >rest
sed -n '/^  mean of/,/ differ/p' out | cmp -s - rest || fail "the merged file says otherwise"
run 0 compare sweep sweep.h5 --metrics wait_mean_s --details
[ "$(grep -c 'every metric is the same' out)" -eq 2 ] || fail "two sweeps were not compared cell by cell"
run 0 compare fifo sjf sweep --where policy.order=sjf -m wait_mean_s --details
[ "$(grep -c '^A  fifo' out)" -eq 2 ] || fail "three settings are not two comparisons"

# More than two settings: a row each, against the one that is named.
run 0 sweep tiny --vary policy.place=topology,fgd,best-fit --vary cluster.nodes=2:3:1 --seeds 1..3 -o placing
run 0 compare placing -m wait_mean_s,jct_mean_s,goodput
silent err
says out "A  placing [policy.place=topology, cluster.nodes=2]"
[ "$(grep -c '^policy.place=' out)" -eq 5 ] || fail "not a row for each of five settings: $(cat out)"
grep -qE "^policy.place=topology, cluster.nodes=3 +3 +[-+0-9.]+ %" out || fail "no change in a row: $(cat out)"
grep -qE "^A +[0-9]" out || fail "no means of what they are compared with: $(cat out)"
awk 'length($0) > 100 { print FILENAME ": " $0; bad = 1 } END { exit bad }' out || fail "wider than 100"
run 0 compare placing --where policy.place=best-fit --where policy.place=fgd --where cluster.nodes=3 \
	--against policy.place=fgd -m wait_mean_s
says out "A  placing [policy.place=fgd, cluster.nodes=3]: 3 runs"
says out "B  placing [policy.place=best-fit, cluster.nodes=3]: 3 runs"
run 65 compare placing --where policy.place=las --where policy.place=sjf --where cluster.nodes=3
says err "has no cell with policy.place=las or sjf and cluster.nodes=3"
run 65 compare placing --against policy.place=fgd
says err "--against: 2 settings have policy.place=fgd, as placing [policy.place=fgd, cluster.nodes=2]"
run 65 compare placing --against policy.place=las
says err "--against: no setting compared here has policy.place=las"
run 64 compare placing --against policy.place
says err "--against: got \`policy.place\`, wanted KEY=VALUE"
run 0 compare fifo fifo
says out "every metric is the same in every run"

# JSON has every number; the intervals hold what they are about.
run 0 compare fifo sjf --all --json
cp out json
run 0 compare fifo sjf -m 'wait_mean_s,steady:*' --steady --details
says out "steady:pending_gpus"
says out "bootstrap ["
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail "the JSON is not what it should be"
import json
(one,) = json.load(open("json"))
assert one["a"]["seeds"] == [1, 2, 3, 4] and one["b"]["settling"]["judged"] == 4
assert one["differs"] == [{"key": "policy.order", "a": "priority-queues", "b": "sjf"}]
assert len(one["metrics"]) > 50
tested = [m for m in one["metrics"].values() if m["p"] is not None]
assert len(tested) > 20
for m in tested:
    assert m["paired"] and m["a_count"] == 4 and m["p"] <= m["p_corrected"] <= 1
    assert abs(m["difference"] - (m["b"] - m["a"])) <= 1e-9 * max(1, abs(m["a"]))
    assert m["interval"][0] <= m["difference"] <= m["interval"][1]
    assert (m["verdict"] == "not-shown") == (m["p_corrected"] > 0.05)
wait = one["metrics"]["wait_mean_s"]
assert wait["verdict"] == "lower" and wait["better"] == "low" and wait["cohen_dz"] < -1
assert wait["ratio_interval"][0] <= wait["ratio"] <= wait["ratio_interval"][1]
END
fi

# Other seeds: samples, and no difference shown of a policy from itself.
mkdir others
for seed in 11 12 13 14; do run 0 run demo --seed $seed -o others/$seed.h5; done
run 0 compare fifo others
says out "no seed in common: 4 and 4 samples; 95 % intervals by Welch's t"
says out "no difference shown in any of"

# One run a side: a difference, and no pretence of an interval.
run 0 compare fifo/1.h5 sjf/1.h5
says out "one run a side: differences, and nothing to judge them by"
grep -q '\[' out && fail "an interval of one run"

# A queue that never settles is told, and what hangs on it is marked.
run 0 trace generate --rate 120/h --span 2d -o heavy.csv
for order in fifo sjf; do
	run 0 run --cluster 2x8 --trace heavy.csv --horizon 2d --policy order=$order -o heavy-$order.h5
done
run 0 compare heavy-fifo.h5 heavy-sjf.h5
says out "! the queue never settles in 1 of 1 runs of A"
grep -qE "^  wait_mean_s .* !$" out || fail "a meaningless mean is not marked"
grep -qE "^  goodput .* !$" out && fail "a mean that has a meaning is marked"

# What answers another question is refused, or else flagged.
run 0 run demo --horizon 1d -o short.h5
run 65 compare fifo/1.h5 short.h5
says err "horizon is another: \`1d\` and \`36h\`"
run 0 compare fifo/1.h5 short.h5 --anyway
says out "horizon"
run 65 compare fifo/1.h5 heavy-fifo.h5
says err "is not to be compared with"
run 0 run demo --set jobs.max_restarts=7 -o restarts.h5
run 0 compare fifo/1.h5 restarts.h5 -m goodput
says out "B has jobs.max_restarts: 3 → 7"

# How work is served is a decision; how much of it there is is not.
run 0 run service -o service.h5
run 0 run service --set 'workload[0].replicas.max=4' -o fewer.h5
run 0 run service --set 'workload[0].peak_rps=50' -o quieter.h5
run 0 compare service.h5 fewer.h5 -m '*.attainment'
says out "B has workload[0].replicas.max: 6 → 4"
cp out starred
run 0 compare service.h5 fewer.h5 -m attainment
cmp -s out starred || fail "a bare metric is not every service's"
run 0 run demo --set policy.defrag=compact -o compact.h5
run 0 compare fifo/1.h5 compact.h5 -m goodput
says out "B has policy.defrag: none → compact"
run 65 compare service.h5 quieter.h5
says err "workload[0].peak_rps is another"

# Bad input.
run 64 compare fifo
says err "wanted two or more to compare"
run 64 compare
run 64 compare fifo sjf -m wait_mena_s
says err "did you mean \`wait_mean_s\`?"
run 64 compare fifo sjf --all -m wait_mean_s
run 64 compare fifo sjf --confidence 1
run 64 compare fifo sjf --correct sidak
run 64 compare fifo sjf --where policy.order
run 65 compare sweep fifo --where policy.order=las
says err "has no cell with policy.order=las"
run 66 compare fifo nowhere
mkdir empty
run 66 compare fifo empty
says err "got a folder without results"
cp sjf/2.h5 fifo/9.h5
run 65 compare fifo sjf
says err "9.h5: got another scenario"
cp fifo/2.h5 fifo/9.h5
run 65 compare fifo sjf
says err "9.h5: got seed 2, which fifo/2.h5 has too"
head -c 5000 fifo/2.h5 >fifo/9.h5
run 65 compare fifo sjf
says err "9.h5: "
echo 'metric,value' >fifo/9.h5
run 65 compare fifo sjf
says err "not HDF5"
run 0 run tiny -o none.h5 --tables jobs
run 65 compare none.h5 none.h5
says err "no /summary"
python=$(sh "$ROOT/tests/tools/python.sh" h5py) && {
	cp sjf/1.h5 newer.h5
	"$python" -c 'import h5py; h5py.File("newer.h5", "r+").attrs["schema_major"] = 99'
	run 65 compare newer.h5 sjf
	says err "written by a newer version"
}
finish
