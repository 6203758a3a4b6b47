#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# python.sh MODULE...: prints the first python3 that can import them all (the system's own
# may have modules that another one on PATH lacks); status 1 where none can.
imports=$(echo "$*" | tr ' ' ',')
for python in python3 /usr/bin/python3; do
	if "$python" -c "import $imports" >/dev/null 2>&1; then
		echo "$python"
		exit 0
	fi
done
exit 1
