#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# ^C ends a run cleanly: exit 130, and no file.
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
# sh has its background commands ignore ^C; env can undo that.
env --default-signal=INT true 2>/dev/null && interrupted INT env --default-signal=INT
finish
