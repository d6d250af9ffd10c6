# failures.gp - what became of an entrant's tasks, by the stage that decided: one bar an entrant
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   fates             how many; fate[i] is the i-th
#   $boxes            entrant fate from to text     per cent of the declared tasks; text: the number
# SPDX-License-Identifier: MIT
set encoding utf8
top = 60.0 + 18 * (fates + 1) / 2
tall = top + 40 + 44 * entrants # pixels
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "failures"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
set key at screen 0.02, screen 1 - 48.0 / tall top left vertical maxrows (fates + 1) / 2 Left reverse \
    noenhanced samplen 1
set tmargin at screen 1 - top / tall
set bmargin at screen 30.0 / tall
set lmargin at screen 0.04
set rmargin at screen 0.955
set border 1 linecolor rgb "#888888"
set xrange [0:100]
set yrange [entrants + 0.5:0.4]
unset ytics
set xtics out nomirror scale 0.5
set format x "%g %%"
array palette[8] = ["#009E73", "#56B4E9", "#0072B2", "#D55E00", "#CC79A7", "#999933", "#888888", "#dddddd"]
set style fill solid 0.9 border rgb "white"
do for [i = 1:entrants] {
    set label 100 + i names[i] at first 0, first i - 0.32 left font ",12" front
}
plot for [f = 1:fates] $boxes using ($2 == f ? ($3 + $4) / 2 : NaN):1:3:4:($1 - 0.18):($1 + 0.3) \
         with boxxyerror linecolor rgb palette[f] title fate[f], \
     $boxes using ($4 - $3 > 4 ? ($3 + $4) / 2 : NaN):($1 + 0.06):5 with labels center font ",11" notitle
