# SPDX-License-Identifier: GPL-3.0-or-later
# What the pictures share. Arguments of each: ARG1 folder of the scripts, ARG2 data, ARG3 picture,
# ARG4 png or svg, ARG5 title; ARG6 to ARG9 are the picture's own. Arguments are not seen in a file
# that is loaded: the picture puts the three asked for here into `picture`, `format` and `heading`.
# Colours are Okabe and Ito's, which stay apart for the colour-blind.

if (format eq "svg") {
	set terminal svg size 1200,700 dynamic font "DejaVu Sans,Helvetica,sans-serif,14" background rgb "white"
} else {
	if (strstrt(GPVAL_TERMINALS, "pngcairo") > 0) {
		set terminal pngcairo size 1200,700 font "DejaVu Sans,11" background rgb "white"
	} else {
		set terminal png truecolor size 1200,700 font "sans,11" background rgb "white"
	}
}
set output picture
set encoding utf8

# 1 to 5: training, inference, evaluation, simulation, other; then idle and down.
kind_names = "training inference evaluation simulation other idle down"
array rgb_of[7] = [0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x8C6D31, 0xE4E4E4, 0x3A3A3A]

ink = 0x333333
set border 3 lc rgb ink lw 1
set tics nomirror out textcolor rgb ink
set grid lc rgb 0xD8D8D8 lt 1 lw 0.6
# Title on the left, key under it: above the plot, where no curve can run.
set label 1 heading at screen 0.02, 0.965 left noenhanced font ",15" textcolor rgb ink
set key noenhanced textcolor rgb ink at screen 0.985, 0.935 right top horizontal Left reverse samplen 1.5
set style fill solid 1.0 noborder
