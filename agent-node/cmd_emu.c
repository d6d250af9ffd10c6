/* cmd_emu - see cmd_emu.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/cmd_emu.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/emu_run.h"
#include "agent-node/judge.h"
#include "common/cli.h"
#include "common/file.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "suites/suite.h"

enum {
    EXIT_CORRECT = 0,
    EXIT_HARNESS = 1,
    EXIT_USAGE = 2,
    EXIT_NO = 3,
    EXIT_NOT_COMPARED = 5,
    FILE_BYTES_MAX = 1 << 20,
    TEXT_BYTES_MAX = 4 << 20
};

typedef struct options {
    const char *problem, *family, *suites, *python, *nvrtc;
    cli_list dims;
    int64_t seed;
    bool unsafe_compile, json;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "problem",
     .type = CLI_STR,
     .offset = AT(problem),
     .value = "NAME|DIR",
     .help = "a problem of an installed suite, or the folder of one (required)"},
    {.name = "dim",
     .type = CLI_LIST,
     .offset = AT(dims),
     .value = "NAME=N",
     .help = "size of a dimension; others as in the largest shape that is checked (repeatable)"},
    {.name = "family",
     .type = CLI_STR,
     .offset = AT(family),
     .value = "NAME",
     .help = "only this value family (default: each one of the problem)"},
    {.name = "seed",
     .type = CLI_INT,
     .offset = AT(seed),
     .value = "N",
     .help = "seed of the inputs (default 1)",
     .max = 281474976710655},
    {.name = "json", .type = CLI_FLAG, .offset = AT(json), .help = "print an object"},
    {.name = "suites",
     .type = CLI_STR,
     .offset = AT(suites),
     .value = "DIR",
     .help = "folder that holds the suites (default: the installed ones)"},
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch (default: the first one; without, nothing is compared)"},
    {.name = "nvrtc",
     .type = CLI_STR,
     .offset = AT(nvrtc),
     .value = "FILE",
     .help = "libnvrtc to use (default: searched)"},
    {.name = "unsafe-compile",
     .type = CLI_FLAG,
     .offset = AT(unsafe_compile),
     .help = "compile even where no sandbox can be made: sources may read files of this host"},
    {.name = NULL}};

static const cli_command command = {
    .name = "emu",
    .summary = "run one kernel on the CPU with every memory access checked; needs no GPU",
    .arguments = "FILE.cu PLAN.json",
    .arguments_min = 2,
    .arguments_max = 2,
    .examples =
        "  ce-node emu gold.cu gold.json --problem softmax_lastdim_fp16\n"
        "  ce-node emu mine.cu plan.json --problem rms_norm_fp16 --dim rows=33 --dim cols=7\n"
        "  ce-node emu mine.cu plan.json --problem suites/internal/argmax_fp32 --json\n",
    .options = table};

/* ---- which problem ---- */

static char *folder_in_suites(const options *o, err *e)
{
    SCOPED(scoped_free) char *root = suite_root(o->suites, e);
    if (root == NULL)
        return NULL;
    size_t count = 0;
    char **names = suite_names(root, &count, e);
    char *found = NULL;
    for (size_t i = 0; names != NULL && i < count; i++) {
        SCOPED(scoped_free) char *folder = xasprintf("%s/%s/%s", root, names[i], o->problem);
        SCOPED(scoped_free) char *file = file_join(folder, "problem.yaml");
        if (found == NULL && file_exists(file))
            found = TAKE(folder);
        free(names[i]);
    }
    if (names != NULL && found == NULL)
        err_set(e, ERR_NOT_FOUND,
                "no problem %.80s in the suites under %.100s: a name that `ce-coord suite list` "
                "prints, "
                "or a folder",
                o->problem, root);
    free(names);
    return found;
}

static int find_problem(const options *o, problem *out, err *e)
{
    SCOPED(scoped_free) char *file = file_join(o->problem, "problem.yaml");
    SCOPED(scoped_free)
    char *folder = file_exists(file) ? xstrdup(o->problem) : folder_in_suites(o, e);
    return folder == NULL ? -1 : problem_load(folder, out, e);
}

/* ---- which shape ---- */

/* Elements of all tensors; -1 where one is too large to be checked here. */
static int64_t elements_at(const contract *terms, const contract_shape *shape)
{
    int64_t sum = 0;
    for (size_t t = 0; t < terms->input_count + terms->output_count; t++) {
        int64_t elements = 0;
        if (contract_elements(terms, t, shape, &elements, NULL) < 0 ||
            elements > JUDGE_CPU_ELEMENTS_MAX)
            return -1;
        sum += elements;
    }
    return sum;
}

