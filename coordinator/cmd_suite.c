/* cmd_suite - ce-coord suite: what can be run
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "suites/suite.h"

typedef struct options {
    const char *suites;
    bool json;
} options;

static const cli_option table[] = {
    {.name = "suites",
     .type = CLI_STR,
     .offset = offsetof(options, suites),
     .value = "DIR",
     .help = "folder that holds the suites (default: the installed ones)"},
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(options, json),
     .help = "print an object with `suites` and `problems`"},
    {.name = NULL}};

static const cli_command command = {.name = "suite",
                                    .summary = "list suites and their problems; show one",
                                    .arguments = "list | show NAME",
                                    .arguments_min = 1,
                                    .arguments_max = 2,
                                    .examples = "ce-coord suite list\n"
                                                "ce-coord suite show internal\n"
                                                "ce-coord suite show softmax_lastdim_fp16 --json\n",
                                    .options = table};

/* Every suite under one root. */
typedef struct shelf {
    suite **suites;
    size_t count;
} shelf;

static void shelf_fini(shelf *self)
{
    for (size_t i = 0; i < self->count; i++)
        suite_destroy(&self->suites[i]);
    free(self->suites);
}

static int load_one(shelf *out, const char *root, const char *name, err *e)
{
    suite *loaded = suite_load(root, name, e);
    if (!loaded)
        return -1;
    out->suites[out->count++] = loaded;
    return 0;
}

static int load_all(const options *o, shelf *out, err *e)
{
    size_t count = 0;
    SCOPED(scoped_free) char *root = suite_root(o->suites, e);
    char **names = root ? suite_names(root, &count, e) : NULL;
    if (!names)
        return -1;
    out->suites = xcalloc(count + 1, sizeof *out->suites);
    int result = 0;
    for (size_t i = 0; i < count; i++) {
        result = result ? result : load_one(out, root, names[i], e);
        free(names[i]);
    }
    free(names);
    return result;
}

/* ---- JSON ---- */
static json *mutant_json(const mutant *m)
{
    json *row = json_new_object(), *expect = json_new_array();
    for (size_t i = 0; i < m->expected_count; i++) {
        json *name = json_new_str(outcome_name(m->expected[i]));
        json_append(expect, &name);
    }
    json_set_str(row, "name", m->name);
    json_set(row, "expect", &expect);
    json_set_str(row, "detail", m->detail);
    json_set_bool(row, "emu", !m->emu_blind);
    json_set_str(row, "why", m->why);
    json_set_str(row, "source", m->source);
    json_set_str(row, "plan", m->plan);
    return row;
}

static json *mutants_json(const mutants *wrong)
{
    json *list = json_new_array();
    for (size_t i = 0; i < wrong->count; i++) {
        json *row = mutant_json(&wrong->items[i]);
        json_append(list, &row);
    }
    return list;
}

static json *problem_json(const suite *s, const problem *p, bool whole)
{
    char hex[HASH_HEX];
    json *row = json_new_object();
    json_set_str(row, "suite", s->id);
    json_set_str(row, "id", p->id);
    json_set_str(row, "title", p->title);
    json_set_str(row, "category", p->category);
    hash_hex(&p->content, hex);
    json_set_str(row, "hash", hex);
    json_set_bool(row, "gold", p->gold_source != NULL);
    if (whole) {
        json *terms = contract_to_json(p->terms);
        json_set(row, "contract", &terms);
        json_set_str(row, "prompt", p->prompt);
        json_set_str(row, "reference", p->reference);
        json *wrong = mutants_json(&p->wrong);
        json_set(row, "mutants", &wrong);
    }
    return row;
}

static void print_json(const suite *const *suites, size_t count)
{
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array(), *problems = json_new_array();
    for (size_t i = 0; i < count; i++) {
        char hex[HASH_HEX];
        json *row = json_new_object();
        json_set_str(row, "id", suites[i]->id);
        json_set_str(row, "version", suites[i]->version);
        json_set_str(row, "title", suites[i]->title);
        hash_hex(&suites[i]->content, hex);
        json_set_str(row, "hash", hex);
        json_append(list, &row);
        for (size_t k = 0; k < suites[i]->problem_count; k++) {
            json *problem_row = problem_json(suites[i], &suites[i]->problems[k], false);
            json_append(problems, &problem_row);
        }
    }
    json_set(root, "suites", &list);
    json_set(root, "problems", &problems);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    fputs(text, stdout);
}

/* ---- text ---- */
static void print_suite(const suite *s)
{
    printf("%s %s - %s\n", s->id, s->version, s->title);
    for (size_t i = 0; i < s->problem_count; i++)
        printf("  %-28s %-14s %s\n", s->problems[i].id, s->problems[i].category,
               s->problems[i].title);
}

static void print_problem(const suite *s, const problem *p, bool as_json)
{
    if (as_json) {
        SCOPED(json_destroy) json *row = problem_json(s, p, true);
        SCOPED(scoped_free) char *text = json_dump_pretty(row);
        fputs(text, stdout);
        return;
    }
    SCOPED(json_destroy) json *terms = contract_to_json(p->terms);
    SCOPED(scoped_free) char *contract_lines = json_dump_pretty(terms);
    printf("%s/%s - %s (%s)\n\n%s\n%s\n%s", s->id, p->id, p->title, p->category, p->prompt,
           contract_lines, p->reference);
}

static int list(const shelf *all, bool as_json)
{
    if (as_json) {
        print_json((const suite *const *)all->suites, all->count);
        return CMD_EXIT_COMPLETE;
    }
    for (size_t i = 0; i < all->count; i++)
        print_suite(all->suites[i]);
    return CMD_EXIT_COMPLETE;
}

static int show(const shelf *all, const char *name, bool as_json, err *e)
{
    for (size_t i = 0; i < all->count; i++) {
        const suite *s = all->suites[i];
        const problem *p = suite_find(s, name);
        if (strcmp(s->id, name) == 0) {
            const shelf one = {.suites = &all->suites[i], .count = 1};
            return list(&one, as_json);
        }
        if (p) {
            print_problem(s, p, as_json);
            return CMD_EXIT_COMPLETE;
        }
    }
    return err_set(e, ERR_NOT_FOUND, "there is no suite or problem %s (suite list names them)",
                   name);
}

static int run_suite(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(shelf_fini) shelf all = {.suites = NULL};
    const char *verb = call->arguments[0];
    bool is_list = strcmp(verb, "list") == 0 && call->argument_count == 1;
    bool is_show = strcmp(verb, "show") == 0 && call->argument_count == 2;
    if (!is_list && !is_show)
        return err_set(e, ERR_USAGE, "write `suite list` or `suite show NAME`");
    if (load_all(o, &all, e))
        return -1;
    return is_list ? list(&all, o->json) : show(&all, call->arguments[1], o->json, e);
}

const cmd_entry cmd_suite = {.cli = &command, .options_size = sizeof(options), .run = run_suite};
