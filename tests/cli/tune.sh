#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Searches over settings: what they find, that they go on where they were, and what they refuse.
. "$ROOT/tests/cli/_lib.sh"

# ---- tune: what matters, what is best, and the trace ----
set -- tiny --minimize jct_mean_s --over policy.place=fgd,topology --over checkpoint.interval=60s:3600s \
	--over cluster.nodes=2:4 --seeds 1..2 -o tuned
run 0 tune "$@" --budget 60
silent err
says out "policy.place                 makes no difference in any run"
says out "each axis alone, the others as the scenario has them (own)"
grep -qE "^  axis +best +jct_mean_s +worst +jct_mean_s +p\$" out || fail "columns without a name: $(cat out)"
says out "--set checkpoint.interval="
says out "--set cluster.nodes=3"
says out "with 2 fresh seeds"
says out "against the scenario's own setting (546.214928)"
cp out first
[ "$(head -n 1 tuned/trace.csv)" = "try,phase,seeds,policy.place,checkpoint.interval,cluster.nodes,jct_mean_s,low,high,best" ] ||
	fail "trace: $(head -n 1 tuned/trace.csv)"
[ "$(grep -c ',1$' tuned/trace.csv)" -eq 1 ] || fail "trace: not one best"
# What is printed is what a run with these settings gives.
best=$(sed -n 's/^   *\(--set .*\)/\1/p' first)
# shellcheck disable=SC2086 # words of the command line
run 0 run tiny $best --seed 3 -o byhand.h5
"$TIDELAB" summary byhand.h5 --csv >summary.csv
value=$(awk -F, '$1 == "jct_mean_s" { print $2 }' summary.csv)
awk -v a="$value" -v b="$(sed -n 's/^  jct_mean_s: \([0-9.]*\),.*/\1/p' first)" \
	'BEGIN { exit !(a - b < 1e-5 && b - a < 1e-5) }' || fail "a run by hand has $value: $(cat first)"

# Again: the same words, nothing run anew; also after half of the runs were lost.
runs_of() {
	find "$1/runs" -name '*.h5' | wc -l
}
before=$(runs_of tuned)
cp tuned/trace.csv trace.csv
run 0 tune "$@" --budget 60
cmp -s out first || fail "another answer the second time"
[ "$(runs_of tuned)" -eq "$before" ] || fail "the second time $(runs_of tuned) runs are there, not $before"
find tuned/runs -name '[0-7]*.h5' -exec rm {} +
run 0 tune "$@" --budget 60
cmp -s out first || fail "another answer after a loss"
cmp -s tuned/trace.csv trace.csv || fail "another trace after a loss"
run 0 tune "$@" --budget 80
[ "$(runs_of tuned)" -ge "$before" ] || fail "a larger budget lost runs"
run 0 tune "$@" --budget 60 --json
says out '"key": "policy.place"'
says out '"cluster.nodes": "3"'

# The folder tells of every setting that was tried, each with the seeds it was run with.
run 0 merge tuned -o tuned.h5
"$TIDELAB" export tuned.h5 --format csv --table /runs >runs.csv
told=$(grep ',done,' runs.csv | cut -d, -f5 | sort -u | wc -l)
[ "$told" -eq "$(runs_of tuned)" ] || fail "merged of tune: $told runs, not the $(runs_of tuned) there are"
grep -q ',unasked,' runs.csv || fail "merged of tune: no cell with fewer seeds"
run 0 compare tuned --metrics jct_mean_s
says out "A  tuned [policy.place="

# A constraint that the best without it breaks: three nodes finish earlier, and idle more.
run 0 tune tiny --minimize jct_mean_s --over cluster.nodes=2:4 --seeds 1..2 --budget 40 -o free
says out "--set cluster.nodes=3"
"$TIDELAB" summary byhand.h5 --csv | awk -F, '$1 == "effective_utilisation" { print $2 }' >busy
bound=$(awk '{ print $1 * 1.05 }' busy)
run 0 tune tiny --minimize jct_mean_s --subject-to "effective_utilisation>=$bound" --over cluster.nodes=2:4 \
	--seeds 1..2 --budget 40 -o bound
