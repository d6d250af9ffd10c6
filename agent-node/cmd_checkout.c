/* cmd_checkout - see cmd_checkout.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/cmd_checkout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cli.h"
#include "common/file.h"
#include "common/python.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "suites/kernelbench.h"

enum { EXIT_HARNESS = 1, EXIT_USAGE = 2 };

typedef struct options {
    const char *level, *only, *cache, *device, *python, *shots, *suites;
    bool admit;
} options;

#define AT(member) offsetof(options, member)

static const cli_option table[] = {
    {.name = "level",
     .type = CLI_STR,
     .offset = AT(level),
     .value = "1,2,3",
     .help = "levels to read (default 1,2,3)"},
    {.name = "only",
     .type = CLI_STR,
     .offset = AT(only),
     .value = "1/19,…",
     .help = "only these problems: level and number"},
    {.name = "admit",
     .type = CLI_FLAG,
     .offset = AT(admit),
     .help = "run the references and try candidates that compute nothing"},
    {.name = "device",
     .type = CLI_STR,
     .offset = AT(device),
     .value = "KIND",
     .help = "where --admit runs: cpu (default; small tensors only) or cuda:N"},
    {.name = "cache",
     .type = CLI_STR,
     .offset = AT(cache),
     .value = "DIR",
     .help = "keep and read what --admit found, by source"},
    {.name = "shots",
     .type = CLI_STR,
     .offset = AT(shots),
     .value = "zero|one|few",
     .help = "solved examples in the prompts (default zero)"},
    {.name = "suites",
     .type = CLI_STR,
     .offset = AT(suites),
     .value = "DIR",
     .help = "folder that holds the suites: gold kernels and examples are in its kernelbench/"},
    {.name = "python",
     .type = CLI_STR,
     .offset = AT(python),
     .value = "FILE",
     .help = "interpreter with PyTorch (default: the first one)"},
    {.name = NULL}};

static const cli_command command = {
    .name = "checkout",
    .summary = "what a KernelBench checkout holds, one JSON object a line",
    .arguments = "DIR",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "  ce-node checkout ~/KernelBench --level 1\n"
                "  ce-node checkout ~/KernelBench --only 1/19,3/35\n"
                "  ce-node checkout ~/KernelBench --admit --device cuda:0 --cache ~/.cache/ce\n",
    .options = table};

static void set_only(json *request, const char *text)
{
    json *list = json_new_array();
    str rest = str_of(text != NULL ? text : ""), piece;
    while (str_split(&rest, ',', &piece)) {
        SCOPED(scoped_free) char *word = xstrndup(piece.data, piece.size);
        SCOPED(scoped_free) char *id = kernelbench_id(word);
        json *one = json_new_str(id);
        if (piece.size > 0)
            json_append(list, &one);
        json_destroy(&one);
    }
    json_set(request, "only", &list);
}

/* The folders of ours beside the suites; null where there is none. */
static void set_folder(json *request, const char *key, const char *root)
{
    SCOPED(scoped_free) char *tail = xasprintf(KERNELBENCH_SUITE "/%s", key);
    SCOPED(scoped_free) char *folder = root != NULL ? file_join(root, tail) : NULL;
    json_set_str(request, key, folder != NULL && file_exists(folder) ? folder : NULL);
}

static json *request_of(const options *o, const char *root, err *e)
{
    static const char *const shots[] = {"zero", "one", "few", NULL};
    const char *condition = o->shots != NULL ? o->shots : shots[0];
    SCOPED(json_destroy) json *request = json_new_object();
    json *levels = kernelbench_levels(o->level, e);
    if (levels == NULL)
        return NULL;
    bool known = false;
    for (size_t i = 0; shots[i] != NULL; i++)
        known = known || strcmp(shots[i], condition) == 0;
    json_set(request, "levels", &levels);
    if (!known) {
        err_set(e, ERR_USAGE, "--shots %s: want zero, one or few", condition);
        return NULL;
    }
    SCOPED(scoped_free) char *suites = suite_root(o->suites, NULL);
    json_set_str(request, "root", root);
    set_only(request, o->only);
    set_folder(request, "gold", suites);
    set_folder(request, "examples", suites);
    json_set_str(request, "shots", condition);
    json_set_str(request, "cache", o->cache);
    json_set_bool(request, "admit", o->admit);
    json_set_str(request, "device", o->device != NULL ? o->device : "cpu");
    return TAKE(request);
}

static int parse(int argc, char **argv, options *o, const char **root, bool *help, err *e)
{
    size_t count = 0;
    return cli_parse(&command, argc, argv, o, root, &count, help, e);
}

char *cmd_checkout_request(int argc, char **argv, err *e)
{
    options o = {0};
    const char *root = NULL;
    bool help = false;
    if (parse(argc, argv, &o, &root, &help, e) < 0)
        return NULL;
    SCOPED(json_destroy) json *request = request_of(&o, root, e);
    return request != NULL ? json_dump(request) : NULL;
}

static char *script_path(err *e)
{
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL)
        return NULL;
    SCOPED(scoped_free) char *installed = file_join(here, "../share/ce/judge/checkout.py");
    return file_exists(installed) ? TAKE(installed)
                                  : xstrdup(CE_SOURCE_DIR "/agent-node/judge/checkout.py");
}

/* become replaces this process; it returns only when that fails. */
static int become(const options *o, const char *request, err *e)
{
    SCOPED(scoped_free) char *python = python_find(o->python, e);
    SCOPED(scoped_free) char *script = python != NULL ? script_path(e) : NULL;
    if (script == NULL)
        return -1;
    SCOPED(python_env_free) char **env = python_env();
    SCOPED(scoped_free) char *text = xstrdup(request);
    char flag[] = "-B";
    char *const argv[] = {python, flag, script, text, NULL};
    execve(python, argv, env);
    return err_errno(e, errno, "run %s", python);
}

int cmd_checkout(int argc, char **argv)
{
    options o = {0};
    const char *root = NULL;
    bool help = false;
    err e = {0};
    SCOPED(scoped_free) char *request = NULL;
    if (parse(argc, argv, &o, &root, &help, &e) == 0 && help) {
        cli_print_help(&command, "ce-node", stdout);
        return 0;
    }
    request = e.code == ERR_NONE ? cmd_checkout_request(argc, argv, &e) : NULL;
    if (request != NULL)
        become(&o, request, &e);
    fprintf(stderr, "ce-node checkout: %s\n", e.text);
    return e.code == ERR_USAGE ? EXIT_USAGE : EXIT_HARNESS;
}
