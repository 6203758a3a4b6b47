#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every shell command that the documents show, run as written and in one go a document (in a copy of the
# project's root made of links), except for `make` itself: the test that runs this is one. Studies,
# which take minutes to hours, are blocks marked `sh study`: they run with minutes for days, one seed,
# and the metrics that so short a run has.
. "$ROOT/tests/cli/_lib.sh"

for entry in "$ROOT"/*; do
	name=${entry##*/}
	[ "$name" = build ] || ln -s "$entry" "$name"
done
mkdir build
ln -s "${TIDELAB%/*}" build/release
PATH=$PWD/build/release:$PATH

# The shell blocks of a document, one file a block.
blocks() {
	awk -v stem="$2" '
		/^```/ {
			study = /^```sh study$/
			inside = !inside && (study || /^```sh$/)
			if (inside)
				file = sprintf("%s.%02d", stem, ++n)
			next
		}
		study {
			sub(/--horizon [0-9]+[a-z]+/, "--horizon 10min")
			sub(/--seeds [0-9]+\.\.[0-9]+/, "--seeds 1")
			sub(/ --metrics \047[^\047]*\047/, "")
		}
		inside && !/^make( |$)/ && !/^\.ci\/run/ { print > file }' "$1"
}

ran=0
for document in README.md policies/README.md traces/README.md results/STUDIES.md; do
	stem=block-$(echo "$document" | tr '/.' '--')
	blocks "$document" "$stem"
	for block in "$stem".*; do
		[ -f "$block" ] || continue
		ran=$((ran + 1))
		cat "$block" >>"$stem-all"
	done
	[ -f "$stem-all" ] || continue
	sh -eux "$stem-all" >out 2>err </dev/null || {
		fail "$document: a command failed"
		tail -n 20 err | sed 's/^/  /'
	}
done
[ "$ran" -ge 5 ] || fail "only $ran blocks were found"
finish
