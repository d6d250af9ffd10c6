# trend.gp - the same entrants, suite, device and protocols night after night, with bands of 95 %
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   $nights1 …        seconds share low high geomean low high     of one entrant; NaN: no speed
#   first, last       range of the time axis, Unix seconds
#   high              top of the axis of speedups, a power of two
#   timed             1 when speedups were measured
#   alone             1 when no earlier run can be compared
# SPDX-License-Identifier: MIT
top = 74.0 + 18 * entrants + (alone ? 16 : 0)
tall = top + 200 + 60 + 200 + 50 # pixels
set encoding utf8
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "trend"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
if (alone) set label 3 "no earlier run of this suite, device and protocols: one night is no trend" \
    at screen 0.02, screen 1 - 55.0 / tall left font ",11" textcolor rgb "#777777"
set multiplot
set key at screen 0.02, screen 1 - (50.0 + (alone ? 16 : 0)) / tall top left vertical Left reverse \
    noenhanced samplen 1.5
set lmargin at screen 0.13
set rmargin at screen 0.955
set border 3 linecolor rgb "#888888"
set grid linetype 1 linecolor rgb "#dddddd"
day = 86400.0
pad = last > first ? 0.03 * (last - first) : day / 2
set xdata time
set timefmt "%s"
set xrange [first - pad:last + pad]
span = last - first + 2 * pad
set xtics out nomirror scale 0.5 span > 1.5 * day ? ceil(span / (5 * day)) * day : span / 3
set format x (span > 1.5 * day ? "%d %b" : "%d %b\n%H:%M")
set ytics out nomirror scale 0.5
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
set style fill transparent solid 0.18 noborder
set tmargin at screen 1 - top / tall
set bmargin at screen 1 - (top + 200) / tall
set yrange [0:103]
set format y "%g %%"
set label 5 "correct, of all tasks" at graph 0.01, graph 1.03 left font ",11"
plot for [i = 1:entrants] sprintf("$nights%d", i) using 1:3:4 with filledcurves linecolor rgb colour(i) notitle, \
     for [i = 1:entrants] sprintf("$nights%d", i) using 1:2:3:4 with yerrorbars pointtype 7 pointsize 0.5 \
         linewidth 1 linecolor rgb colour(i) notitle, \
     for [i = 1:entrants] sprintf("$nights%d", i) using 1:2 with linespoints pointtype 7 pointsize 0.5 \
         linewidth 2 linecolor rgb colour(i) title names[i]
unset key
unset label 1
unset label 2
unset label 3
set tmargin at screen 1 - (top + 260) / tall
set bmargin at screen 1 - (top + 460) / tall
set logscale y 2
set yrange [0.5:high]
set format y "%g×"
set label 5 "geometric mean of the speedups"
if (!timed) set label 6 "no speed was measured" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
plot for [i = 1:entrants] sprintf("$nights%d", i) using 1:6:7 with filledcurves linecolor rgb colour(i), \
     for [i = 1:entrants] sprintf("$nights%d", i) using 1:5:6:7 with yerrorbars pointtype 7 pointsize 0.5 \
         linewidth 1 linecolor rgb colour(i), \
     for [i = 1:entrants] sprintf("$nights%d", i) using 1:5 with linespoints pointtype 7 pointsize 0.5 \
         linewidth 2 linecolor rgb colour(i), \
     1 linewidth 2 linecolor rgb "black"
unset multiplot
