# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs by what they did, stacked up to the capacity; the key names the bands from the top down.
# ARG6 unit of time, ARG7 its range, ARG8 GPUs, ARG9 numbers of the bands that occur
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

from = real(substr(ARG7, 1, strstrt(ARG7, ":") - 1))
to = real(substr(ARG7, strstrt(ARG7, ":") + 1, strlen(ARG7)))
# As analysis/figures_purposes.c numbers them: work by kind, what it costs besides, idle, down.
array band_rgb[12] = [0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0xF0E442, 0x8C6D31, 0x56B4E9, \
                      0xD55E00, 0x9A9A9A, 0xC2C2C2, 0xE4E4E4, 0x3A3A3A]

set xrange [from:to]
set yrange [0:real(ARG8)]
set xlabel "time [".ARG6."]" textcolor rgb ink
set ylabel "GPUs" textcolor rgb ink offset 1,0
set lmargin at screen 0.07
set rmargin at screen 0.72
set tmargin at screen 0.915
set bmargin at screen 0.105
set grid front
set key at screen 0.735, 0.915 left top vertical Left reverse samplen 1.2 spacing 1.35 invert
plot for [i=1:words(ARG9)] ARG2 \
     using 1:(column(int(word(ARG9, i)) + 1)):(column(int(word(ARG9, i)) + 2)) \
     with filledcurves lc rgb band_rgb[int(word(ARG9, i))] \
     title columnheader(int(word(ARG9, i)) + 1)
set output
