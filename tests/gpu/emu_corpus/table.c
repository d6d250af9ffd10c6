/* table - the corpus as a page: every instruction that the emulator executes, by opcode
 *
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/gpu/emu_corpus/corpus.h"

#include "common/buf.h"

static const char head[] =
    "# Instructions of the emulator\n\n"
    "Every form below is a row of the corpus (`tests/gpu/emu_corpus/`): one small kernel, run over "
    "128 sets of "
    "operands. `test_emulator_corpus` compares each with an independent computation (integers in "
    "128 bits or bit "
    "by bit, floats in quadruple precision), and with what a GPU gave once it has been captured "
    "(`tests/data/emu/`). Anything that is not here is the outcome `unsupported_on_emu`, which "
    "names the "
    "instruction and its source line. Printed by `build/tests/emu_corpus --table`.\n\n"
    "| opcode | forms | rows |\n|---|---|---|\n";

/* The opcode of a row: its name up to the first '.', ' ' or the end. */
static size_t opcode_length(const char *name)
{
    return strcspn(name, ". ");
}

static bool same_opcode(const corpus_row *a, const corpus_row *b)
{
    const size_t length = opcode_length(a->name);
    return length == opcode_length(b->name) && strncmp(a->name, b->name, length) == 0;
}

static bool is_first(const corpus *c, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (same_opcode(&c->rows[i], &c->rows[number]))
            return false;
    return true;
}

static void add_form(buf *out, const char *form)
{
    buf_puts(out, " `");
    for (; *form != '\0'; form++)
        buf_add(out, *form == '|' ? "/" : form, 1);
    buf_puts(out, "`");
}

static void add_opcode(const corpus *c, size_t first, buf *out)
{
    const char *name = c->rows[first].name;
    size_t count = 0;
    buf_printf(out, "| %.*s |", (int)opcode_length(name), name);
    for (size_t i = first; i < c->count; i++) {
        if (!same_opcode(&c->rows[i], &c->rows[first]))
            continue;
        const char *form = c->rows[i].name + opcode_length(name);
        add_form(out, *form == '\0' ? "(plain)" : form + (*form == ' '));
        count++;
    }
    buf_printf(out, " | %zu |\n", count);
}

void corpus_table(const corpus *self, buf *out)
{
    buf_puts(out, head);
    for (size_t i = 0; i < self->count; i++)
        if (is_first(self, i))
            add_opcode(self, i, out);
    buf_printf(out, "\n%zu rows.\n", self->count);
}
