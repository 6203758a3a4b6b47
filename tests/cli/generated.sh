#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Work that is made as the run goes: repeatable, independent of what stands beside it, judged by its
# deadline; and what is wrong is refused at its place.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

cat >work.yaml <<'END'
name: work
horizon: 2d
cluster: a100-4x8
workload:
  - {generate: philly, rate: 4/h, limit_gpus: 16, tenant: moba}
  - {generate: release-evaluation, tasks: 400, at: 12h, deadline: 3h}
policy: {order: priority-queues, place: topology, backfill: easy}
output: {tables: [jobs, summary]}
END
run 0 run work.yaml -o a.h5
run 0 run work.yaml -o b.h5
cmp -s a.h5 b.h5 || fail "two runs of made work differ"
run 0 run work.yaml -o c.h5 --seed 2
cmp -s a.h5 c.h5 && fail "the seed changes nothing"
run 0 summary a.h5 --csv
judged=$(sed -n 's/^deadline_jobs,\([0-9]*\),.*/\1/p' out)
[ "$judged" -ge 400 ] || fail "$judged deadlines were judged, wanted the 400 tasks' at least"

# Beside RL training, on a cluster with room for all, every job is what it was.
sed 's/a100-4x8/a100-32x8/' work.yaml >roomy.yaml
sed 's/^workload:/&\n  - {generate: rl-training, rate: 1\/h}/' roomy.yaml >beside.yaml
run 0 run roomy.yaml -o roomy.h5 --set physics=ideal
run 0 run beside.yaml -o beside.h5 --set physics=ideal
if python=$(sh "$ROOT/tests/tools/python.sh" h5py); then
	"$python" - <<'END' || fail "an entry beside it moved another's jobs"
import h5py, sys
def jobs(path):
    rows = h5py.File(path)["jobs"][:]
    return {r["id"]: (r["submit_ns"], r["run_ns"], r["gpus_milli"]) for r in rows
            if r["end_ns"] >= 0 and not r["id"].startswith(b"rl-")}
alone, beside = jobs("roomy.h5"), jobs("beside.h5")
both = alone.keys() & beside.keys()
sys.exit(len(both) < 500 or any(alone[i] != beside[i] for i in both))
END
fi

# As a file it is the same work.
run 0 trace generate --preset release-evaluation --tasks 3 --span 1d
says out 'release-evaluation-3,0,'
says out ',86400,'

refused() { # what is said, entry
	printf 'workload:\n  - {%s}\n' "$2" >bad.yaml
	run 78 check bad.yaml
	says err "bad.yaml:2:"
	says err "$1"
}
refused 'generate: got `mars`' 'generate: mars'
refused 'did you mean `rate`?' 'generate: philly, rte: 5/h'
refused 'rate: got `-5/h`, wanted 0.001 to 100000 1/h' 'generate: philly, rate: -5/h'
refused 'tasks: got `0`' 'generate: release-evaluation, tasks: 0'
refused 'deadline: got `-1h`' 'generate: release-evaluation, deadline: -1h'
refused 'every, got it for rl-training' 'generate: rl-training, every: 1d'
run 64 check work.yaml --set 'workload[0].rate=none'
says err 'workload[0].rate: got `none`'
finish
