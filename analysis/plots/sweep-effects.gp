# SPDX-License-Identifier: GPL-3.0-or-later
# What else changes with a setting: four metrics, means with their intervals.
# ARG6 the setting's key, ARG7 its range, ARG8 the recommended place, 1 where places have names, then
# 1 for each metric that is there; ARG9 the other settings
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"
key = ARG6; range = ARG7
load ARG1."/sweep.gp"

best_x = real(word(ARG8, 1))
named = int(word(ARG8, 2))
array titles[4] = ["useful work [GPU h]", "mean wait of jobs [min]", \
                   "mean time from submission to end [h]", "preemptions a day"]
unset key
if (strlen(ARG9) > 0) { set label 3 "at ".ARG9 at screen 0.02, 0.925 left noenhanced textcolor rgb ink }
if (best_x == best_x) { set arrow 1 from best_x, graph 0 to best_x, graph 1 nohead dt (3, 4) lw 1.5 lc rgb ink }
set multiplot
left(p) = p % 2 == 0 ? 0.075 : 0.575
top(p) = p < 2 ? 0.85 : 0.42
do for [p=0:3] {
	set lmargin at screen left(p)
	set rmargin at screen left(p) + 0.40
	set tmargin at screen top(p)
	set bmargin at screen top(p) - 0.30
	if (p < 2) { unset xlabel } else { set xlabel key noenhanced textcolor rgb ink }
	is_there = int(word(ARG8, 3 + p))
	set title titles[p + 1].(is_there ? "" : ": not in these runs") textcolor rgb ink offset 0, -0.6
	if (is_there) {
		# What counts or times something does not go below zero, nor does its axis.
		set yrange [*:*]
		stats ARG2 index p using 3 nooutput name "LOW"
		stats ARG2 index p using 4 nooutput name "HIGH"
		room = HIGH_max > LOW_min ? 0.1 * (HIGH_max - LOW_min) : (HIGH_max > 0 ? 0.1 * HIGH_max : 1)
		set yrange [LOW_min - room > 0 ? LOW_min - room : 0 : HIGH_max + room]
		plot ARG2 index p using 1:(joined(column(2))) with lines lw 2.2 lc rgb line_rgb[p + 1] notitle, \
		     ARG2 index p using 1:2:3:4 with yerrorbars pt 7 ps 0.7 lw 1.4 lc rgb line_rgb[p + 1] notitle, \
		     ARG2 index 4 using 1:(NaN):xtic(2) with points notitle
	} else {
		set yrange [0:1]
		plot NaN notitle
	}
	if (p == 0) { unset label 1; unset label 3 }
}
unset multiplot
set output
