/* cmd_suite_validate - ce-coord suite validate: is the suite fit to judge by?
 *
 * A validation is a run of its own kind: a `validate` task for each problem, then its gold and its
 * mutants (or the adversarial kernels) through the same pipeline that candidates take.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/eval.h"
#include "coordinator/start.h"
#include "coordinator/validation.h"

#define SUITE_DEFAULT "internal"
enum { PROBLEMS_MAX = 64 };

typedef struct options {
    start_options start;
    const char *suite;
    bool adversarial;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "suite",
     .type = CLI_STR,
     .offset = AT(suite),
     .value = "S",
     .help = "suite to validate (default " SUITE_DEFAULT ")"},
    {.name = "adversarial",
     .type = CLI_FLAG,
     .offset = AT(adversarial),
     .help = "run the kernels of suites/adversarial, not the mutants"},
    START_OPTIONS(options, start),
    {.name = NULL}};

static const cli_command command = {
    .name = "suite validate",
    .summary = "prove that a suite's checks have teeth: gold passes, every mutant fails",
    .arguments = "[PROBLEM…]",
    .arguments_max = PROBLEMS_MAX,
    .examples = "ce-coord suite validate --device emu\n"
                "ce-coord suite validate my_problem\n"
                "timeout -s INT 500 ce-coord suite validate --db v.db\n"
                "timeout -s INT 500 ce-coord suite validate --db v.db --resume latest\n"
                "ce-coord suite validate --adversarial --out adversarial\n",
    .options = table};

static void defaults(void *target)
{
    options *o = target;
    start_defaults(&o->start);
}

/* ---- the run ---- */

static docket *make_docket(const eval_request *request, const selection *chosen, err *e)
{
    if (!request->adversarial)
        return docket_mutants(chosen->problems, chosen->count);
    SCOPED(scoped_free) char *root = suite_root(request->wanted->suites_dir, e);
    SCOPED(adversarial_destroy)
    adversarial *all = root ? adversarial_load(root, chosen->suites[0], e) : NULL;
    return all ? docket_adversarial(chosen->problems, chosen->count, &all) : NULL;
}

static int write_files(const validation *found, const json *document, const char *folder, err *e)
{
    SCOPED(scoped_free) char *markdown = file_join(folder, "validation.md");
    SCOPED(scoped_free) char *path = file_join(folder, "validation.json");
    SCOPED(scoped_free) char *dump = json_dump_pretty(document);
    SCOPED(buf_fini) buf text;
    buf_init(&text, VALIDATION_TEXT_MAX);
    validation_markdown(found, &text);
    if (text.overflow)
        return err_set(e, ERR_LIMIT, "the report is longer than %d bytes", VALIDATION_TEXT_MAX);
    return file_write(markdown, buf_text(&text), text.size, e) ||
                   file_write(path, dump, strlen(dump), e)
               ? -1
               : 0;
}

static int report(const eval_request *request, const eval_place *place, int *code, err *e)
{
    SCOPED(validation_destroy) validation *found = validation_read(place->store, place->run, e);
    SCOPED(json_destroy) json *document = found ? validation_json(found) : NULL;
    if (!found || write_files(found, document, place->out, e))
        return -1;
    /* unsupported_on_emu does not count in an evaluation; here it may be what is expected. */
    if (validation_ended(found))
        *code = validation_passed(found) ? CMD_EXIT_COMPLETE : CMD_EXIT_NO;
    if (request->json) {
        cmd_print_json(document);
        return 0;
    }
    SCOPED(buf_fini) buf text;
    buf_init(&text, VALIDATION_TEXT_MAX);
    validation_summary(found, &text);
    printf("%s\n%s/validation.md\n", buf_text(&text), place->out);
    return 0;
}

static const eval_purpose purpose = {
    .command = "suite validate", .docket = make_docket, .report = report};

/* ---- options → settings ---- */

/* Both answer with the kernel that the task's spec carries. */
static void add_entrants(settings *s, bool foreign)
{
    const char *const names[DOCKET_ENTRANTS] = {
        [DOCKET_GOLD] = "gold", [DOCKET_KERNEL] = foreign ? "adversarial" : "mutant"};
    s->entrants = xcalloc(DOCKET_ENTRANTS, sizeof *s->entrants);
    for (; s->entrant_count < DOCKET_ENTRANTS; s->entrant_count++) {
        settings_entrant *entrant = &s->entrants[s->entrant_count];
        entrant->name = xstrdup(names[s->entrant_count]);
        entrant->budgets[STAGE_INTERVIEW] = entrant->budgets[STAGE_CODEGEN] = 1;
        for (size_t k = 0; k < SPEC_STAGES; k++)
            entrant->models[k] = xstrdup("gold");
    }
}

static void add_name(settings_name **names, size_t *count, const char *name)
{
    *names = xreallocarray(*names, *count + 1, sizeof **names);
    (*names)[(*count)++].name = xstrdup(name);
}

/* Only problems that the list names. */
static int only_attacked(const options *o, settings *s, err *e)
{
    SCOPED(scoped_free) char *root = suite_root(o->start.suites, e);
    SCOPED(suite_destroy)
    suite *of = root ? suite_load(root, s->suites[0].name, e) : NULL;
    SCOPED(adversarial_destroy) adversarial *all = of ? adversarial_load(root, of, e) : NULL;
    if (!all)
        return -1;
    for (size_t i = 0; i < of->problem_count; i++) {
        for (size_t k = 0; k < all->kernels.count; k++) {
            if (all->problems[k] != &of->problems[i])
                continue;
            add_name(&s->only, &s->only_count, of->problems[i].id);
            break;
        }
    }
    return 0;
}

static int fill_new(const cmd_call *call, settings *s, err *e)
{
    const options *o = call->options;
    s->samples = 1;
    s->target = 1.0;
    add_name(&s->suites, &s->suite_count, o->suite ? o->suite : SUITE_DEFAULT);
    for (size_t i = 0; i < call->argument_count; i++)
        add_name(&s->only, &s->only_count, call->arguments[i]);
    add_entrants(s, o->adversarial);
    if (o->adversarial && !s->only_count && only_attacked(o, s, e))
        return -1;
    return start_fill_new(&o->start, s, e);
}

static int check_resume(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const start_fixed own[] = {{"a PROBLEM", call->argument_count},
                               {"--suite", o->suite},
                               {"--adversarial", o->adversarial}};
    return start_check_resume(&o->start, own, sizeof own / sizeof own[0], e);
}

static int run_validate(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(settings_fini) settings wanted = {.suites = NULL};
    if (start_fill(&o->start, &wanted, e) ||
        (o->start.resume ? check_resume(call, e) : fill_new(call, &wanted, e)))
        return -1;
    SCOPED(scoped_free) char *as_typed = cmd_typed(call);
    eval_request request = start_request(call, &o->start, &wanted, as_typed);
    request.purpose = &purpose;
    request.adversarial = o->adversarial;
    request.yes = true;
    return eval_run(&request, e);
}

const cmd_entry cmd_suite_validate = {.cli = &command,
                                      .options_size = sizeof(options),
                                      .defaults = defaults,
                                      .db_offset = START_AT(options, start, db),
                                      .flags = CMD_DB,
                                      .run = run_validate};
