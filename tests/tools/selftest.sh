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

# ---- regress: a stand-in for the program, whose verb `regress` ends as $ANSWER says ----
mkdir -p "$scratch/project/tests/tools" "$scratch/project/results/baselines" "$scratch/project/build"
cp "$tools/regress.sh" "$scratch/project/tests/tools/"
cat >"$scratch/project/build/tidelab" <<'END'
#!/bin/sh
[ "$1" = run ] && exit "${RUN:-0}"
echo "$*"
exit "$ANSWER"
END
chmod +x "$scratch/project/build/tidelab"
baseline=$scratch/project/results/baselines/b.csv
export ANSWER RUN
# shellcheck disable=SC2317 # called through accepts and refuses
regress() { sh "$scratch/project/tests/tools/regress.sh" "$scratch/project/build" "$@"; }
printf '# scenario: s.yaml\n# tolerance: margins\nmetric,value,unit\njobs,3,1\n' >"$baseline"
ANSWER=0 RUN=0
accepts "regress, all held" regress
ANSWER=1
refuses "regress, one moved" "FAIL b: s.yaml moved" regress
refuses "regress, with the margins" "--tolerance margins" regress
refuses "regress, an update" "--update" regress --update
ANSWER=0 RUN=1
refuses "regress, a run that fails" "the run ended with an error" regress
RUN=0
printf '# needs: nowhere\n' >>"$baseline"
accepts "regress, what it needs is not here" regress
grep -q '^skip b: not here: nowhere' "$scratch/out" || { echo "regress: no reason to skip"; bad=1; }
printf 'metric,value,unit\n' >"$baseline"
refuses "regress, no scenario" "no \`# scenario: FILE\` line" regress
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
