/* declare - variables, parameters and registers of PTX
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/ptx/declare.h"

#include <assert.h>
#include <string.h>

static const ptx_type types[] = {
    {"pred", PTX_PREDICATE, 1}, {"b8", PTX_BITS, 1},          {"b16", PTX_BITS, 2},
    {"b32", PTX_BITS, 4},       {"b64", PTX_BITS, 8},         {"b128", PTX_BITS, 16},
    {"u8", PTX_UNSIGNED, 1},    {"u16", PTX_UNSIGNED, 2},     {"u32", PTX_UNSIGNED, 4},
    {"u64", PTX_UNSIGNED, 8},   {"s8", PTX_SIGNED, 1},        {"s16", PTX_SIGNED, 2},
    {"s32", PTX_SIGNED, 4},     {"s64", PTX_SIGNED, 8},       {"f16", PTX_FLOAT, 2},
    {"f16x2", PTX_FLOAT, 4},    {"bf16", PTX_FLOAT, 2},       {"bf16x2", PTX_FLOAT, 4},
    {"tf32", PTX_FLOAT, 4},     {"f32", PTX_FLOAT, 4},        {"f64", PTX_FLOAT, 8},
    {"u16x2", PTX_UNSIGNED, 4}, {"s16x2", PTX_SIGNED, 4},     {"texref", PTX_OPAQUE, 8},
    {"surfref", PTX_OPAQUE, 8}, {"samplerref", PTX_OPAQUE, 8}};

typedef struct space_row {
    const char *word;
    ptx_space space;
} space_row;

static const space_row spaces[] = {{"const", PTX_SPACE_CONST},   {"global", PTX_SPACE_GLOBAL},
                                   {"local", PTX_SPACE_LOCAL},   {"param", PTX_SPACE_PARAM},
                                   {"shared", PTX_SPACE_SHARED}, {"tex", PTX_SPACE_TEX},
                                   {"reg", PTX_SPACE_REG}};

ptx_space declare_space(const token *word)
{
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (token_is_dot(word, spaces[i].word))
            return spaces[i].space;
    return PTX_SPACE_NONE;
}

static const ptx_type *find_type(const token *word)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (token_is_dot(word, types[i].name))
            return &types[i];
    return NULL;
}

static uint8_t find_lanes(const token *word)
{
    if (word->kind != TOKEN_DOT || word->text.size != 2 || word->text.data[0] != 'v')
        return 0;
    char digit = word->text.data[1];
    return digit == '2' || digit == '4' || digit == '8' ? (uint8_t)(digit - '0') : 0;
}

/* ---- the words before a name ---- */

static int read_align(parser *self, uint32_t *out)
{
    uint64_t value = 0;
    if (parser_advance(self) != 0 || parser_u64(self, 1 << 20, &value) != 0)
        return -1;
    if (value == 0 || (value & (value - 1)) != 0)
        return parser_fail(self, "alignment %llu is no power of two", (unsigned long long)value);
    *out = (uint32_t)value;
    return 0;
}

/* .attribute(.managed) or .attribute(.unified(1, 2)) */
static int read_attribute(parser *self, ptx_variable *v)
{
    if (parser_advance(self) != 0 || parser_expect(self, '(') != 0)
        return -1;
    for (size_t depth = 1; depth > 0;) {
        if (self->now.kind == TOKEN_END)
            return parser_expect(self, ')');
        v->managed = v->managed || token_is_dot(&self->now, "managed");
        depth += parser_at(self, '(');
        depth -= parser_at(self, ')');
        if (parser_advance(self) != 0)
            return -1;
    }
    return 0;
}

/* .ptr .global .align 16: what a pointer parameter points to; nothing here depends on it. */
static int skip_pointee(parser *self)
{
    if (parser_advance(self) != 0)
        return -1;
    for (;;) {
        uint32_t align = 0;
        if (token_is_dot(&self->now, "align")) {
            if (read_align(self, &align) != 0)
                return -1;
        } else if (declare_space(&self->now) != PTX_SPACE_NONE) {
            if (parser_advance(self) != 0)
                return -1;
        } else {
            return 0;
        }
    }
}

static int read_word(parser *self, ptx_variable *v)
{
    if (token_is_dot(&self->now, "align"))
        return read_align(self, &v->align);
    if (token_is_dot(&self->now, "attribute"))
        return read_attribute(self, v);
    if (token_is_dot(&self->now, "ptr"))
        return skip_pointee(self);
    const ptx_type *type = find_type(&self->now);
    uint8_t lanes = find_lanes(&self->now);
    if (type == NULL && lanes == 0)
        return parser_fail(self, "unknown word .%.*s in a declaration",
                           self->now.text.size > 40 ? 40 : (int)self->now.text.size,
                           self->now.text.data);
    if (type != NULL)
        v->type = type;
    else
        v->lanes = lanes;
    return parser_advance(self);
}

