#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The checks are checked: each is shown something broken, and must say so.
set -u
tools=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-selftest.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
bad=0

refuses() { # what, expected words, command...
	what=$1 words=$2
	shift 2
	if "$@" >"$scratch/out" 2>&1 </dev/null; then
		echo "$what: passed, and must not"
		bad=1
	elif ! grep -qF -- "$words" "$scratch/out"; then
		echo "$what: does not say \`$words\` but:"
		cat "$scratch/out"
		bad=1
	fi
}

accepts() { # what, command...
	what=$1
	shift
	if ! "$@" >"$scratch/out" 2>&1 </dev/null; then
		echo "$what: refused:"
		cat "$scratch/out"
		bad=1
	fi
}

# ---- include rules ----
tree=$scratch/tree
mkdir -p "$tree/sim/base" "$tree/sim/plane" "$tree/policies/abi" "$tree/policies/order" "$tree/results"
echo '#include <stdint.h>' >"$tree/sim/base/a.h"
echo '#include <stdint.h>' >"$tree/policies/abi/tidelab_policy.h"
printf '#include "policies/abi/tidelab_policy.h"\n' >"$tree/policies/order/fifo.c"
printf '#include "sim/base/a.h"\n' >"$tree/sim/plane/p.c"
accepts "include rules, a good tree" sh "$tools/check_includes.sh" "$tree"
breaks() { # file, include line, words
	cp "$tree/$1" "$scratch/kept"
	echo "$2" >>"$tree/$1"
	refuses "include rules, $2 in $1" "$3" sh "$tools/check_includes.sh" "$tree"
	mv "$scratch/kept" "$tree/$1"
}
breaks policies/order/fifo.c '#include "sim/base/a.h"' 'policies/order/fifo.c:2: policies/order includes sim/base/a.h'
breaks sim/base/a.h '#include "sim/plane/p.c"' 'sim/base includes sim/plane/p.c'
breaks sim/plane/p.c '#include <hdf5.h>' '<hdf5.h> is for results alone'
breaks sim/base/a.h '#include "a.h"' 'not a path from the root'
breaks policies/abi/tidelab_policy.h '#include <pthread.h>' 'libc alone'

# ---- modules ----
modules=$scratch/modules
source=$scratch/module.c
compile() {
	mkdir -p "$modules/policies" "$modules/obj/pic/policies"
	"${CC:-gcc}" -fPIC -fvisibility=hidden -c "$source" -o "$modules/obj/pic/policies/m.o" &&
		"${CC:-gcc}" -shared "$modules/obj/pic/policies/m.o" -o "$modules/policies/m.so"
}
symbol=$(sed -n 's/^#define TL_MODULE_SYMBOL "\(.*\)"$/\1/p' "$tools/../../policies/abi/tidelab_policy.h")
public="__attribute__((visibility(\"default\"))) const int $symbol = 1;"
echo "$public" >"$source" && compile
accepts "modules, a good one" sh "$tools/check_modules.sh" "$modules"
echo "$public __attribute__((visibility(\"default\"))) void more(void); void more(void) {}" >"$source" && compile
refuses "modules, a second symbol" "wanted \`$symbol\` alone" sh "$tools/check_modules.sh" "$modules"
echo "$public void tl_of_the_host(void); void use(void); void use(void) { tl_of_the_host(); }" >"$source" && compile
refuses "modules, a symbol of the host" "needs tl_of_the_host" sh "$tools/check_modules.sh" "$modules"
echo "$public int next(void); int next(void) { static int n; return n++; }" >"$source" && compile
refuses "modules, a variable" "bytes of variables" sh "$tools/check_modules.sh" "$modules"

# ---- regress: a stand-in for the program prints what is in $ANSWER ----
mkdir -p "$scratch/project/tests/tools" "$scratch/project/results/baselines" "$scratch/project/build"
cp "$tools/regress.sh" "$scratch/project/tests/tools/"
cat >"$scratch/project/build/tidelab" <<'END'
#!/bin/sh
[ "$1" = run ] && exit 0
cat "$ANSWER"
END
chmod +x "$scratch/project/build/tidelab"
baseline=$scratch/project/results/baselines/b.csv
ANSWER=$scratch/answer
export ANSWER
# shellcheck disable=SC2317 # called through accepts and refuses
regress() { sh "$scratch/project/tests/tools/regress.sh" "$scratch/project/build" "$@"; }
printf '# scenario: s.yaml\n# tolerance: wait_* 1e-3\n# ignore: wall_*\nmetric,value,unit\njobs,3,1\nwait_mean,2.5,s\ngone,1,1\nwall_s,9,s\n' >"$baseline"
printf 'metric,value,unit\njobs,3,1\nwait_mean,2.501,s\ngone,1,1\nwall_s,7,s\n' >"$ANSWER"
accepts "regress, within bounds" regress
printf 'metric,value,unit\njobs,4,1\nwait_mean,2.5,s\ngone,1,1\n' >"$ANSWER"
refuses "regress, an integer off by one" "+33.33 %" regress
printf 'metric,value,unit\njobs,3,1\nwait_mean,2.6,s\ngone,1,1\n' >"$ANSWER"
refuses "regress, beyond the tolerance" "wait_mean" regress
printf 'metric,value,unit\njobs,3,1\nwait_mean,2.5,s\n' >"$ANSWER"
refuses "regress, a metric that went" "absent" regress
accepts "regress, an update" regress --update
accepts "regress, after the update" regress
grep -q '^# tolerance' "$baseline" || { echo "regress --update lost a line"; bad=1; }
rm "$baseline"
refuses "regress, no baseline" "no baseline" regress

# ---- the test runner: a script that passes, one that skips, one that fails ----
project=$scratch/runner
mkdir -p "$project/tests/tools" "$project/tests/cli" "$project/build"
cp "$tools/run_tests.sh" "$project/tests/tools/"
printf '#!/bin/sh\n' >"$project/build/tidelab" && chmod +x "$project/build/tidelab"
# shellcheck disable=SC2016 # expanded when it runs
printf 'test -d "$TMPDIR" && test -x "$TIDELAB"\n' >"$project/tests/cli/good.sh"
printf 'echo no traces; exit 77\n' >"$project/tests/cli/skip.sh"
# shellcheck disable=SC2317 # called through accepts and refuses
runner() { sh "$project/tests/tools/run_tests.sh" "$project/build"; }
accepts "runner, good and skipped" runner
grep -qx '1 passed, 0 failed, 1 skipped' "$scratch/out" || { echo "runner: wrong last line"; cat "$scratch/out"; bad=1; }
printf 'exit 3\n' >"$project/tests/cli/bad.sh"
refuses "runner, a failing script" "1 passed, 1 failed, 1 skipped" runner
rm "$project"/tests/cli/*.sh
refuses "runner, nothing to run" "no test ran" runner

[ $bad -eq 0 ] && echo "the checks catch what they are for"
exit $bad
