#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# test_h5py.sh [FILE]: h5py and pandas read every table of a result file without us. Without FILE short
# runs make some, which have every table there is between them.
set -u
ROOT=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd)}
python=$(sh "$ROOT/tests/tools/python.sh" h5py pandas) || {
	echo "no python3 with h5py and pandas"
	exit 77
}
file=${1:-}
if [ -z "$file" ]; then
	file=${TMPDIR:-/tmp}/h5py-$$.h5
	trap 'rm -f "$file"' EXIT
	for scenario in demo service; do
		"$TIDELAB" run "$scenario" --tables all -o "$file" --force >/dev/null 2>&1 || exit 1
		"$python" "$ROOT/tests/tools/read_with_h5py.py" "$file" || exit 1
		# Any table in three lines, as a user would.
		"$python" - "$file" <<'END' || exit 1
import sys, h5py, pandas
file = h5py.File(sys.argv[1])
tables = []
file.visititems(lambda name, item: tables.append(name) if hasattr(item, "dtype") else None)
assert {"jobs", "ledger", "summary", "placements", "cluster/timeline"} <= set(tables), tables
for name in tables:
    frame = pandas.DataFrame(file[name][:]).apply(lambda c: c.str.decode("utf-8") if c.dtype == object else c)
    assert len(frame) == len(file[name]) and list(frame.columns) == list(file[name].dtype.names), name
    for column in frame.select_dtypes("object"):
        assert frame[column].map(type).eq(str).all(), (name, column)
END
	done
fi
"$python" "$ROOT/tests/tools/read_with_h5py.py" "$file" || exit 1

# And the check can fail: on a file cut short.
cut=${TMPDIR:-/tmp}/h5py-cut-$$
head -c 2000 "$file" >"$cut"
if "$python" "$ROOT/tests/tools/read_with_h5py.py" "$cut" >/dev/null 2>&1; then
	echo "a file cut short was accepted"
	rm -f "$cut"
	exit 1
fi
rm -f "$cut"

# A sweep's file too, in three lines.
if [ $# -eq 0 ]; then
	sweep=${TMPDIR:-/tmp}/h5py-sweep-$$
	trap 'rm -rf "$file" "$sweep" "$sweep.h5"' EXIT
	"$TIDELAB" sweep tiny --vary oversubscription=1:1.3:0.1 --vary policy.place=topology,fgd --seeds 1..2 -o "$sweep" &&
		"$TIDELAB" merge "$sweep" && "$python" "$ROOT/tests/tools/read_with_h5py.py" "$sweep.h5" || exit 1
	"$python" -c '
import sys, h5py, pandas
runs = pandas.DataFrame(h5py.File(sys.argv[1])["metrics"][:])
means = runs[runs.metric == b"wait_mean_s"].groupby(["oversubscription", "policy.place"]).value.mean()
assert list(means.index.levels[0]) == [1, 1.1, 1.2, 1.3] and len(means) == 8 and means.notna().all(), means
' "$sweep.h5" || exit 1
fi
