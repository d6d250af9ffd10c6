/* finding - see finding.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/emulator/lanes.h"
#include "common/buf.h"
#include "common/scoped.h"

enum { SENTENCE_MAX = 511 };

static const struct {
    outcome result;
    const char *detail;
} kinds[] = {
#define KIND_ROW(id, result, detail) {OUTCOME_##result, detail},
    EMU_KINDS(KIND_ROW)
#undef KIND_ROW
};

static void set_kind(emu_finding *f, emu_kind kind)
{
    f->kind = kind;
    f->result = kinds[kind].result;
    f->detail = kinds[kind].detail;
}

/* set_place fills kernel, file, line and instruction of op `at`. */
static void set_place(emu_finding *f, const program *p, uint32_t at)
{
    const char *file = NULL;
    snprintf(f->kernel, sizeof f->kernel, "%s", p->entry->name);
    f->line = program_line(p, at, &file);
    if (file != NULL) {
        const char *slash = strrchr(file, '/');
        snprintf(f->file, sizeof f->file, "%s", slash != NULL ? slash + 1 : file);
    }
    const ptx_instruction *in = program_instruction(p, at);
    size_t used =
        (size_t)snprintf(f->instruction, sizeof f->instruction, "%s", in ? in->opcode : "ret");
    for (size_t i = 0; in != NULL && i < in->modifier_count && used < sizeof f->instruction; i++)
        used += (size_t)snprintf(f->instruction + used, sizeof f->instruction - used, ".%s",
                                 in->modifiers[i]);
}

static void thread_index(const block *b, uint32_t thread, uint32_t out[3])
{
    const uint32_t *size = b->grid->launch->block;
    out[0] = thread % size[0];
    out[1] = thread / size[0] % size[1];
    out[2] = thread / size[0] / size[1];
}

static void begin(emu_finding *f, const warp *w, emu_kind kind, unsigned lane, uint32_t at)
{
    *f = (emu_finding){0};
    set_kind(f, kind);
    set_place(f, w->program, at);
    memcpy(f->block, w->block->at, sizeof f->block);
    thread_index(w->block, thread_of(w, lane), f->thread);
    f->has_place = true;
}

/* ---- the report ---- */

static uint64_t number_of(const grid *g, const emu_finding *f)
{
    const uint32_t *size = g->launch->grid;
    return ((uint64_t)f->block[2] * size[1] + f->block[1]) * size[0] + f->block[0];
}

/* insert keeps the findings of the lowest blocks, in order. */
static void insert(grid *g, const emu_finding *f)
{
    emu_report *r = g->report;
    const uint64_t number = number_of(g, f);
    size_t at = r->finding_count;
    while (at > 0 && number_of(g, &r->findings[at - 1]) > number)
        at--;
    if (at == EMU_FINDINGS_MAX)
        return;
    size_t moved = r->finding_count - at;
    if (r->finding_count == EMU_FINDINGS_MAX)
        moved--;
    else
        r->finding_count++;
    memmove(&r->findings[at + 1], &r->findings[at], moved * sizeof *f);
    r->findings[at] = *f;
}

