/* cmd_suite_new - ce-coord suite new: a problem from a PyTorch function
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/scaffold.h"

typedef struct options {
    const char *from, *suite, *suites, *python;
    cli_list shapes, dtypes;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "from",
     .type = CLI_STR,
     .offset = AT(from),
     .value = "F",
     .help = "the function: file.py:function or module:function"},
    {.name = "shape",
     .type = CLI_LIST,
     .offset = AT(shapes),
     .value = "X=A:N,…",
     .help = "an input and its sizes: a named dim with its benchmark size, a dim's name, a number"},
    {.name = "dtype",
     .type = CLI_LIST,
     .offset = AT(dtypes),
     .value = "T | X=T",
     .help = "dtype of every input, or of one: f16 bf16 f32 f64 i8 u8 i32 i64 bool"},
    {.name = "suite",
     .type = CLI_STR,
     .offset = AT(suite),
     .value = "S",
     .help = "the suite that gets the problem (default internal)"},
    CMD_OPTION_SUITES(options),
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch"},
    {.name = NULL}};

static const cli_command command = {
    .name = "suite new",
    .summary = "make a problem from a PyTorch function; prompt, gold and mutants are yours",
    .arguments = "NAME",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord suite new scale_rows --from ops.py:scale_rows --dtype f16 \\\n"
                "  --shape x=rows:4096,cols:4096 --shape weight=cols\n",
    .options = table};

static int run_new(const cmd_call *call, err *e)
{
    const options *o = call->options;
    const scaffold_request request = {.name = call->arguments[0],
                                      .from = o->from,
                                      .shapes = o->shapes.items,
                                      .shape_count = o->shapes.count,
                                      .dtypes = o->dtypes.items,
                                      .dtype_count = o->dtypes.count,
                                      .suite = o->suite ? o->suite : "internal",
                                      .root = o->suites,
                                      .python = o->python};
    SCOPED(scaffold_result_fini) scaffold_result made = {.folder = NULL};
    if (scaffold_make(&request, &made, e))
        return -1;
    printf(
        "%s\n\nIt loads. What is left for you:\n"
        "  prompt.md           what a model is asked: only its beginning is there\n"
        "  problem.yaml        title, category, reduction; shapes and families as they were found\n"
        "  gold.cu, gold.json  a kernel that must pass\n"
        "  mutants/            at least five kernels that must fail\n\n"
        "%s suite validate %s says what is missing.\n",
        made.folder, call->program->name, request.name);
    return CMD_EXIT_COMPLETE;
}

const cmd_entry cmd_suite_new = {.cli = &command, .options_size = sizeof(options), .run = run_new};
