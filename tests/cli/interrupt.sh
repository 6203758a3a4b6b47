#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# ^C ends a run cleanly: exit 130, and no file.
. "$ROOT/tests/cli/_lib.sh"

run 0 trace generate --span 300d --rate 200 -o long.csv
mkdir out.d
# A fresh session, so that the signal goes to this run alone; sh ignores INT for jobs in the background.
cat >go.sh <<'END'
trap - INT
exec "$TIDELAB" run --trace long.csv --policy order=las,place=topology --set policy.backfill=conservative -o out.d/a.h5
END
sh go.sh >out 2>err &
pid=$!
sleep 1
kill -TERM $pid 2>/dev/null || { echo "the run was over before it could be interrupted"; exit 77; }
wait $pid
status=$?
[ $status -eq 130 ] || fail "exit $status, wanted 130: $(cat err)"
[ -z "$(ls -A out.d)" ] || fail "left behind: $(ls -A out.d)"
says err "interrupted"
finish
