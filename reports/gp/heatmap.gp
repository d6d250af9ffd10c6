# heatmap.gp - speedup by problem and entrant: blue is faster, orange slower than the baseline
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark      two lines of text
#   entrants, problems   how many; names[i] is the i-th entrant
#   longest              letters of the longest name of a problem
#   $cells               entrant problem kind log2 text     kind: 0 missing, 1 incorrect, 2 correct and
#                        not measured, 3 speedup
#   $names_of_problems   problem text
# SPDX-License-Identifier: MIT
set encoding utf8
letter = 6.5 # pixels
left = longest * letter + 25 > 215 ? longest * letter + 25.0 : 215.0
wide = left + 125 + 62 * entrants
wide = wide < 480 ? 480 : wide
top = 120.0
do for [i = 1:entrants] { # names lean to the right
    across = left + 62 * (i - 0.5) + 0.94 * letter * strlen(names[i]) + 10
    up = 75 + 0.34 * letter * strlen(names[i])
    wide = across > wide ? across : wide
    top = up > top ? up : top
}
tall = top + 40 + 18 * problems # pixels
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * wide, scale * tall font "DejaVu Sans,12" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size wide, tall font "DejaVu Sans,Arial,sans-serif,12" \
        background rgb "white" noenhanced dynamic name "heatmap"
}
set label 1 heading at screen 10.0 / wide, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 10.0 / wide, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
set label 3 "hatched: incorrect · framed: correct, not measured · grey: missing" \
    at screen 10.0 / wide, screen 12.0 / tall left font ",10" textcolor rgb "#555555"
set tmargin at screen 1 - top / tall
set bmargin at screen 28.0 / tall
set lmargin at screen left / wide
set rmargin at screen (left + 62 * entrants) / wide
unset border
unset xtics
unset ytics
unset key
set xrange [0.5:entrants + 0.5]
set yrange [problems + 0.5:0.5]
do for [i = 1:entrants] {
    set label 100 + i names[i] at first i, graph 1 offset 0, 0.4 left rotate by 20 font ",11"
}
set style fill solid 1 border rgb "white"
clip(x) = x < -2 ? -2 : x > 2 ? 2 : x
part(x, from, to) = int(from + (to - from) * abs(clip(x)) / 2 + 0.5)
# 0 is nearly white, 2 (four times faster) #0072B2, -2 (four times slower) #D55E00
shade(x) = x >= 0 ? part(x, 245, 0) * 65536 + part(x, 245, 114) * 256 + part(x, 245, 178) \
                  : part(x, 245, 213) * 65536 + part(x, 245, 94) * 256 + part(x, 245, 0)
box = 0.48
plot $cells using ($3 == 3 ? $1 : NaN):2:($1 - box):($1 + box):($2 - box):($2 + box):(shade($4)) \
         with boxxyerror linecolor rgb variable, \
     $cells using ($3 == 0 ? $1 : NaN):2:($1 - box):($1 + box):($2 - box):($2 + box) \
         with boxxyerror fillcolor rgb "#cccccc", \
     $cells using ($3 == 1 ? $1 : NaN):2:($1 - box):($1 + box):($2 - box):($2 + box) \
         with boxxyerror fillstyle pattern 4 border rgb "#888888" fillcolor rgb "#888888", \
     $cells using ($3 == 2 ? $1 : NaN):2:($1 - box):($1 + box):($2 - box):($2 + box) \
         with boxxyerror fillstyle empty border rgb "#888888" fillcolor rgb "#888888", \
     $cells using 1:2:5 with labels center font ",11", \
     $names_of_problems using (0.5):1:2 with labels right offset character -0.7, 0
