#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Wrong command lines: exit 64, with what was got and a way on.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

wrong() { # text, argument...
	text=$1
	shift
	run 64 "$@"
	silent out
	says err "$text"
}

wrong 'unknown verb `rnu`; did you mean `run`?' rnu
wrong 'unknown verb `xyzzy`' xyzzy
wrong 'unknown verb' ''
wrong 'unknown verb `xyzzy`' help xyzzy
wrong 'a verb is missing' trace
wrong 'unknown verb `trace lnt`; did you mean `lint`?' trace lnt x
wrong 'unknown flag `--frce`; did you mean `--force`?' run demo --frce
wrong 'unknown flag `--zzz`' run demo --zzz=3
wrong 'unknown flag `-q`' run -q
wrong 'a value is missing after `--seed`' run demo --seed
wrong 'a value is missing after `-o`' run demo -o
wrong 'no value is wanted by `--force=1`' run demo --force=1
wrong 'one operand too many: `b`' run a b
wrong 'an operand is missing, wanted `RESULT.h5`' summary
wrong 'one operand too many' version now
wrong 'no work is named' run
wrong 'no work is named' check
wrong 'no work is named' explain --job 1
wrong '--job is missing' explain demo
wrong '--at: got `soon`' explain demo --job 1 --at soon
wrong '--at: got `-1h`' explain demo --job 1 --at -1h
wrong 'wanted KEY=VALUE' run demo --set seed
wrong 'wanted KEY=VALUE' run demo --set =1
wrong '--policy: got `fifo`, wanted SEAT=NAME, as in place=fgd' run demo --policy fifo
wrong '--format: goes with --trace' run demo --format philly
wrong '--set sed: unknown key `sed`; did you mean `seed`?' run demo --set sed=1
wrong '--seed: got `abc`, wanted a whole number' run demo --seed abc
wrong '--seed: got `-1`, wanted a whole number from 0 to 9223372036854775807' run demo --seed -1
wrong 'from 0 to 9223372036854775807' check tiny --seed 9223372036854775808
run 0 check tiny --seed 9223372036854775807
wrong '--seed, got `9223372036854775808`' trace generate --seed 9223372036854775808
wrong '--horizon: got `tomorrow`' run demo --horizon tomorrow
wrong '--physics: got `fast`, wanted one of full|ideal' run demo --physics fast
wrong '--tables: output.tables: got `jbs`' run demo --tables jobs,jbs
wrong '--cluster: no cluster `nowhere`' run demo --cluster nowhere
wrong '--name: got `a/b`, wanted one without a slash' run demo --name a/b
wrong '--set queues: got an empty list' run demo --set queues=[]
wrong '--set queues[1].name: got `high` again' run demo --set queues[1].name=high
wrong '--set cluster.groups: goes instead of another cluster' check tiny --set cluster.groups=[]
wrong '--set cluster: cluster.groups: got an empty list' check tiny --set 'cluster={groups: []}'
for flag in "run tiny -o" "sweep tiny -o" "merge x -o" "report x.h5 -o" "figures x.h5 -o" "export x.h5 -f json -o"; do
	# shellcheck disable=SC2086 # words
	wrong '--output: got an empty name, wanted' $flag ''
done
wrong '--junit: got an empty name, wanted FILE' regress a.csv x.h5 --junit ''
wrong '--tolerance: got an empty name, wanted FILE' regress a.csv x.h5 --tolerance ''
for flag in '--seed 3' '--set seed=3'; do
	# shellcheck disable=SC2086 # words
	wrong 'got the seed of one run, wanted --seeds alone' sweep tiny $flag --seeds 1..2 -o seeds
	# shellcheck disable=SC2086 # words
	wrong 'got the seed of one run, wanted --seeds alone' plan tiny $flag --over cluster.nodes=2:3 \
		--subject-to 'jobs>=1' -o seeds
done
absent seeds
wrong '--format: workload[0].format: got `excel`' run --trace x.csv --format excel
wrong 'wanted one of them' summary --json --csv x.h5
wrong 'wanted scenario, results or policies' reference everything
wrong '--top: got `x`' trace inspect x.csv --top x
wrong '--set workload[0].demnd: workload[0]: unknown key `demnd`' run demo --set workload[0].demnd=1
wrong 'did you mean `window`?' trace inspect x.csv --set windw=7d
wrong 'rate' trace generate --rate -5
wrong 'rate' trace generate --rate lots
wrong 'preset' trace generate --preset nobody
for verb in 'trace inspect' 'trace lint' 'trace convert' summary figures 'export -f json' run check; do
	# shellcheck disable=SC2086 # words
	run 66 $verb ''
	says err 'an empty name'
done

# Seats and options from flags are told by the flag, with what there is.
wrong '--policy: pipeline: got option `foo`, wanted one of backfill' check tiny -p foo=fifo
wrong 'or of the seats admit, order, place' check tiny -p foo=fifo
wrong '--policy: pipeline: got option `plcae`; did you mean `place`?' check tiny -p plcae=fgd
wrong '--set policy.plaec: pipeline: got option `plaec`; did you mean `place`?' check tiny --set policy.plaec=fgd
wrong '--policy: policy.order: got `first-fit`, a module for the place seat' check tiny -p order=first-fit
wrong '--policy: got `x`, wanted SEAT=NAME' check tiny -p x
wrong '--set policy.order.x: las: got option `x`' check tiny -p order=las --set policy.order.x=1
wrong '--set policy.backfill: pipeline: option `backfill`: got `maybe`' check tiny --set policy.backfill=maybe
run 69 check tiny -p order=nosuch
says err '--policy: policy.order: no policy module `nosuch`'
run 69 check tiny --set policy.order=nosuch
says err '--set policy.order: no policy module `nosuch`'
run 69 check service --set policy.scale=predictive
says err '--set policy.scale: policy module `predictive` could not be created: wanted a module in the forecast seat'
sed 's/scale: threshold/scale: predictive/; s|\.\./\.\./|'"$ROOT"'/|' "$ROOT/workloads/scenarios/service.yaml" >scale.yaml
run 69 check scale.yaml
says err 'scale.yaml:22:'
says err 'policy.scale: policy module `predictive` could not be created'

# A flag that puts another module where the file's options are another's tells the way.
printf 'workload:\n  - {trace: %s/canonical.csv}\npolicy: {preempt: {use: staged, batch_after: 30s}}\n' \
	"$samples" >seat.yaml
run 78 check seat.yaml --set policy.preempt.use=progressive
says err 'seat.yaml:3:46: progressive: got option `batch_after`, wanted'
says err 'policy.preempt=progressive, or policy.preempt={use: progressive, …}, leaves it out'
run 0 check seat.yaml --set policy.preempt=progressive
wrong '--set: got `trace=x`: the trace is the operand' trace lint "$samples/canonical.csv" -s trace=x
wrong 'demand: got it for a trace with times' trace lint "$samples/canonical.csv" -s demand=2
wrong 'shuffle: got it for a trace with times' trace inspect "$samples/canonical.csv" -s shuffle=true
absent demo.h5

# Long texts are cut, never overrun.
long=$(printf '%2000s' x | tr ' ' y)
run 64 "$long"
run 64 run "--$long"
run 64 run demo --set "$long=1"
run 64 run demo --set "seed=$long"
run 66 run "$long"
finish
