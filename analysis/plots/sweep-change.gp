# SPDX-License-Identifier: GPL-3.0-or-later
# Cost against that of the first setting, in percent: means of the differences of the same seeds and
# their intervals; hollow where compare shows none. ARG6 the setting's key, ARG7 its range, ARG8
# lines, the recommended place, 1 where
# places have names; ARG9 label of the change
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"
key = ARG6; range = ARG7
load ARG1."/sweep.gp"

lines = int(word(ARG8, 1))
best_x = real(word(ARG8, 2))
named = int(word(ARG8, 3))

set label 4 "hollow: no difference shown" at graph 0.015, 0.955 left textcolor rgb ink
set ylabel ARG9 textcolor rgb ink noenhanced offset 1,0
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.925 - 0.031 * (lines > 1 ? lines : 0)
set bmargin at screen (named ? 0.16 : 0.11)
if (lines < 2) { unset key }
if (best_x == best_x) {
	set arrow 1 from best_x, graph 0 to best_x, graph 1 nohead dt (3, 4) lw 1.5 lc rgb ink
	if (best_x > (from + to) / 2) {
		set label 2 "recommended" at best_x, graph 0.03 right offset -0.8, 0 textcolor rgb ink
	} else {
		set label 2 "recommended" at best_x, graph 0.03 left offset 0.8, 0 textcolor rgb ink
	}
}
set offsets 0, 0, graph 0.14, graph 0.1
dodge(i, x) = x + (lines > 1 ? (i - (lines + 1) / 2.0) * 0.008 * (to - from) : 0)
plot 0 with lines lw 1.4 lc rgb ink notitle, \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):(joined(column(2))) with lines lw 2.2 lc rgb line_rgb[i] title (named ? "" : columnheader(1)), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):2:3:4 with yerrorbars pt 7 ps 0.8 lw 1.4 lc rgb line_rgb[i] title (named ? columnheader(1) : ""), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):(column(5) > 0 ? column(2) : NaN) skip 1 with points pt 7 ps 0.5 lc rgb "white" notitle, \
     ARG2 index lines using 1:(NaN):xtic(2) with points notitle
set output
