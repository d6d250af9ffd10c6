/* gate - may this machine code be a candidate?
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/gate.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/compiler/flow.h"
#include "common/str.h"

enum { NAME_MAX_SHOWN = 120 };

static bool reject(gate_verdict *out, const char *rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool reject(gate_verdict *out, const char *rule, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out->text, sizeof out->text, format, args);
    va_end(args);
    out->rule = rule;
    return false;
}

/* plain_name is what the source calls a symbol: the last identifier of a mangled name. */
static void plain_name(const char *symbol, char *out, size_t size)
{
    str found = str_of(symbol);
    if (str_starts(symbol, "_Z")) {
        for (const char *at = symbol + 2; *at != '\0';) {
            if (*at < '1' || *at > '9') {
                at++;
                continue;
            }
            char *end = NULL;
            unsigned long length = strtoul(at, &end, 10);
            if (length > strlen(end))
                break;
            found = (str){end, length};
            at = end + length;
        }
    }
    snprintf(out, size, "%.*s", found.size > NAME_MAX_SHOWN ? NAME_MAX_SHOWN : (int)found.size,
             found.data);
}

/* place is "kernel.cu:12: " where line information says so, else "". */
static void place(const ptx_module *ptx, const ptx_instruction *in, char *out, size_t size)
{
    out[0] = '\0';
    uint32_t file = in->where.outer_file != 0 ? in->where.outer_file : in->where.file;
    uint32_t line = in->where.outer_file != 0 ? in->where.outer_line : in->where.line;
    const char *path = file != 0 ? ptx_module_file(ptx, file) : NULL;
    if (path == NULL)
        return;
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%.60s:%u: ", slash != NULL ? slash + 1 : path, line);
}

/* ---- arch ---- */

static bool check_arch(const gate_input *in, gate_verdict *out)
{
    const char *wanted = in->arch;
    char target[32];
    if (str_starts(wanted, "compute_"))
        snprintf(target, sizeof target, "sm_%s", wanted + strlen("compute_"));
    else
        snprintf(target, sizeof target, "%s", wanted);
    if (strcmp(in->ptx->target, target) != 0)
        return reject(out, "arch", "the code is for %.40s, not for %s", in->ptx->target, wanted);
    if (in->code != NULL && in->code->sm != (uint32_t)strtoul(target + strlen("sm_"), NULL, 10))
        return reject(out, "arch", "the machine code is for sm_%u, not for %s", in->code->sm,
                      wanted);
    return true;
}

/* ---- entries ---- */

static bool has_entry(const gate_input *in, const char *name)
{
    const ptx_function *f = ptx_module_function(in->ptx, name);
    if (f == NULL || !f->is_entry || !f->has_body)
        return false;
    return in->code == NULL || cubin_find_kernel(in->code, name) != NULL;
}

/* mangled_entry finds a kernel that C++ renamed. */
static const ptx_function *mangled_entry(const ptx_module *ptx, const char *name)
{
    for (size_t i = 0; i < ptx->function_count; i++) {
        char plain[NAME_MAX_SHOWN + 1];
        plain_name(ptx->functions[i]->name, plain, sizeof plain);
        if (ptx->functions[i]->is_entry && strcmp(plain, name) == 0)
            return ptx->functions[i];
    }
    return NULL;
}

static bool check_entry(const gate_input *in, const char *name, gate_verdict *out)
{
    if (has_entry(in, name))
        return true;
    const ptx_function *mangled = mangled_entry(in->ptx, name);
    if (mangled != NULL)
        return reject(out, "entry_missing",
                      "kernel %.120s is compiled as %.120s: declare it extern \"C\" __global__",
                      name, mangled->name);
    return reject(out, "entry_missing",
                  "the launch plan names kernel %.120s, but the source defines no "
                  "extern \"C\" __global__ function of that name",
                  name);
}

static bool check_entries(const gate_input *in, gate_verdict *out)
{
    for (size_t i = 0; i < in->entry_count; i++)
        if (!check_entry(in, in->entries[i], out))
            return false;
    return true;
}

/* ---- symbols ---- */

typedef struct known_symbol {
    const char *name;
    const char *rule; /* NULL: allowed */
    const char *text;
} known_symbol;

static const known_symbol known_symbols[] = {
    {"__assertfail", NULL, NULL},
    {"vprintf", "device_printf", "printf in device code is not allowed"},
    {"malloc", "device_heap",
     "malloc or new in device code is not allowed: use scratch of the plan"},
    {"free", "device_heap",
     "free or delete in device code is not allowed: use scratch of the plan"},
};

static bool check_symbol(const char *name, gate_verdict *out)
{
    for (size_t i = 0; i < sizeof known_symbols / sizeof known_symbols[0]; i++) {
        const known_symbol *k = &known_symbols[i];
        if (strcmp(k->name, name) == 0)
            return k->rule == NULL || reject(out, k->rule, "%s", k->text);
    }
    char plain[NAME_MAX_SHOWN + 1];
    plain_name(name, plain, sizeof plain);
    return reject(out, "undefined_symbol", "%s is used but nothing defines it", plain);
}

