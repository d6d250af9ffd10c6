/* cmd_keys_list - ce-coord keys list: whose keys may come in
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/clock.h"
#include "common/json.h"
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/keyring.h"

typedef struct options {
    const char *keys;
    bool json;
} options;

static const cli_option table[] = {{.name = "json",
                                    .type = CLI_FLAG,
                                    .offset = offsetof(options, json),
                                    .help = "print an object with `keys`"},
                                   CMD_OPTION_KEYS(options),
                                   {.name = NULL}};

static const cli_command command = {.name = "keys list",
                                    .summary = "list the keys that may come in",
                                    .arguments = "",
                                    .examples = "ce-coord keys list\n",
                                    .options = table};

static int print_json(const keyring_row *rows, size_t count)
{
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    for (size_t i = 0; i < count; i++) {
        char text[CURVE_TEXT];
        json *row = json_new_object();
        curve_text(&rows[i].key, text);
        json_set_str(row, "name", rows[i].name);
        json_set_str(row, "role", keyring_role_name(rows[i].role));
        json_set_str(row, "public", text);
        json_set_int(row, "created_ms", rows[i].created_ms);
        json_append(list, &row);
    }
    json_set(root, "keys", &list);
    return cmd_print_json(root);
}

static void print_text(const keyring_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char brief[CURVE_BRIEF], when[CLOCK_TEXT];
        curve_brief(&rows[i].key, brief);
        clock_text(rows[i].created_ms, when);
        printf("%-24s %-9s %s  %s\n", rows[i].name, keyring_role_name(rows[i].role), brief, when);
    }
}

static int run_list(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(scoped_free) keyring_row *rows = NULL;
    size_t count = 0;
    SCOPED(scoped_free) char *folder = cmd_keys_path(call->program, o->keys, e);
    if (!folder || keyring_list(folder, &rows, &count, e))
        return -1;
    if (o->json)
        return print_json(rows, count);
    print_text(rows, count);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_keys_list = {.cli = &command, .options_size = sizeof(options), .run = run_list};
