#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# ^C and its kin end a run cleanly: exit 130, and no file.
. "$ROOT/tests/cli/_lib.sh"

run 0 trace generate --span 300d --rate 200 -o long.csv
mkdir out.d

# interrupted SIGNAL COMMAND...: the run must end by it, and leave nothing.
interrupted() {
	signal=$1
	shift
	"$@" "$TIDELAB" run --trace long.csv --policy order=las,place=topology \
		--set policy.backfill=conservative -o out.d/a.h5 >out 2>err &
	pid=$!
	sleep 1
	kill -"$signal" $pid 2>/dev/null || {
		echo "the run was over before it could be interrupted"
		exit 77
	}
	wait $pid
	status=$?
	[ $status -eq 130 ] || fail "$signal: exit $status, wanted 130: $(cat err)"
	[ -z "$(ls -A out.d)" ] || fail "$signal: left behind: $(ls -A out.d)"
	says err "interrupted"
}

interrupted TERM env
interrupted PIPE env
# sh has its background commands ignore ^C; env can undo that.
for signal in INT QUIT; do
	env --default-signal=$signal true 2>/dev/null && interrupted $signal env --default-signal=$signal
done

# Files that other verbs write.
for signal in TERM HUP PIPE; do
	"$TIDELAB" trace generate --span 3000d --rate 2000 -o out.d/t.csv 2>err &
	pid=$!
	sleep 0.3
	kill -$signal $pid
	wait $pid
	status=$?
	if [ $signal = PIPE ]; then
		[ $status -eq 141 ] || fail "$signal: exit $status, wanted death by the signal"
		silent err
	else
		[ $status -eq 130 ] || fail "$signal: exit $status, wanted 130: $(cat err)"
	fi
	[ -z "$(ls -A out.d)" ] || fail "$signal: left behind: $(ls -A out.d)"
done

# Whom nobody reads on ends without a word, whether a file or a stream was asked for.
{
	"$TIDELAB" trace generate --span 3000d --rate 200 2>err
	echo $? >status
} | head -n 1 >out
[ "$(cat status)" -eq 141 ] || fail "trace generate | head: exit $(cat status)"
silent err
finish
