# gain.gp - what further tries bring: tasks solved, and the gain with the best kernel so far
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   $gain1 …          tries share best     of one entrant; a task without a faster kernel counts as 1
#   tries             the most that a task had
#   high              top of the axis of the gain
#   timed             1 when speedups were measured
# SPDX-License-Identifier: MIT
top = 74.0 + 18 * entrants
tall = top + 200 + 60 + 200 + 55 # pixels
set encoding utf8
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "gain"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
if (tries == 0) set label 3 "no tries are stored" at screen 0.5, screen 0.6 center textcolor rgb "#777777"
set multiplot
set key at screen 0.02, screen 1 - 50.0 / tall top left vertical Left reverse noenhanced samplen 1.5
set lmargin at screen 0.13
set rmargin at screen 0.955
set border 3 linecolor rgb "#888888"
set grid linetype 1 linecolor rgb "#dddddd"
set xrange [0.7:(tries > 1 ? tries : 2) + 0.3]
set xtics out nomirror scale 0.5 1
set ytics out nomirror scale 0.5
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
dashes(i) = int(i - 1) / 8 % 4 + 1
set tmargin at screen 1 - top / tall
set bmargin at screen 1 - (top + 200) / tall
set yrange [0:103]
set format y "%g %%"
set label 5 "tasks solved after so many tries" at graph 0.01, graph 1.03 left font ",11"
plot for [i = 1:entrants] sprintf("$gain%d", i) using 1:2 with linespoints pointtype 7 pointsize 0.5 \
         linewidth 2 dashtype dashes(i) linecolor rgb colour(i) title names[i]
unset key
unset label 1
unset label 2
unset label 3
set tmargin at screen 1 - (top + 260) / tall
set bmargin at screen 1 - (top + 460) / tall
set yrange [0.95:high]
set format y "%.3g×"
set xlabel "tries" offset 0, 0.3
set label 5 "gain over all tasks with the best kernel so far, 1× without one"
if (!timed) set label 6 "no speed was measured" at graph 0.5, graph 0.5 center textcolor rgb "#777777"
plot for [i = 1:entrants] sprintf("$gain%d", i) using 1:(timed ? $3 : NaN) with linespoints pointtype 7 pointsize 0.5 \
         linewidth 2 dashtype dashes(i) linecolor rgb colour(i), \
     0.9 notitle
unset multiplot
