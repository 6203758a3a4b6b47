# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of the command. Each runs in a folder of its own.
set -u
: "${ROOT:?}" "${TIDELAB:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/tidelab-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
samples=$ROOT/traces/samples

fail() {
	echo "FAIL $*"
	failures=$((failures + 1))
}

# run STATUS ARGUMENT...: the command must end so; its output is in out and err.
run() {
	wanted=$1
	shift
	"$TIDELAB" "$@" >out 2>err </dev/null
	got=$?
	if [ "$got" -ne "$wanted" ]; then
		fail "tidelab $*: exit $got, wanted $wanted"
		sed 's/^/  err: /' err
	fi
	# Whoever ends badly says why, in one line that names the program; none is ever silent.
	if [ "$got" -ne 0 ] && [ ! -s err ]; then
		fail "tidelab $*: exit $got without a word"
	fi
}

# says FILE PATTERN: a fixed text must be in it.
says() {
	grep -qF -e "$2" "$1" || {
		fail "$1 does not say: $2"
		sed 's/^/  got: /' "$1" | head -n 20
	}
}

silent() {
	[ ! -s "$1" ] || {
		fail "$1 is not empty"
		sed 's/^/  got: /' "$1" | head -n 5
	}
}

absent() {
	[ ! -e "$1" ] || fail "$1 was left behind"
}

finish() {
	[ "$failures" -eq 0 ] && exit 0
	echo "$failures checks failed"
	exit 1
}
