/* plot - the pictures of a board
 *
 * SPDX-License-Identifier: MIT */
#include "reports/plot.h"

#include "reports/gnuplot.h"
#include "reports/plot_data.h"

const plot plots[PLOT_COUNT] = {
    {"speedup", "speedup.dat", plot_data_speedup,
     "Bars: speedup over the best baseline, one a problem and entrant, the "
     "fastest first, each with its interval, and a line at 1 times; where there is no speedup, the "
     "outcome"},
    {"fast_p", "fast_p.dat", plot_data_fast,
     "Curves: share of all tasks that are correct and more than p times as fast as the best "
     "baseline, over p, one an entrant"},
    {"heatmap", "heatmap.dat", plot_data_heatmap,
     "Table of problems by entrants, coloured by the logarithm of the speedup; hatched: incorrect; "
     "grey: missing"},
    {"failures", "failures.dat", plot_data_failures,
     "Bars: what became of each entrant's tasks, correct or failed, by the stage that decided"},
    {"cost", "cost.dat", plot_data_cost,
     "Points: share of correct tasks with its 95 % interval against the cost in US dollars, one an "
     "entrant, with a line along those that nobody beats at both"},
    {"roofline", "roofline.dat", plot_data_roofline,
     "Points: time of each correct kernel against the least time that the card allows, "
     "with the best baselines, and lines at 100, 50 and 25 per cent of the limit"},
    {"gain", "gain.dat", plot_data_gain,
     "Curves over the number of tries: share of tasks that are solved, and the gain over the "
     "baseline with the best kernel so far, one an entrant"},
    {"trend", "trend.dat", plot_data_trend,
     "Curves over the nights: share of correct tasks and geometric mean of the speedups, each with "
     "a band of 95 %, one an entrant"},
};

int plot_draw(const plot *self, const buf *data, bool png, buf *picture, err *e)
{
    gnuplot_job job = {.template = self->name, .data = data, .alt = self->alt, .png = png};
    return gnuplot_draw(&job, picture, e);
}
