#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# docs.sh BUILD_DIR [--check]: writes the references generated from the source; with --check only
# says whether the committed ones are those.
set -u
[ $# -ge 1 ] || { echo "usage: docs.sh BUILD_DIR [--check]" >&2; exit 64; }
tidelab=$1/tidelab check=${2:-}
cd "$(dirname "$0")/../.." || exit 1
[ -x "$tidelab" ] || { echo "docs: $tidelab is not there; \`make\` builds it" >&2; exit 1; }
scratch=$(mktemp) || exit 1
trap 'rm -f "$scratch"' EXIT
status=0

reference() { # file, command...
	file=$1
	shift
	if ! "$tidelab" "$@" >"$scratch" </dev/null; then
		echo "docs: \`tidelab $*\` failed" >&2
		status=1
	elif cmp -s "$scratch" "$file"; then
		echo "docs: $file is up to date"
	elif [ "$check" = --check ]; then
		echo "docs: $file is stale; \`make docs\` writes it" >&2
		status=1
	else
		cp "$scratch" "$file" && echo "docs: $file written"
	fi
}

reference workloads/scenarios/REFERENCE.md reference scenario
reference results/SCHEMA.md reference results
reference policies/REFERENCE.md reference policies
exit $status
