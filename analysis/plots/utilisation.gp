# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs by what they do, stacked up to the capacity; below them what waits, if anything does.
# ARG6 unit of time, ARG7 its range, ARG8 GPUs at most, ARG9 words: down, pending
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

from = real(substr(ARG7, 1, strstrt(ARG7, ":") - 1))
to = real(substr(ARG7, strstrt(ARG7, ":") + 1, strlen(ARG7)))
most = real(ARG8)
has_down = strstrt(ARG9, "down") > 0
has_pending = strstrt(ARG9, "pending") > 0

set xrange [from:to]
set lmargin at screen 0.075
set rmargin at screen 0.975
set grid front
stats ARG2 using 6 skip 1 nooutput
step = has_pending ? 10 ** floor(log10(STATS_max)) : 1
step = STATS_max >= 5 * step ? 2 * step : STATS_max >= 2 * step ? step : step / 2.0
set multiplot
set bmargin at screen (has_pending ? 0.36 : 0.105)
set tmargin at screen 0.855
set yrange [0:most]
set ylabel "GPUs" textcolor rgb ink offset 1,0
if (has_pending) { set format x "" } else { set xlabel "time [".ARG6."]" textcolor rgb ink }

if (has_down) {
	plot ARG2 using 1:2 with filledcurves y1=0 lc rgb 0x0072B2 title columnheader(2), \
	     ARG2 using 1:2:3 with filledcurves lc rgb 0xE69F00 title columnheader(3), \
	     ARG2 using 1:3:4 with filledcurves lc rgb 0xE4E4E4 title columnheader(4), \
	     ARG2 using 1:4:5 with filledcurves lc rgb 0x3A3A3A title columnheader(5), \
	     ARG2 using 1:5 with lines lc rgb 0x000000 lw 1.5 title "capacity"
} else {
	plot ARG2 using 1:2 with filledcurves y1=0 lc rgb 0x0072B2 title columnheader(2), \
	     ARG2 using 1:2:3 with filledcurves lc rgb 0xE69F00 title columnheader(3), \
	     ARG2 using 1:3:4 with filledcurves lc rgb 0xE4E4E4 title columnheader(4), \
	     ARG2 using 1:5 with lines lc rgb 0x000000 lw 1.5 title "capacity"
}

if (has_pending) {
	unset label 1
	unset key
	set tmargin at screen 0.31
	set bmargin at screen 0.105
	set format x
	set xlabel "time [".ARG6."]" textcolor rgb ink
	set ylabel "GPUs waited for" textcolor rgb ink offset 1,0
	set yrange [0:*]
	set ytics step
	plot ARG2 using 1:6 with filledcurves y1=0 lc rgb 0xCC79A7
}
unset multiplot
set output
