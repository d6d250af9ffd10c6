/* build - one compile of one candidate
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/compiler/code.h"
#include "agent-node/compiler/cubin.h"
#include "agent-node/compiler/gate.h"
#include "agent-node/compiler/standard.h"
#include "agent-node/ptx/parse.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

enum { OPTION_MAX = 4 + INCLUDE_MAX, TEXT_MAX = 1024, DETAIL_MAX = 255, NAME_MAX_BYTES = 255 };

static const char language[] = "-std=c++17";
static const char line_information[] = "-lineinfo";

typedef struct option_list {
    char *items[OPTION_MAX];
    size_t count;
} option_list;

static void options_fini(option_list *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->items[i]);
    self->count = 0;
}

static void options_fill(option_list *self, const builder *b, const char *arch, bool line_info)
{
    self->items[self->count++] = xstrdup(language);
    if (line_info)
        self->items[self->count++] = xstrdup(line_information);
    self->items[self->count++] = xasprintf("--gpu-architecture=%s", arch);
    for (size_t i = 0; i < b->headers->count; i++)
        self->items[self->count++] = xasprintf("--include-path=%s", b->headers->folders[i]);
}

/* is_arch: sm_80, sm_90a, compute_80 */
static bool is_arch(const char *arch)
{
    const char *at = str_starts(arch, "sm_")        ? arch + 3
                     : str_starts(arch, "compute_") ? arch + 8
                                                    : NULL;
    if (at == NULL)
        return false;
    size_t digits = strspn(at, "0123456789");
    const char *rest = at + digits;
    return digits >= 2 && digits <= 3 &&
           (*rest == '\0' || ((*rest == 'a' || *rest == 'f') && rest[1] == '\0'));
}

static void say(struct msg_compiled *out, outcome result, const char *detail, const char *text)
{
    out->outcome = (int64_t)result;
    message_cut_str(&out->detail, detail, DETAIL_MAX);
    message_cut_str(&out->text, text, TEXT_MAX);
}

/* first_error is the line of the log that a reader looks for first. */
static char *first_error(const char *log)
{
    str rest = str_of(log);
    str line = {0};
    str first = {0};
    while (str_line(&rest, &line)) {
        SCOPED(scoped_free) char *text = xstrndup(line.data, line.size);
        if (strstr(text, "error") != NULL || strstr(text, "fatal") != NULL)
            return TAKE(text);
        if (first.size == 0)
            first = str_trim(line);
    }
    return first.size != 0 ? xstrndup(first.data, first.size)
                           : xstrdup("the source does not compile");
}

typedef struct parsed {
    ptx_module *ptx;
    cubin *code;
} parsed;

static void parsed_fini(parsed *self)
{
    ptx_module_destroy(&self->ptx);
    cubin_destroy(&self->code);
}

static void fill_kernel(struct row_kernel *row, const char *name, const cubin_kernel *kernel)
{
    message_cut_str(&row->name, name, NAME_MAX_BYTES);
    if (kernel == NULL)
        return;
    row->registers = kernel->registers;
    row->shared_bytes = (int64_t)kernel->shared_bytes;
    row->local_bytes = (int64_t)kernel->local_bytes;
}

static void fill_accepted(const nvrtc_output *made, const parsed *p, const struct msg_compile *job,
                          struct msg_compiled *out)
{
    message_set_bytes(&out->ptx, made->ptx, made->ptx_size);
    message_set_bytes(&out->cubin, made->cubin, made->cubin_size);
    out->code = p->code != NULL ? code_of_cubin(p->code) : code_of_ptx(p->ptx);
    out->kernels = xcalloc(job->entries_count + 1, sizeof *out->kernels);
    out->kernels_count = job->entries_count;
    for (size_t i = 0; i < job->entries_count; i++) {
        const char *name = job->entries[i].name;
        fill_kernel(&out->kernels[i], name,
                    p->code != NULL ? cubin_find_kernel(p->code, name) : NULL);
    }
    say(out, OUTCOME_OK, "", "");
}

static void judge(const parsed *p, const struct msg_compile *job, const nvrtc_output *made,
                  struct msg_compiled *out)
{
    SCOPED(scoped_free) const char **names = xcalloc(job->entries_count + 1, sizeof *names);
    for (size_t i = 0; i < job->entries_count; i++)
        names[i] = job->entries[i].name;
    gate_input input = {.arch = job->arch,
                        .ptx = p->ptx,
                        .code = p->code,
                        .entries = names,
                        .entry_count = job->entries_count};
    gate_verdict verdict;
    if (gate_check(&input, &verdict))
        fill_accepted(made, p, job, out);
    else
        say(out, OUTCOME_REJECTED, verdict.rule, verdict.text);
}

static int examine(const struct msg_compile *job, const nvrtc_output *made,
                   struct msg_compiled *out, err *e)
{
    SCOPED(parsed_fini) parsed p = {0};
    err why;
    p.ptx = ptx_parse(made->ptx, made->ptx_size, &why);
    if (p.ptx == NULL) {
        say(out, OUTCOME_REJECTED, "unreadable", why.text);
        return 0;
    }
    if (made->cubin_size != 0) {
        p.code = cubin_read(made->cubin, made->cubin_size, e);
        if (p.code == NULL)
            return -1;
    }
    judge(&p, job, made, out);
    return 0;
}

