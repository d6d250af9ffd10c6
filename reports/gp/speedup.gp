# speedup.gp - speedup of each kernel over the best baseline: one bar an entrant, the fastest problem first,
# log scale, 1x line
#
# reports/plot_data.c writes the data before this file is read:
#   heading, remark   two lines of text
#   entrants          how many; names[i] is the i-th
#   low, high         range of the x axis, powers of two
#   bottom            end of the y axis, in bars, counted downwards
#   $bars             entrant y xlow xhigh      one line a measured speedup
#   $intervals        speedup y low high        of one sample 95 %, of several their quartiles
#   $values           x y text                  "1.52×", right of the bar or of the 1x line
#   $absent           y text                    outcome, where there is no speedup
#   $problems         y text                    heading of a group
# No time and no random number is read: the same data give the same bytes.
# SPDX-License-Identifier: MIT
set encoding utf8
tall = 108 + 18 * entrants + 21 * bottom # pixels
if (exists("png")) {
    scale = tall > 16000 ? 32000.0 / tall : 2.0 # cairo draws no larger picture
    set terminal pngcairo size scale * 480, scale * tall font "DejaVu Sans,13" fontscale scale \
        linewidth scale pointscale scale background rgb "white" noenhanced
} else {
    set terminal svg size 480, tall font "DejaVu Sans,Arial,sans-serif,13" \
        background rgb "white" noenhanced dynamic name "speedup"
}
set label 1 heading at screen 0.02, screen 1 - 18.0 / tall left font ",15"
set label 2 remark at screen 0.02, screen 1 - 38.0 / tall left font ",11" textcolor rgb "#555555"
set key at screen 0.02, screen 1 - 50.0 / tall top left vertical Left reverse noenhanced samplen 1.5
set tmargin at screen 1 - (60.0 + 18 * entrants) / tall
set bmargin at screen 38.0 / tall
set lmargin at screen 0.055
set rmargin at screen 0.955
set border 1 linecolor rgb "#888888"
set logscale x 2
set xrange [low:high]
set yrange [bottom:-0.3]
unset ytics
set xtics out nomirror scale 0.5
set format x "%g×"
set grid xtics linetype 1 linecolor rgb "#dddddd"
set style fill solid 0.9 noborder
set style textbox opaque noborder fillcolor rgb "white" margins 0.4, 0.4
set print $one
print 1, -0.3
print 1, bottom
unset print
array palette[8] = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933", "#555555"]
colour(i) = palette[int(i - 1) % 8 + 1]
plot for [i = 1:entrants] $bars using ($1 == i ? 1 : NaN):2:3:4:($2 - 0.42):($2 + 0.42) \
         with boxxyerror linecolor rgb colour(i) title names[i], \
     $intervals using 1:2:3:4 with xerrorbars pointtype 7 pointsize 0 linewidth 1 \
         linecolor rgb "black" notitle, \
     $one using 1:2 with lines linewidth 2 linecolor rgb "black" notitle, \
     $problems using (low):1:2 with labels left boxed offset character 0.5, 0 noenhanced notitle, \
     $values using 1:2:3 with labels left offset character 0.5, 0 noenhanced notitle, \
     $absent using (1):1:2 with labels left offset character 0.5, 0 noenhanced \
         textcolor rgb "#777777" notitle
