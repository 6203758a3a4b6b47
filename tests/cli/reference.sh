#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The references: Markdown tables whose rows have as many cells as their heads.
. "$ROOT/tests/cli/_lib.sh"

for topic in scenario results policies; do
	run 0 reference $topic
	silent err
	sed 's/\\|//g' out | awk -F'|' '
		/^\|/ { if (!cells) cells = NF; if (NF != cells) { print FILENAME ":" FNR ": " $0; bad = 1 } next }
		{ cells = 0 }
		END { exit bad }' || fail "reference $topic: a row of another width"
done
run 0 reference scenario
for key in seed workload cluster policy faults checkpoint; do
	says out "\`$key\`"
done
run 0 version
says out "tidelab "
run 0 --version
run 0 version --json
says out '"version"'
if [ -w /dev/full ]; then
	"$TIDELAB" reference scenario >/dev/full 2>err
	[ $? -eq 74 ] || fail "a full disk went unnoticed"
fi
finish
