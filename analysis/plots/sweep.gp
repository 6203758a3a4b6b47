# SPDX-License-Identifier: GPL-3.0-or-later
# What the pictures of a sweep share: loaded after style.gp, with ARG6 in `key` and ARG7 in `range`.
array line_rgb[6] = [0x0072B2, 0xE69F00, 0x009E73, 0xCC79A7, 0x8C6D31, 0x56B4E9]
# Without penalty: the same, or where there is one line a colour of its own.
array plain_rgb[6] = [0x009E73, 0xE69F00, 0x009E73, 0xCC79A7, 0x8C6D31, 0x56B4E9]
from = real(substr(range, 1, strstrt(range, ":") - 1))
to = real(substr(range, strstrt(range, ":") + 1, strlen(range)))
set xrange [from:to]
set xtics ()
set xlabel key noenhanced textcolor rgb ink
set xtics noenhanced
set key samplen 2.5
# Numbers are joined by a line; names have no order, so theirs are points alone.
joined(y) = named ? NaN : y
