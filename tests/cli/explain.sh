#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The story of a job, up to its end or to a moment; a job that is not there is an error.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"

run 0 explain tiny --job 1
says out "submitted"
says out "pending -> scheduled"
run 0 explain tiny --job 1 --horizon 1d
says out "ended as succeeded"
run 0 explain tiny --job '#0'
says out "submitted (row 0)"
run 65 explain tiny --job '#99999'
run 0 explain demo --job 17 --at 1h
says err '2 jobs have the id `17`'
run 0 explain small --job 155
says out "waits: first in order, needs 8 GPUs on one node: there is no room, for want of GPUs"
run 0 run tiny -o tiny.h5
run 78 explain tiny.h5 --job 1
says err "tiny.h5: is a result file"
rm -f tiny.h5
run 65 explain tiny --job no-such-job
says err "no-such-job"
run 65 explain demo --job zzz --horizon 1h
[ "$(wc -l <err)" -eq 1 ] || fail "more is said than that there is no such job"
run 0 explain demo --job 17 --horizon 1h --at 99d
says err "--at: 99d is beyond the horizon (1h)"
run 65 explain tiny --job 40 --at 1s
absent tiny.h5
finish
