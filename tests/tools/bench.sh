#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bench.sh BUILD_DIR: runs every benchmark of a flavour, one at a time. Each prints its own
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
# What a program is given; where a file of it is absent, it is skipped.
arguments() {
	case $1 in
	bench_place) echo ../shared/traces/openb/openb_node_list_gpu_node.csv \
		../shared/traces/openb/openb_pod_list_multigpu20.csv "$TIDELAB_POLICIES/fgd.so" ;;
	esac
}

failed=0 ran=0 skipped=0
for program in "$TIDELAB_BUILD"/tests/bench_*; do
	[ -x "$program" ] || continue
	echo
	echo "## $(basename "$program")"
	absent=
	for file in $(arguments "$(basename "$program")"); do
		[ -e "$file" ] || absent="$absent $file"
	done
	if [ -n "$absent" ]; then
		echo "skipped, not here:$absent"
		skipped=$((skipped + 1))
		continue
	fi
	ran=$((ran + 1))
	# shellcheck disable=SC2046 # a list
	"$program" $(arguments "$(basename "$program")") </dev/null || { echo "$(basename "$program"): status $?"; failed=$((failed + 1)); }
done
echo
echo "## bench_sweep"
ran=$((ran + 1))
sh tests/tools/bench_sweep.sh </dev/null || { echo "bench_sweep: status $?"; failed=$((failed + 1)); }
[ $((ran + skipped)) -gt 0 ] || { echo "bench: no benchmark program in $TIDELAB_BUILD/tests" >&2; exit 1; }
echo
echo "$ran ran, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
