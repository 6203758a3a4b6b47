#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Policies that misbehave, from the command line: an exit status, a reason, a dump, no file, in
# limited time. tests/property/test_containment.c has every misdeed; here is what a shell sees.
. "$ROOT/tests/cli/_lib.sh"
modules=$TIDELAB_BUILD/tests/modules
[ -f "$modules/crash.so" ] || {
	echo "$modules is not there: make test-programs builds it"
	exit 77
}
cat >jobs.csv <<'END'
id,submit_s,duration_s,gpus
first,0,1000,2
second,10,900,8
third,20,800,3
fourth,30,700,3
END
mkdir out.d

# hostile STATUS MODULE HOW [FLAG...]: a run with this policy as the scheduler, under a limit.
hostile() {
	wanted=$1 module=$2 how=$3
	shift 3
	timeout 20 "$TIDELAB" run --cluster 2x4 --trace jobs.csv --format canonical \
		--policy "scheduler=$modules/$module.so" \
		--set "policy.how=$how" --set watchdog.cpu=1s --set watchdog.preemptions=20 \
		-o out.d/a.h5 "$@" >out 2>err </dev/null
	got=$?
	[ $got -eq "$wanted" ] || {
		fail "$module $how: exit $got, wanted $wanted"
		sed 's/^/  err: /' err
	}
	[ "$wanted" -eq 0 ] && return
	[ -z "$(ls -A out.d)" ] || fail "$module $how: left behind: $(ls -A out.d)"
	[ -s out ] && fail "$module $how: a failed run wrote to stdout"
}

dumped() { # the reason, in the last line of stderr
	says err "dump: at "
	says err "$1"
}

hostile 0 crash nothing
says out "result: out.d/a.h5"
rm -f out.d/a.h5

hostile 1 crash null-read && dumped "in schedule() of policy \`crash\`"
hostile 1 crash abort && dumped "in schedule() of policy \`crash\`"
hostile 1 crash exit-0 && dumped "the trial left with status"
hostile 1 crash exit-3 && dumped "the trial left with status"
hostile 1 stuck nothing && dumped "stall: 4 jobs wait"
hostile 1 stuck spin && dumped "hang: no progress for 1s"
hostile 1 stuck wake && dumped "hang: no progress for 1s"
hostile 1 stuck kill && dumped "loop: job "
hostile 1 bad-create crash && dumped "in create() of policy \`bad-create\`"
hostile 1 bad-create crash-late && dumped "in destroy() of policy \`bad-create\`"
hostile 69 bad-create fail && says err "the moon is in the wrong quarter"
hostile 69 wrong-major x && says err "abi_major: got 2, wanted 1"
hostile 69 no-symbol x && says err "exports no \`tidelab_module\`"
hostile 64 order-only x && says err "a module for the order seat"
hostile 64 crash sideways && says err "wanted one of"

# The start of the program shows what a refused decision was.
hostile 0 bad-start stale
says out "efused"
rm -f out.d/a.h5

# A file that was there before is still the same after a crash.
echo precious >out.d/a.h5
timeout 20 "$TIDELAB" run --cluster 2x4 --trace jobs.csv --format canonical --force \
	--policy "scheduler=$modules/crash.so" -o out.d/a.h5 >out 2>err
[ $? -eq 1 ] || fail "with --force: wrong status"
[ "$(cat out.d/a.h5)" = precious ] || fail "a crash destroyed what was there"
[ "$(ls -A out.d)" = a.h5 ] || fail "left behind: $(ls -A out.d)"

# A device is not replaced by a file (a name beside it is written and renamed).
mkfifo out.d/pipe
run 73 run --cluster 2x4 --trace jobs.csv --format canonical --force -o out.d/pipe
[ -p out.d/pipe ] || fail "the pipe was replaced"

# check, which runs nothing, survives modules as well.
for how in crash spin fail; do
	timeout 20 "$TIDELAB" check --cluster 2x4 --trace jobs.csv --format canonical \
		--policy "scheduler=$modules/bad-create.so" \
		--set "policy.how=$how" --set watchdog.cpu=1s >out 2>err </dev/null
	got=$?
	case $got in 1 | 69) ;; *) fail "check, $how: exit $got, wanted 1 or 69: $(cat err)" ;; esac
done
finish
