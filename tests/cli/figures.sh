#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Pictures of a run; of a run without the tables; of what is no result.
. "$ROOT/tests/cli/_lib.sh"
command -v gnuplot >/dev/null || {
	echo "gnuplot is not installed"
	exit 77
}
run 0 run tiny -o a.h5
run 0 figures a.h5
[ -s a-figures/utilisation.png ] || fail "no picture in the default folder"
run 0 figures a.h5 -o p --json
says out '"written"'
for name in utilisation purposes waiting fragmentation gantt; do
	[ -s p/$name.png ] || fail "$name.png is missing"
	[ -s p/$name.svg ] || fail "$name.svg is missing"
done
run 0 run tiny -o b.h5 --tables summary
run 65 figures b.h5 -o q
says err "skipped"
run 66 figures missing.h5
: >empty.h5
run 65 figures empty.h5
finish