says out "nothing better was found"
says out "effective_utilisation >= "
says out ": holds"
run 0 tune tiny --maximize effective_utilisation --over cluster.nodes=2:4 --seeds 1..2 --budget 40 -o most
says out "nothing better was found"

# A setting whose runs crash is no answer, and no end either.
crash=$TIDELAB_BUILD/tests/modules/crash.so
run 0 tune --trace "$samples/canonical.csv" --format canonical --cluster 2x4 --minimize jct_mean_s \
	--over "policy.scheduler=pipeline,$crash" --over cluster.nodes=2:4 --seeds 1..2 --budget 60 -o crashes
says err "failed: policy.scheduler=$crash"
grep -q "$crash.*,1\$" crashes/trace.csv && fail "a crash is best: $(cat crashes/trace.csv)"

# ---- plan: the smallest, the largest, none ----
run 0 plan tiny --over cluster.nodes=1:6 --subject-to 'wait_mean_s<=60' --seeds 1..2 -o sizes
says out "confidence, and so do all on its safe side"
looked=$(grep -c -E '^[1-6] ' out)
run 0 merge sizes
[ "$("$TIDELAB" export sizes.h5 --format csv --table /axes | tail -n 1)" = "cluster.nodes,1" ] || fail "axis of plan"
[ "$("$TIDELAB" export sizes.h5 --format csv --table /cells | grep -c cluster.nodes,)" -eq "$looked" ] ||
	fail "merged of plan: not the $looked values looked at"
run 0 plan tiny --over cluster.nodes=2:3 --subject-to 'wait_mean_s<=60' --horizon 1h --seeds 1..2 -o short
says err "in some runs the horizon came before up to"
run 0 plan tiny --over cluster.nodes=2:6 --subject-to 'wait_mean_s<=1e9' --seeds 1..2 -o sizes2
says out "cluster.nodes=2: the smallest"
says out "it is the end of the range"
run 1 plan tiny --over cluster.nodes=2:4 --subject-to 'wait_mean_s<=-1' --seeds 1..2 --json -o sizes3
says out '"answer": null'
says err "no value of cluster.nodes is shown to keep what was asked"
run 1 plan tiny --over cluster.nodes=6:12 --subject-to 'wait_mean_s<=-1' --seeds 1..2 -o sizes6
says out "cluster.nodes from 6 on changes nothing: wait_mean_s is the same in every run there; look at what else limits it"
run 1 plan tiny --over cluster.nodes=6:12 --subject-to 'wait_mean_s<=-1' --seeds 1..2 --json -o sizes6
says out '"wait_mean_s": "6"'
run 1 tune tiny --minimize jct_mean_s --subject-to 'effective_utilisation>=2' --over cluster.nodes=2:4 \
	--seeds 1..2 --budget 40 -o unmet
says out "best setting of"
says err "is not shown to keep effective_utilisation >= 2"
run 0 plan tiny --over cluster.nodes=2:4 --subject-to 'effective_utilisation>=0.01' --largest --seeds 1..2 -o sizes4
says out "cluster.nodes=4: the largest"
run 0 plan service --over cluster.nodes=5:7 --subject-to 'attainment>=0.99' --horizon 9h --seeds 1..2 --checks 1 -o sizes5
says out "attainment >= 0.99"

