# fast_p.gp - share of all tasks that are correct and more than p times as fast as the best baseline
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   $curve1 …         p share     of one entrant, from the fastest task down: left of p is the share
#   high              right end of the p axis, a power of two
#   empty             1 when nothing was measured
# SPDX-License-Identifier: MIT
set encoding utf8
tall = 400 + 18 * entrants # pixels
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "fast_p"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",13"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
if (empty) set label 3 "nothing was measured" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
set key at screen 0.02, screen 1 - 50.0 / tall top left vertical Left reverse noenhanced samplen 1.5
set tmargin at screen 1 - (60.0 + 18 * entrants) / tall
set bmargin at screen 50.0 / tall
set lmargin at screen 0.13
set rmargin at screen 0.955
set border 3 linecolor rgb "#888888"
set logscale x 2
set xrange [0.25:high]
set yrange [0:103]
set xtics out nomirror scale 0.5
set ytics out nomirror scale 0.5 25
set format x "%g×"
set format y "%g %%"
set xlabel "p" offset 0, 0.5
set grid linetype 1 linecolor rgb "#dddddd"
set arrow 1 from 1, graph 0 to 1, graph 1 nohead back linewidth 2 linecolor rgb "black"
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
dashes(i) = int(i - 1) / 8 % 4 + 1
plot for [i = 1:entrants] sprintf("$curve%d", i) using 1:2 with steps linewidth 2 \
         dashtype dashes(i) linecolor rgb colour(i) title names[i]
