#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep killed (-9, with all its runs) at ten random moments and taken up again each time is, in
# the end, the sweep that nobody disturbed: byte for byte.
. "$ROOT/tests/cli/_lib.sh"
command -v setsid >/dev/null || { echo "setsid is not installed"; exit 77; }

sweep() { # folder
	exec "$TIDELAB" sweep small --vary policy.place=topology,fgd --vary policy.order=fifo,las,sjf \
		--seeds 1..8 -j 2 -o "$1"
}
done_in() {
	find "$1/runs" -name '[0-9a-f]*.h5' 2>/dev/null | wc -l
}

start=$(date +%s%N)
(sweep calm) >out 2>err || fail "undisturbed: $(cat err)"
took_ms=$((($(date +%s%N) - start) / 1000000))
run 0 merge calm

early=0 kills=0
while [ $kills -lt 10 ]; do
	kills=$((kills + 1))
	export TIDELAB
	# shellcheck disable=SC2016 # expanded by the inner shell
	setsid sh -c 'exec "$TIDELAB" sweep small --vary policy.place=topology,fgd \
		--vary policy.order=fifo,las,sjf --seeds 1..8 -j 2 -o torn' >out 2>err &
	pid=$!
	# Up to a fifth of what the whole takes.
	random=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
	sleep "$(awk "BEGIN { print ($random % 1000) / 1000 * $took_ms / 5000 }")"
	kill -s KILL -- "-$pid" 2>/dev/null
	wait $pid 2>/dev/null
	[ "$(done_in torn)" -lt 48 ] && early=$((early + 1))
done
[ $early -gt 0 ] || fail "every kill came too late to show anything"
echo "$early of 10 kills came before the end; then $(done_in torn) of 48 runs were there"
(sweep torn) >out 2>err || fail "taken up again: $(cat err)"
[ "$(done_in torn)" -eq 48 ] || fail "$(done_in torn) results, wanted 48"
[ -z "$(find torn/runs -name '.*')" ] || fail "left behind: $(find torn/runs -name '.*')"
run 0 merge torn
cmp calm.h5 torn.h5 || fail "the merged files differ"
for result in calm/runs/*.h5; do
	cmp -s "$result" "torn/runs/${result##*/}" || fail "$result differs"
done
finish
