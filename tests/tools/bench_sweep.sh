#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# bench_sweep.sh [SCENARIO [RUNS]]: what a sweep on two cores reaches of two independent chains of
# runs side by side: the same runs, by hand, half of them each. The two take turns, so that what
# else the machine does hits both; the best turn of each counts. Then what the sweep itself costs.
set -u
: "${TIDELAB:?}"
scenario=${1:-demo} runs=${2:-40} turns=3
work=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

chain() { # seeds...
	for seed in "$@"; do
		"$TIDELAB" run "$scenario" --seed "$seed" -o "hand/$seed.h5" >/dev/null 2>&1 || exit 1
	done
}

by_hand() {
	rm -rf hand && mkdir hand
	# shellcheck disable=SC2046 # a list of seeds
	chain $(seq 1 2 "$runs") &
	# shellcheck disable=SC2046
	chain $(seq 2 2 "$runs") || exit 1
	wait
}

swept() {
	rm -rf sweep
	"$TIDELAB" sweep "$scenario" --seeds "1..$runs" -j 2 -o sweep >/dev/null || exit 1
}

best_hand=0 best_sweep=0
turn=0
while [ $turn -lt $turns ]; do
	turn=$((turn + 1))
	start=$(now_ms)
	by_hand
	took=$(($(now_ms) - start))
	{ [ $best_hand -eq 0 ] || [ $took -lt $best_hand ]; } && best_hand=$took
	start=$(now_ms)
	swept
	took=$(($(now_ms) - start))
	{ [ $best_sweep -eq 0 ] || [ $took -lt $best_sweep ]; } && best_sweep=$took
done
awk "BEGIN {
	printf \"$runs runs of $scenario: two chains by hand %.2f s, sweep -j 2 %.2f s: %.1f %% of it\\n\",
		$best_hand / 1000, $best_sweep / 1000, 100 * $best_hand / $best_sweep
}"
start=$(now_ms)
"$TIDELAB" sweep "$scenario" --seeds "1..$runs" -j 2 -o sweep >/dev/null || exit 1
echo "the same again, when all is there: $(($(now_ms) - start)) ms"
