/* cmd_suite_show - ce-coord suite show: one suite, or one problem with all that it is made of
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/docket.h"
#include "coordinator/shelf.h"

typedef struct options {
    const char *suites;
    bool json;
} options;

static const cli_option table[] = {
    CMD_OPTION_SUITES(options),
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(options, json),
     .help = "print an object; a problem's has contract, texts and mutants"},
    {.name = NULL}};

static const cli_command command = {.name = "suite show",
                                    .summary = "show a suite or a problem",
                                    .arguments = "NAME",
                                    .arguments_min = 1,
                                    .arguments_max = 1,
                                    .examples = "ce-coord suite show internal\n"
                                                "ce-coord suite show softmax_lastdim_fp16 --json\n",
                                    .options = table};

static void print_problem(const suite *of, const problem *p)
{
    SCOPED(json_destroy) json *terms = contract_to_json(p->terms);
    SCOPED(scoped_free) char *lines = json_dump_pretty(terms);
    printf("%s/%s - %s (%s)\n\n%s\n%s\n%s", of->id, p->id, p->title, p->category, p->prompt, lines,
           p->reference);
    printf("\n%s, mutants: %zu\n", p->gold_source ? "gold.cu and gold.json" : "no gold kernel",
           p->wrong.count);
    for (size_t i = 0; i < p->wrong.count; i++) {
        SCOPED(scoped_free) char *expect = docket_expect_text(&p->wrong.items[i].cuda);
        printf("  %-28s %-24s %s\n", p->wrong.items[i].name, expect, p->wrong.items[i].why);
    }
}

static void print_suite(const suite *s)
{
    char hex[HASH_HEX];
    hash_hex(&s->content, hex);
    printf("%s %s - %s\nhash %s\n", s->id, s->version, s->title, hex);
    for (size_t i = 0; i < s->problem_count; i++) {
        const problem *p = &s->problems[i];
        printf("  %-28s %-14s %s, mutants: %zu\n", p->id, p->category,
               p->gold_source ? "gold" : "no gold", p->wrong.count);
    }
}

static int show_suite(const suite *s, bool as_json)
{
    if (!as_json) {
        print_suite(s);
        return CMD_EXIT_COMPLETE;
    }
    suite *one = (suite *)(uintptr_t)s;
    SCOPED(json_destroy) json *root = shelf_json(&one, 1);
    return cmd_print_json(root);
}

static int run_show(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const char *name = call->arguments[0];
    SCOPED(shelf_destroy) shelf *all = shelf_load(o->suites, e);
    if (!all)
        return -1;
    const suite *of = shelf_suite(all, name);
    if (of)
        return show_suite(of, o->json);
    const problem *p = shelf_problem(all, name, &of);
    if (!p)
        return err_set(e, ERR_NOT_FOUND, "there is no suite or problem %s (suite list names them)",
                       name);
    if (o->json) {
        SCOPED(json_destroy) json *row = shelf_problem_json(of, p);
        return cmd_print_json(row);
    }
    print_problem(of, p);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_suite_show = {
    .cli = &command, .options_size = sizeof(options), .run = run_show};
