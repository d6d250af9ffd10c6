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
#include "coordinator/validation.h"

#define SUITE_DEFAULT "internal"
enum { NOT_GIVEN = -1, PROBLEMS_MAX = 64 };

typedef struct options {
    const char *suite, *device, *resume, *out, *db, *suites, *python, *fake;
    int64_t seed, slots;
    bool adversarial, json;
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
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(device),
     .value = "KIND",
     .help = "auto (default: cuda, else emu), cuda, emu, fake (for tests)"},
    {.name = "resume",
     .type = CLI_STR,
     .offset = AT(resume),
     .value = "RUN",
     .help = "go on with a validation; everything else is taken from it"},
    {.name = "seed",
     .type = CLI_INT,
     .offset = AT(seed),
     .value = "S",
     .help = "seed of the hidden inputs (default: random, recorded)",
     .min = 0,
     .max = 281474976710655.0},
    {.name = "out",
     .type = CLI_STR,
     .offset = AT(out),
     .value = "DIR",
     .help = "folder of validation.md and validation.json (default ce-runs/RUN)"},
    CMD_OPTION_DB(options),
    {.name = "json",
     .type = CLI_FLAG,
     .offset = AT(json),
     .help = "print validation.json to stdout"},
    {.name = "slots",
     .type = CLI_INT,
     .offset = AT(slots),
     .value = "N",
     .help = "tasks at once on the local node",
     .min = 1,
     .max = 1024},
    CMD_OPTION_SUITES(options),
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch for the judge"},
    {.name = "fake",
     .type = CLI_STR,
     .offset = AT(fake),
     .value = "FILE",
     .help = "script of the fake device"},
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
    o->seed = NOT_GIVEN;
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

static char *copy(const char *text)
{
    return text ? xstrdup(text) : NULL;
}

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
    SCOPED(scoped_free) char *root = suite_root(o->suites, e);
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
    s->suites_dir = copy(o->suites);
    s->device = xstrdup(o->device ? o->device : "auto");
    s->samples = 1;
    s->seed = o->seed == NOT_GIVEN ? settings_random_seed() : o->seed;
    s->target = 1.0;
    s->node_timeout_ms = SETTINGS_NODE_TIMEOUT_MS;
    add_name(&s->suites, &s->suite_count, o->suite ? o->suite : SUITE_DEFAULT);
    for (size_t i = 0; i < call->argument_count; i++)
        add_name(&s->only, &s->only_count, call->arguments[i]);
    add_entrants(s, o->adversarial);
    if (o->adversarial && !s->only_count && only_attacked(o, s, e))
        return -1;
    return settings_check_device(s->device, e);
}

static int check_resume(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const struct {
        const char *name;
        bool given;
    } fixed[] = {{"a PROBLEM", call->argument_count}, {"--suite", o->suite},
                 {"--adversarial", o->adversarial},   {"--device", o->device},
                 {"--seed", o->seed != NOT_GIVEN},    {"--suites", o->suites}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        if (fixed[i].given)
            return err_set(e, ERR_USAGE, "--resume takes %s from the run: leave it out",
                           fixed[i].name);
    }
    return 0;
}

static int run_validate(const cmd_call *call, err *e)
{
    const options *o = call->options;
    SCOPED(settings_fini)
    settings wanted = {
        .out = copy(o->out), .python = copy(o->python), .fake = copy(o->fake), .slots = o->slots};
    if (o->fake && !file_exists(o->fake))
        return err_set(e, ERR_USAGE, "--fake %s: there is no such file", o->fake);
    if (o->resume ? check_resume(call, e) : fill_new(call, &wanted, e))
        return -1;
    SCOPED(scoped_free) char *as_typed = cmd_typed(call);
    const eval_request request = {.purpose = &purpose,
                                  .wanted = &wanted,
                                  .resume = o->resume,
                                  .db = call->db,
                                  .db_given = o->db,
                                  .program = call->argv[0],
                                  .command = as_typed,
                                  .version = CE_VERSION,
                                  .adversarial = o->adversarial,
                                  .yes = true,
                                  .json = o->json};
    return eval_run(&request, e);
}

const cmd_entry cmd_suite_validate = {.cli = &command,
                                      .options_size = sizeof(options),
                                      .defaults = defaults,
                                      .db_offset = AT(db),
                                      .flags = CMD_DB,
                                      .run = run_validate};
