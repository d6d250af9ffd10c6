/* ce-compiler - compiles for one node, inside a sandbox
 *
 * Start: find NVRTC and the headers, compile once (the library opens what it needs), enter the sandbox,
 * say "ready". Then: COMPILE in, COMPILED out, until the peer closes.
 *
 * "Ready" is a COMPILED with sequence 0: outcome ok, the version in `nvrtc`, and in `code` the
 * compiler's part of the measurement key when --key is given. A harness error, also while compiling,
 * is a COMPILED with outcome not_run, the error's code in `detail` (err_code_name) and its text.
 *
 * SPDX-License-Identifier: MIT */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/compiler/build.h"
#include "agent-node/compiler/sandbox.h"
#include "common/cli.h"
#include "common/json.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/pipe.h"

enum { LIBRARY_FILES = 4 };

static const int64_t memory_bytes = 4LL * 1024 * 1024 * 1024;

typedef struct settings {
    int64_t fd;
    const char *nvrtc;
    cli_list library_dirs;
    cli_list includes;
    int64_t max_major;
    bool key;
    bool unsafe;
    bool probe;
} settings;

static const cli_option options[] = {
    {"fd", CLI_INT, offsetof(settings, fd), "N", "descriptor of the socket to the node", 0, 1 << 20,
     NULL},
    {"nvrtc", CLI_STR, offsetof(settings, nvrtc), "FILE", "this libnvrtc and no other", 0, 0, NULL},
    {"library-dir", CLI_LIST, offsetof(settings, library_dirs), "DIR",
     "look for libnvrtc here too (repeatable)", 0, 0, NULL},
    {"include", CLI_LIST, offsetof(settings, includes), "DIR", "CUDA headers (repeatable)", 0, 0,
     NULL},
    {"max-major", CLI_INT, offsetof(settings, max_major), "N", "the driver's CUDA major version", 0,
     1000, NULL},
    {"key", CLI_FLAG, offsetof(settings, key), NULL, "hash the headers and say the key", 0, 0,
     NULL},
    {"unsafe-compile", CLI_FLAG, offsetof(settings, unsafe), NULL,
     "compile even where this host offers no sandbox", 0, 0, NULL},
    {"probe", CLI_FLAG, offsetof(settings, probe), NULL,
     "say what there is to compile with as JSON and exit", 0, 0, NULL},
    {0}};

static const cli_command command = {.name = "",
                                    .summary = "compile candidates (started by ce-node)",
                                    .arguments = "",
                                    .examples = "  ce-compiler --fd 3\n",
                                    .options = options};

/* keep_memory: NVRTC frees what it used after every compile. Kept in the process, the next compile need
 * not fetch the pages from the kernel again (1,600 to 2,000 faults, 5 to 10 ms). */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 512 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that malloc takes */
    mallopt(M_TOP_PAD, 16 << 20);
}

static void report(int fd, uint64_t seq, const err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_COMPILED);
    m.seq = seq;
    m.body.compiled.outcome = OUTCOME_NOT_RUN;
    message_set_str(&m.body.compiled.detail, err_code_name(e->code));
    message_set_str(&m.body.compiled.text, e->text);
    pipe_send(fd, &m, NULL);
}

static sandbox_kind choose_sandbox(bool unsafe, err *e)
{
    sandbox_kind kind = sandbox_best();
    if (kind == SANDBOX_NONE && !unsafe)
        err_set(e, ERR_UNAVAILABLE,
                "this host offers neither Landlock nor user namespaces, so candidates could read "
                "any file: enable one, or accept it with --unsafe-compile");
    return kind;
}

/* lock leaves the headers and NVRTC's own libraries in reach, nothing else. */
static int lock(const builder *b, sandbox_kind kind, err *e)
{
    const char *path = nvrtc_path(b->compiler);
    const char *slash = strrchr(path, '/');
    SCOPED(scoped_free)
    char *folder = slash != NULL ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
    const char *paths[INCLUDE_MAX + 1];
    size_t count = 0;
    for (size_t i = 0; i < b->headers->count; i++)
        paths[count++] = b->headers->folders[i];
    paths[count++] = folder;
    sandbox_options allowed = {paths, count, memory_bytes};
    return sandbox_enter(kind, &allowed, e);
}