static void lower_stop(grid *g, uint64_t number)
{
    uint64_t old = __atomic_load_n(&g->stop_above, __ATOMIC_RELAXED);
    while (number < old && !__atomic_compare_exchange_n(&g->stop_above, &old, number, true,
                                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
}

/* say puts "kernel: thread … of block …, file:line: " before the sentence. */
static void say(emu_finding *f, const buf *sentence)
{
    buf text;
    buf_init(&text, SENTENCE_MAX + EMU_NAME_MAX * 4);
    buf_printf(&text, "%s", f->kernel);
    if (f->line != 0)
        buf_printf(&text, " (%s:%u)", f->file[0] != '\0' ? f->file : "line", f->line);
    if (f->has_place)
        buf_printf(&text, ": thread (%u,%u,%u) of block (%u,%u,%u)", f->thread[0], f->thread[1],
                   f->thread[2], f->block[0], f->block[1], f->block[2]);
    buf_printf(&text, "%s%s", f->has_place ? " " : ": ", buf_text(sentence));
    snprintf(f->text, sizeof f->text, "%s", buf_text(&text));
    buf_fini(&text);
}

static void publish(const block *b, const emu_finding *f)
{
    grid *g = b->grid;
    pthread_mutex_lock(&g->lock);
    insert(g, f);
    pthread_mutex_unlock(&g->lock);
    lower_stop(g, b->number);
}

bool finding_flush(block *b)
{
    if (!b->suspects)
        return false;
    b->suspects = false;
    publish(b, &b->suspect);
    return true;
}

static step record(const warp *w, emu_finding *f, const buf *sentence)
{
    say(f, sentence);
    if (!finding_flush(w->block))
        publish(w->block, f);
    return STEP_STOP;
}

/* The suspect read what this thread now writes, or what its neighbours do: a race, told from the
 * reader's side. */
static bool explains_suspect(const block *b, const fault *f, const char *buffer)
{
    return b->suspects && f->is_store &&
           (f->kind == EMU_RACE_SHARED || f->kind == EMU_RACE_GLOBAL) &&
           b->suspect_space == f->space && strcmp(b->suspect.buffer, buffer) == 0;
}

static step record_suspect_race(warp *w, const fault *f, const emu_finding *writer)
{
    block *b = w->block;
    buf sentence;
    set_kind(&b->suspect, f->kind);
    buf_init(&sentence, SENTENCE_MAX);
    buf_printf(
        &sentence,
        "reads byte %lld of %s, which nothing has written yet; thread (%u,%u,%u) of the block "
        "writes there at line %u: a __syncthreads() (or __syncwarp()) is missing in between",
        (long long)b->suspect.offset, b->suspect.buffer, writer->thread[0], writer->thread[1],
        writer->thread[2], writer->line);
    say(&b->suspect, &sentence);
    buf_fini(&sentence);
    finding_flush(b);
    return STEP_STOP;
}

/* ---- names of variables ---- */

/* plain_name finds the last part of a mangled name: _ZZ…E5parts is parts. */
static const char *plain_name(const char *name)
{
    size_t length = strlen(name);
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    for (size_t at = length; at-- > 2;) {
        char *end = NULL;
        if (name[at - 1] >= '0' && name[at - 1] <= '9')
            continue;
        unsigned long size = strtoul(name + at, &end, 10);
        if (end != name + at && size == length - (size_t)(end - name))
            return end;
    }
    return name;
}

/* The variable of a space that holds or precedes the address. */
static const placed *variable_at(const program *p, ptx_space space, uint64_t address)
{
    const placed *found = NULL;
    for (size_t i = 0; i < p->placed_count; i++) {
        const placed *v = &p->placed[i];
        const bool shared = v->variable->space == PTX_SPACE_SHARED;
        if (shared == (space == PTX_SPACE_SHARED) && v->at <= address &&
            (found == NULL || v->at > found->at))
            found = v;
    }
    return found;
}

/* What an access touches, in words. */
typedef struct target {
    char name[EMU_NAME_MAX];
    uint64_t bytes;
    int64_t offset;
    uint32_t element;
    bool known;
} target;

static target find_target(const warp *w, const fault *f)
{
    target t = {.element = 1};
    const block *b = w->block;
    if (f->space == PTX_SPACE_GLOBAL) {
        const region *r = f->buffer != NULL ? f->buffer : memory_near(b->grid->memory, f->address);
        if (r == NULL)
            return t;
        snprintf(t.name, sizeof t.name, "%s", plain_name(r->name));
        t.bytes = r->bytes;
        t.offset = (int64_t)(f->address - r->base);
        t.element = r->element;
        t.known = true;
        return t;
    }
    const program *p = w->program;
    if (f->space == PTX_SPACE_SHARED && f->address >= p->shared_dynamic &&
        b->grid->launch->shared > 0) {
        snprintf(t.name, sizeof t.name, "dynamic shared memory");
        t.bytes = b->grid->launch->shared;
        t.offset = (int64_t)(f->address - p->shared_dynamic);
        t.known = true;
        return t;
    }
    const placed *v = variable_at(p, f->space, f->address);
    if (v == NULL)
        return t;
    snprintf(t.name, sizeof t.name, "%s", plain_name(v->variable->name));
    t.bytes = v->bytes;
    t.offset = (int64_t)(f->address - v->at);
    t.known = true;
    return t;
}

static const char *space_word(ptx_space space)
{
    return space == PTX_SPACE_SHARED  ? "shared memory"
           : space == PTX_SPACE_LOCAL ? "local memory"
                                      : "global memory";
}

/* The element that the offset is in; -1 is the one before the first. */
static int64_t index_of(const target *t)
{
    const int64_t size = (int64_t)t->element;
    return (t->offset - (t->offset < 0 ? size - 1 : 0)) / size;
}

/* "x[12] (byte 48)", "parts (shared memory) at byte 12" */
static void say_target(buf *s, const fault *f, const target *t)
{
    if (!t->known) {
        buf_printf(s, "address 0x%llx of %s", (unsigned long long)f->address, space_word(f->space));
        return;
    }
    if (t->element == 1) {
        buf_printf(s, "byte %lld of %s", (long long)t->offset, t->name);
        if (f->space != PTX_SPACE_GLOBAL && strncmp(t->name, "dynamic", 7) != 0)
            buf_printf(s, " (%s)", space_word(f->space));
        return;
    }
    buf_printf(s, "%s[%lld] (byte %lld)", t->name, (long long)index_of(t), (long long)t->offset);
}

static void say_legal(buf *s, const target *t)
{
    if (!t->known) {
        buf_puts(s, ", which is in no buffer");
        return;
    }
    const uint64_t count = t->bytes / t->element;
    buf_puts(s, t->offset < 0 ? ", before its start" : ", past its end");
    if (count == 0)
        buf_puts(s, "; it is empty: no access is legal");
    else if (t->element == 1)
        buf_printf(s, "; legal: bytes 0 to %llu", (unsigned long long)count - 1);
    else
        buf_printf(s, "; legal: %s[0] to %s[%llu]", t->name, t->name,
                   (unsigned long long)count - 1);
}

/* ---- accesses ---- */

static void say_race(buf *s, const warp *w, const fault *f)
{
    const char *did = f->other_wrote ? "written" : "read";
    if (f->other == -1) {
        buf_printf(
            s,
            ", which block number %llu has %s in the same launch; blocks may only share data "
            "through atomics, or after a fence and a flag",
            (unsigned long long)f->other_block, did);
        return;
    }
    if (f->other >= 0) {
        uint32_t t[3];
        thread_index(w->block, (uint32_t)f->other, t);
        buf_printf(s, ", which thread (%u,%u,%u) of the block has %s", t[0], t[1], t[2], did);
    } else {
        buf_printf(s, ", which other threads of the block have %s", did);
    }
    buf_puts(s, " since the last barrier: a __syncthreads() (or __syncwarp()) is missing between "
                "the two");
}

static void say_fault(buf *s, const warp *w, const fault *f, const target *t)
{
    buf_printf(s, "%s %u bytes %s ", f->is_store ? "writes" : "reads", f->bytes,
               f->is_store ? "to" : "from");
    say_target(s, f, t);
    switch ((int)f->kind) {
    case EMU_READ:
    case EMU_WRITE:
        say_legal(s, t);
        break;
    case EMU_MISALIGNED:
        buf_printf(s, ": the address must be a multiple of %u", f->bytes);
        break;
    case EMU_UNINITIALISED:
        buf_puts(s, ", which nothing has written");
        break;
    case EMU_INPUT:
        buf_puts(s, ": inputs and constants may only be read");
        break;
    case EMU_RACE_SHARED:
    case EMU_RACE_GLOBAL:
        say_race(s, w, f);
        break;
    default:
        break;
    }
}

step finding_access(warp *w, const fault *f)
{
    emu_finding out;
    buf sentence;
    begin(&out, w, f->kind, f->lane, w->pc - 1);
    const target t = find_target(w, f);
    if (explains_suspect(w->block, f, t.name))
        return record_suspect_race(w, f, &out);
    snprintf(out.buffer, sizeof out.buffer, "%s", t.name);
    out.offset = t.offset;
    out.index = index_of(&t);
    buf_init(&sentence, SENTENCE_MAX);
    say_fault(&sentence, w, f, &t);
    step s = record(w, &out, &sentence);
    buf_fini(&sentence);
    return s;
}

/* ---- values nobody has written ---- */

static const unset_read *find_read(const warp *w, uint32_t origin)
{
    const unset_read *u = &w->unset[origin % ORIGINS];
    return origin != NO_ORIGIN && u->op == origin ? u : NULL;
}

static void say_read(buf *s, emu_finding *out, const warp *w, const unset_read *u,
                     const char *effect)
{
    if (u->shuffled) {
        buf_printf(s,
                   "takes a value from lane %u, which does not take part in the shuffle; it %s at "
                   "line %u",
                   (unsigned)u->offset, effect, out->use_line);
        return;
    }
    fault f = {.space = u->space, .address = u->address, .buffer = u->buffer};
    const target t = find_target(w, &f);
    snprintf(out->buffer, sizeof out->buffer, "%s", t.name);
    out->offset = t.offset;
    out->index = index_of(&t);
    buf_puts(s, "reads ");
    say_target(s, &f, &t);
    buf_printf(s, ", which nothing has written; the value %s at line %u", effect, out->use_line);
}

/* suspect keeps the finding for later and lets the op run again. */
static step suspect(warp *w, const unset_read *u, uint32_t unit)
{
    block *b = w->block;
    b->suspects = true;
    b->suspect_space = u->space;

    w->valid[unit] = ALL_LANES;
    w->now->pc = w->pc - 1;
    return STEP_SWITCH;
}

static bool may_be_race(const warp *w, const unset_read *u)
{
    return u != NULL && !u->shuffled && u->space != PTX_SPACE_LOCAL && !w->block->suspects;
}

step finding_unset(warp *w, unsigned lane, uint32_t unit, const char *effect)
{
    emu_finding out;
    buf sentence;
    const unset_read *u = find_read(w, w->origin[unit]);
    const char *file = NULL;
    const bool shuffled = u != NULL && u->shuffled;
    begin(&out, w, shuffled ? EMU_SHUFFLE : EMU_UNINITIALISED, lane, w->pc - 1);
    out.use_line = out.line;
    buf_init(&sentence, SENTENCE_MAX);
    if (u != NULL) {
        out.line = program_line(w->program, u->op, &file);
        say_read(&sentence, &out, w, u, effect);
    } else {
        buf_printf(&sentence, "uses a variable that nothing has given a value: it %s", effect);
    }
    if (may_be_race(w, u)) {
        say(&out, &sentence);
        w->block->suspect = out;
        buf_fini(&sentence);
        return suspect(w, u, unit);
    }
    step s = record(w, &out, &sentence);
    buf_fini(&sentence);
    return s;
}

/* ---- the rest ---- */

step finding_say(warp *w, emu_kind kind, unsigned lane, const char *format, ...)
{
    emu_finding out;
    buf sentence;
    va_list args;
    begin(&out, w, kind, lane, w->pc - 1);
    buf_init(&sentence, SENTENCE_MAX);
    va_start(args, format);
    buf_vprintf(&sentence, format, args);
    va_end(args);
    step s = record(w, &out, &sentence);
    buf_fini(&sentence);
    return s;
}

void finding_hung(block *b, const char *why)
{
    for (uint32_t i = 0; i < b->warp_count; i++) {
        warp *w = &b->warps[i];
        if (w->group_count == 0)
            continue;
        const group *g = &w->groups[0];
        w->pc = g->pc + 1;
        finding_say(w, EMU_HUNG, (unsigned)__builtin_ctz(g->mask), "is still here when %s", why);
        return;
    }
}

void finding_refuse(emu_report *out, emu_kind kind, const char *kernel, const char *format, ...)
{
    emu_finding *f = &out->findings[0];
    buf sentence;
    va_list args;
    *f = (emu_finding){0};
    set_kind(f, kind);
    snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
    buf_init(&sentence, SENTENCE_MAX);
    va_start(args, format);
    buf_vprintf(&sentence, format, args);
    va_end(args);
    say(f, &sentence);
    buf_fini(&sentence);
    out->finding_count = 1;
}

void finding_refuse_at(emu_report *out, const program *p, uint32_t at, const char *format, ...)
{
    emu_finding *f = &out->findings[0];
    buf sentence;
    va_list args;
    *f = (emu_finding){0};
    set_kind(f, EMU_UNSUPPORTED);
    set_place(f, p, at);
    buf_init(&sentence, SENTENCE_MAX);
    const ptx_instruction *in = program_instruction(p, at);
    buf_printf(&sentence, "%s (PTX line %u): ", f->instruction, in != NULL ? in->line : 0);
    va_start(args, format);
    buf_vprintf(&sentence, format, args);
    va_end(args);
    if (p->module->version_major > EMU_PTX_MAJOR)
        buf_printf(&sentence, " (PTX version %u.%u is newer than %d.x, which this emulator knows)",
                   p->module->version_major, p->module->version_minor, EMU_PTX_MAJOR);
    say(f, &sentence);
    buf_fini(&sentence);
    out->finding_count = 1;
}
