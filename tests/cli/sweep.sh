#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Sweeps: what is run, what is kept, what is refused; and the one file they are merged to.
. "$ROOT/tests/cli/_lib.sh"

results() {
	find "$1/runs" -name '*.h5' | sort
}

# ---- a grid, whole at once; again nothing is run ----
run 0 sweep tiny --vary policy.place=topology,fgd --vary jobs.max_restarts=1:3:2 --seeds 1..2 -o grid
says out "8 runs (cells: 4, seeds: 2)"
silent err
[ "$(results grid | wc -l)" -eq 8 ] || fail "grid: $(results grid | wc -l) results, wanted 8"
[ -z "$(ls -A grid/logs)" ] || fail "grid: logs of runs that went well"
results grid | xargs ls -l --time-style=full-iso >before
run 0 sweep tiny --vary policy.place=topology,fgd --vary jobs.max_restarts=1:3:2 --seeds 1..2 -o grid
results grid | xargs ls -l --time-style=full-iso | cmp -s - before || fail "what was there was run again"
run 0 merge grid
says out "merged: grid.h5"
run 65 summary grid.h5
says err "is the file of a sweep"
run 73 merge grid
says err "--force"
run 0 merge grid/ --force

# One run of it is the run by hand.
run 0 run tiny --set policy.place=fgd --set jobs.max_restarts=3 --seed 2 -o byhand.h5
same=no
for result in $(results grid); do
	cmp -s "$result" byhand.h5 && same=yes
done
[ $same = yes ] || fail "no result of the sweep is that of the run by hand"

# Whatever the order and the number at a time, the merged bytes are the same.
run 0 sweep tiny --vary policy.place=topology,fgd --vary jobs.max_restarts=1:3:2 --seeds 1..2 -o one -j 1
run 0 merge one
cmp -s grid.h5 one.h5 || fail "another file from -j 1"

# ---- more seeds and more values are added to what is there ----
run 0 sweep tiny --vary policy.place=topology --seeds 2..3 -o more
results more | xargs ls -l --time-style=full-iso >before
run 0 sweep tiny --vary policy.place=best-fit,topology --seeds 1..4 -o more
says out "8 runs (cells: 2, seeds: 4)"
results more | xargs ls -l --time-style=full-iso >after
[ "$(grep -cxFf before after)" -eq 2 ] || fail "more: what was there was run again"
run 0 sweep tiny --vary policy.place=best-fit,topology --seeds 1..4 -o atonce
run 0 merge more
run 0 merge atonce
cmp -s more.h5 atonce.h5 || fail "a sweep that was added to is another than one made at once"
cp more/manifest kept
run 73 sweep tiny --vary policy.place=best-fit,topology --seeds 1..3 -o more
# shellcheck disable=SC2016 # the backquotes are part of what is said
says err 'holds another sweep: its `seeds: 1, 2, 3, 4` is not `seeds: 1, 2, 3`'
run 73 sweep tiny --vary policy.place=topology --seeds 1..4 -o more
run 73 sweep tiny --vary policy.place=best-fit,topology,fgd --seeds 1..5 --horizon 2d -o more
run 73 sweep tiny --vary policy.order=fifo,las --seeds 1..5 -o more
cmp -s more/manifest kept || fail "a sweep that was refused changed the manifest"
run 0 plan tiny --over cluster.nodes=2:3 --subject-to 'jobs>=1' --seeds 1..2 -o search
run 73 sweep tiny --vary cluster.nodes=2,3 --seeds 1..9 -o search
says err "holds another sweep"

# ---- cells of one meaning share a result ----
run 0 sweep tiny --vary 'policy.place=fgd,{use: fgd}' -o shared
says out "2 runs (cells: 2, seeds: 1)"
[ "$(results shared | wc -l)" -eq 1 ] || fail "shared: $(results shared | wc -l) results, wanted 1"

