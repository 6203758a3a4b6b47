#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The story of a job, up to its end or to a moment; a job that is not there is an error.
. "$ROOT/tests/cli/_lib.sh"

run 0 explain tiny --job 1
says out "submitted"
says out "pending -> scheduled"
run 0 explain tiny --job 1 --horizon 1d
run 65 explain tiny --job no-such-job
says err "no-such-job"
run 65 explain tiny --job 40 --at 1s
absent tiny.h5
finish
