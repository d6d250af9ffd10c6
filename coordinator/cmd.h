/* cmd - the table of commands and what runs them
 *
 * Purpose:   one row a command: its options (common/cli.h), what must be ready before it runs, and its
 *            function. To add one: write cmd_<name>.c with a `const cmd_entry cmd_<name>`, add
 *            COMMAND(<name>) to commands.def and the file to CMakeLists.txt.
 * Ownership: a call and everything in it is borrowed for the time of the function.
 * Threads:   one.
 * Errors:    a command returns an exit code, or -1 with the error, which is printed once as
 *            "ce-coord <command>: <sentence>".
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_CMD_H
#define CE_COORDINATOR_CMD_H

#include <stddef.h>
#include <stdio.h>

#include "common/cli.h"
#include "common/err.h"
#include "common/term.h"

struct json;
struct store;

/* Exit codes of ce-coord. Scripts rely on them: never renumber. */
enum {
    CMD_EXIT_COMPLETE = 0,
    CMD_EXIT_HARNESS = 1,      /* the harness failed */
    CMD_EXIT_USAGE = 2,        /* the command line or a file a person wrote is wrong */
    CMD_EXIT_NO = 3,           /* a check said no */
    CMD_EXIT_BUDGET = 4,       /* the budget was reached */
    CMD_EXIT_INCOMPLETE = 5,   /* planned is not scored */
    CMD_EXIT_INTERRUPTED = 130 /* resumable */
};

/* What the dispatcher prepares. */
enum {
    CMD_DB = 1,         /* the command has --db; call.db is the resolved path */
    CMD_STORE_READ = 2, /* with CMD_DB: call.store is open for reading */
    CMD_HIDDEN = 4      /* not in the list of commands */
};

/* The row of --db, the same in every command that has it. `options` is the command's struct. */
#define CMD_OPTION_DB(options)                                                           \
    {                                                                                    \
        .name = "db", .type = CLI_STR, .offset = offsetof(options, db), .value = "FILE", \
        .help = "database (default $CE_HOME/ce.db, else the XDG data folder)"            \
    }

/* The row of --keys, the same in every command that has it. */
#define CMD_OPTION_KEYS(options)                                                            \
    {                                                                                       \
        .name = "keys", .type = CLI_STR, .offset = offsetof(options, keys), .value = "DIR", \
        .help = "folder of keys (default $CE_HOME/keys, else in the XDG data folder)"       \
    }

/* The row of --suites, the same in every command that has it. */
#define CMD_OPTION_SUITES(options)                                                              \
    {                                                                                           \
        .name = "suites", .type = CLI_STR, .offset = offsetof(options, suites), .value = "DIR", \
        .help = "folder that holds the suites (default: the installed ones)"                    \
    }

typedef struct cmd_call {
    const struct cmd_program *program;
    void *options; /* the command's own struct, parsed */
    const char **arguments;
    size_t argument_count;
    struct store *store; /* NULL unless CMD_STORE_READ */
    const char *db;      /* NULL unless CMD_DB */
    int argc;            /* as typed, for the record */
    char **argv;
} cmd_call;

/* Returns an exit code, or -1 and the error. */
typedef int cmd_fn(const cmd_call *call, err *e);

typedef struct cmd_entry {
    const cli_command *cli;
    size_t options_size;             /* sizeof the options struct; starts as zeros */
    void (*defaults)(void *options); /* optional: sets what is not zero */
    size_t db_offset;                /* CMD_DB: where --db lands, a const char * */
    unsigned flags;
    cmd_fn *run;
} cmd_entry;

/* What surrounds a command: filled in main, the only place that reads the environment. */
typedef struct cmd_program {
    const char *name;    /* "ce-coord" */
    const char *summary; /* one line */
    const char *version;
    const cmd_entry *const *commands; /* NULL-ended */
    const char *ce_home;              /* $CE_HOME */
    const char *xdg_data_home;        /* $XDG_DATA_HOME */
    const char *home;                 /* $HOME */
    const char *http_token;           /* $CE_HTTP_TOKEN */
    term_env term;                    /* $TERM, $NO_COLOR */
    const char *const *environment;   /* all of it, NULL-ended; NULL: none */
} cmd_program;

/* cmd_dispatch runs argv[1] with the rest; the result is the process's exit code. */
int cmd_dispatch(const cmd_program *program, int argc, char **argv);
/* cmd_find is the entry of that name, or NULL. */
const cmd_entry *cmd_find(const cmd_program *program, const char *name);
/* cmd_exit_of is the exit code of a command that failed with this error. */
int cmd_exit_of(const err *e);
/* cmd_db_path: `given`, else $CE_HOME/ce.db, else ce/ce.db in the XDG data folder. Caller frees. */
char *cmd_db_path(const cmd_program *program, const char *given, err *e);
/* cmd_keys_path is the folder of keys: `given`, else `keys` beside the database's default. Caller frees. */
char *cmd_keys_path(const cmd_program *program, const char *given, err *e);
/* cmd_typed is the command line as typed, quoted where a shell needs it. Caller frees. */
char *cmd_typed(const cmd_call *call);
/* cmd_print_json prints a document; the result is CMD_EXIT_COMPLETE. */
int cmd_print_json(const struct json *document);
/* cmd_print_help lists the commands. */
void cmd_print_help(const cmd_program *program, FILE *out);
/* cmd_print_reference writes docs/cli.md: every command's help. */
void cmd_print_reference(const cmd_program *program, FILE *out);

#endif
