# SPDX-License-Identifier: GPL-3.0-or-later
# A service over time: p99 against its target with the breaches shaded, replicas wanted and ready,
# and requests. ARG6 unit of time, ARG7 its range, ARG8 target, unit of latency, log or straight,
# its range, incidents, 1 where windows of few
# requests are pooled; ARG9 texts between |: of the breaches, of p99, of the target
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

from = real(substr(ARG7, 1, strstrt(ARG7, ":") - 1))
to = real(substr(ARG7, strstrt(ARG7, ":") + 1, strlen(ARG7)))
target = real(word(ARG8, 1))
low = real(word(ARG8, 4))
high = real(word(ARG8, 5))
incidents = int(word(ARG8, 6))
pooled = int(word(ARG8, 7))
first = strstrt(ARG9, "|")
rest = substr(ARG9, first + 1, strlen(ARG9))
second = strstrt(rest, "|")
breach_text = substr(ARG9, 1, first - 1)
p99_text = substr(rest, 1, second - 1)
target_text = substr(rest, second + 1, strlen(rest))

breach_rgb = 0xD55E00
set xrange [from:to]
set lmargin at screen 0.085
set rmargin at screen 0.975
set format x ""
set key samplen 2.5
stats ARG2 index 0 using 3 nooutput
set multiplot

set tmargin at screen 0.86
set bmargin at screen 0.50
set ylabel "latency [".word(ARG8, 2)."]" textcolor rgb ink offset 1,0
if (word(ARG8, 3) eq "log") {
	set logscale y
	set ytics ()
	do for [e=-3:7] { do for [m in "1 2 5"] { set ytics add (real(m) * 10.0 ** e) } }
}
set yrange [low:high]
# A point that was in breach at all is to be seen; one that was in breach throughout stands out.
faint = 0.1
strong = 0.45
veil(share) = (int(255 * (1 - faint - (strong - faint) * share)) << 24) + breach_rgb
plot ARG2 index 1 using 1:(low):1:2:(low):(high):(veil($3)) with boxxyerror lc rgb variable \
          fs solid 1 noborder notitle, \
     NaN with boxes fc rgb veil(1) fs solid 1 noborder title breach_text, \
     ARG2 index 0 using 1:(pooled ? column(6) : NaN) with steps lw 0.6 lc rgb 0x9FC5E8 title (pooled ? "p99, worst of them" : ""), \
     ARG2 index 0 using 1:2 with steps lw 1.6 lc rgb 0x0072B2 title p99_text, \
     ARG2 index 2 using 1:(high) with impulses lw 1.8 dt (2, 3) lc rgb ink title (incidents > 0 ? "incident" : ""), \
     target with lines lw 1.8 dt (8, 4) lc rgb breach_rgb title target_text
unset logscale y
unset label 1

set key at screen 0.985, 0.492
set tmargin at screen 0.445
set bmargin at screen 0.285
set ylabel "replicas" textcolor rgb ink offset 1,0
set yrange [0:*]
set ytics autofreq
if (STATS_max < 8) { set ytics 1 }
set offsets 0, 0, graph 0.08, 0
plot ARG2 index 0 using 1:3 with steps lw 2 lc rgb 0xE69F00 title "wanted", \
     ARG2 index 0 using 1:4 with steps lw 2 dt (4, 2) lc rgb 0x009E73 title "ready"

unset key
set ytics autofreq
set tmargin at screen 0.25
set bmargin at screen 0.105
set format x
set xlabel "time [".ARG6."]" textcolor rgb ink
set ylabel "requests/s" textcolor rgb ink offset 1,0
plot ARG2 index 0 using 1:5 with steps lw 1.4 lc rgb 0xCC79A7 notitle
unset multiplot
set output
