/* cli - options of a sub-command as one table
 *
 * Purpose:   a table parses, validates and prints the help, so the three cannot disagree.
 * Ownership: values point into argv or into the table's target struct.
 * Threads:   one.
 * Errors:    ERR_USAGE: what is wrong, and the nearest known option ("did you mean --suite?").
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_CLI_H
#define CE_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

typedef enum cli_type {
    CLI_FLAG, /* bool */
    CLI_STR,  /* const char * */
    CLI_INT,  /* int64_t, min..max */
    CLI_REAL, /* double, min..max */
    CLI_LIST  /* cli_list: repeatable; each value kept as given */
} cli_type;

enum { CLI_LIST_MAX = 64 };

typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    size_t count;
} cli_list;

typedef struct cli_option {
    const char *name; /* without "--"; NULL ends the table */
    cli_type type;
    size_t offset;     /* offsetof in the target struct */
    const char *value; /* placeholder in the help: "N", "FILE"; NULL for a flag */
    const char *help;  /* one line; NULL: understood, but not in the help */
    double min, max;   /* numbers only; both 0 = no bound */
    const char *bare;  /* its value where none is given; one is then given by `--name=VALUE` only */
} cli_option;

typedef struct cli_command {
    const char *name;      /* "eval" */
    const char *summary;   /* one line */
    const char *arguments; /* "[RUN…]" or "" */
    size_t arguments_min, arguments_max;
    const char *examples; /* several lines: help teaches by example */
    const cli_option *options;
} cli_command;

/* cli_parse reads argv[1..] into target (defaults stay where an option is absent). Positional
 * arguments come back in `arguments` (capacity arguments_max). `--name value`, `--name=value`, `--`.
 * *help is set when --help was given (then nothing else is checked). */
int cli_parse(const cli_command *command, int argc, char **argv, void *target,
              const char **arguments, size_t *argument_count, bool *help, err *e);
/* cli_print_help writes usage, options and examples. program is "ce-coord". */
void cli_print_help(const cli_command *command, const char *program, FILE *out);

#endif
