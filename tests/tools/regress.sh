#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# regress.sh BUILD_DIR [--update] [NAME...]: runs the scenario of every results/baselines/*.csv and
# compares its summary with the one committed there; prints what moved.
#
# A baseline is a text file:
#   # scenario: workloads/scenarios/demo.yaml     (once; relative to the project's root)
#   # args: --seed 7 --set oversubscription=1.2   (optional; words are split at blanks)
#   # needs: ../shared/traces/philly/philly.csv   (optional; skipped with a reason where absent)
#   # tolerance: wait_* 1e-6                      (optional, any number: shell pattern, relative)
#   # ignore: wall_*                              (optional, any number: shell pattern)
#   metric,value,unit
#   jobs_completed,412,1
# Values are compared exactly as numbers where both are integers, else to a relative 1e-9 (two
# machines' libm may differ in the last bit). A metric that came or went has moved too. --update
# rewrites the values and keeps the `#` lines, so that a change is reviewed as a diff: a new
# baseline is its `# scenario:` line alone, then `make regress UPDATE=1`.
set -uf # no file names from a baseline's `[0]`
LC_ALL=C
export LC_ALL
[ $# -ge 1 ] || { echo "usage: regress.sh BUILD_DIR [--update] [NAME...]" >&2; exit 64; }
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
TIDELAB=$(cd "$1" && pwd)/tidelab || exit 1
shift
update=no
if [ "${1:-}" = --update ]; then
	update=yes
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

# Prints a row for each metric that moved; status 1 when any did.
compare() { # baseline, now
	awk -F, -v OFS=, '
	function matches(name, pattern) { # shell pattern with * alone
		gsub(/[.+?()|^$\[\]{}\\]/, "\\\\&", pattern)
		gsub(/\*/, ".*", pattern)
		return name ~ ("^" pattern "$")
	}
	function ignored(name,   i) {
		for (i = 1; i <= ignores; i++) if (matches(name, ignore[i])) return 1
		return 0
	}
	function tolerance(name,   i) {
		for (i = 1; i <= bounds; i++) if (matches(name, bound[i])) return size[i]
		return -1
	}
	function number(text) { return text ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/ }
	function integer(text) { return text ~ /^[-+]?[0-9]+$/ }
	function same(name, a, b,   t, scale, gap) {
		if (a == "" b) return 1
		t = tolerance(name)
		if (!number(a) || !number(b)) return 0
		if (t < 0 && integer(a) && integer(b)) return 0
		if (t < 0) t = 1e-9
		scale = a < 0 ? -a : a + 0
		if ((b < 0 ? -b : b + 0) > scale) scale = b < 0 ? -b : b + 0
		gap = a - b; if (gap < 0) gap = -gap
		return gap <= t * scale
	}
	function row(name, a, b,   change) {
		if (!moved++) printf "  %-36s %20s %20s %12s\n", "metric", "baseline", "now", "change"
		change = "-"
		if (number(a) && number(b) && a + 0 != 0) change = sprintf("%+.4g %%", 100 * (b - a) / (a < 0 ? -a : a))
		printf "  %-36s %20s %20s %12s\n", name, a, b, change
	}
	{ sub(/\r$/, "") }
	FNR == 1 { file++ }
	file == 1 && /^# tolerance: / { split(substr($0, 14), w, " "); bound[++bounds] = w[1]; size[bounds] = w[2] + 0; next }
	file == 1 && /^# ignore: / { split(substr($0, 11), w, " "); ignore[++ignores] = w[1]; next }
	/^#/ || NF < 2 || $1 == "metric" { next }
	ignored($1) { next }
	file == 1 { old[$1] = $2; unit[$1] = $3; order[++n] = $1; next }
	{
		seen[$1] = 1
		if (!($1 in old)) row($1, "absent", $2)
		else if (!same($1, old[$1], $2)) row($1, old[$1], $2)
		else if (unit[$1] != $3) row($1 " (unit)", unit[$1], $3)
	}
	END {
		for (i = 1; i <= n; i++) if (!(order[i] in seen)) row(order[i], old[order[i]], "absent")
		exit moved > 0
	}' "$1" "$2"
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
	result=$scratch/$name.h5 now=$scratch/$name.csv log=$scratch/$name.log
	# shellcheck disable=SC2046 # the words of the line are the arguments
	if ! "$TIDELAB" run "$scenario" $(header args "$baseline") -o "$result" >"$log" 2>&1 </dev/null ||
		! "$TIDELAB" summary "$result" --csv >"$now" 2>>"$log"; then
		echo "FAIL $name: the run ended with an error"
		tail -n 20 "$log"
		failed=$((failed + 1))
		continue
	fi
	rm -f "$result"
	if moved=$(compare "$baseline" "$now"); then
		if ! grep -q '^[^#]' "$baseline" && [ $update = no ]; then
			echo "FAIL $name: $baseline holds no value; \`make regress UPDATE=1\` writes it"
			failed=$((failed + 1))
			continue
		fi
		echo "ok   $name ($(grep -c '^[^#]' "$now") lines)"
		passed=$((passed + 1))
	elif [ $update = yes ]; then
		echo "new  $name"
		grep -q '^[^#]' "$baseline" && echo "$moved"
		{ grep '^#' "$baseline"; cat "$now"; } >"$scratch/new" && cp "$scratch/new" "$baseline"
		passed=$((passed + 1))
	else
		echo "FAIL $name: $scenario moved"
		echo "$moved"
		failed=$((failed + 1))
	fi
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