# ---- designs ----
run 0 sweep tiny --design one-at-a-time --vary physics=full,ideal --vary horizon=1d:3d:1d -o each
says out "5 runs (cells: 5, seeds: 1)" # physics: full is the scenario's own
run 0 sweep tiny --design sobol:7 --vary horizon=1d:30d --vary physics=full,ideal --print -o drawn
[ "$(grep -c -- '--set horizon=[0-9]*d --set physics=' out)" -eq 7 ] || fail "sobol: $(cat out)"
absent drawn
run 64 sweep tiny --vary horizon=1d:3d -o drawn
says err "--design sobol:N draws from intervals"
run 0 sweep tiny -o alone --json
says out '"done": 1'

# ---- only what changed is run again ----
cp "$ROOT/workloads/scenarios/tiny.yaml" mine.yaml
sed -i "s|\.\./\.\./traces|$ROOT/traces|" mine.yaml
cp "$samples/canonical.csv" mine.csv
cp "$TIDELAB_POLICIES/fgd.so" mine.so
run 0 sweep mine.yaml --trace mine.csv --format canonical --vary policy.place=./mine.so,topology -o mine
results mine >first
sed -i '$d' mine.csv
run 0 sweep mine.yaml --trace mine.csv --format canonical --vary policy.place=./mine.so,topology -o mine
[ "$(results mine | wc -l)" -eq 4 ] || fail "another trace: $(results mine | wc -l) results, wanted 4"
cp "$TIDELAB_POLICIES/topology.so" mine.so
run 0 sweep mine.yaml --trace mine.csv --format canonical --vary policy.place=./mine.so,topology -o mine
[ "$(results mine | wc -l)" -eq 5 ] || fail "another policy: $(results mine | wc -l) results, wanted 5"
run 0 merge mine

# ---- a result cut short, one that is another, one that is gone ----
damaged=$(results grid | head -n 1)
head -c 9000 "$damaged" >cut.part && cp cut.part "$damaged"
run 65 merge grid -o cut.h5
absent cut.h5
other=$(results grid | tail -n 1)
cp byhand.h5 "$other"
cmp -s byhand.h5 "$other" && rm -f "$(results grid | sed -n 3p)"
run 0 sweep tiny --vary policy.place=topology,fgd --vary jobs.max_restarts=1:3:2 --seeds 1..2 -o grid
run 0 merge grid -o again.h5
cmp -s grid.h5 again.h5 || fail "another file after the repair"
rm "$other"
run 65 merge grid -o no.h5
says err "1 of 8 runs failed or are missing"
absent no.h5
run 0 merge grid -o part.h5 --partial

# ---- runs that fail ----
# By a signal that a sanitiser leaves alone.
crash=$TIDELAB_BUILD/tests/modules/crash.so
run 1 sweep --trace "$samples/canonical.csv" --format canonical --cluster 2x4 \
	--vary "policy.scheduler=pipeline,{use: $crash, how: abort}" --seeds 1..2 -o fails
says err "2 of 4 runs failed; the first, policy.scheduler={use: $crash, how: abort}"
says err "crash: signal 6"
[ "$(results fails | wc -l)" -eq 2 ] || fail "fails: the others were lost"
[ "$(find fails/logs -name '*.log' | wc -l)" -eq 2 ] || fail "fails: no logs"
run 65 merge fails
run 0 merge fails --partial

