#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh BUILD_DIR SCENARIO OUT_DIR [--figures]: runs one scenario, prints its summary, draws
# its pictures and reports; with --figures draws those of the result that is there already.
set -eu
[ $# -ge 3 ] || { echo "usage: demo.sh BUILD_DIR SCENARIO OUT_DIR [--figures]" >&2; exit 64; }
tidelab=$1/tidelab scenario=$2 out=$3 only=${4:-}
result=$out/$(basename "$scenario" .yaml).h5
[ -x "$tidelab" ] || { echo "demo: $tidelab is not there; \`make\` builds it" >&2; exit 1; }
mkdir -p "$out"
if [ "$only" != --figures ] || [ ! -f "$result" ]; then
	"$tidelab" run "$scenario" -o "$result" --force
	"$tidelab" summary "$result"
fi
"$tidelab" figures "$result" -o "$out/figures" >/dev/null
"$tidelab" report "$result" -o "$out/report" --force >/dev/null
echo
echo "result:   $result"
for picture in "$out"/figures/*; do
	[ -f "$picture" ] && echo "picture:  $picture"
done
echo "report:   $out/report/index.html"
echo "summary:  $tidelab summary $result"
