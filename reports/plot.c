/* plot - the pictures of a board
 *
 * SPDX-License-Identifier: MIT */
#include "reports/plot.h"

#include "reports/gnuplot.h"
#include "reports/plot_data.h"

const plot plots[PLOT_COUNT] = {
    {"speedup", plot_data_speedup,
     "Bars: speedup over the best baseline, one a problem and entrant, with a line at 1 times; "
     "where "
     "there is no speedup, the outcome"},
    {"fast_p", plot_data_fast,
     "Curves: share of all tasks that are correct and more than p times as fast as the best "
     "baseline, over p, one an entrant"},
    {"heatmap", plot_data_heatmap,
     "Table of problems by entrants, coloured by the logarithm of the speedup; hatched: incorrect; "
     "grey: missing"},
    {"failures", plot_data_failures,
     "Bars: what became of each entrant's tasks, correct or failed, by the stage that decided"},
    {"cost", plot_data_cost,
     "Points: share of correct tasks with its 95 % interval against the cost in US dollars, one an "
     "entrant"},
};

int plot_draw(const plot *self, const buf *data, buf *svg, err *e)
{
    gnuplot_job job = {.template = self->name, .data = data, .alt = self->alt};
    return gnuplot_draw(&job, svg, e);
}
