#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The gate: a worsened policy fails with the metrics named, noise does not, and what cannot be
# judged is told by file and line.
. "$ROOT/tests/cli/_lib.sh"

# One run: a text baseline of values.
run 0 run demo --seed 1 -o a.h5
printf '# scenario: demo\n' >one.csv
run 65 regress one.csv a.h5
says err "holds no metric; --update writes them"
run 0 regress one.csv a.h5 --update
head -n 3 one.csv | tr '\n' ' ' | grep -q '^# scenario: demo metric,value,unit jobs,' || fail "not the baseline wanted"
run 0 summary a.h5 --csv
sed 1d one.csv | cmp -s - out || fail "the baseline is not the summary"
run 0 regress one.csv a.h5
says out "0 of "
silent err
run 0 run demo --seed 1 --policy order=fifo -o fifo.h5
run 1 regress one.csv fifo.h5 --junit gate.xml
says out "wait_mean_s"
says err "metrics left their margins: "
says err "jct_mean_s"
cp out table
run 1 regress one.csv fifo.h5 --json
cp out json
cp one.csv before
run 0 regress one.csv fifo.h5 --update
cmp -s one.csv before && fail "the update changed nothing"
run 0 regress one.csv fifo.h5
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail "table, JSON and JUnit differ"
import json, re, xml.etree.ElementTree
gate = json.load(open("json"))
failed = sorted(m for m, row in gate["metrics"].items() if row["fails"])
assert gate["failed"] == len(failed) > 5
suite = xml.etree.ElementTree.parse("gate.xml").getroot()
cases = suite.findall("testcase")
assert suite.tag == "testsuite" and int(suite.get("failures")) == len(failed)
assert int(suite.get("tests")) == len(cases) == len(gate["metrics"])
assert sorted(c.get("name") for c in cases if c.find("failure") is not None) == failed
lines = open("table").read().splitlines()
assert sorted(re.split(" +", line)[1] for line in lines[1:-1]) == failed
END
fi
run 0 regress new.csv a.h5 --update
run 0 regress new.csv a.h5

# Several seeds: a policy with a seat swapped fails, other seeds do not.
run 0 sweep demo --seeds 1..5 -o accepted
run 0 sweep demo --seeds 11..15 -o noise
run 0 sweep demo --seeds 1..5 --policy place=random -o worse
run 0 regress many.csv accepted --update
says out "metrics of 5 runs"
grep -q '^metric,seed 1,seed 2,seed 3,seed 4,seed 5,unit$' many.csv || fail "no seeds in the baseline"
run 0 regress many.csv accepted
run 0 regress many.csv noise
run 1 regress many.csv worse
says err "gfr"
run 1 regress accepted worse
says err "gfr"
run 0 regress accepted noise
printf 'metric,relative,test,gate\ngfr,0.02,difference,worse\njct_*,0.05,value,\n*,,ignore,\n' >margins.csv
run 0 regress many.csv accepted --tolerance margins.csv --all
says out "ignored"
run 1 regress many.csv worse --tolerance margins.csv
says out "gfr"
run 65 regress many.csv noise --tolerance margins.csv
says err "has no run of seed 1"
# The better way passes a gate for the worse.
run 0 regress worse.csv worse --update
printf 'metric,test,gate\ngfr,,worse\n*,ignore,\n' >margins.csv
run 0 regress worse.csv accepted -t margins.csv
says out "better"
# Result files by name are one setting.
cp accepted/runs/*.h5 .
# shellcheck disable=SC2046 # names without blanks
run 0 regress many.csv $(ls accepted/runs/*.h5)

# Runs that are not there prove nothing, and are no baseline.
rm "$(find noise/runs -name '*.h5' | sort | head -n 1)"
run 65 regress many.csv noise
says err "noise: 1 of 5 runs failed or are missing, wanted all"
cp many.csv before
run 65 regress many.csv noise --update
cmp -s many.csv before || fail "a baseline was written of runs that are not all there"
run 65 regress noise accepted

# Bad input.
printf 'metric,value,unit\njobs,3\n' >bad.csv
run 65 regress bad.csv a.h5
says err "bad.csv:2: got 2 fields, wanted the 3 of the first line"
printf 'metric,value,unit\njobs,x,1\n' >bad.csv
run 65 regress bad.csv a.h5
says err "bad.csv:2: got \`x\`, wanted a number, or nan"
printf 'metric,relativ\n' >margins.csv
run 65 regress one.csv a.h5 --tolerance margins.csv
says err "margins.csv:1: got \`relativ\`"
run 66 regress nowhere.csv a.h5
run 66 regress one.csv a.h5 --tolerance nowhere.csv
run 66 regress one.csv nowhere.h5
run 64 regress one.csv
run 64 regress a.h5 fifo.h5 --update
says err "holds runs, wanted a text baseline"
run 65 regress one.csv accepted
says err "got 5 runs, wanted one"
head -c 4000 a.h5 >cut.h5
run 65 regress one.csv cut.h5
says err "cut.h5: "
run 65 regress cut.h5 a.h5
run 73 regress one.csv fifo.h5 --junit nowhere/gate.xml
run 0 run demo --horizon 12h -o short.h5
run 65 regress a.h5 short.h5
says err "horizon is another"
run 0 sweep tiny --vary policy.order=fifo,sjf --seeds 1 -o cells
run 65 regress tiny.csv cells --update
says err "got 2 settings, wanted one"
run 0 regress tiny.csv cells --update --where policy.order=sjf
finish
