#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A result for other tools: each form is read by someone else, and says what the result says.
. "$ROOT/tests/cli/_lib.sh"

run 0 run demo -o a.h5 --tables all --set policy.preempt=priority
run 0 run service -o s.h5 --tables all
run 0 export a.h5 --format csv --table /jobs -o jobs.csv
run 0 export a.h5 --format csv -t transitions
cp out transitions.csv
run 0 export a.h5 --format json -o all.json
run 0 export a.h5 --format json -t jobs -o jobs.json.gz
for name in a s; do
	run 0 export $name.h5 -f perfetto -o $name.trace.json
	run 0 export $name.h5 -f json -o $name.all.json
done
run 0 export a.h5 -f batsim-jobs -o batsim.json
says err "jobs written; left out:"
run 0 export a.h5 -f swf -o jobs.swf

# A table that is not there is told before the first byte.
run 0 run tiny -o nodes.h5 --tables nodes
run 0 run tiny -o none.h5 --tables summary
for format in perfetto batsim-jobs swf 'csv -t jobs' 'json -t jobs'; do
	for name in nodes none; do
		# shellcheck disable=SC2086 # words
		run 65 export $name.h5 -f $format
		silent out
	done
done

# SWF: our own reader takes every row, in order.
run 0 trace lint jobs.swf --json
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail "what was exported is not what the result says"
import collections, csv, gzip, json, math

everything = json.load(open("all.json"))
jobs = everything["/jobs"]
assert json.load(gzip.open("jobs.json.gz")) == jobs and len(jobs) > 900
rows = list(csv.DictReader(open("jobs.csv", newline="")))
assert len(rows) == len(jobs)
for row, job in zip(rows, jobs):
    assert list(row) == list(job)
    for name, value in job.items():
        if value is None:
            assert math.isnan(float(row[name]))
        elif isinstance(value, str):
            assert row[name] == value
        else:
            assert float(row[name]) == value, (name, row[name], value)
assert [r["to"] for r in csv.DictReader(open("transitions.csv"))] == [
    r["to"] for r in everything["/transitions"]]

ended = [(i, j) for i, j in enumerate(jobs)
         if j["first_start_ns"] >= 0 and j["end_ns"] >= 0 and j["gpus_milli"] > 0]
gpus = lambda job: -(-job["gpus_milli"] // 1000)

batsim = json.load(open("batsim.json"))
assert batsim["nb_res"] == sum(n["gpus"] for n in everything["/nodes"]) == 256
assert len(batsim["jobs"]) == len(batsim["profiles"]) == len(ended)
for got, (i, job) in zip(batsim["jobs"], ended):
    assert got["id"] == str(i) and got["res"] == gpus(job) <= 256
    assert round(got["subtime"] * 1e9) == job["submit_ns"]
    profile = batsim["profiles"][got["profile"]]
    assert profile["type"] == "delay" and round(profile["delay"] * 1e9) == job["run_ns"]
    assert ("walltime" in got) == (job["estimate_ns"] > 0)

lines = [l.split() for l in open("jobs.swf") if not l.startswith(";")]
assert len(lines) == len(ended) and all(len(l) == 18 for l in lines)
assert [int(l[1]) for l in lines] == sorted(int(l[1]) for l in lines)
for line in lines:
    job = jobs[int(line[0]) - 1]
    submit, wait, run = map(int, line[1:4])
    assert abs(submit + wait + run - job["end_ns"] / 1e9) <= 0.5
    assert abs(submit + wait - job["first_start_ns"] / 1e9) <= 0.5
    assert int(line[4]) == gpus(job)
    assert {"complete": "1", "cancelled": "5"}.get(job["reason"], "0") == line[10]


def perfetto(name):
    tables = json.load(open(name + ".all.json"))
    events = json.load(open(name + ".trace.json"))["traceEvents"]
    tracks = collections.defaultdict(list)
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    held = 0
    for e in events:
        assert e["ph"] in "XiMC" and e["ts"] >= 0 and isinstance(e["pid"], int)
        if e["ph"] == "X":
            assert e["dur"] >= 0 and (e["pid"], e["tid"]) in named
            tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
            if e["tid"] < 1000:
                held += e["dur"] * 1000
    # One at a time on a track: a slot is a GPU, and there are no more of them than GPUs.
    for track, slices in tracks.items():
        slices.sort()
        assert all(b[0] >= a[1] - 1e-3 for a, b in zip(slices, slices[1:])), track
    nodes = tables["/nodes"]
    for pid, tid in tracks:
        assert tid <= nodes[pid - 1]["gpus"] or tid >= 1000
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {0: "cluster", **{i + 1: n["name"] for i, n in enumerate(nodes)}}
    wanted = sum((p["gpus_mgpu"] // 1000) * (p["end_ns"] - p["start_ns"])
                 for p in tables["/placements"])
    assert abs(held - wanted) < 1e-6 * wanted, (held, wanted)
    told = collections.Counter(e["name"] for e in events if e["ph"] == "i")
    for reason in ("preempted", "node-failure"):
        assert told[reason] == sum(p["ended"] == reason for p in tables["/placements"]), told
    assert sum(told[f] for f in {f["kind"] for f in tables["/faults"]}) == len(tables["/faults"])
    assert sum(e["ph"] == "C" for e in events) == len(tables["/cluster/timeline"])
    return told


assert perfetto("a")["node-failure"] > 0
perfetto("s")
END
fi

# Nothing is overwritten unasked, nothing half-written stays.
run 73 export a.h5 -f swf -o jobs.swf
says err "--force"
run 0 export a.h5 -f swf -o jobs.swf --force
run 0 export a.h5 -f swf
run 64 export a.h5
says err "--format is missing"
run 64 export a.h5 -f perfeto
says err "did you mean \`perfetto\`?"
run 64 export a.h5 -f csv
says err "--table is missing"
run 64 export a.h5 -f swf -t jobs
run 65 export a.h5 -f csv -t jbos -o no.csv
says err "did you mean \`/jobs\`?"
run 0 run tiny -o few.h5 --tables jobs,nodes
run 65 export few.h5 -f perfetto -o no.json
says err "placements"
run 66 export missing.h5 -f swf -o no.json
head -c 20000 a.h5 >cut.h5
run 65 export cut.h5 -f json -o no.json
says err "cut.h5: "
: >empty.h5
run 65 export empty.h5 -f json -o no.json
absent no.json
absent no.csv
[ -z "$(find . -name '.*partial*')" ] || fail "left behind: $(find . -name '.*')"
if [ -w /dev/full ]; then
	"$TIDELAB" export a.h5 -f json >/dev/full 2>err && fail "a full disk went unnoticed"
	says err "standard output"
fi
finish
