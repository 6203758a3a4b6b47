# SPDX-License-Identifier: GPL-3.0-or-later
# Share of the started jobs that waited no longer than so, one curve a kind of work.
# ARG6 longest wait in seconds, ARG7 numbers of the kinds, one an index of the data,
# ARG8 percent at which the axis begins
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

set logscale x
set xrange [1:real(ARG6)]
begin = int(ARG8)
set yrange [begin:100 + 0.02 * (100 - begin)]
set xtics ("≤ 1 s" 1, "10 s" 10, "1 min" 60, "10 min" 600, "1 h" 3600, "6 h" 21600, "1 d" 86400, \
           "1 week" 604800, "30 d" 2592000, "1 year" 31536000)
set ytics begin, begin < 50 ? 10 : begin < 80 ? 5 : begin < 90 ? 2 : 1, 100
set xlabel "waited no longer than" textcolor rgb ink
set ylabel "jobs [%]" textcolor rgb ink
set lmargin at screen 0.075
set rmargin at screen 0.965
set tmargin at screen 0.855
set bmargin at screen 0.11
set key samplen 3
# Told apart by their dashes too, where one runs along another.
set dashtype 2 (14, 4)
set dashtype 3 (5, 3)
set dashtype 4 (14, 4, 3, 4)
set dashtype 5 (2, 2)
plot for [i=1:words(ARG7)] ARG2 index (i - 1) using 1:2 with steps lw 2.5 \
     lc rgb rgb_of[int(word(ARG7, i))] dt i title columnheader(1)
set output