/* read_prefix reads the state space and what stands before the first name. */
static int read_prefix(parser *self, ptx_variable *v)
{
    v->space = declare_space(&self->now);
    v->lanes = 1;
    v->line = self->now.line;
    if (v->space == PTX_SPACE_NONE)
        return parser_fail(self, "a state space was expected");
    if (parser_advance(self) != 0)
        return -1;
    while (self->now.kind == TOKEN_DOT)
        if (read_word(self, v) != 0)
            return -1;
    if (v->type == NULL)
        return parser_fail(self, "this declaration has no type");
    if (v->align == 0)
        v->align = v->type->bytes * v->lanes;
    return 0;
}

/* ---- arrays and initialisers ---- */

static int read_dims(parser *self, ptx_variable *v)
{
    uint64_t total = (uint64_t)v->type->bytes * v->lanes;
    while (parser_at(self, '[')) {
        int64_t size = 0;
        if (v->dim_count == PTX_DIM_MAX)
            return parser_limit(self, "dimensions");
        if (parser_advance(self) != 0 ||
            (!parser_at(self, ']') && parser_constant(self, &size) != 0) ||
            parser_expect(self, ']') != 0)
            return -1;
        if (size < 0 || (size == 0 && v->dim_count != 0))
            return parser_fail(self, "an array dimension of %lld", (long long)size);
        if (size != 0 && total > INT64_MAX / (uint64_t)size)
            return parser_fail(self, "this array has over 2^63 bytes");
        v->dims[v->dim_count++] = (uint64_t)size;
        total *= (uint64_t)size;
    }
    v->bytes = total;
    return 0;
}

typedef struct image {
    ptx_variable *variable;
    uint8_t *bytes;
    size_t size;
    list relocs;
} image;

/* symbol, symbol+8, generic(symbol)+8 */
static int read_symbol_value(parser *self, ptx_reloc *reloc)
{
    const char *name = NULL;
    if (parser_name(self, &name) != 0)
        return -1;
    if (strcmp(name, "generic") == 0 && parser_at(self, '(')) {
        reloc->generic = true;
        if (parser_advance(self) != 0 || parser_name(self, &name) != 0 ||
            parser_expect(self, ')') != 0)
            return -1;
    }
    name_meaning meaning = {0};
    bool found = names_find(self->names, names_scope(self->names), name, &meaning);
    if (found && meaning.kind == NAME_VARIABLE)
        reloc->target = meaning.pointer;
    else if (found && meaning.kind == NAME_FUNCTION)
        reloc->function = meaning.pointer;
    else
        return parser_fail(self, "initialiser names unknown symbol %.80s", name);
    if (parser_at(self, '+') || parser_at(self, '-'))
        return parser_constant(self, &reloc->addend);
    return 0;
}

static int put_bytes(parser *self, image *im, size_t at, size_t size, uint64_t bits)
{
    if (size > im->size || at > im->size - size)
        return parser_fail(self, "initialiser of %.80s is longer than the variable",
                           im->variable->name);
    for (size_t i = 0; i < size && i < 8; i++)
        im->bytes[at + i] = (uint8_t)(bits >> (8 * i));
    return 0;
}

static uint64_t float_bits(const token *t, uint32_t bytes)
{
    if (t->wide == (bytes == 8))
        return t->bits;
    double wide = 0;
    float narrow = 0;
    if (t->wide) {
        memcpy(&wide, &t->bits, sizeof wide);
        narrow = (float)wide;
        uint32_t out = 0;
        memcpy(&out, &narrow, sizeof out);
        return out;
    }
    uint32_t in = (uint32_t)t->bits;
    memcpy(&narrow, &in, sizeof narrow);
    wide = (double)narrow;
    uint64_t out = 0;
    memcpy(&out, &wide, sizeof out);
    return out;
}

/* 0xFF(symbol): one byte of an address. */
static int read_masked(parser *self, image *im, size_t at)
{
    int64_t mask = (int64_t)self->now.bits;
    ptx_reloc reloc = {.offset = at, .bytes = 1};
    if (parser_advance(self) != 0 || parser_expect(self, '(') != 0 ||
        read_symbol_value(self, &reloc) != 0 || parser_expect(self, ')') != 0)
        return -1;
    if (mask == 0)
        return parser_fail(self, "an address mask of 0");
    list_add(&im->relocs, &reloc);
    return put_bytes(self, im, at, 1, 0);
}

