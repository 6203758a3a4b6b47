#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# regress.sh BUILD_DIR [--update] [NAME...]: runs the scenario of every results/baselines/*.csv and
# puts it through `tidelab regress`; --update rewrites the baselines, so that a change is reviewed
# as a diff: a new one is its `# scenario:` line alone, then `make regress UPDATE=1`.
#
# A baseline is what `tidelab regress` reads, with lines for this script on top:
#   # scenario: workloads/scenarios/demo.yaml     (once; relative to the project's root)
#   # args: --seed 7 --set oversubscription=1.2   (optional; words are split at blanks)
#   # needs: ../shared/traces/philly/philly.csv   (optional; skipped with a reason where absent)
#   # tolerance: results/baselines/demo.margins   (optional; as in `tidelab regress --help`)
set -uf # no file names from a baseline's `[0]`
LC_ALL=C
export LC_ALL
[ $# -ge 1 ] || { echo "usage: regress.sh BUILD_DIR [--update] [NAME...]" >&2; exit 64; }
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
TIDELAB=$(cd "$1" && pwd)/tidelab || exit 1
shift
update=
if [ "${1:-}" = --update ]; then
	update=--update
	shift
fi
cd "$ROOT" || exit 1
[ -x "$TIDELAB" ] || { echo "regress: $TIDELAB is not there; \`make\` builds it" >&2; exit 1; }
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-regress.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

header() { # key, file
	sed -n "s/^# $1: *//p" "$2"
}

passed=0 failed=0 skipped=0
for baseline in $(find results/baselines -name '*.csv' | sort); do
	name=$(basename "$baseline" .csv)
	if [ $# -gt 0 ]; then
		case " $* " in *" $name "*) ;; *) continue ;; esac
	fi
	scenario=$(header scenario "$baseline" | head -n 1)
	if [ -z "$scenario" ]; then
		echo "FAIL $name: $baseline: no \`# scenario: FILE\` line"
		failed=$((failed + 1))
		continue
	fi
	absent=
	for path in $(header needs "$baseline"); do
		[ -e "$path" ] || absent="$absent $path"
	done
	if [ -n "$absent" ]; then
		echo "skip $name: not here:$absent"
		skipped=$((skipped + 1))
		continue
	fi
	tolerance=$(header tolerance "$baseline" | head -n 1)
	result=$scratch/$name.h5 log=$scratch/$name.log
	# shellcheck disable=SC2046 # the words of the line are the arguments
	if ! "$TIDELAB" run "$scenario" $(header args "$baseline") -o "$result" >"$log" 2>&1 </dev/null; then
		echo "FAIL $name: the run ended with an error"
		tail -n 20 "$log"
		failed=$((failed + 1))
	elif "$TIDELAB" regress "$baseline" "$result" $update ${tolerance:+--tolerance "$tolerance"} >"$log" 2>&1; then
		echo "ok   $name: $(tail -n 1 "$log")"
		passed=$((passed + 1))
	else
		echo "FAIL $name: $scenario moved"
		cat "$log"
		failed=$((failed + 1))
	fi
	rm -f "$result"
done

if [ $((passed + failed + skipped)) -eq 0 ]; then
	echo "regress: no baseline in results/baselines" >&2
	failed=1
fi
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ]
