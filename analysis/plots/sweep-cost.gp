# SPDX-License-Identifier: GPL-3.0-or-later
# Cost of useful work against a setting, with and without penalties: means, and bars of how far the
# difference to the first setting may be off, seed by seed.
# ARG6 the setting's key, ARG7 its range, ARG8 lines, 1 where there is a cost without penalty, the
# recommended place and its cost, 1 where places have names; ARG9 label of the cost | of the bars
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"
key = ARG6; range = ARG7
load ARG1."/sweep.gp"

label_text = substr(ARG9, 1, strstrt(ARG9, "|") - 1)
bars = substr(ARG9, strstrt(ARG9, "|") + 1, strlen(ARG9))
lines = int(word(ARG8, 1))
plain = int(word(ARG8, 2))
best_x = real(word(ARG8, 3))
best_y = real(word(ARG8, 4))
named = int(word(ARG8, 5))

if (lines > 1) { plain_rgb[1] = line_rgb[1] }
set label 4 bars at screen 0.975, 0.965 right noenhanced textcolor rgb ink
set ylabel label_text textcolor rgb ink noenhanced offset 1,0
set lmargin at screen 0.11
set rmargin at screen 0.975
set tmargin at screen 0.925 - 0.031 * (lines + plain + 1)
set bmargin at screen (named ? 0.16 : 0.11)
if (best_x == best_x) {
	set arrow 1 from best_x, graph 0 to best_x, graph 1 nohead dt (3, 4) lw 1.5 lc rgb ink
	if (best_x > (from + to) / 2) {
		set label 2 "recommended" at best_x, graph 0.03 right offset -0.8, 0 textcolor rgb ink
	} else {
		set label 2 "recommended" at best_x, graph 0.03 left offset 0.8, 0 textcolor rgb ink
	}
}
set offsets 0, 0, graph 0.06, graph 0.08
dodge(i, x) = x + (lines > 1 ? (i - (lines + 1) / 2.0) * 0.008 * (to - from) : 0)
# One word for all lines: with their colour, dashed.
without(i) = i > 1 ? "" : lines > 1 ? "dashed, hollow: without penalty" : "without penalty"
plot for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):(joined(column(2))) with lines lw 2.2 lc rgb line_rgb[i] title (named ? "" : columnheader(1)), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):2:3:4 with yerrorbars pt 7 ps 0.8 lw 1.4 lc rgb line_rgb[i] title (named ? columnheader(1) : ""), \
     for [i=1:plain*lines] ARG2 index (i - 1) using (dodge(i, column(1))):(joined(column(5))) with lines lw 2 dt (6, 4) lc rgb plain_rgb[i] title (named ? "" : without(i)), \
     for [i=1:plain*lines] ARG2 index (i - 1) using (dodge(i, column(1))):5 with points pt 6 ps 0.8 lw 1.2 lc rgb plain_rgb[i] title (named ? without(i) : ""), \
     for [i=1:lines] ARG2 index (i - 1) using (dodge(i, column(1))):8 skip 1 with points pt 2 ps 2.2 lw 2.6 lc rgb 0xD55E00 \
          title (i == 1 ? "breaks the promise" : ""), \
     ARG2 index lines using 1:(NaN):xtic(2) with points notitle, \
     "+" using (lines > 1 ? dodge(1, best_x) : best_x):(best_y) every ::0::0 with points pt 6 ps 2.6 lw 2.2 lc rgb ink notitle
set output