# ---- what is refused, before anything is made ----
refused() { # words, argument...
	words=$1
	shift
	run 64 "$@" -o refused
	says err "$words"
	absent refused
}
for verb in "tune tiny --minimize jct_mean_s" "plan tiny --subject-to jobs>=1"; do
	# shellcheck disable=SC2086 # words
	set -- $verb
	refused "--over is missing" "$@"
	refused "wanted two at least, or LOW:HIGH" "$@" --over cluster.nodes=2
	refused "wanted numbers that rise" "$@" --over cluster.nodes=2,4,3
	refused "wanted LOW:HIGH" "$@" --over cluster.nodes=4:2
	refused "never ends" "$@" --over cluster.nodes=2:4:0
	refused "wanted KEY=VALUE" "$@" --over cluster.nodes
	refused "seeds are no axis" "$@" --over seed=1:4
	refused "--over cluster.node" "$@" --over cluster.node=2:4
	refused "got one seed" "$@" --over cluster.nodes=2:4 --seeds 7
	refused "--seeds: got \`x\`" "$@" --over cluster.nodes=2:4 --seeds x
	refused "--confidence: got \`1\`" "$@" --over cluster.nodes=2:4 --confidence 1
	refused "--confidence: got \`0.5\`" "$@" --over cluster.nodes=2:4 --confidence 0.5
	refused "--subject-to: got \`jobs>1\`" "$@" --over cluster.nodes=2:4 --subject-to 'jobs>1'
	refused "--jobs: got \`0\`" "$@" --over cluster.nodes=2:4 -j 0
	refused "--executor: got \`slum\`" "$@" --over cluster.nodes=2:4 -x slum
	run 64 "$@" --over cluster.nodes=2:4
	says err "--output DIR is missing"
	run 73 "$@" --over cluster.nodes=2:4 -o tuned
	says err "holds another sweep"
	run 73 "$@" --over cluster.nodes=2:4 -o byhand.h5
	run 66 "${1}" nowhere "$3" "$4" --over cluster.nodes=2:4 -o refused
	absent refused
done
refused "got no objective" tune tiny --over cluster.nodes=2:4
refused "got both" tune tiny --over cluster.nodes=2:4 --minimize jobs --maximize jobs
refused "given twice" tune tiny --minimize jobs --over cluster.nodes=2:4 --over cluster.nodes=2:3
refused "--budget: got \`none\`" tune tiny --minimize jobs --over cluster.nodes=2:4 --budget none
refused "--budget: got 9, wanted at least" tune tiny --minimize jobs --over cluster.nodes=2:4 --budget 9
refused "--subject-to is missing" plan tiny --over cluster.nodes=2:4
refused "got 2 axes, wanted one" plan tiny --subject-to 'jobs>=1' --over cluster.nodes=2:4 --over jobs.max_restarts=1:2
refused "wanted one of whole numbers" plan tiny --subject-to 'jobs>=1' --over oversubscription=1.0:1.5
refused "--checks: got \`-1\`" plan tiny --subject-to 'jobs>=1' --over cluster.nodes=2:4 --checks -1
refused "got \`2.1\`, wanted a whole number" plan tiny --subject-to 'jobs>=1' --over cluster.nodes=2:4:0.1
refused "got choices" plan tiny --subject-to 'jobs>=1' --over policy.place=fgd,topology

# Metrics are known once a run has told them.
run 64 tune tiny --minimize jct_men_s --over cluster.nodes=2:4 -o metrics
says err "no metric \`jct_men_s\`; did you mean \`jct_mean_s\`"
absent metrics
run 64 plan tiny --subject-to 'attainment>=0.9' --over cluster.nodes=2:4 -o metrics2
says err "no metric \`attainment\`"
absent metrics2
mkdir mine
run 64 tune service --horizon 1h --minimize attainmnt --over cluster.nodes=3:4 -o mine
says err "no metric \`attainmnt\`; did you mean \`player.attainment\`"
[ -z "$(ls -A mine)" ] || fail "a mistyped metric left $(ls -A mine)"
run 65 tune tiny --horizon 1s --minimize jct_mean_s --over cluster.nodes=2:3 --seeds 1..2 --budget 40 -o nothing
says err "no value in any run"
finish
