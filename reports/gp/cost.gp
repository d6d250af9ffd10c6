# cost.gp - share of correct tasks against cost: one point an entrant, with its 95 % interval
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   $points           entrant usd share low high    shares in per cent
#   $frontier         usd share    of those whom nobody beats at both
#   high              right end of the cost axis
#   unknown           entrants whose cost is not known, by name; they have no point
# SPDX-License-Identifier: MIT
set encoding utf8
tall = 400 + 18 * entrants # pixels
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "cost"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
if (strlen(unknown) > 0) set label 3 "cost not known: ".unknown \
    at screen 0.02, screen 12.0 / tall left font ",10" textcolor rgb "#777777"
set key at screen 0.02, screen 1 - 50.0 / tall top left vertical Left reverse noenhanced samplen 1.5
set tmargin at screen 1 - (60.0 + 18 * entrants) / tall
set bmargin at screen 70.0 / tall
set lmargin at screen 0.13
set rmargin at screen 0.955
set border 3 linecolor rgb "#888888"
set xrange [-0.02 * high:high]
set yrange [0:103]
set xtics out nomirror scale 0.5
set ytics out nomirror scale 0.5 25
set format x "$%g"
set format y "%g %%"
set xlabel "cost of all tasks" offset 0, 0.5
set grid linetype 1 linecolor rgb "#dddddd"
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
plot $frontier using 1:2 with steps linewidth 1.5 dashtype 2 linecolor rgb "#777777" notitle, \
     for [i = 1:entrants] $points using ($1 == i ? $2 : NaN):3:4:5 with yerrorbars \
         pointtype 7 pointsize 0.8 linewidth 1.5 linecolor rgb colour(i) title names[i]
