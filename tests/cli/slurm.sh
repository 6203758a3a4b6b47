#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep through a real Slurm on this machine: the same bytes as on the local executor, taken up
# again after a kill, and clear words where Slurm, a job or a run goes wrong.
. "$ROOT/tests/cli/_lib.sh"

# Without Slurm it says so (its commands are looked for on PATH).
PATH=/nowhere "$TIDELAB" sweep tiny --vary physics=full,ideal -x slurm -o none >out 2>err </dev/null
status=$?
[ $status -eq 69 ] || fail "no Slurm: exit $status, wanted 69"
says err "scontrol"
says err "not installed"
absent none

cluster=$work/cluster
/bin/sh "$ROOT/tests/tools/slurm.sh" start "$cluster" >started 2>start.err
status=$?
if [ $status -eq 69 ]; then
	cat start.err
	echo "Slurm is not installed here, and cannot be"
	exit 77
elif [ $status -ne 0 ]; then
	cat start.err
	fail "the cluster does not start: exit $status"
	finish
fi
trap 'sh "$ROOT/tests/tools/slurm.sh" stop "$cluster"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export SLURM_CONF="$cluster/slurm.conf"

# ---- the same bytes; nothing of Slurm's stays; again nothing is submitted ----
mkdir "it's a \"folder\" at 100%"
cd "it's a \"folder\" at 100%" || exit 1
# shellcheck disable=SC2016 # a name with a dollar sign
cp "$ROOT/workloads/scenarios/tiny.yaml" 'my $cenario.yaml'
# shellcheck disable=SC2016
sed -i "s|\.\./\.\./traces|$ROOT/traces|" 'my $cenario.yaml'
# shellcheck disable=SC2016
set -- 'my $cenario.yaml' --vary policy.place=topology,fgd --vary 'queues=[{name: "it'"'"'s", weight: 2}],[{name: b, weight: 1}]' \
	--seeds 1..3
run 0 sweep "$@" -o local
run 0 sweep "$@" -x slurm --chunk 5 --slurm-args '--comment="two words" --mem=64' -o far
says out "12 runs (cells: 4, seeds: 3)"
absent far/slurm
run 0 merge local
run 0 merge far
cmp local.h5 far.h5 || fail "another merged file through Slurm"
before=$(squeue -h -t all -o %F | sort -u)
[ -n "$before" ] || fail "nothing went through Slurm"
run 0 sweep "$@" -x slurm -o far
[ "$(squeue -h -t all -o %F | sort -u)" = "$before" ] || fail "what was there was submitted again"

# ---- --print: a script that sh can read, and nothing done ----
run 0 sweep "$@" -x slurm --chunk 5 -j 2 --print -o printed
absent printed
says out "#!/bin/sh"
says out "# sbatch --ntasks=1 --parsable --job-name=tidelab-"
says out "--array=0-2%2"
sh -n out || fail "the printed script is none"
cd "$work" || exit 1

# ---- killed and taken up again: what waits or runs is adopted, nothing is submitted twice ----
set -- small --seeds 1..24
run 0 sweep "$@" -o undisturbed
run 0 merge undisturbed
newest() {
	squeue -h -t all -o %F | sort -n | tail -n 1
}
# Of the jobs after the one named: some wait, some do not.
partly_begun() { # job
	squeue -h -r -t all -o '%F %T' | awk -v job="$1" '$1 > job { known[$2 == "PENDING"]++ }
		END { exit !(known[0] && known[1]) }'
}
# Starts a sweep, and returns once some of it runs and some waits.
under_way() { # folder
	last=$(newest)
	"$TIDELAB" sweep small --seeds 1..24 -x slurm --chunk 1 -o "$1" >out1 2>err1 </dev/null &
	pid=$!
	tries=0
	until partly_begun "$last" || [ $tries -ge 200 ]; do
		tries=$((tries + 1))
		sleep 0.05
	done
	[ $tries -lt 200 ] || fail "$1: never under way: $(cat err1)"
}
under_way killed
kill -KILL $pid
wait $pid 2>/dev/null
before=$(newest)
run 0 sweep "$@" -x slurm -o killed
[ "$(newest)" -eq "$before" ] || fail "what was under way was submitted again"
run 0 merge killed
cmp killed.h5 undisturbed.h5 || fail "another merged file after the kill"
absent killed/slurm

# ---- ^C: its jobs are cancelled, and the rest is done later ----
under_way stopped
kill -TERM $pid
wait $pid
status=$?
[ $status -eq 130 ] || fail "^C: exit $status, wanted 130: $(cat err1)"
says err1 "the same command goes on"
tries=0
while [ -n "$(squeue -h)" ] && [ $tries -lt 200 ]; do
	tries=$((tries + 1))
	sleep 0.1
done
[ -z "$(squeue -h)" ] || fail "^C: jobs were left: $(squeue -h)"
run 0 sweep "$@" -x slurm -o stopped
run 0 merge stopped
cmp stopped.h5 undisturbed.h5 || fail "another merged file after ^C"

# ---- jobs struck down by somebody else; a run that fails says why ----
under_way struck
scancel --state=PENDING --user="$(id -un)"
wait $pid
status=$?
[ $status -eq 70 ] || fail "jobs that were cancelled: exit $status, wanted 70: $(cat err1)"
says err1 "Slurm ended job"
says err1 "CANCELLED"
run 0 sweep "$@" -x slurm -o struck
run 0 merge struck
cmp struck.h5 undisturbed.h5 || fail "another merged file after the cancelled jobs"
crash=$TIDELAB_BUILD/tests/modules/crash.so
run 1 sweep --trace "$samples/canonical.csv" --format canonical --cluster 2x4 \
	--vary "policy.scheduler=pipeline,$crash" --seeds 1..2 -x slurm -o fails
says err "2 of 4 runs failed; the first, policy.scheduler=$crash"
says err "of policy \`crash\`"

# ---- what is refused ----
run 69 sweep tiny --seeds 1..2 -x slurm --slurm-args '--partition=nowhere' -o refused
says err "invalid partition"
run 64 sweep tiny --seeds 1..2 -x slurm --slurm-args "--comment='open" -o refused
says err "--slurm-args: got"
run 64 sweep tiny --seeds 1..2 -x slurm --slurm-args nowhere -o refused
says err "wanted options of sbatch"
run 64 sweep tiny --seeds 1..2 -x slurm --chunk 0 -o refused
says err "--chunk: got \`0\`"
run 64 sweep tiny --seeds 1..2 --chunk 2 -o refused
says err "goes with --executor slurm"

# ---- the cluster itself ends whole ----
sh "$ROOT/tests/tools/slurm.sh" stop "$cluster" || fail "the cluster does not end"
absent "$cluster"
trap 'rm -rf "$work"' EXIT
finish