# ---- what is refused, before anything is made ----
refused() { # words, argument...
	words=$1
	shift
	run 64 sweep tiny "$@" -o refused
	says err "$words"
	absent refused
}
refused "never ends: got \`1:3:0\`" --vary jobs.max_restarts=1:3:0
refused "never ends" --vary jobs.max_restarts=3:1:1
refused "never ends" --vary jobs.max_restarts=1:3:-1
refused "10000001 values" --vary sharing.utilisation_median=0:1:0.0000001
refused "wanted one unit" --vary horizon=1d:3h:1d
refused "too many digits" --vary horizon=1:123456789012345:0.00000000001
refused "1e+06 cells" --vary jobs.max_restarts=1:1000:1 --vary queues[0].weight=1:1000:1
refused "runs in all" --vary jobs.max_restarts=1:1000:1 --seeds 1..1000
refused "unknown key \`jbos\`; did you mean \`jobs\`" --vary jbos=1,2
refused "did you mean \`backfill\`" --vary policy.backfil=none,easy
refused "wanted" --vary physics=full,ideel
refused "value is empty" --vary physics=full,,ideal
refused "twice" --vary physics=full,full
refused "given twice" --vary physics=full --vary physics=ideal
refused "seeds are no axis" --vary seed=1,2
refused "wanted KEY=VALUE" --vary physics
refused "wanted KEY=VALUE" --vary =full
refused "--seeds: got \`3..1\`" --seeds 3..1
refused "--seeds: got 2 twice" --seeds 1..3,2
refused "--seeds" --seeds ''
refused "--design: got \`gird\`" --design gird
refused "number of cells" --vary physics=full --design sobol:0
refused "--jobs" -j none
refused "--executor: got \`lokal\`" -x lokal
refused "goes with --executor slurm" --slurm-args x
refused "got \`a\`" --vary jobs.max_restarts=a,b
run 69 sweep tiny --vary policy.place=topolgy,fgd -o refused
says err "did you mean \`topology\`"
absent refused
run 64 sweep tiny --vary physics=full,ideal
says err "--output DIR is missing"
run 78 sweep tiny --tables jobs --vary physics=full,ideal -o refused
says err "wanted it among them"
absent refused

# ---- folders that are something else ----
run 73 sweep tiny --vary physics=full,ideal -o grid
says err "grid: holds another sweep"
says err "policy.place: topology, fgd"
run 73 sweep tiny --seeds 1..3 -o byhand.h5
says err "is a file, wanted the name of a folder"
mkdir full && touch full/notes
run 73 sweep tiny -o full
says err "holds \`notes\` and no sweep"
run 73 sweep tiny -o no/where
[ -d /proc/self ] && run 73 sweep tiny -o /proc/sweep
run 64 sweep tiny -o ''
run 66 merge full
run 66 merge nowhere
if [ "$(id -u)" -ne 0 ]; then
	mkdir locked && chmod a-w locked
	run 73 sweep tiny -o locked
	chmod u+w locked
fi
sed '1s/"version":1/"version":9/' grid/manifest >newer && cp newer grid/manifest
run 65 merge grid -o newer.h5
says err "a manifest of version 9"
run 65 sweep tiny --vary policy.place=topology,fgd --vary jobs.max_restarts=1:3:2 --seeds 1..2 -o grid

# ---- two at once; ^C keeps what is done ----
run 0 trace generate --span 30d --rate 200 -o long.csv
"$TIDELAB" sweep --trace long.csv --policy order=las,place=topology --set policy.backfill=conservative \
	--seeds 1..4 -j 1 -o slow >out1 2>err1 &
pid=$!
while kill -0 $pid 2>/dev/null && ! grep -q "state" slow/manifest 2>/dev/null; do
	sleep 0.1
done
if kill -0 $pid 2>/dev/null; then
	run 73 sweep --trace long.csv --policy order=las,place=topology --set policy.backfill=conservative \
		--seeds 1..4 -j 1 -o slow
	says err "is being swept just now, by process $pid"
	kill -TERM $pid
	wait $pid
	status=$?
	[ $status -eq 130 ] || fail "^C: exit $status, wanted 130: $(cat err1)"
	says err1 "the same command goes on"
	[ -z "$(find slow/runs -name '.*.partial')" ] || fail "^C: half a result was left"
fi

# ---- a full disk: as many as fit are kept, no more are started ----
(
	ulimit -f 40
	"$TIDELAB" sweep tiny --seeds 1..20 -j 1 -o disk >out 2>err </dev/null
	echo $? >status
)
[ "$(cat status)" -eq 74 ] || fail "a full disk: exit $(cat status), wanted 74: $(cat err)"
grep -q partial err && fail "a full disk: names what was not asked for: $(cat err)"
says err "no more were started" # but for the one that was under way by then
[ "$(grep -c '^failed:' err)" -le 2 ] || fail "a full disk: $(cat err)"
run 0 sweep tiny --seeds 1..20 -o disk
run 0 merge disk
finish