/* refuse: the source does not compile. The assembler also refuses what some rules of the gate do: then
 * the rule is the clearer answer. */
static void refuse(const nvrtc_output *made, struct msg_compiled *out)
{
    gate_verdict verdict = {.rule = NULL};
    ptx_module *ptx = made->ptx_size != 0 ? ptx_parse(made->ptx, made->ptx_size, NULL) : NULL;
    if (ptx != NULL)
        gate_check_symbols(ptx, &verdict);
    ptx_module_destroy(&ptx);
    if (verdict.rule != NULL) {
        say(out, OUTCOME_REJECTED, verdict.rule, verdict.text);
        return;
    }
    SCOPED(scoped_free) char *line = first_error(made->log);
    if (strstr(line, "uses too much shared data") != NULL)
        say(out, OUTCOME_REJECTED, "resources", line);
    else
        say(out, OUTCOME_COMPILE_FAILED, "", line);
}

typedef struct limit_row {
    bool reached;
    const char *text;
} limit_row;

/* past_limit says so when a bound was reached. */
static bool past_limit(const nvrtc_output *made, struct msg_compiled *out)
{
    const limit_row rows[] = {
        {made->state == NVRTC_EXHAUSTED, "the compiler ran out of memory or broke down"},
        {made->log_cut, "the compiler's log is longer than 256 KiB"},
        {made->ptx_size > BUILD_PTX_MAX, "the PTX is larger than 16 MiB"},
        {made->cubin_size > BUILD_CUBIN_MAX, "the machine code is larger than 32 MiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!rows[i].reached)
            continue;
        say(out, OUTCOME_COMPILE_FAILED, "limit", rows[i].text);
        return true;
    }
    return false;
}

static int conclude(const struct msg_compile *job, const nvrtc_output *made,
                    struct msg_compiled *out, err *e)
{
    out->micros = made->micros;
    message_cut_str(&out->log, made->log, BUILD_LOG_MAX);
    if (past_limit(made, out))
        return 0;
    if (made->state == NVRTC_REFUSED) {
        refuse(made, out);
        return 0;
    }
    if (made->ptx_size == 0 || (made->cubin_size == 0) != str_starts(job->arch, "compute_"))
        return err_set(e, ERR_INTERNAL, "NVRTC gave no code for %s", job->arch);
    return examine(job, made, out, e);
}

int build_run(const builder *self, const struct msg_compile *job, struct msg_compiled *out, err *e)
{
    if (!is_arch(job->arch))
        return err_set(e, ERR_USAGE, "\"%.16s\" is no compile target", job->arch);
    SCOPED(options_fini) option_list options = {.count = 0};
    options_fill(&options, self, job->arch, job->line_info);
    const standard_set *given = standard_headers();
    nvrtc_job task = {.source = job->source,
                      .options = (const char *const *)options.items,
                      .option_count = options.count,
                      .header_names = given->names,
                      .header_texts = given->texts,
                      .header_count = given->count,
                      .log_max = BUILD_LOG_MAX};
    SCOPED(nvrtc_output_fini) nvrtc_output made = {0};
    if (nvrtc_compile(self->compiler, &task, &made, e) != 0)
        return err_wrap(e, "%s", job->arch);
    message_set_str(&out->nvrtc, nvrtc_version(self->compiler));
    return conclude(job, &made, out, e);
}

int build_warm_up(const builder *self, err *e)
{
    static char source[] =
        "extern \"C\" __global__ void k(float *y) { y[threadIdx.x] = sinf(y[0]); }";
    static char arch[] = "sm_80";
    struct msg_compile job = {.arch = arch, .source = source};
    SCOPED(message_fini) message answer;
    message_init(&answer, MSG_COMPILED);
    if (build_run(self, &job, &answer.body.compiled, e) != 0)
        return -1;
    if (answer.body.compiled.outcome != OUTCOME_OK)
        return err_set(e, ERR_UNAVAILABLE, "NVRTC cannot compile a small kernel: %s",
                       answer.body.compiled.text);
    return 0;
}

/* standard_hash covers names and texts of the headers given as text. */
static hash standard_hash(void)
{
    const standard_set *given = standard_headers();
    hash_part parts[STANDARD_MAX];
    for (size_t i = 0; i < given->count; i++)
        parts[i] = (hash_part){given->names[i], given->texts[i], strlen(given->texts[i])};
    return hash_list(parts, given->count);
}

int build_key(const builder *self, hash *out, err *e)
{
    hash headers;
    if (include_hash(self->headers, &headers, e) != 0)
        return -1;
    hash given = standard_hash();
    const char *version = nvrtc_version(self->compiler);
    hash_part parts[] = {{"nvrtc", version, strlen(version)},
                         {"option", language, strlen(language)},
                         {"option", line_information, strlen(line_information)},
                         {"standard", given.bytes, sizeof given.bytes},
                         {"headers", headers.bytes, sizeof headers.bytes}};
    *out = hash_list(parts, sizeof parts / sizeof parts[0]);
    return 0;
}
