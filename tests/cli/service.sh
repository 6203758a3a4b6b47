#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# An online service beside training: it is measured, it scales, and its books close.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

run 0 run service -o a.h5
[ "$(wc -l <err)" -le 1 ] || fail "more is said than what was left unfinished"
run 0 run service -o b.h5
cmp -s a.h5 b.h5 || fail "two runs differ"
run 0 summary --csv a.h5
cp out csv

# value METRIC: of player.
value() {
	awk -F, -v name="player.$1" '$1 == name { print $2; found = 1 } END { exit !found }' "${2:-csv}" ||
		fail "no metric player.$1"
}

# holds CONDITION: of numbers.
holds() {
	awk "BEGIN { exit !($1) }" || fail "not so: $1"
}

requests=$(value requests) served=$(value served) dropped=$(value dropped)
attainment=$(value attainment) p50=$(value p50_s) p99=$(value p99_s) overload=$(value overload_s)
# A day of a curve whose mean is 0.6 of 60 a second, and its two extra hours.
holds "$requests > 0.58 * 60 * 86400 && $requests < 0.75 * 60 * 86400"
holds "$served + $dropped <= $requests && $served + $dropped >= $requests - 1000"
holds "$attainment > 0.5 && $attainment <= 1"
holds "$p50 >= 0.09 && $p99 >= $p50 && $p99 < 3"
holds "$overload >= 0 && $overload <= 86400"
# Little: requests in the system on average are rate × (wait + service); the wait is bounded by
# the timeout, and a replica is busy for at least its share of a full batch's time.
holds "$(value wait_mean_s) < 2"
holds "$(value occupied_ratio) > 0.2 && $(value occupied_ratio) <= 1"
holds "$(value scale_ups) > 0 && $(value scale_downs) > 0"
holds "$(value penalty) > 0"

# Recorded requests that step back in time or repeat each other are refused, or taken, and that is said.
cat >requests.csv <<'END'
TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.5,374,44
2023-11-16 18:15:47.5,10,4
2023-11-16 18:15:47.5,10,4
2023-11-16 18:15:46.9,20,4
END
dirty='{process: trace, path: requests.csv'
run 65 run --cluster 2x8 --horizon 1min --set "workload=[{service: chat, arrivals: $dirty}}]" -o dirty.h5
says err 'requests.csv:4: request, got one that repeats an earlier row in every field, wanted each once, or `strict: false` to take it so'
sed 4d requests.csv >back.csv
run 65 check --cluster 2x8 --horizon 1min --set 'workload=[{service: chat, arrivals: {process: trace, path: back.csv}}]'
says err 'back.csv:4: request, got one before that of the row above, wanted them in order of time, or `strict: false` to take it so'
run 0 run --cluster 2x8 --horizon 1min --set "workload=[{service: chat, arrivals: $dirty, strict: false}}]" -o dirty.h5
says err 'service `chat`: 1 of 4 recorded requests (line 5 the first) come before the row above them: sorted by time'
says err 'service `chat`: 1 of 4 recorded requests (line 4 the first) repeat an earlier row in every field: kept'

# The surge that nobody foretold costs; without it all else is as before.
run 0 run service -o calm.h5 --set faults=[]
run 0 summary --csv calm.h5
holds "$(value requests out) < $requests"
holds "$(value overload_s out) <= $overload"

# More replicas from the start, less trouble.
run 0 run service -o many.h5 --set workload[0].replicas.min=6 --set workload[0].replicas.initial=6
run 0 summary --csv many.h5
holds "$(value requests out) == $requests"
holds "$(value attainment out) > $attainment"

# By formulas where they hold, the same day; by formulas alone, the same requests.
for mode in auto fluid; do
	run 0 run service -o $mode.h5 --set workload[0].requests=$mode
	run 0 summary --csv $mode.h5
	holds "$(value requests out) == $requests"
	holds "$(value attainment out) - $attainment < 0.02 && $attainment - $(value attainment out) < 0.02"
done
holds "$(value requests_fluid out) == $requests && $(value requests_unsure out) > 0.01 * $requests"
run 0 run service -o fluid.h5 --force --set workload[0].requests=fluid
says err 'of its requests were told by formulas beyond their own bound'
run 0 summary --csv auto.h5
holds "$(value requests_unsure out) == 0"

# Services alone.
cat >alone.yaml <<'END'
name: alone
horizon: 1h
cluster: small-2x4
workload:
  - {service: chat, arrivals: {process: poisson, rate: 120/min}, replicas: 2, routing: round-robin,
     service_time: {dist: exponential, mean: 20ms}, batch: 1, slo: 500ms}
END
run 0 check alone.yaml
run 0 run alone.yaml
run 0 summary --csv alone.h5
grep -q '^chat.attainment,1,' out || fail "an idle service misses its SLO: $(grep ^chat out)"

# Refusals have a place.
run 64 check service --set workload[0].replicas.max=1
says err "wanted max at least 1 and at least min"
run 64 check alone.yaml --set horizon=none
says err "a service never ends"
run 78 check alone.yaml --set workload[0].memory=200GiB
says err 'can never fit this cluster: no GPU has the memory asked for'
run 66 check alone.yaml --set workload[0].arrivals="{process: trace, path: none.csv}"
says err "none.csv: "
run 64 check service --set faults[0].service=nobody
says err "nobody"
absent service.h5
finish