static int read_element(parser *self, image *im, size_t at)
{
    uint32_t bytes = im->variable->type->bytes;
    if (self->now.kind == TOKEN_NAME) {
        ptx_reloc reloc = {.offset = at, .bytes = bytes > 8 ? 8 : bytes};
        if (read_symbol_value(self, &reloc) != 0)
            return -1;
        list_add(&im->relocs, &reloc);
        return put_bytes(self, im, at, bytes, 0);
    }
    if (self->now.kind == TOKEN_INT && token_is(&self->next, '('))
        return read_masked(self, im, at);
    bool minus = parser_at(self, '-') && self->next.kind == TOKEN_FLOAT;
    if (minus && parser_advance(self) != 0)
        return -1;
    if (self->now.kind == TOKEN_FLOAT) {
        uint64_t bits = float_bits(&self->now, bytes);
        if (minus)
            bits ^= bytes == 8 ? 1ULL << 63 : 1ULL << 31;
        return parser_advance(self) != 0 ? -1 : put_bytes(self, im, at, bytes, bits);
    }
    int64_t value = 0;
    if (parser_constant(self, &value) != 0)
        return -1;
    return put_bytes(self, im, at, bytes, (uint64_t)value);
}

/* read_level reads "{ … }" of one dimension, or one element. stride: bytes of a part of it. */
static int read_level(parser *self, image *im, size_t dim, size_t at, size_t bytes)
{
    const ptx_variable *v = im->variable;
    if (!parser_at(self, '{'))
        return read_element(self, im, at);
    if (dim > v->dim_count)
        return parser_fail(self, "initialiser of %.80s has too many braces", v->name);
    size_t parts = dim < v->dim_count ? (size_t)v->dims[dim] : v->lanes;
    size_t stride = parts != 0 ? bytes / parts : 0;
    if (parser_advance(self) != 0)
        return -1;
    while (!parser_at(self, '}')) {
        /* Without inner braces elements follow one another. */
        bool inner = parser_at(self, '{');
        if (read_level(self, im, dim + 1, at, stride) != 0)
            return -1;
        at += inner ? stride : v->type->bytes;
        if (!parser_at(self, '}') && parser_expect(self, ',') != 0)
            return -1;
    }
    return parser_advance(self);
}

static int read_image(parser *self, image *im)
{
    ptx_variable *v = im->variable;
    if (v->bytes == 0 || v->bytes > PTX_IMAGE_MAX)
        return parser_fail(self, "an initialiser for a variable of %llu bytes",
                           (unsigned long long)v->bytes);
    im->size = (size_t)v->bytes;
    im->bytes = parser_get(self, im->size, 1);
    if (im->bytes == NULL || read_level(self, im, 0, 0, im->size) != 0)
        return -1;
    v->image = im->bytes;
    v->reloc_count = im->relocs.count;
    v->relocs = list_seal(&im->relocs, self);
    return v->relocs != NULL ? 0 : -1;
}

static int read_initialiser(parser *self, ptx_variable *v)
{
    image im = {.variable = v};
    list_init(&im.relocs, sizeof(ptx_reloc));
    int rc = read_image(self, &im);
    list_fini(&im.relocs);
    return rc;
}

/* ---- declarations ---- */

static int keep_variable(parser *self, const ptx_variable *draft, list *into, ptx_variable **out)
{
    if (into->count >= PTX_VARIABLE_MAX)
        return parser_limit(self, "variables");
    ptx_variable *v = parser_get(self, 1, sizeof *v);
    if (v == NULL)
        return -1;
    *v = *draft;
    v->index = (uint32_t)into->count;
    list_add(into, &v);
    *out = v;
    return 0;
}

static int add_name(parser *self, const char *name, name_meaning meaning)
{
    if (names_add(self->names, name, meaning))
        return 0;
    return parser_fail(self, "%.80s is declared twice", name);
}

/* An extern declaration may be followed by the definition: then both are one variable. */
static ptx_variable *earlier_extern(parser *self, const char *name)
{
    name_meaning meaning = {0};
    if (names_scope(self->names) != 0 || !names_find(self->names, 0, name, &meaning) ||
        meaning.kind != NAME_VARIABLE)
        return NULL;
    ptx_variable *v = meaning.pointer;
    return v->linkage == PTX_LINK_EXTERN ? v : NULL;
}