bool gate_check_symbols(const ptx_module *ptx, gate_verdict *out)
{
    out->rule = NULL;
    for (size_t i = 0; i < ptx->function_count; i++)
        if (!ptx->functions[i]->has_body && !check_symbol(ptx->functions[i]->name, out))
            return false;
    for (size_t i = 0; i < ptx->variable_count; i++) {
        const ptx_variable *v = ptx->variables[i];
        if (v->linkage == PTX_LINK_EXTERN && v->space != PTX_SPACE_SHARED &&
            !check_symbol(v->name, out))
            return false;
    }
    return true;
}

static bool check_symbols(const gate_input *in, gate_verdict *out)
{
    if (!gate_check_symbols(in->ptx, out))
        return false;
    for (size_t i = 1; in->code != NULL && i < in->code->symbol_count; i++) {
        const cubin_symbol *s = &in->code->symbols[i];
        if (s->section == SHN_UNDEF && s->bind == STB_GLOBAL && !check_symbol(s->name, out))
            return false;
        if (s->section == SHN_UNDEF && s->bind == STB_WEAK &&
            !str_starts(s->name, ".nv.reservedSmem") && !check_symbol(s->name, out))
            return false;
    }
    return true;
}

/* ---- textures ---- */

static bool is_texture_code(const char *opcode)
{
    static const char *const opcodes[] = {"tex",  "tld4",  "txq", "suld",
                                          "sust", "sured", "suq", "istypep"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (strcmp(opcode, opcodes[i]) == 0)
            return true;
    return false;
}

static bool check_textures_of(const ptx_module *ptx, const ptx_function *f, gate_verdict *out)
{
    for (size_t i = 0; i < f->code_count; i++) {
        char at[80];
        if (!is_texture_code(f->code[i].opcode))
            continue;
        place(ptx, &f->code[i], at, sizeof at);
        return reject(out, "texture",
                      "%stextures and surfaces are not allowed: no plan can bind them", at);
    }
    return true;
}

static bool check_textures(const gate_input *in, gate_verdict *out)
{
    for (size_t i = 0; i < in->ptx->variable_count; i++) {
        const ptx_variable *v = in->ptx->variables[i];
        if (v->type->kind == PTX_OPAQUE || v->space == PTX_SPACE_TEX)
            return reject(out, "texture", "%.120s: texture and surface references are not allowed",
                          v->name);
    }
    for (size_t i = 0; i < in->ptx->function_count; i++)
        if (!check_textures_of(in->ptx, in->ptx->functions[i], out))
            return false;
    return true;
}

/* ---- global variables ---- */

typedef struct flow_row {
    const char *rule;
    const char *text; /* after the variable's name */
} flow_row;

static const flow_row flow_rows[] = {
    [FLOW_WRITTEN] = {"global_written", "is written"},
    [FLOW_STORED] = {"global_escapes", "has its address stored"},
    [FLOW_PASSED] = {"global_escapes", "has its address passed to a function"},
    [FLOW_BRANCHED] = {"global_escapes", "has an address that decides what is executed"},
};

static bool check_globals(const gate_input *in, gate_verdict *out)
{
    flow_finding f;
    if (!flow_find(in->ptx, &f))
        return true;
    char name[NAME_MAX_SHOWN + 1];
    char at[80];
    plain_name(f.variable->name, name, sizeof name);
    place(in->ptx, f.at, at, sizeof at);
    return reject(
        out, flow_rows[f.end].rule,
        "%s__device__ variable %s %s: a candidate keeps no state across launches, so global "
        "variables may only be read; use scratch of the plan instead",
        at, name, flow_rows[f.end].text);
}

/* ---- resources ---- */

static bool check_amount(const char *kernel, const char *what, uint64_t used, uint64_t most,
                         gate_verdict *out)
{
    if (used <= most)
        return true;
    return reject(out, "resources", "kernel %.120s uses %llu %s, at most %llu are possible", kernel,
                  (unsigned long long)used, what, (unsigned long long)most);
}

static bool check_resources(const gate_input *in, gate_verdict *out)
{
    for (size_t i = 0; in->code != NULL && i < in->code->kernel_count; i++) {
        const cubin_kernel *k = &in->code->kernels[i];
        if (!check_amount(k->name, "registers a thread", k->registers, GATE_REGISTER_MAX, out) ||
            !check_amount(k->name, "bytes of static shared memory a block", k->shared_bytes,
                          GATE_SHARED_MAX, out) ||
            !check_amount(k->name, "bytes of local memory a thread", k->local_bytes, GATE_LOCAL_MAX,
                          out))
            return false;
    }
    return true;
}

typedef bool rule_fn(const gate_input *in, gate_verdict *out);

static rule_fn *const rules[] = {check_arch,     check_entries, check_symbols,
                                 check_textures, check_globals, check_resources};

bool gate_check(const gate_input *input, gate_verdict *out)
{
    out->rule = NULL;
    out->text[0] = '\0';
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i](input, out))
            return false;
    return true;
}
