#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh BUILD_DIR: runs every benchmark program of a flavour, one at a time. Each prints its own
# figures; the machine they are of is stated first.
set -u
[ $# -ge 1 ] || { echo "usage: bench.sh BUILD_DIR" >&2; exit 64; }
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
TIDELAB_BUILD=$(cd "$1" && pwd) || exit 1
TIDELAB=$TIDELAB_BUILD/tidelab
TIDELAB_POLICIES=$TIDELAB_BUILD/policies
export ROOT TIDELAB TIDELAB_BUILD TIDELAB_POLICIES
cd "$ROOT" || exit 1

cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
echo "# machine: ${cpu:-unknown}, $(getconf _NPROCESSORS_ONLN) cores, $(uname -sm), $(${CC:-cc} --version | head -n 1)"
failed=0 ran=0
for program in "$TIDELAB_BUILD"/tests/bench_*; do
	[ -x "$program" ] || continue
	echo
	echo "## $(basename "$program")"
	ran=$((ran + 1))
	"$program" </dev/null || { echo "$(basename "$program"): status $?"; failed=$((failed + 1)); }
done
[ "$ran" -gt 0 ] || { echo "bench: no benchmark program in $TIDELAB_BUILD/tests" >&2; exit 1; }
echo
echo "$ran ran, $failed failed"
[ "$failed" -eq 0 ]
