/* operate - one small handler a message
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/operate.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/xalloc.h"
#include "coordinator/guard.h"
#include "coordinator/handout.h"
#include "coordinator/service.h"

typedef void operate_fn(coord *c, const handout_ack *ack, const message *m);

static void on_submit(coord *c, const handout_ack *ack, const message *m)
{
    service_submit(c->options.service, ack, &m->body.submit);
}

static void on_run_get(coord *c, const handout_ack *ack, const message *m)
{
    service_tell_run(c->options.service, ack, m->body.run_get.run);
}

static void on_file_get(coord *c, const handout_ack *ack, const message *m)
{
    service_read_file(c->options.service, ack, &m->body.file_get);
}

static void on_cancel_run(coord *c, const handout_ack *ack, const message *m)
{
    err e = {0};
    int rc = service_cancel(c->options.service, m->body.cancel_run.run, &e);
    handout_acknowledge(c, ack, rc ? &e : NULL);
}

enum { REASON_MAX = 240 };

static void view_node(const node *n, int64_t now_ms, struct row_node_view *row)
{
    message_set_str(&row->name, n->name);
    message_set_str(&row->state, n->draining                                   ? "draining"
                                 : nodes_quarantined(n) || nodes_is_failing(n) ? "quarantined"
                                                                               : "up");
    message_set_str(&row->devices, n->devices);
    message_cut_str(&row->reason, nodes_is_failing(n) ? n->cards[0].failure : n->reason,
                    REASON_MAX);
    row->slots = n->slots;
    row->held = n->held;
    row->silent_ms = now_ms - n->seen_ms;
    row->secure = n->peer.secure;
}

static void on_fleet_get(coord *c, const handout_ack *ack, const message *asked)
{
    message m;
    (void)asked;
    message_init(&m, MSG_FLEET);
    struct msg_fleet *body = &m.body.fleet;
    body->ref = (int64_t)ack->seq;
    body->refused = guard_refused(c);
    body->nodes = xcalloc(nodes_count(c->nodes) + 1, sizeof *body->nodes);
    for (size_t i = nodes_next(c->nodes, NODES_NONE); i != NODES_NONE; i = nodes_next(c->nodes, i))
        view_node(nodes_get(c->nodes, i), clock_mono_ms(), &body->nodes[body->nodes_count++]);
    if (c->options.service)
        service_view(c->options.service, &body->runs, &body->runs_count);
    coord_send(c, &ack->peer, &m);
}

static void on_drain(coord *c, const handout_ack *ack, const message *m)
{
    err e = {0};
    size_t number = nodes_named(c->nodes, m->body.drain.node);
    if (number == NODES_NONE) {
        err_set(&e, ERR_NOT_FOUND, "no node named %s is connected", m->body.drain.node);
        handout_acknowledge(c, ack, &e);
        return;
    }
    message order;
    message_init(&order, MSG_DRAIN);
    message_set_str(&order.body.drain.node, "");
    order.body.drain.how = m->body.drain.how;
    nodes_drain(c->nodes, number);
    coord_send(c, &nodes_get(c->nodes, number)->peer, &order);
    log_line(LOG_INFO, "nodes", "node %s is drained", m->body.drain.node);
    handout_acknowledge(c, ack, NULL);
}

static const struct {
    message_type type;
    operate_fn *fn;
    bool service; /* only where runs are submitted */
} table[] = {
    {MSG_SUBMIT, on_submit, true},        {MSG_RUN_GET, on_run_get, true},
    {MSG_FILE_GET, on_file_get, true},    {MSG_CANCEL_RUN, on_cancel_run, true},
    {MSG_FLEET_GET, on_fleet_get, false}, {MSG_DRAIN, on_drain, false},
};

void operate_handle(coord *c, const peer_id *from, const message *m)
{
    const handout_ack ack = {.peer = *from, .seq = m->seq};
    err e = {0};
    size_t i = 0;
    while (table[i].type != m->type) /* api.c passes on only what is in the table */
        i++;
    if (!guard_operates(c, from))
        err_set(&e, ERR_DENIED, "this is for operators: `ce-coord keys new NAME --operator`");
    else if (table[i].service && !c->options.service)
        err_set(&e, ERR_USAGE,
                "this coordinator works on one run only; `ce-coord serve` takes others");
    else {
        table[i].fn(c, &ack, m);
        return;
    }
    handout_acknowledge(c, &ack, &e);
}
