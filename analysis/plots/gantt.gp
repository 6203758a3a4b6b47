# SPDX-License-Identifier: GPL-3.0-or-later
# Which job held how much of which node: a line a node, its height the node's GPUs.
# ARG6 unit of time and what is left out, ARG7 its range, ARG8 nodes, ARG9 numbers of the colours that occur
picture = ARG3; format = ARG4; heading = ARG5
load ARG1."/style.gp"

from = real(substr(ARG7, 1, strstrt(ARG7, ":") - 1))
to = real(substr(ARG7, strstrt(ARG7, ":") + 1, strlen(ARG7)))
nodes = int(ARG8)

# Neighbours of one kind differ in tint, so that jobs can be told apart.
lighter(c, by) = int(c + (255 - c) * by)
tint(rgb, k) = lighter((rgb >> 16) & 255, 0.22 * k) * 65536 + lighter((rgb >> 8) & 255, 0.22 * k) * 256 \
             + lighter(rgb & 255, 0.22 * k)

set xrange [from:to]
set yrange [nodes:0]
set xlabel "time ".ARG6 textcolor rgb ink
unset grid
set grid xtics lc rgb 0xD8D8D8 lt 1 lw 0.6 front
small = nodes > 40 ? ",7" : nodes > 24 ? ",8" : ",10"
set ytics scale 0 noenhanced font small
set rmargin at screen 0.975
set tmargin at screen 0.885
set bmargin at screen 0.105
plot ARG2 index 0 using (($1+$2)/2):(($3+$4)/2):1:2:3:4:(tint(rgb_of[int($5)], $6)) \
          with boxxyerror fc rgb variable notitle, \
     ARG2 index 1 using (from):1:ytic(2) with points ps 0 notitle, \
     for [i=1:words(ARG9)] NaN with boxes fc rgb rgb_of[int(word(ARG9, i))] \
          title word(kind_names, int(word(ARG9, i)))
set output
