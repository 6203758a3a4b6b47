#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_modules.sh BUILD_DIR: every policy module exports exactly the contract's one symbol, asks for
# nothing but libc and libm, and holds no variable that two instances would share. Status 1 else.
set -u
[ $# -ge 1 ] || { echo "usage: check_modules.sh BUILD_DIR" >&2; exit 64; }
build=$1
header=$(dirname "$0")/../../policies/abi/tidelab_policy.h
symbol=$(sed -n 's/^#define TL_MODULE_SYMBOL "\(.*\)"$/\1/p' "$header")
[ -n "$symbol" ] || { echo "$header: no TL_MODULE_SYMBOL" >&2; exit 1; }
bad=0 seen=0
for so in $(find "$build/policies" -name '*.so' | sort); do
	seen=$((seen + 1))
	exported=$(nm -D --defined-only "$so" | awk '{ print $NF }' | tr '\n' ' ')
	if [ "${exported% }" != "$symbol" ]; then
		echo "$so: exports \`${exported% }\`, wanted \`$symbol\` alone"
		bad=1
	fi
	# glibc's symbols carry its version; weak ones may stay unresolved.
	foreign=$(nm -D --undefined-only "$so" | awk '$1 == "U" && $2 !~ /@GLIBC_/ { print $2 }' | tr '\n' ' ')
	if [ -n "$foreign" ]; then
		echo "$so: needs $foreign, which is not of libc or libm"
		bad=1
	fi
done
if [ $seen -eq 0 ]; then
	echo "$build/policies: no module"
	bad=1
fi
for object in $(find "$build/obj/pic/policies" -name '*.o' | sort); do
	size -A "$object" | awk -v object="$object" '
		($1 ~ /^\.(bss|data)$/ || $1 ~ /^\.(bss|data)\.[^r]/) && $2 > 0 {
			print object ": " $2 " bytes of variables in " $1 "; a policy has no globals"
			bad = 1
		}
		END { exit bad }' || bad=1
done
exit $bad
