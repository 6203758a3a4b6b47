#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every verb has a --help with an example; the manual page has every verb and every flag.
. "$ROOT/tests/cli/_lib.sh"
page=$ROOT/sim/cli/tidelab.1

run 64
silent out
says err "Usage: tidelab VERB"
run 0 --help
says out "Usage: tidelab VERB"
silent err
run 0 help
run 0 -h
run 0 help run
says out "Usage: tidelab run"

verbs=$("$TIDELAB" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | grep -v '^tidelab$')
[ "$(echo "$verbs" | wc -l)" -ge 10 ] || fail "only these verbs: $verbs"

check() { # verb...
	run 0 "$@" --help
	silent err
	says out "Usage: tidelab $*"
	says out "Example:"
	says out "--help"
	cp out long
	run 0 "$@" -h
	cmp -s out long || fail "tidelab $*: -h is not --help"
	for word in "$@"; do
		grep -qE "^\.(Ss|Cm|Cm .*|Ss .*)\b$word\b" "$page" || fail "the manual page lacks the verb $word"
	done
	# shellcheck disable=SC2013 # flags are words
	for flag in $(sed -n 's/^  .*--\([a-z][a-z-]*\).*/\1/p' long | sort -u); do
		grep -qE "Fl -$flag( |\$)|, -$flag( |\$)" "$page" || fail "the manual page lacks --$flag of $*"
	done
}

for verb in $verbs; do
	case $verb in
	trace)
		for inner in inspect lint convert generate; do
			run 0 trace --help
			says out "trace $inner"
			check trace $inner
		done
		;;
	*) check "$verb" ;;
	esac
done

# No flag of the page that no verb has.
# shellcheck disable=SC2013 # flags are words
for flag in $(grep -oE '(Fl|,) -[a-z-]+' "$page" | sed 's/.* -//' | sort -u); do
	for verb in $verbs "trace inspect" "trace lint" "trace convert" "trace generate"; do
		# shellcheck disable=SC2086 # two words
		"$TIDELAB" $verb --help 2>/dev/null
	done | grep -qE -- "--$flag( |\$)" || fail "the manual page has --$flag, which no verb knows"
done

if command -v mandoc >/dev/null; then
	mandoc -T lint -W error "$page" >complaints 2>&1
	[ ! -s complaints ] || fail "mandoc: $(head -n 3 complaints)"
elif command -v groff >/dev/null; then
	groff -mandoc -Tutf8 -ww "$page" >/dev/null 2>complaints
	[ ! -s complaints ] || fail "groff: $(head -n 3 complaints)"
fi
finish
