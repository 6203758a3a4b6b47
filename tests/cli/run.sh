#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Real runs: from a file, by name, by flags alone; the same bytes anywhere; no file where it fails.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"
scenario=$ROOT/workloads/scenarios/tiny.yaml

run 0 run "$scenario" -o a.h5
silent err
says out "Jobs"
says out "result: a.h5"
[ -s a.h5 ] || fail "no result"

# The default name is the scenario's, in the working folder; a shipped one is found by name.
run 0 run tiny
cmp -s tiny.h5 a.h5 || fail "two runs differ"

# Where the horizon leaves much of the work out, that is said, by who shows the metrics too.
run 0 run tiny -o short.h5 --horizon 1h
says err ' of 40 jobs were submitted: the metrics tell nothing of them'
run 0 summary --csv short.h5
says err ' of 40 jobs were submitted: the metrics tell nothing of them'
lines=$(wc -l <err)
[ "$lines" -eq 1 ] || fail "summary: $lines lines on standard error"
run 0 summary a.h5
silent err

# Overwriting is refused, and then allowed.
before=$(cksum <a.h5)
run 73 run tiny -o a.h5 --seed 9
says err "exists already"
[ "$(cksum <a.h5)" = "$before" ] || fail "a refused run touched the file"
run 0 run tiny -o a.h5 --force
run 73 run tiny -o .
run 73 run tiny -o ./no/such/folder/a.h5
says err 'folder `./no/such/folder`'
absent no

# In another folder, through another path: the same bytes.
mkdir -p deep/er && cp -r "$ROOT/workloads" "$ROOT/traces" deep/er/ 2>/dev/null
(cd deep/er && "$TIDELAB" run workloads/scenarios/tiny.yaml -o ../../b.h5 >/dev/null) || fail "run elsewhere"
cmp -s a.h5 b.h5 || fail "the result depends on the folder"

# Another seed may change it, another policy does.
run 0 run tiny --policy order=sjf,place=worst-fit -o c.h5
cmp -s a.h5 c.h5 && fail "another policy gave the same file"

# Wholly by flags.
run 0 run --cluster 2x4:cpus=64,mem=512GiB --trace "$samples/day-philly.csv" --format canonical \
	--policy order=fifo,place=topology --physics ideal --horizon 12h --tables jobs,summary --name flags
says out "result: flags.h5"
[ -s flags.h5 ] || fail "no flags.h5"

# JSON for machines.
run 0 run tiny -o d.h5 --json
says out '"result": "d.h5"'
says out '"jobs": {'

# A run without a summary says so.
run 0 run tiny -o e.h5 --tables jobs
says out "result: e.h5"

# Failures leave nothing.
mkdir empty && cd empty || exit 1
run 66 run missing.yaml
says err "missing.yaml: cannot be opened"
: >../empty.yaml
run 78 run ../empty.yaml
says err "is empty"
printf 'nam: x\n' >../bad.yaml
run 78 run ../bad.yaml
says err "../bad.yaml:1:1: unknown key \`nam\`; did you mean \`name\`?"
run 66 run .
says err "is a folder"
run 66 run smal
says err 'no scenario `smal`: wanted a file or a shipped one; did you mean `small`?'
run 66 run nosuch
says err "there are day-256, demo, mixed-256, openb-packing, philly-fifo, service, small, tiny"
head -c 2000 "$TIDELAB" >../binary.yaml
run 78 run ../binary.yaml
says err "not YAML"
run 66 run --trace missing.csv --format philly
run 69 run tiny --policy order=no-such-policy
says err "no-such-policy"
run 69 run tiny --policy place=fdg
says err 'did you mean `fgd`?'
run 66 run tiny --policy place=./no-such.so
run 64 run tiny --set policy.backfill=perhaps
run 64 run tiny --set policy.order.no_such_option=1
rm -f out err
[ -z "$(ls -A .)" ] || fail "left behind: $(ls -A .)"
cd .. || exit 1

# A full disk under stdout is not silent.
if [ -w /dev/full ]; then
	"$TIDELAB" run tiny -o f.h5 >/dev/full 2>err
	[ $? -eq 74 ] || fail "a full disk under stdout went unnoticed"
fi
if [ "$(id -u)" -ne 0 ]; then
	mkdir locked && chmod 555 locked
	run 73 run tiny -o locked/a.h5
	[ -z "$(ls -A locked)" ] || fail "left in a locked folder"
	chmod 755 locked
fi
finish
