#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The report of a run: what is in it, names that try their luck, and what is refused.
. "$ROOT/tests/cli/_lib.sh"
command -v gnuplot >/dev/null || {
	echo "gnuplot is not installed"
	exit 77
}

# A run with a service, priced, with a tenant that would be markup.
cat >evil.yaml <<END
name: "<script>alert('n') & \\"co\\""
horizon: 2h
cluster: a100-4x8
prices: {gpu_hour: 25}
workload:
  - service: "<b>a'b&c"
    peak_rps: 40
    tenant: "</td><script>alert(1)</script>"
    replicas: {min: 1, max: 3, initial: 2}
    service_time: {alpha: 80ms, beta: 10ms}
    batch: 2
    slo: {p99: 500ms, penalty: 0.5 per 1000}
  - {trace: $samples/day-philly.csv, format: canonical, limit: 40}
faults:
  - {at: 1h, do: node-down, nodes: 1, for: 10min}
output: {tables: all, timeline: 1min}
END
run 0 run evil.yaml -o evil.h5
run 0 report evil.h5 -o evil
says out "evil/index.html"
page=evil/index.html
says $page '<h1>&lt;script&gt;alert(&#39;n&#39;) &amp; &quot;co&quot;</h1>'
says $page '&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;'
says $page '&lt;b&gt;a&#39;b&amp;c'
if grep -qi '<script\|<b>' $page; then
	fail "a name became markup"
fi
if grep -Eo '(src|href|url\()=?"?https?:[^" ]*' $page; then
	fail "the page points to the network"
fi
says $page '<html lang="en">'
says $page 'prefers-color-scheme: dark'
says $page '@media print'
says $page 'class="lead"'
says $page 'Look first at'
says $page 'title="cost_total_per_useful_gpu_h"'
says $page 'node-down'
for name in utilisation purposes waiting fragmentation gantt service-_b_a_b_c; do
	[ -s evil/pictures/$name.png ] || fail "$name.png is missing"
	[ -s evil/pictures/$name.svg ] || fail "$name.svg is missing"
done
[ "$(grep -c '<svg ' $page)" -eq 6 ] || fail "$(grep -c '<svg ' $page) pictures in the page, wanted 6"

# The same again, byte for byte; and not over what is there.
run 0 report evil.h5 -o again --json
says out '"pictures": 6'
cmp -s evil/index.html again/index.html || fail "the report is not the same twice"
run 73 report evil.h5 -o evil
says err "is there already"
run 0 report evil.h5 -o evil --force
: >evil/mine.txt
run 73 report evil.h5 -o evil --force
says err "holds something else"
[ -f evil/mine.txt ] || fail "somebody's file was removed"
: >file
run 73 report evil.h5 -o file --force
run 73 report evil.h5 -o no/such/folder

# Less in the file: the page says what is missing and what asks for it.
run 0 run tiny -o less.h5 --tables summary
run 0 report less.h5
says err "skipped"
says less-report/index.html 'the result has no table /cluster/purposes; output.tables asks for it'
run 0 run tiny -o none.h5 --tables jobs
run 65 report none.h5 -o none
says err "has no /summary"
run 66 report missing.h5 -o none
: >empty.h5
run 65 report empty.h5 -o none
head -c 4000 less.h5 >cut.h5
run 65 report cut.h5 -o none

# A sweep: its folder and the file merged of it give the same page.
cat >small.yaml <<END
name: small-mixed
horizon: 4h
cluster: a100-4x8
workload:
  - service: player
    peak_rps: 60
    replicas: {min: 2, max: 6, initial: 4}
    service_time: {alpha: 80ms, beta: 10ms}
    batch: 2
    slo: {p99: 500ms, penalty: 0.5 per 1000}
  - {trace: $samples/day-philly.csv, format: canonical, max_gpus: 8, limit: 60, scale_time: 0.2}
policy: {scale: threshold}
output: {tables: [summary]}
END
run 0 sweep small.yaml --vary cluster.nodes=2,3,4 --vary policy.place=topology,fgd --seeds 1..3 -j 2 -o swept
run 0 merge swept -o swept.h5
run 0 report swept -o of-folder
run 0 report swept.h5 -o of-file
cmp -s of-folder/index.html of-file/index.html || fail "folder and merged file give different pages"
page=of-file/index.html
says $page 'small-mixed'
says $page 'What it risks:'
says $page 'How sure:'
says $page 'recommended'
says $page 'How the recommendation is made'
says $page 'cost_total_per_useful_gpu_h'
for name in sweep-cost sweep-change sweep-attainment sweep-effects; do
	[ -s of-file/pictures/$name.png ] || fail "$name.png is missing"
	[ -s of-file/pictures/$name.svg ] || fail "$name.svg is missing"
done
run 0 report swept.h5 -o by-place --against policy.place --attainment 0.5
says by-place/index.html 'against policy.place'
run 64 report swept.h5 -o none --against cluster.racks
says err "wanted a key that the sweep varies"
run 64 report swept.h5 -o none --attainment 1.5
run 64 report swept.h5 -o none --attainment x
run 64 report evil.h5 -o none --against cluster.nodes
mkdir empty
run 66 report empty -o none
# Not whole: what is missing is told, on the page too.
rm "$(find swept/runs -name '*.h5' | sort | head -n 1)"
run 0 report swept -o partly
says partly/index.html 'Runs that are not there'

# A folder that comes to be while the pictures are drawn is not replaced either.
mkdir slow
cat >slow/gnuplot <<END
#!/bin/sh
mkdir -p taken
PATH=$PATH
exec gnuplot "\$@"
END
chmod +x slow/gnuplot
PATH=$work/slow:$PATH run 73 report evil.h5 -o taken
says err "taken: is there already"
[ -z "$(ls -A taken)" ] || fail "the folder of another was filled"

# Without gnuplot there is no report, nor half of one.
mkdir bin
PATH=$work/bin run 69 report evil.h5 -o none
says err "not installed, or not on PATH"
run 69 report evil.h5 -o none --plots bin
absent none
for left in *.partial-*; do
	absent "$left"
done
finish
