/* cmd_nodes - ce-coord nodes: who is connected, and what they have
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/remote.h"

typedef struct options {
    const char *coordinator, *key, *db;
    bool json;
} options;

static const cli_option table[] = {{.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with `nodes`, `runs` and `refused`"},
                                   REMOTE_OPTIONS(options),
                                   CMD_OPTION_DB(options),
                                   {.name = NULL}};

static const cli_command command = {
    .name = "nodes",
    .summary = "show the nodes of a serving coordinator, and its runs",
    .arguments = "",
    .examples = "ce-coord nodes\nce-coord nodes --coordinator tcp://10.0.0.2:7000 --key me.key\n",
    .options = table};

static void print_text(const struct msg_fleet *f)
{
    for (size_t i = 0; i < f->nodes_count; i++) {
        const struct row_node_view *n = &f->nodes[i];
        printf("%-24s %-12s %3lld of %-4lld %5.1f s  %s%s%s\n", n->name, n->state,
               (long long)n->held, (long long)n->slots, (double)n->silent_ms / 1000, n->devices,
               *n->reason ? "; " : "", n->reason);
    }
    for (size_t i = 0; i < f->runs_count; i++)
        printf("run %s %s %s\n", f->runs[i].run, f->runs[i].state, f->runs[i].text);
    if (f->refused)
        printf("refused handshakes: %lld\n", (long long)f->refused);
}

static json *node_json(const struct row_node_view *n)
{
    json *row = json_new_object();
    json_set_str(row, "name", n->name);
    json_set_str(row, "state", n->state);
    json_set_str(row, "devices", n->devices);
    json_set_int(row, "slots", n->slots);
    json_set_int(row, "held", n->held);
    json_set_int(row, "silent_ms", n->silent_ms);
    json_set_bool(row, "secure", n->secure);
    json_set_str(row, "reason", n->reason);
    return row;
}

static int print_json(const struct msg_fleet *f)
{
    SCOPED(json_destroy) json *root = json_new_object();
    json *nodes = json_new_array();
    json *runs = json_new_array();
    for (size_t i = 0; i < f->nodes_count; i++) {
        json *row = node_json(&f->nodes[i]);
        json_append(nodes, &row);
    }
    for (size_t i = 0; i < f->runs_count; i++) {
        json *row = json_new_object();
        json_set_str(row, "run", f->runs[i].run);
        json_set_str(row, "state", f->runs[i].state);
        json_set_str(row, "text", f->runs[i].text);
        json_append(runs, &row);
    }
    json_set(root, "nodes", &nodes);
    json_set(root, "runs", &runs);
    json_set_int(root, "refused", f->refused);
    return cmd_print_json(root);
}

static int run_nodes(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(message_fini) message reply = {0};
    SCOPED(scoped_free)
    char *uri = o->coordinator ? xstrdup(o->coordinator) : remote_default(call->db);
    SCOPED(remote_destroy) remote *to = remote_open(uri, o->key, e);
    message m;
    if (!to)
        return -1;
    message_init(&m, MSG_FLEET_GET);
    message_set_str(&m.body.fleet_get.who, "nodes");
    if (remote_ask(to, &m, MSG_FLEET, &reply, e))
        return -1;
    if (o->json)
        return print_json(&reply.body.fleet);
    print_text(&reply.body.fleet);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_nodes = {.cli = &command,
                             .options_size = sizeof(options),
                             .db_offset = offsetof(options, db),
                             .flags = CMD_DB,
                             .run = run_nodes};
