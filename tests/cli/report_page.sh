#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Reports in a browser: whole, legible, within reach of the keyboard; and the look can fail.
. "$ROOT/tests/cli/_lib.sh"
command -v gnuplot >/dev/null || {
	echo "gnuplot is not installed"
	exit 77
}
look() { # STATUS PAGE
	sh "$ROOT/tests/tools/check_page.sh" "$2" >look 2>&1
	got=$?
	if [ "$got" -eq 77 ]; then
		cat look
		exit 77
	fi
	if [ "$got" -ne "$1" ]; then
		fail "check_page.sh $2: exit $got, wanted $1"
		sed 's/^/  /' look
	fi
}
run 0 run service -o service.h5 --set horizon=6h
run 0 report service.h5 -o page
look 0 page/index.html

run 0 sweep service --vary cluster.nodes=2,4 --vary policy.place=topology,fgd --seeds 1,2 --set horizon=1h \
	--tables summary -j 2 -o swept
run 0 report swept -o sweep
look 0 sweep/index.html

# What is broken is seen.
sed -e 's|<main|<p style="width: 5em; overflow: hidden; white-space: nowrap">far too long to fit in here</p><main|' \
	-e 's|href="#m1"|href="#nowhere"|' -e '0,/<svg viewBox/s|<svg viewBox="0 0 1200 700"|<svg viewBox="0 300 1200 400"|' \
	-e 's|</main>|<img src="nothing.png" alt="x"></main>|' page/index.html >broken.html
look 1 broken.html
says look "text is cut off: p"
says look "link leads nowhere"
says look "text is cut off in a picture"
says look "image is not there"
finish
