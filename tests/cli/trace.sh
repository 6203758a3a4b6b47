#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# trace inspect, lint, convert, generate: with filters, on dirt, on what is no trace.
. "$ROOT/tests/cli/_lib.sh"

run 0 trace inspect "$samples/day-philly.csv"
grep -q "GPU time [0-9.]* gpu.h$" out || fail "GPU time has no unit of the summary"
grep -q "  1 GPU, " out || fail "one GPU is not in the singular"
grep -q " 1 GPUs" out && fail "one GPU in the plural"
silent err
says out "rows: 484 read, 484 kept"
run 0 trace inspect "$samples/day-kalos.csv.gz" --json --top 3
says out '"jobs": 501'
[ "$(grep -c '"count"' out)" -eq 3 ] || fail "--top 3 shows $(grep -c '"count"' out)"
run 0 trace inspect "$samples/day-philly.csv" --set limit=10 --set min_gpus=1
says out "jobs: 10 over"

for file in "$samples"/dirty*; do
	run 0 trace lint "$file"
	[ -s out ] || fail "nothing said of $file"
	run 65 trace lint "$file" --strict
	run 0 trace lint "$file" --json
	if command -v python3 >/dev/null; then
		python3 -c 'import json; json.load(open("out"))' || fail "lint --json of $file"
	fi
done

# What is merely remarkable is no dirt.
for file in "$samples"/day-* "$samples"/canonical.csv; do
	run 0 trace lint "$file" --strict
done
cat >facts.csv <<'END'
id,submit_s,duration_s,gpus
a,0,60,0
b,1,0,0.5
END
run 0 trace lint facts.csv --strict
says out "note  zero-gpu"
says out "note  run-time-zero"
run 0 trace lint facts.csv --json
says out '"class": "zero-gpu", "severity": "note"'
echo 'b,0.5,1,1' >>facts.csv
run 65 trace lint facts.csv --strict
says out "dirt  backward-time"
says out "dirt  duplicate-id"
says err "2 classes of dirt"

# Converted, and converted again: the same.
run 0 trace convert "$samples/day-kalos.csv.gz" -o once.csv
run 0 trace convert once.csv -o twice.csv
cmp -s once.csv twice.csv || fail "conversion is not stable"
run 73 trace convert once.csv -o twice.csv
run 0 trace convert once.csv -o twice.csv --force
run 0 trace convert once.csv
cmp -s out once.csv || fail "to stdout it is another"
run 73 trace convert once.csv -o no/such/folder.csv

# Generated: the same from the same seed, in one go or through the reader.
run 0 trace generate --preset pai --span 1d --seed 3 -o a.csv
run 0 trace generate --preset pai --span 1d --seed 3
cmp -s out a.csv || fail "generation is not repeatable"
run 0 trace generate --preset pai --span 1d --seed 4
cmp -s out a.csv && fail "the seed changes nothing"
run 73 trace generate -o a.csv
run 0 trace inspect a.csv
run 0 trace lint a.csv

run 66 trace inspect missing.csv
run 66 trace lint missing.csv
run 66 trace convert missing.csv -o x.csv
: >empty.csv
for verb in inspect lint convert; do
	run 65 trace $verb empty.csv
	run 65 trace $verb "$TIDELAB"
done
absent x.csv
for part in *.part; do
	absent "$part"
done
finish
