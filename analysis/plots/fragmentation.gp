# SPDX-License-Identifier: GPL-3.0-or-later
# Free GPUs, and how many of them are too scattered for the jobs asked for; below, nodes that are partly held.
# ARG6 unit of time, ARG7 its range
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

from = real(substr(ARG7, 1, strstrt(ARG7, ":") - 1))
to = real(substr(ARG7, strstrt(ARG7, ":") + 1, strlen(ARG7)))

set xrange [from:to]
set lmargin at screen 0.075
set rmargin at screen 0.975
set grid front
stats ARG2 using 5 skip 1 nooutput
set multiplot
set tmargin at screen 0.855
set bmargin at screen 0.36
set yrange [0:*]
set format x ""
set ylabel "GPUs" textcolor rgb ink offset 1,0
plot ARG2 using 1:2 with filledcurves y1=0 lc rgb 0xE4E4E4 title columnheader(2), \
     ARG2 using 1:3 with filledcurves y1=0 lc rgb 0xD55E00 title columnheader(3), \
     ARG2 using 1:4 with lines lw 1.6 lc rgb 0x0072B2 title columnheader(4)
unset label 1
unset key
set tmargin at screen 0.31
set bmargin at screen 0.105
set format x
set xlabel "time [".ARG6."]" textcolor rgb ink
if (STATS_max < 8) { set ytics 1 }
set ylabel "nodes partly held" textcolor rgb ink offset 1,0
plot ARG2 using 1:5 with filledcurves y1=0 lc rgb 0xCC79A7
unset multiplot
set output