static int prepare(const settings *s, builder *b, include_set *headers, hash *key, err *e)
{
    err none = {.code = ERR_NONE};
    sandbox_kind kind = choose_sandbox(s->unsafe, &none);
    if (none.code != ERR_NONE) {
        *e = none;
        return -1;
    }
    nvrtc_options wanted = {.path = s->nvrtc,
                            .folders = s->library_dirs.items,
                            .folder_count = s->library_dirs.count,
                            .max_major = (int)s->max_major};
    b->compiler = nvrtc_open(&wanted, e);
    if (b->compiler == NULL)
        return -1;
    b->headers = headers;
    if (include_find(s->includes.items, s->includes.count, nvrtc_path(b->compiler), headers, e) !=
        0)
        return -1;
    if (s->key && build_key(b, key, e) != 0)
        return -1;
    return build_warm_up(b, e) != 0 ? -1 : lock(b, kind, e);
}

static int say_ready(int fd, const builder *b, const hash *key, err *e)
{
    SCOPED(message_fini) message m;
    message_init(&m, MSG_COMPILED);
    message_set_str(&m.body.compiled.nvrtc, nvrtc_version(b->compiler));
    m.body.compiled.code = *key;
    return pipe_send(fd, &m, e);
}

static int serve_one(int fd, const builder *b, err *e)
{
    SCOPED(message_fini) message job = {0};
    SCOPED(message_fini) message answer = {0};
    err broken = {.code = ERR_NONE};
    if (pipe_recv(fd, -1, &job, e) != 0)
        return -1;
    if (job.type != MSG_COMPILE)
        return err_set(e, ERR_PROTOCOL, "%s is no message for a compiler", message_name(job.type));
    message_init(&answer, MSG_COMPILED);
    answer.seq = job.seq;
    if (build_run(b, &job.body.compile, &answer.body.compiled, &broken) != 0) {
        report(fd, job.seq, &broken);
        return 0;
    }
    return pipe_send(fd, &answer, e);
}

static int serve(int fd, const settings *s, err *e)
{
    builder b = {0};
    include_set headers = {0};
    hash key = {0};
    int rc = prepare(s, &b, &headers, &key, e);
    if (rc != 0)
        report(fd, 0, e);
    else
        rc = say_ready(fd, &b, &key, e);
    while (rc == 0)
        rc = serve_one(fd, &b, e);
    include_fini(&headers);
    nvrtc_close(&b.compiler);
    return e->code == ERR_UNAVAILABLE ? 0 : -1;
}

/* probe prints {"sandbox":"landlock","nvrtc":"13.0","library":FILE,"headers":FOLDER,"reason":null}; what is
 * not there is null, and the reason says what was looked for. */
static void probe(const settings *s)
{
    SCOPED(json_destroy) json *report = json_new_object();
    include_set headers = {0};
    err e = {.code = ERR_NONE};
    sandbox_kind kind = sandbox_best();
    nvrtc_options wanted = {.path = s->nvrtc, .max_major = (int)s->max_major};
    nvrtc *compiler = nvrtc_open(&wanted, &e);
    if (compiler != NULL)
        include_find(s->includes.items, s->includes.count, nvrtc_path(compiler), &headers, &e);
    json_set_str(report, "sandbox", kind != SANDBOX_NONE ? sandbox_name(kind) : NULL);
    json_set_str(report, "nvrtc", compiler != NULL ? nvrtc_version(compiler) : NULL);
    json_set_str(report, "library", compiler != NULL ? nvrtc_path(compiler) : NULL);
    json_set_str(report, "headers", headers.count > 0 ? headers.folders[0] : NULL);
    json_set_str(report, "reason", e.code != ERR_NONE ? e.text : NULL);
    SCOPED(scoped_free) char *text = json_dump(report);
    printf("%s\n", text);
    include_fini(&headers);
    nvrtc_close(&compiler);
}

int main(int argc, char **argv)
{
    settings s = {.fd = 3};
    bool help = false;
    size_t none = 0;
    err e = {.code = ERR_NONE};
    if (cli_parse(&command, argc, argv, &s, NULL, &none, &help, &e) != 0) {
        fprintf(stderr, "ce-compiler: %s\n", e.text);
        return 2;
    }
    if (help) {
        cli_print_help(&command, "ce-compiler", stdout);
        return 0;
    }
    if (s.probe) {
        probe(&s);
        return 0;
    }
    signal(SIGXFSZ, SIG_IGN);
    keep_memory();
    /* Relative includes and line information start at the root, not where the node was started. */
    if (chdir("/") != 0)
        return 1;
    if (serve((int)s.fd, &s, &e) == 0)
        return 0;
    fprintf(stderr, "ce-compiler: %s\n", e.text);
    return 1;
}
