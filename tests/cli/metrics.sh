#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every metric that a run writes is defined in results/METRICS.md with its unit, and nothing is
# defined there that none of the runs writes.
. "$ROOT/tests/cli/_lib.sh"

# name,unit of each definition: the names of a row's first cell stand in backquotes.
awk -F '|' '/^\| `/ {
	n = split($2, part, "`"); unit = $3; gsub(/ /, "", unit)
	for (i = 2; i <= n; i += 2) print part[i] "," unit
}' "$ROOT/results/METRICS.md" | sort >defined
[ "$(wc -l <defined)" -ge 60 ] || fail "only $(wc -l <defined) metrics are defined"
cut -d, -f1 defined | uniq -d >twice
[ ! -s twice ] || fail "defined twice: $(cat twice)"

for scenario in demo small service; do
	run 0 run "$scenario" -o "$scenario.h5" --tables summary
	run 0 summary "$scenario.h5" --csv
	cat out >>written
done
run 0 run service -o forecast.h5 --tables summary --policy scale=predictive,forecast=seasonal-naive
run 0 summary forecast.h5 --csv
cat out >>written
run 0 run --cluster 1x4:cpus=96,mem=1TiB --trace "$samples/static-pods.csv" --format openb \
	--set 'workload[0].static=true' --set 'workload[0].demand=1.3' --policy place=fgd,backfill=skip \
	--physics ideal --name packing
run 0 summary packing.h5 --csv
cat out >>written
printf 'cluster: {groups: [{pool: a}]}\nworkload: [{generate: philly, span: 6h, limit_gpus: 8, pool: a}]\n' >walls.yaml
run 0 run walls.yaml -o walls.h5 --tables summary
run 0 summary walls.h5 --csv
cat out >>written
# metric,value,unit to metric,unit; whatever the currency
awk -F , '$1 != "metric" { sub(/^player\./, "SERVICE.", $1); sub(/^pool\.a\./, "pool.NAME.", $1); sub(/^CNY/, "currency", $3); print $1 "," $3 }' written | sort -u >seen
grep -q '^packing_placed,' seen || fail "the static run packs nothing"

# defined_as NAME,UNIT: whole, or by a pattern that ends in a star.
defined_as() {
	grep -qxF "$1" defined && return
	sed -n 's/\*,/ /p' defined | while read -r start unit; do
		case $1 in "$start"*",$unit") echo found ;; esac
	done | grep -q found
}
while read -r metric; do
	defined_as "$metric" || fail "results/METRICS.md does not define $metric"
done <seen
while read -r definition; do
	case $definition in *'*'*) continue ;; esac
	grep -qxF "$definition" seen || fail "no run writes $definition"
done <defined
defined_as refused_gpu_share,1 || fail "patterns are not understood"
defined_as nonsense,1 && fail "everything is taken for defined"
finish
