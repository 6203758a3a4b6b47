#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The summary for people, as JSON and as CSV: the same numbers; files that are no results.
. "$ROOT/tests/cli/_lib.sh"

run 0 run tiny -o a.h5
run 0 summary a.h5
silent err
for title in Jobs Waiting Completion Cluster "GPU time" Simulator; do
	says out "$title"
done
grep -q '^Other' out && fail "metrics without a group: $(sed -n '/^Other/,$p' out)"
run 0 summary --csv a.h5
[ "$(head -n 1 out)" = "metric,value,unit" ] || fail "no CSV header"
cp out csv
run 0 summary --json a.h5
cp out json
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail "JSON and CSV differ"
import csv, json, math
table = json.load(open("json"))
rows = list(csv.DictReader(open("csv")))
assert len(rows) == len(table) > 30, (len(rows), len(table))
for row in rows:
    cell = table[row["metric"]]
    value = float(row["value"])
    assert cell["unit"] == row["unit"]
    assert (cell["value"] is None) if math.isnan(value) else cell["value"] == value, row
assert table["jobs"]["value"] == 40
END
fi
run 0 run tiny -o none.h5 --tables jobs
run 65 summary none.h5
says err "no /summary"
run 66 summary missing.h5
run 66 summary .
: >empty.h5
run 65 summary empty.h5
head -c 1000 a.h5 >cut.h5
run 65 summary cut.h5
printf 'jobs,1\n' >text.h5
run 65 summary text.h5
finish
