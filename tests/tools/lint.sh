#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh [STEP...]: every check that needs no run; closes with `N passed, N failed`.
# lint.sh --format: formats every C source in place.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/../.." || exit 1
deps="sh tests/tools/deps.sh"
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
folders="sim policies traces workloads analysis results tests"

sources() { # find's name patterns
	# shellcheck disable=SC2086 # a list of folders
	find $folders -type f -name "$1" | sort
}

if [ "${1:-}" = --format ]; then
	format=$($deps tool clang-format) || exit 69
	sources '*.[ch]' | xargs "$format" -i
	exit
fi

logs=build/lint
mkdir -p $logs || exit 1
passed=0 failed=0 only=$*

step() { # name, command...
	name=$1
	shift
	if [ -n "$only" ]; then
		case " $only " in *" $name "*) ;; *) return ;; esac
	fi
	began=$(date +%s)
	if "$@" >"$logs/$name.log" 2>&1 </dev/null; then
		echo "ok   $name ($(($(date +%s) - began)) s)"
		passed=$((passed + 1))
	else
		echo "FAIL $name ($(($(date +%s) - began)) s)"
		# Of a tool that explains at length, the findings; of others the end.
		if grep -q ': error: ' "$logs/$name.log"; then
			grep ': error: ' "$logs/$name.log" | sed 's/^/  /' | head -n 100
		else
			tail -n 100 "$logs/$name.log" | sed 's/^/  /'
		fi
		echo "  (all of it: $logs/$name.log)"
		failed=$((failed + 1))
	fi
}

formatted() {
	format=$($deps tool clang-format) || return
	case $("$format" --version) in
	*" 14."*) ;;
	*)
		echo "the format is that of clang-format 14; this is $("$format" --version)"
		return 1
		;;
	esac
	bad=$(sources '*.[ch]' | xargs "$format" --dry-run -Werror 2>&1 | sed -n 's/^\([^:]*\):[0-9].*: error: .*/\1/p' | sort | uniq -c)
	[ -z "$bad" ] && return
	echo "places that differ, by file; \`make format\` puts them right:"
	echo "$bad"
	return 1
}

# What the compilers do not see: line comments, marks of unfinished work, a missing licence line.
style() {
	status=0
	if sources '*.[ch]' | xargs grep -nE '^[[:space:]]*//'; then
		echo "comments are /* */"
		status=1
	fi
	# shellcheck disable=SC2086
	if grep -rnIE '\b(TODO|FIXME|XXX|HACK)\b' $folders --include='*.[ch]' --include='*.md' --include='*.gp'; then
		echo "finish it, or say why it is so"
		status=1
	fi
	bare=$({ sources '*.[ch]'; sources '*.sh'; sources '*.gp'; } | xargs grep -L 'SPDX-License-Identifier: GPL-3.0-or-later')
	if [ -n "$bare" ]; then
		printf '%s\n' "$bare"
		echo "the files above lack the SPDX line"
		status=1
	fi
	return $status
}

# Each header compiles on its own.
headers() {
	flags=$(make -s FLAVOUR=lint-gcc print-flags) || return
	# shellcheck disable=SC2016 # expanded by the inner shell
	sources '*.h' | xargs -n 1 -P "$jobs" sh -c 'printf "#include \"%s\"\nextern int unused;\n" "$2" |
		gcc $1 -Werror -x c -fsyntax-only -' sh "$flags"
}

build() { # compiler, flavour
	make FLAVOUR="$2" CC="$1" all-programs
}

shells() {
	sources '[!_]*.sh' | xargs shellcheck -s sh -x && shellcheck -s bash .ci/run
}

# A file is asked about again when it, a header or the rules changed since it last passed.
tidy() {
	tool=$($deps tool clang-tidy) || return
	flags=$(make -s FLAVOUR=lint-clang CC="$($deps tool clang)" print-flags) || return
	mkdir -p build/lint
	# shellcheck disable=SC2012,SC2046 # names without blanks
	touch -r "$(ls -t .clang-tidy $(sources '*.h') | head -n 1)" $logs/newest
	sources '*.c' | grep -v '^tests/' | while read -r file; do
		stamp=$logs/$(echo "$file" | tr / _).ok
		if [ ! -f "$stamp" ] || [ -n "$(find "$file" $logs/newest -newer "$stamp")" ]; then
			echo "$file"
		fi
	done >$logs/tidy.list
	# shellcheck disable=SC2016 # expanded by the inner shell
	xargs -n 1 -P "$jobs" sh -c '"$1" --quiet "$3" -- $2 2>/dev/null &&
		touch "build/lint/$(echo "$3" | tr / _).ok"' sh "$tool" "$flags" <$logs/tidy.list
}

step format formatted
step style style
step includes sh tests/tools/check_includes.sh
step headers headers
step gcc build gcc lint-gcc
step clang build "$($deps tool clang)" lint-clang
step modules sh tests/tools/check_modules.sh build/lint-gcc
step shellcheck shells
step selftest sh tests/tools/selftest.sh
step tidy tidy
if [ -x build/lint-gcc/tidelab ]; then
	step docs sh tests/tools/docs.sh build/lint-gcc --check
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
