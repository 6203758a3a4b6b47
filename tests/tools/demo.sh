#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh BUILD_DIR SCENARIO OUT_DIR [--figures]: runs one scenario, draws its pictures, reports,
# and says where all that is; with --figures of the result that is there already.
set -eu
[ $# -ge 3 ] || { echo "usage: demo.sh BUILD_DIR SCENARIO OUT_DIR [--figures]" >&2; exit 64; }
tidelab=$1/tidelab scenario=$2 out=$3 only=${4:-}
result=$out/$(basename "$scenario" .yaml).h5
[ -x "$tidelab" ] || { echo "demo: $tidelab is not there; \`make\` builds it" >&2; exit 1; }
mkdir -p "$out"
if [ "$only" != --figures ] || [ ! -f "$result" ]; then
	"$tidelab" run "$scenario" -o "$result" --force >/dev/null
fi
# What could not be drawn of this result is told by `tidelab figures` alone.
"$tidelab" figures "$result" -o "$out/figures" >"$out/figures.log" 2>&1 || { cat "$out/figures.log" >&2; exit 1; }
"$tidelab" report "$result" -o "$out/report" --force >/dev/null
pictures=$(find "$out/figures" -name '*.png' | wc -l)
cat <<END

report:    $out/report/index.html (open it in a browser: what happened, what it cost, what to do)
pictures:  $out/figures/ ($pictures, as PNG and SVG)
result:    $result (HDF5)

next:      $tidelab summary $result
           $tidelab run demo --set policy.place=fgd -o fgd.h5
           README.md goes on from here
END
