#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The modules there are, one of them, and those that are refused.
. "$ROOT/tests/cli/_lib.sh"

run 0 policies
silent err
for name in pipeline fifo topology open none; do
	says out " $name "
done
run 0 policies pipeline
says out "backfill"
says out "Options:"
run 0 policies --json
cp out list
run 0 policies fgd --json
says out '"name": "fgd"'
if command -v python3 >/dev/null; then
	python3 -c 'import json; l = json.load(open("list")); assert len(l) > 10 and all(m["seat"] for m in l)' ||
		fail "the JSON list"
fi
run 69 policies no-such-module
says err "no-such-module"
mkdir modules
printf 'not a module\n' >modules/broken.so
TIDELAB_POLICY_PATH=$work/modules
export TIDELAB_POLICY_PATH
run 69 policies
says err "broken.so"
says out " fifo "
run 69 policies ./modules/broken.so
finish