static int declare_one(parser *self, const ptx_variable *prefix, list *into)
{
    ptx_variable draft = *prefix;
    if (parser_name(self, &draft.name) != 0 || read_dims(self, &draft) != 0)
        return -1;
    ptx_variable *v = earlier_extern(self, draft.name);
    if (v != NULL) {
        draft.index = v->index;
        *v = draft;
    } else if (keep_variable(self, &draft, into, &v) != 0 ||
               add_name(self, v->name, (name_meaning){.kind = NAME_VARIABLE, .pointer = v}) != 0) {
        return -1;
    }
    if (!parser_at(self, '='))
        return 0;
    return parser_advance(self) != 0 ? -1 : read_initialiser(self, v);
}

int declare_variables(parser *self, ptx_linkage linkage, list *into)
{
    ptx_variable prefix = {.linkage = linkage};
    if (read_prefix(self, &prefix) != 0)
        return -1;
    for (;;) {
        if (declare_one(self, &prefix, into) != 0)
            return -1;
        if (!parser_at(self, ','))
            return parser_expect(self, ';');
        if (parser_advance(self) != 0)
            return -1;
    }
}

static int keep_registers(parser *self, list *registers, const ptx_register *draft, size_t count)
{
    if (count > PTX_REGISTER_MAX - registers->count)
        return parser_limit(self, "registers");
    ptx_register r = *draft;
    for (size_t i = 0; i < count; i++) {
        if (draft->number != UINT32_MAX)
            r.number = (uint32_t)i;
        list_add(registers, &r);
    }
    return 0;
}

static int declare_register(parser *self, const ptx_variable *prefix, list *registers)
{
    ptx_register r = {.number = UINT32_MAX, .type = prefix->type, .lanes = prefix->lanes};
    if (parser_name(self, &r.name) != 0)
        return -1;
    size_t first = registers->count;
    if (!parser_at(self, '<')) {
        name_meaning meaning = {.kind = NAME_REGISTER, .index = first};
        return add_name(self, r.name, meaning) != 0 ? -1 : keep_registers(self, registers, &r, 1);
    }
    int64_t count = 0;
    if (parser_advance(self) != 0 || parser_constant(self, &count) != 0 ||
        parser_expect(self, '>') != 0)
        return -1;
    if (count <= 0 || count > PTX_REGISTER_MAX)
        return parser_limit(self, "registers");
    r.number = 0;
    if (!names_add_range(self->names, r.name, first, (size_t)count))
        return parser_fail(self, "%.80s<> is declared twice", r.name);
    return keep_registers(self, registers, &r, (size_t)count);
}

int declare_registers(parser *self, list *registers)
{
    ptx_variable prefix = {0};
    if (read_prefix(self, &prefix) != 0)
        return -1;
    for (;;) {
        if (declare_register(self, &prefix, registers) != 0)
            return -1;
        if (!parser_at(self, ','))
            return parser_expect(self, ';');
        if (parser_advance(self) != 0)
            return -1;
    }
}

static int declare_parameter(parser *self, bool kernel, list *registers, list *into)
{
    ptx_variable draft = {.is_kernel_param = kernel};
    ptx_variable *v = NULL;
    if (read_prefix(self, &draft) != 0 || parser_name(self, &draft.name) != 0 ||
        read_dims(self, &draft) != 0 || keep_variable(self, &draft, into, &v) != 0)
        return -1;
    assert(v != NULL);
    name_meaning meaning = {.kind = NAME_VARIABLE, .pointer = v};
    if (draft.space == PTX_SPACE_REG) {
        if (registers == NULL)
            return parser_fail(self, "a register parameter cannot stand here");
        ptx_register r = {v->name, UINT32_MAX, v->type, v->lanes};
        meaning = (name_meaning){.kind = NAME_REGISTER, .index = registers->count};
        if (keep_registers(self, registers, &r, 1) != 0)
            return -1;
    } else if (draft.space != PTX_SPACE_PARAM) {
        return parser_fail(self, "a parameter is .param or .reg");
    }
    return strcmp(v->name, "_") == 0 ? 0 : add_name(self, v->name, meaning);
}

int declare_parameters(parser *self, bool kernel, list *registers, list *into)
{
    if (parser_expect(self, '(') != 0)
        return -1;
    while (!parser_at(self, ')')) {
        if (declare_parameter(self, kernel, registers, into) != 0)
            return -1;
        if (!parser_at(self, ')') && parser_expect(self, ',') != 0)
            return -1;
    }
    return parser_advance(self);
}
