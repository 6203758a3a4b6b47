#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# hostile.sh BUILD_DIR [SCENARIO...]: runs small scenarios of the hostile flavour, and then the lab's
# commands on their results, again and again, each time failing a later allocation, until one gets
# through without meeting it. One that met it must end with exit code 71 and leave no file; the one
# that gets through must exit 0 and leave its result.
set -u
[ $# -ge 1 ] || { echo "usage: hostile.sh BUILD_DIR [SCENARIO...]" >&2; exit 64; }
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
tidelab=$(cd "$1" && pwd)/tidelab || exit 1
shift
cd "$ROOT" || exit 1
[ -x "$tidelab" ] || { echo "hostile: $tidelab is not there" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-hostile.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0

# lose WHAT RESULT ARGUMENT...: the command makes out/RESULT (empty: it makes nothing).
lose() {
	what=$1 result=$2 n=1 through=no
	shift 2
	while [ $n -le 100000000 ]; do
		mkdir "$scratch/out"
		TL_HOSTILE_FAIL_AT=$n timeout 120 "$tidelab" "$@" >"$scratch/log" 2>&1 </dev/null
		status=$?
		left=$(find "$scratch/out" -type f | wc -l)
		if [ $status -eq 0 ] && { [ -z "$result" ] || [ -s "$scratch/out/$result" ]; }; then
			through=yes
			passed=$((passed + 1))
			echo "ok   $what: allocation $n is never reached"
			break
		elif [ $status -eq 71 ] && [ "$left" -eq 0 ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAIL $what, allocation $n: exit $status, wanted 71; $left files left, wanted none"
			tail -n 5 "$scratch/log"
		fi
		rm -rf "$scratch/out"
		# Each of the first, then ever fewer.
		if [ $n -lt 64 ]; then n=$((n + 1)); else n=$((n + n / 6)); fi
	done
	[ $through = yes ] || failed=$((failed + 1))
	rm -rf "$scratch/out"
}

# Those that are fuzzed have all that a run may have; they name the samples from the root.
if [ $# -eq 0 ]; then
	mkdir "$scratch/scenarios"
	for scenario in tests/fuzz/corpus/fuzz_trial/*; do
		sed "s|traces/samples|$ROOT/&|" "$scenario" >"$scratch/scenarios/${scenario##*/}"
	done
	set -- workloads/scenarios/tiny.yaml "$scratch"/scenarios/*
fi
for scenario; do
	lose "run ${scenario##*/}" r.h5 run "$scenario" -o "$scratch/out/r.h5"
done

if ! "$tidelab" sweep tiny --vary policy.place=first-fit,fgd --seeds 1..2 -o "$scratch/sweep" >"$scratch/log" 2>&1 ||
	! "$tidelab" merge "$scratch/sweep" -o "$scratch/sweep.h5" >"$scratch/log" 2>&1 ||
	! "$tidelab" regress --update "$scratch/base.csv" "$scratch/sweep.h5" --where policy.place=fgd >"$scratch/log" 2>&1; then
	failed=$((failed + 1))
	echo "FAIL what the lab's commands are given"
	tail -n 5 "$scratch/log"
fi
lose merge m.h5 merge "$scratch/sweep" -o "$scratch/out/m.h5"
lose compare "" compare "$scratch/sweep.h5"
lose regress "" regress "$scratch/base.csv" "$scratch/sweep.h5" --where policy.place=fgd
lose export "" export "$scratch/sweep.h5" --format csv --table metrics
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
