#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# fuzz.sh BUILD_DIR SECONDS: a bounded run of every fuzz target, seeded with tests/fuzz/corpus/<target>
# (committed, read only) on top of what earlier runs found (BUILD_DIR/corpus). A finding is kept under
# BUILD_DIR/findings and fails the run.
set -u
[ $# -ge 2 ] || { echo "usage: fuzz.sh BUILD_DIR SECONDS" >&2; exit 64; }
build=$1 seconds=$2
cd "$(dirname "$0")/../.." || exit 1
mkdir -p "$build/findings"
# A target writes its input to a file and reads that: thousands a second, in memory if may be.
for parent in "${TMPDIR:-}" /dev/shm /tmp; do
	[ -n "$parent" ] && [ -w "$parent" ] && break
done
TMPDIR=$(mktemp -d "$parent/tidelab-fuzz.XXXXXX") || exit 1
TIDELAB_POLICY_PATH=$(cd "$build" && pwd)/policies
export TMPDIR TIDELAB_POLICY_PATH
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0
for program in "$build"/fuzz/fuzz_*; do
	[ -x "$program" ] || continue
	name=$(basename "$program")
	corpus=$build/corpus/$name
	mkdir -p "$corpus"
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	log=$build/$name.log
	# shellcheck disable=SC2086 # no seeds: no argument
	if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/findings/$name-" "$corpus" $seeds >"$log" 2>&1 </dev/null; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		echo "ok   $name: ${runs:-?} inputs in $seconds s, none bad"
		passed=$((passed + 1))
	else
		echo "FAIL $name; the end of $log:"
		tail -n 30 "$log"
		failed=$((failed + 1))
	fi
done
[ $((passed + failed)) -gt 0 ] || { echo "fuzz: no target in tests/fuzz" >&2; exit 1; }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
