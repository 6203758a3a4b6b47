#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# hostile.sh BUILD_DIR [SCENARIO]: runs a small scenario of the hostile flavour again and again, each
# time failing a later allocation, until a run gets through without meeting it. A run that met it must
# end with exit code 71 and leave no file; the one that gets through must exit 0 and leave its result.
set -u
[ $# -ge 1 ] || { echo "usage: hostile.sh BUILD_DIR [SCENARIO]" >&2; exit 64; }
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
tidelab=$(cd "$1" && pwd)/tidelab || exit 1
scenario=${2:-workloads/scenarios/tiny.yaml}
cd "$ROOT" || exit 1
[ -x "$tidelab" ] || { echo "hostile: $tidelab is not there" >&2; exit 1; }
[ -f "$scenario" ] || { echo "hostile: $scenario is not there" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-hostile.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

passed=0 failed=0 n=1 through=no
while [ $n -le 100000000 ]; do
	mkdir "$scratch/out"
	TL_HOSTILE_FAIL_AT=$n timeout 120 "$tidelab" run "$scenario" -o "$scratch/out/r.h5" >"$scratch/log" 2>&1 </dev/null
	status=$?
	left=$(find "$scratch/out" -type f | wc -l)
	if [ $status -eq 0 ] && [ -s "$scratch/out/r.h5" ]; then
		through=yes
		passed=$((passed + 1))
		echo "ok   allocation $n is never reached: the run got through"
		break
	elif [ $status -eq 71 ] && [ "$left" -eq 0 ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAIL allocation $n: exit $status, wanted 71; $left files left, wanted none"
		tail -n 5 "$scratch/log"
	fi
	rm -rf "$scratch/out"
	# Each of the first, then ever fewer.
	if [ $n -lt 64 ]; then n=$((n + 1)); else n=$((n + n / 6)); fi
done
[ $through = yes ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
