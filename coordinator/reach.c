/* reach - a look at every need when the nodes change, none in between
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/reach.h"

#include <stdlib.h>

#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"

static const sched *tasks_of(const coord *c)
{
    return c->options.run->tasks;
}

/* A socket for others: whoever is missing may come. */
static bool others_can_join(const coord *c)
{
    return c->options.bind || c->options.endpoint;
}

nodes_want reach_want(const coord *c, size_t number)
{
    nodes_want want = {.device = c->options.run->settings.device, .strict = others_can_join(c)};
    if (want.strict || sched_is_reached(tasks_of(c), number))
        want.needs = *sched_need_at(tasks_of(c), number);
    return want;
}

bool reach_why(const coord *c, size_t number, buf *out)
{
    size_t waiting = sched_waiting(tasks_of(c), number);
    if (!waiting || sched_is_reached(tasks_of(c), number) || !others_can_join(c))
        return false;
    size_t count = nodes_lanes(c->nodes, NULL, 0);
    SCOPED(scoped_free) need_device *lanes = xcalloc(count + 1, sizeof *lanes);
    nodes_lanes(c->nodes, lanes, count);
    char why[NEED_TEXT];
    need_why(sched_need_at(tasks_of(c), number), c->options.run->settings.device, lanes, count,
             why);
    buf_printf(out, "%zu %s: %s", waiting, waiting == 1 ? "task waits" : "tasks wait", why);
    return true;
}

static void tell(const coord *c, size_t number)
{
    SCOPED(buf_fini) buf text;
    buf_init(&text, REACH_TEXT);
    if (reach_why(c, number, &text))
        log_line(LOG_WARN, "sched", "%s", buf_text(&text));
}

void reach_refresh(coord *c)
{
    sched *tasks = c->options.run->tasks;
    if (c->reach_seen == nodes_changes(c->nodes))
        return;
    c->reach_seen = nodes_changes(c->nodes);
    for (size_t i = 0; i < sched_needs(tasks); i++) {
        const nodes_want want = {.device = c->options.run->settings.device,
                                 .needs = *sched_need_at(tasks, i)};
        bool was = sched_is_reached(tasks, i);
        bool is = nodes_count(c->nodes) == 0 || nodes_fit(c->nodes, &want);
        sched_set_reach(tasks, i, is);
        if (was && !is)
            tell(c, i);
    }
}