static int dim_of(const contract *terms, const char *name, size_t length)
{
    for (size_t i = 0; i < terms->dim_count; i++)
        if (strlen(terms->dims[i].name) == length &&
            strncmp(terms->dims[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

static int unknown_dim(const contract *terms, const char *word, err *e)
{
    SCOPED(buf_fini) buf names;
    buf_init(&names, 1024);
    for (size_t i = 0; i < terms->dim_count; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", terms->dims[i].name);
    return err_set(e, ERR_USAGE, "--dim %.60s: want NAME=N, with a NAME of: %.120s", word,
                   buf_text(&names));
}

static int apply(const contract *terms, const char *word, contract_shape *shape, err *e)
{
    const size_t length = strcspn(word, "=");
    const int i = word[length] == '=' ? dim_of(terms, word, length) : -1;
    int64_t value = 0;
    if (i < 0 || !str_to_i64(word + length + 1, &value))
        return unknown_dim(terms, word, e);
    const contract_dim *dim = &terms->dims[i];
    if (value != 0 && (value < dim->min || value > dim->max))
        return err_set(e, ERR_USAGE,
                       "--dim %.60s: the contract allows %" PRId64 " to %" PRId64 " (and 0)", word,
                       dim->min, dim->max);
    shape->dims[i] = value;
    return 0;
}

int cmd_emu_shape(const contract *terms, const char *const *words, size_t count,
                  contract_shape *out, err *e)
{
    int64_t most = -1;
    *out = terms->shape_count > 0 ? terms->shapes[0] : terms->benchmark;
    for (size_t i = 0; i < terms->shape_count; i++) {
        const int64_t elements = elements_at(terms, &terms->shapes[i]);
        if (elements > most) {
            most = elements;
            *out = terms->shapes[i];
        }
    }
    for (size_t i = 0; i < count; i++)
        if (apply(terms, words[i], out, e) < 0)
            return -1;
    return contract_fits(terms, out, e);
}

/* ---- run and print ---- */

static int check_family(const options *o, const contract *terms, err *e)
{
    if (o->family == NULL || family_list_has(&terms->families, o->family))
        return 0;
    SCOPED(buf_fini) buf names;
    buf_init(&names, 2048);
    for (size_t i = 0; i < terms->families.count; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", terms->families.names[i]);
    return err_set(e, ERR_USAGE, "--family %.40s: the problem has %.160s", o->family,
                   buf_text(&names));
}

static char *read_text(const char *path, err *e)
{
    buf text;
    buf_init(&text, FILE_BYTES_MAX);
    if (file_read(path, &text, e) < 0) {
        buf_fini(&text);
        return NULL;
    }
    return buf_take(&text);
}

static compile_pool *open_compiler(const options *o, err *e)
{
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL)
        return NULL;
    SCOPED(scoped_free) char *binary = file_join(here, "ce-compiler");
    const compile_options compile = {
        .binary = binary, .children = 1, .nvrtc = o->nvrtc, .unsafe = o->unsafe_compile};
    return compile_pool_create(&compile, e);
}

static void print(const options *o, const emu_run_request *request, const emu_run_result *result)
{
    if (o->json) {
        SCOPED(json_destroy) json *tree = emu_run_json(request, result);
        SCOPED(scoped_free) char *text = json_dump_pretty(tree);
        fputs(text, stdout);
        return;
    }
    SCOPED(buf_fini) buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    emu_run_text(request, result, &text);
    fputs(buf_text(&text), stdout);
}

/* The exit code, or -1 and the error. */
static int run(const options *o, const char *const files[2], err *e)
{
    problem p SCOPED(problem_fini) = {.id = NULL};
    contract_shape shape;
    if (find_problem(o, &p, e) < 0 ||
        cmd_emu_shape(p.terms, o->dims.items, o->dims.count, &shape, e) < 0 ||
        check_family(o, p.terms, e) < 0)
        return -1;
    SCOPED(scoped_free) char *source = read_text(files[0], e);
    SCOPED(scoped_free) char *plan = source != NULL ? read_text(files[1], e) : NULL;
    SCOPED(compile_pool_destroy) compile_pool *compiler = plan != NULL ? open_compiler(o, e) : NULL;
    if (compiler == NULL)
        return -1;
    const emu_run_request request = {.problem = &p,
                                     .shape = &shape,
                                     .family = o->family,
                                     .seed = o->seed,
                                     .source = source,
                                     .plan = plan,
                                     .python = o->python};
    emu_run_result result SCOPED(emu_run_result_fini) = {.case_count = 0};
    if (emu_run(&request, compiler, &result, e) < 0)
        return -1;
    print(o, &request, &result);
    if (!verdict_is_ok(&result.verdict))
        return EXIT_NO;
    return result.not_compared == NULL ? EXIT_CORRECT : EXIT_NOT_COMPARED;
}

static bool is_peoples(const err *e)
{
    return e->code == ERR_USAGE || e->code == ERR_CONFIG || e->code == ERR_NOT_FOUND;
}

int cmd_emu(int argc, char **argv)
{
    options o = {.seed = 1};
    const char *files[2] = {NULL, NULL};
    size_t count = 0;
    bool help = false;
    err e = {0};
    int rc = cli_parse(&command, argc, argv, &o, files, &count, &help, &e);
    if (rc == 0 && help) {
        cli_print_help(&command, "ce-node", stdout);
        return EXIT_CORRECT;
    }
    if (rc == 0 && o.problem == NULL)
        rc = err_set(&e, ERR_USAGE, "--problem NAME|DIR is required; see ce-node emu --help");
    signal(SIGPIPE, SIG_IGN); /* a runner may die while it is spoken to */
    log_open("ce-node", LOG_WARN, "all", 2);
    rc = rc == 0 ? run(&o, files, &e) : rc;
    if (rc >= 0)
        return rc;
    fprintf(stderr, "ce-node emu: %s\n", e.text);
    return is_peoples(&e) ? EXIT_USAGE : EXIT_HARNESS;
}
