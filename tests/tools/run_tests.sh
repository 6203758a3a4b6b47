#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run_tests.sh BUILD_DIR [NAME...]: runs every Criterion program of a flavour and every script of
# tests/cli and tests/golden (only those whose name contains a NAME, when any is given), from the
# project's root, and closes with `N passed, N failed` (`, N skipped` when any).
#
# What a test finds in its environment: ROOT (the project), TIDELAB (the binary), TIDELAB_BUILD
# (BUILD_DIR), TIDELAB_POLICIES, TMPDIR (a folder of its own, removed afterwards). All are
# absolute. A script exits 0 (passed), 77 (skipped; its last line says why) or else (failed).
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
cd "$ROOT" || exit 1
[ $# -ge 1 ] || { echo "usage: run_tests.sh BUILD_DIR [NAME...]" >&2; exit 64; }
build=$1
shift
TIDELAB_BUILD=$(cd "$build" && pwd) || exit 1
TIDELAB=$TIDELAB_BUILD/tidelab
TIDELAB_POLICIES=$TIDELAB_BUILD/policies
LC_ALL=C.UTF-8
ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:allocator_may_return_null=1}
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$ROOT/tests/tools/leaks.supp:print_suppressions=0}
export LSAN_OPTIONS
export ROOT TIDELAB TIDELAB_BUILD TIDELAB_POLICIES LC_ALL ASAN_OPTIONS UBSAN_OPTIONS
unset DISPLAY # nothing opens a window

scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-tests.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
# timeout leads a process group of its own, which ^C does not reach.
trap 'kill "$(cat "$scratch/pid")" 2>/dev/null; exit 130' INT TERM
logs=$TIDELAB_BUILD/tests/logs
mkdir -p "$logs"

passed=0 failed=0 skipped=0

wanted() { # name, wanted names
	name=$1
	shift
	[ $# -eq 0 ] && return 0
	for part in "$@"; do
		case $name in *"$part"*) return 0 ;; esac
	done
	return 1
}

# Runs one command with a TMPDIR of its own; its output goes to a log, through a pipe, so that
# a test that limits the size of files limits its own alone.
run() { # name, log, command...
	name=$1 log=$2
	shift 2
	mkdir -p "$scratch/$name"
	{
		# shellcheck disable=SC2016 # expanded by the inner shell
		TMPDIR=$scratch/$name sh -c 'echo $$ >"$1"; shift; exec timeout -k 10 600 "$@"' sh \
			"$scratch/pid" "$@" 2>&1 </dev/null
		echo $? >"$scratch/status"
	} | cat >"$log"
	rm -rf "${scratch:?}/$name"
	return "$(cat "$scratch/status")"
}

number() { # label, line of the synthesis
	echo "$2" | sed -n "s/.*$1: \([0-9][0-9]*\).*/\1/p"
}

program() { # folder name
	log=$logs/$1.log
	began=$(date +%s)
	run "$1" "$log" "$TIDELAB_BUILD/tests/$1" --color=never --verbose=1 --timeout 300
	status=$?
	synthesis=$(grep 'Synthesis: Tested:' "$log" | tail -n 1)
	if [ -z "$synthesis" ]; then
		echo "FAIL $1: ended with status $status and no summary; the end of $log:"
		tail -n 20 "$log"
		failed=$((failed + 1))
		return
	fi
	good=$(number Passing "$synthesis")
	bad=$(number Failing "$synthesis") # Criterion counts a crash as a failure too
	crashing=$(number Crashing "$synthesis")
	left=$(grep -c '^\[SKIP\]' "$log")
	[ "$crashing" -gt "$bad" ] && bad=$crashing
	# A sanitiser or an atexit handler may fail the program after its last test.
	[ "$status" -ne 0 ] && [ "$bad" -eq 0 ] && bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	skipped=$((skipped + left))
	echo "$1: $good passed, $bad failed, $left skipped ($(($(date +%s) - began)) s)"
	grep '^\[SKIP\]' "$log"
	if [ "$bad" -gt 0 ]; then
		grep -a -e '^\[----\]' -e '^\[FAIL\]' -e '^\[ERR' -e 'runtime error:' -e 'ERROR:' -e SUMMARY: "$log" |
			grep -v '^\[----\] Criterion v'
		echo "(all of it: $log)"
	fi
}

script() { # path
	name=$(echo "${1#tests/}" | tr '/' '-')
	log=$logs/${name%.sh}.log
	run "$name" "$log" sh "$1"
	status=$?
	case $status in
	0)
		echo "ok   $1"
		passed=$((passed + 1))
		;;
	77)
		echo "skip $1: $(tail -n 1 "$log")"
		skipped=$((skipped + 1))
		;;
	*)
		echo "FAIL $1: status $status"
		tail -n 40 "$log"
		failed=$((failed + 1))
		;;
	esac
}

for folder in unit property analytic abi; do
	[ -x "$TIDELAB_BUILD/tests/$folder" ] || continue
	wanted "$folder" "$@" && program "$folder"
done
for path in tests/cli/*.sh tests/golden/*.sh; do
	[ -f "$path" ] || continue
	case $(basename "$path") in _*) continue ;; esac # sourced by others, not a test
	wanted "$path" "$@" || continue
	if [ ! -x "$TIDELAB" ]; then
		echo "FAIL $path: $TIDELAB is not there"
		failed=$((failed + 1))
		continue
	fi
	script "$path"
done

if [ $((passed + failed)) -eq 0 ]; then
	echo "no test ran" >&2
	failed=1
fi
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
