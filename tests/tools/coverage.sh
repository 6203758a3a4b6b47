#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# coverage.sh BUILD_DIR: line coverage of the sources, by folder, from the counters that a test run of
# the coverage flavour left. --files before BUILD_DIR lists every file too.
set -u
files=no
if [ "${1:-}" = --files ]; then
	files=yes
	shift
fi
[ $# -ge 1 ] || { echo "usage: coverage.sh [--files] BUILD_DIR" >&2; exit 64; }
cd "$(dirname "$0")/../.." || exit 1
build=$1
command -v gcov >/dev/null 2>&1 || { echo "coverage: gcov (part of gcc) is not installed" >&2; exit 69; }
find "$build/obj" -name '*.gcda' | grep -q . || { echo "coverage: no counters in $build/obj; \`make coverage\` makes them" >&2; exit 1; }

# Of each object only the block of its own source counts: headers would be counted many times.
find "$build/obj" -name '*.gcno' ! -path '*/obj/tests/*' ! -path '*/obj/pic/tests/*' | sort | while read -r notes; do
	source=${notes#"$build/obj/"}
	source=${source#pic/}
	source=${source%.gcno}.c
	gcov -n -o "$notes" "$source" 2>/dev/null | awk -v source="$source" '
		/^File / { own = index($0, source "\x27") > 0; next }
		own && /^Lines executed:/ {
			split($0, part, /[:% ]+/)
			print source, part[3], part[5]
			exit
		}
		own && /^No executable lines/ { exit }'
done | awk -v files="$files" '
	{
		lines = $3; hit = int(lines * $2 / 100 + 0.5)
		folder = $1; sub(/\/[^\/]*$/, "", folder)
		total[folder] += lines; covered[folder] += hit; all += lines; got += hit
		if (!(folder in seen)) { seen[folder] = 1; order[++n] = folder }
		if (files == "yes") printf "  %6.1f %%  %6d lines  %s\n", $2, lines, $1
	}
	END {
		for (i = 1; i <= n; i++) {
			f = order[i]
			printf "%6.1f %%  %6d of %6d lines  %s\n", 100 * covered[f] / total[f], covered[f], total[f], f
		}
		if (all) printf "%6.1f %%  %6d of %6d lines  everything\n", 100 * got / all, got, all
	}'
