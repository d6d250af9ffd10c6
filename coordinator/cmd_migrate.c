/* cmd_migrate - ce-coord migrate: brings a database of an older ce to this one's schema
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "common/file.h"
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "store/store.h"

typedef struct options {
    const char *db;
} options;

static const cli_option table[] = {CMD_OPTION_DB(options), {.name = NULL}};

static const cli_command command = {
    .name = "migrate",
    .summary = "bring a database of an older ce to this one's schema; every row is kept, and an "
               "older ce cannot open it afterwards",
    .arguments = "",
    .examples = "ce-coord migrate --db ce.db\n",
    .options = table};

static int run_migrate(const cmd_call *call, err *e)
{
    if (!file_exists(call->db))
        return err_set(e, ERR_NOT_FOUND, "there is no database %s", call->db);
    SCOPED(store_destroy) store *db = store_open(call->db, STORE_OWN, e);
    if (db == NULL)
        return -1;
    printf("%s can be read by this ce\n", call->db);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_migrate = {.cli = &command,
                               .options_size = sizeof(options),
                               .db_offset = offsetof(options, db),
                               .flags = CMD_DB,
                               .run = run_migrate};
