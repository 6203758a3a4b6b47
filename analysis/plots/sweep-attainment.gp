# SPDX-License-Identifier: GPL-3.0-or-later
# Requests late against a setting, means with their intervals, and how many may be.
# ARG6 the setting's key, ARG7 its range, ARG8 lines, the promise, the recommended place, 1 where
# places have names; ARG9 range of percents
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"
key = ARG6; range = ARG7
load ARG1."/sweep.gp"

lines = int(word(ARG8, 1))
promise = real(word(ARG8, 2))
best_x = real(word(ARG8, 3))
named = int(word(ARG8, 4))
low = real(substr(ARG9, 1, strstrt(ARG9, ":") - 1))
high = real(substr(ARG9, strstrt(ARG9, ":") + 1, strlen(ARG9)))

set ylabel "requests late or lost [%]" textcolor rgb ink offset 1,0
set yrange [low:high]
set logscale y
set ytics ("none" low * 1.5, "0.0001" 0.0001, "0.001" 0.001, "0.01" 0.01, "0.1" 0.1, "1" 1, "10" 10, "100" 100)
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.925 - 0.031 * (lines + 1)
set bmargin at screen (named ? 0.16 : 0.11)
set object 1 rectangle from graph 0, first promise to graph 1, first high behind fc rgb 0xD55E00 fs transparent solid 0.10 noborder
if (best_x == best_x) {
	set arrow 1 from best_x, graph 0 to best_x, graph 1 nohead dt (3, 4) lw 1.5 lc rgb ink
	if (best_x > (from + to) / 2) {
		set label 2 "recommended" at best_x, graph 0.97 right offset -0.8, 0 textcolor rgb ink
	} else {
		set label 2 "recommended" at best_x, graph 0.97 left offset 0.8, 0 textcolor rgb ink
	}
}
dodge(i, x) = x + (lines > 1 ? (i - (lines + 1) / 2.0) * 0.008 * (to - from) : 0)
plot promise with lines lw 2 dt (8, 4) lc rgb 0xD55E00 title sprintf("%.3g %% may be late; above it, shaded, the promise is broken", promise), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):(joined(column(2))) with lines lw 2.2 lc rgb line_rgb[i] title (named ? "" : columnheader(1)), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):2:3:4 with yerrorbars pt 7 ps 0.8 lw 1.4 lc rgb line_rgb[i] title (named ? columnheader(1) : ""), \
     ARG2 index lines using 1:(NaN):xtic(2) with points notitle
set output
