#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check tells what run would refuse, and lists what cannot fit.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

for path in "$ROOT"/workloads/scenarios/*.yaml; do
	case $path in
	*/philly-fifo.yaml | */openb-packing.yaml) continue ;; # their traces are not shipped
	esac
	run 0 check "$path"
	says out "0 of them infeasible"
	case $path in */service.yaml) says out "infeasible; 1 service; " ;; esac
	run 0 check "$path" --effective
	silent err
	cp out effective.yaml
	# What is printed is itself a scenario, and says the same.
	sed "s|\.\./\.\./traces|$ROOT/traces|" effective.yaml >again.yaml
	run 0 check again.yaml --effective
	sed "s|$ROOT/traces|../../traces|" out | cmp -s - effective.yaml || fail "$path: not the same again"
done
for cluster in "$ROOT"/workloads/clusters/*.yaml; do
	run 0 check tiny --cluster "$cluster"
	run 0 check tiny --cluster "$(basename "$cluster" .yaml)"
done
run 0 check demo --cluster 4x8
says out "infeasible: "
grep -q ' 0 of them infeasible' out && fail "128 GPUs fit into 32"
run 66 check philly-fifo
says err "is public, and not shipped"
says err "--set workload[0].trace=FILE"
run 66 check openb-packing
says err "--set cluster.list=FILE"
run 66 check philly-fifo --trace missing.csv --format philly
says err "missing.csv: cannot be opened"
printf 'cluster: 2x4\nworkload:\n  - {trace: nowhere.csv, format: canonical}\n' >nowhere.yaml
run 66 check nowhere.yaml
says err "nowhere.yaml:3"
says err "nowhere.csv: cannot be opened"
run 64 check tiny --policy plce=fgd
says err "did you mean \`place\`?"
run 64 check demo --cluster 4x8:model=A100
says err "there are A100-SXM4-80GB"
run 78 check tiny --set 'policy.scheduler=null'
says err "null: got option"
run 0 check tiny --set 'policy={scheduler: null}'
run 0 check tiny --set 'policy={scheduler: {use: null}}'
run 66 check tiny --trace missing.csv
run 65 check tiny --trace "$TIDELAB"
run 69 check tiny --policy order=nothing-of-this-name
run 64 check tiny --policy backfill=perhaps
says err "backfill"
run 64 check tiny --set policy.depth=-1
run 64 check tiny --policy place=fifo
says err "seat"
absent tiny.h5

# What cannot fit is told by the resource that is short.
cat >large.csv <<'END'
id,submit_s,duration_s,gpus,workers,gpu_memory_bytes,cpu_milli,ram_bytes
gpus,0,1,999,,,,
memory,0,1,1,,900000000000000,,
cores,0,1,1,,,9000000,
ram,0,1,1,,,,900000000000000
END
run 0 check --cluster 2x4 --trace large.csv --format canonical
says out "large.csv:2: infeasible: 1 job asking 999 GPUs can never fit this cluster (8 GPUs)"
says out "(8 GPUs): no GPU has the memory asked for"
says out "(8 GPUs): no nodes have the CPU cores asked for"
says out "(8 GPUs): no nodes have the RAM asked for"
says out "4 of them infeasible"
# A fault that comes after the end never strikes: that is said, and no error.
sed 's|^horizon: .*|horizon: 1d|; s|\.\./\.\./|'"$ROOT"'/|' "$ROOT/workloads/scenarios/tiny.yaml" >late.yaml
printf 'faults:\n  - {at: 1h, do: node-down, nodes: 1, for: 1h}\n  - {at: 2d, do: kill-jobs, jobs: 1}\n' >>late.yaml
run 0 check late.yaml
says out "late.yaml:12: faults[1]: it never strikes: at 2d is after the end of the run (1d)"
[ "$(grep -c strikes out)" -eq 1 ] || fail "another fault is told of: $(cat out)"
run 0 run late.yaml -o late.h5
says err "faults[1]: it never strikes: at 2d is after the end of the run ("
run 0 check late.yaml --horizon 3d
grep -q strikes out && fail "a fault before the horizon is told of"
finish
