#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# test_h5py.sh [FILE]: h5py and pandas read every table of a result file without us. Without FILE a
# short run makes one.
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
	"$TIDELAB" run --cluster a100-4x8 --trace "$ROOT/traces/samples/canonical.csv" -o "$file" >/dev/null || exit 1
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
