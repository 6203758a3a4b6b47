#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Modules that are no modules, are cut short, or misbehave while they are loaded: one line each,
# in limited time, and the blame where it belongs. Inputs that are no plain files.
# shellcheck disable=SC2016 # the backquotes are part of what is said
. "$ROOT/tests/cli/_lib.sh"
bad=$TIDELAB_BUILD/tests/modules/bad-load.so
[ -f "$bad" ] || {
	echo "$bad is not there: make test-programs builds it"
	exit 77
}

# A scenario, a cluster file and a module are plain files: a pipe is not waited for.
mkfifo pipe pipe.yaml pipe.so
run 66 check ./pipe.yaml
says err "pipe.yaml: is a device, pipe or socket"
run 66 check ''
run 66 policies ./pipe.so
says err "pipe.so: is a device, pipe or socket, wanted a plain file"

# What the headers tell.
fifo=$TIDELAB_BUILD/policies/fifo.so
size=$(wc -c <"$fifo")
for part in 3 63 200 4096 $((size / 2)) $((size - 1)); do
	head -c "$part" "$fifo" >cut.so
	run 69 policies ./cut.so
	says err "cut.so: cannot be loaded: "
	run 69 check tiny --policy order=./cut.so
	says err "cut.so: cannot be loaded: "
done
cp "$fifo" class.so
printf '\001' | dd of=class.so bs=1 seek=4 conv=notrunc 2>/dev/null
run 69 policies ./class.so
says err "another kind of machine"
cp "$fifo" type.so
printf '\004' | dd of=type.so bs=1 seek=16 conv=notrunc 2>/dev/null
run 69 policies ./type.so
says err "got ELF type 4"

# One module that misbehaves costs one line; the others are shown.
mkdir modules
cp "$bad" modules/
TIDELAB_POLICY_PATH=$work/modules
export TIDELAB_POLICY_PATH
run 0 policies
says out " bad-load "
for how in crash exit hang unload; do
	TIDELAB_TEST_LOAD=$how
	export TIDELAB_TEST_LOAD
	run 69 policies
	says out " fifo "
	says err '`bad-load`: cannot be loaded: '
	[ "$(wc -l <err)" -eq 2 ] || fail "$how: more than the one line and the sum: $(cat err)"
	run 1 check tiny --policy order=bad-load --set watchdog.cpu=1s
	case $how in
	unload) says err 'in the unloading of policy `bad-load`' ;;
	*) says err 'in the loading of policy `bad-load`' ;;
	esac
done
run 69 policies bad-load --json
silent out
finish
