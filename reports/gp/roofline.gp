# roofline.gp - time of each correct kernel against the least that the card allows
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   $points           entrant floor_ms ms problem     medians over samples
#   $baselines        floor_ms ms                     of the best baseline at the same moment
#   low, high         range of both axes, powers of ten
#   empty             1 when there is no such time
# SPDX-License-Identifier: MIT
tall = 475 + 18 * (entrants + 4) # pixels
set encoding utf8
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "roofline"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
if (empty) set label 3 "no time with a known limit" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
set key at screen 0.02, screen 1 - 50.0 / tall top left vertical Left reverse noenhanced samplen 1.5
set tmargin at screen 1 - (75.0 + 18 * (entrants + 4)) / tall
set bmargin at screen 55.0 / tall
set lmargin at screen 0.185
set rmargin at screen 0.935
set border 3 linecolor rgb "#888888"
set logscale xy 10
set xrange [low:high]
set yrange [low:high]
set xtics out nomirror scale 0.5
set ytics out nomirror scale 0.5
set format x "%g ms"
set format y "%g ms"
set xlabel "least time that the card allows" offset 0, 0.3
set label 5 "measured" at graph 0.01, graph 0.97 left font ",11"
set grid linetype 1 linecolor rgb "#dddddd"
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
plot [low:high] x with lines linewidth 2 linecolor rgb "black" title "the limit", \
     2 * x with lines linewidth 1 dashtype 2 linecolor rgb "#888888" title "50 % of it", \
     4 * x with lines linewidth 1 dashtype 3 linecolor rgb "#888888" title "25 % of it", \
     $baselines using 1:2 with points pointtype 6 pointsize 0.6 linecolor rgb "#888888" \
         title "best baseline", \
     for [i = 1:entrants] $points using ($1 == i ? $2 : NaN):3 with points pointtype 7 pointsize 0.6 \
         linecolor rgb colour(i) title names[i]
