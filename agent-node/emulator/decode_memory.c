/* decode_memory - loads, stores and atomics
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/decode.h"
#include "agent-node/emulator/half.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* What a modifier of ld, st, atom or red says. */
typedef enum word_role { ROLE_SPACE, ROLE_ORDER, ROLE_COUNT, ROLE_TYPE, ROLE_NOTHING } word_role;

static const struct {
    const char *word;
    word_role role;
    int value;
} words[] = {
    {"global", ROLE_SPACE, PTX_SPACE_GLOBAL},
    {"shared", ROLE_SPACE, PTX_SPACE_SHARED},
    {"shared::cta", ROLE_SPACE, PTX_SPACE_SHARED},
    {"local", ROLE_SPACE, PTX_SPACE_LOCAL},
    {"const", ROLE_SPACE, PTX_SPACE_CONST},
    {"param", ROLE_SPACE, PTX_SPACE_PARAM},
    {"param::entry", ROLE_SPACE, PTX_SPACE_PARAM},
    {"param::func", ROLE_SPACE, PTX_SPACE_PARAM},
    {"weak", ROLE_ORDER, ORDER_WEAK},
    {"volatile", ROLE_ORDER, ORDER_RELAXED},
    {"relaxed", ROLE_ORDER, ORDER_RELAXED},
    {"acquire", ROLE_ORDER, ORDER_ACQUIRE},
    {"release", ROLE_ORDER, ORDER_RELEASE},
    {"acq_rel", ROLE_ORDER, ORDER_ACQ_REL},
    {"v2", ROLE_COUNT, 2},
    {"v4", ROLE_COUNT, 4},
    {"gpu", ROLE_NOTHING, 0},
    {"cta", ROLE_NOTHING, 0},
    {"sys", ROLE_NOTHING, 0},
    {"ca", ROLE_NOTHING, 0},
    {"cg", ROLE_NOTHING, 0},
    {"cs", ROLE_NOTHING, 0},
    {"lu", ROLE_NOTHING, 0},
    {"cv", ROLE_NOTHING, 0},
    {"wb", ROLE_NOTHING, 0},
    {"wt", ROLE_NOTHING, 0},
    {"nc", ROLE_NOTHING, 0},
    {"noftz", ROLE_NOTHING, 0},
    {"L1::evict_normal", ROLE_NOTHING, 0},
    {"L1::evict_unchanged", ROLE_NOTHING, 0},
    {"L1::evict_first", ROLE_NOTHING, 0},
    {"L1::evict_last", ROLE_NOTHING, 0},
    {"L1::no_allocate", ROLE_NOTHING, 0},
    {"L2::64B", ROLE_NOTHING, 0},
    {"L2::128B", ROLE_NOTHING, 0},
    {"L2::256B", ROLE_NOTHING, 0},
};

typedef struct type_row {
    const char *word;
    uint8_t bytes;
    bool is_signed;
} type_row;

static const type_row types[] = {
    {"b8", 1, false},    {"u8", 1, false},     {"s8", 1, true},   {"b16", 2, false},
    {"u16", 2, false},   {"s16", 2, true},     {"b32", 4, false}, {"u32", 4, false},
    {"s32", 4, true},    {"f32", 4, false},    {"b64", 8, false}, {"u64", 8, false},
    {"s64", 8, true},    {"f64", 8, false},    {"f16", 2, false}, {"bf16", 2, false},
    {"f16x2", 4, false}, {"bf16x2", 4, false},
};

static const type_row *type_named(const char *word)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].word, word) == 0)
            return &types[i];
    return NULL;
}

/* apply_word takes one modifier; false: it is none of these. */
static bool apply_word(const char *word, mem_access *a, const type_row **type)
{
    const type_row *found = type_named(word);
    if (found != NULL) {
        *type = found;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) != 0)
            continue;
        if (words[i].role == ROLE_SPACE)
            a->space = (ptx_space)words[i].value;
        if (words[i].role == ROLE_ORDER)
            a->order = (access_order)words[i].value;
        if (words[i].role == ROLE_COUNT)
            a->count = (uint8_t)words[i].value;
        return true;
    }
    return false;
}

static bool read_words(decoder *self, mem_access *a, const type_row **type)
{
    for (size_t i = 0; i < self->in->modifier_count; i++)
        if (!apply_word(self->in->modifiers[i], a, type))
            return refuse(self, ".%s is not supported here", self->in->modifiers[i]);
    if (*type == NULL)
        return refuse(self, "an access without a type");
    a->bytes = (*type)->bytes;
    a->is_signed = (*type)->is_signed;
    return true;
}

static emu_class class_of(ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return EMU_CLASS_SHARED;
    case PTX_SPACE_LOCAL:
        return EMU_CLASS_LOCAL;
    case PTX_SPACE_PARAM:
    case PTX_SPACE_CONST:
        return EMU_CLASS_PARAM;
    case PTX_SPACE_NONE:
    case PTX_SPACE_REG:
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_TEX:
        break;
    }
    return EMU_CLASS_GLOBAL;
}

/* ---- addresses ---- */

static bool kernel_param(decoder *self, mem_access *a, const ptx_operand *address)
{
    const ptx_variable *v = address->items[0].variable;
    const ptx_function *f = self->p->entry;
    uint64_t at = 0;
    for (size_t i = 0; i < f->param_count; i++) {
        const uint32_t align = f->params[i]->align > 0 ? f->params[i]->align : 1;
        at = (at + align - 1) / align * align;
        if (f->params[i] == v)
            break;
        at += f->params[i]->bytes;
    }
    const int64_t offset = address->offset + address->items[0].offset;
    const uint64_t bytes = (uint64_t)a->bytes * a->count;
    if (offset < 0 || (uint64_t)offset + bytes > v->bytes)
        return refuse(self, "the access leaves kernel parameter %s", v->name);
    a->offset = (int64_t)at + offset;
    a->base = 0;
    return true;
}

static bool variable_address(decoder *self, mem_access *a, const ptx_operand *address)
{
    const ptx_operand *base = &address->items[0];
    uint64_t at = 0;
    if (!place_of(self, base->variable, &at))
        return false;
    const ptx_space space = base->variable->space;
    /* Parameters of functions live in the frame. */
    if (a->space == PTX_SPACE_PARAM)
        a->space = PTX_SPACE_LOCAL;
    if (a->space == PTX_SPACE_NONE && space == PTX_SPACE_SHARED)
        at += WINDOW_SHARED;
    if (a->space == PTX_SPACE_NONE && space == PTX_SPACE_LOCAL)
        at += WINDOW_LOCAL;
    a->offset = (int64_t)at + address->offset + base->offset;
    return true;
}

static bool decode_address(decoder *self, mem_access *a, const ptx_operand *address)
{
    if (address->kind != PTX_OPERAND_ADDRESS || address->item_count != 1)
        return refuse(self, "this form of address is not supported");
    const ptx_operand *base = &address->items[0];
    a->offset = address->offset;
    switch ((int)base->kind) {
    case PTX_OPERAND_REGISTER:
        if (a->space == PTX_SPACE_PARAM)
            return refuse(self, "a parameter at a computed address is not supported");
        a->wide_base = register_is_wide(self, base->reg);
        return source(self, base, 'x', &a->base);
    case PTX_OPERAND_INT:
        a->offset += (int64_t)base->bits;
        return true;
    case PTX_OPERAND_VARIABLE:
        return base->variable->is_kernel_param ? kernel_param(self, a, address)
                                               : variable_address(self, a, address);
    default:
        return refuse(self, "this form of address is not supported");
    }
}

/* ---- elements ---- */

static bool load_element(decoder *self, mem_access *a, size_t i, const ptx_operand *x)
{
    if (x->kind == PTX_OPERAND_SINK)
        return true;
    if (!result(self, x, 'x', &a->units[i]))
        return false;
    const uint32_t bytes = register_type(self, x->reg)->bytes;
    a->wide[i] = bytes == 8;
    a->keep[i] = bytes >= 4 ? UINT32_MAX : (1u << 8 * bytes) - 1;
    return bytes >= a->bytes ? true
                             : refuse(self, "register %s is narrower than the access", x->name);
}

static bool store_element(decoder *self, mem_access *a, size_t i, const ptx_operand *x)
{
    if (x->kind == PTX_OPERAND_REGISTER) {
        a->wide[i] = register_is_wide(self, x->reg);
        if (register_type(self, x->reg)->bytes < a->bytes)
            return refuse(self, "register %s is narrower than the access", x->name);
        return source(self, x, 'x', &a->units[i]);
    }
    a->wide[i] = a->bytes == 8;
    return source(self, x, a->wide[i] ? 'd' : 'w', &a->units[i]);
}

static bool elements(decoder *self, mem_access *a, const ptx_operand *x)
{
    bool vector = x->kind == PTX_OPERAND_VECTOR;
    const ptx_operand *items = vector ? x->items : x;
    size_t count = vector ? x->item_count : 1;
    if (count != a->count)
        return refuse(self, "%zu elements, the type says %u", count, a->count);
    for (size_t i = 0; i < count; i++)
        if (!(a->is_store ? store_element(self, a, i, &items[i])
                          : load_element(self, a, i, &items[i])))
            return false;
    return true;
}

static bool decode_access(decoder *self, bool is_store)
{
    mem_access a = {.count = 1, .is_store = is_store};
    const type_row *type = NULL;
    const ptx_operand *first = operand_at(self, 0);
    const ptx_operand *second = first != NULL ? operand_at(self, 1) : NULL;
    if (second == NULL || !read_words(self, &a, &type))
        return false;
    self->op->class = (uint8_t)class_of(a.space);
    if (!decode_address(self, &a, is_store ? first : second) ||
        !elements(self, &a, is_store ? second : first))
        return false;
    if (is_store && (a.space == PTX_SPACE_CONST || a.space == PTX_SPACE_PARAM))
        return refuse(self, "a store to constant memory");
    self->op->step = is_store                     ? step_store
                     : a.space == PTX_SPACE_PARAM ? step_load_param
                                                  : step_load;
    self->op->target = (uint32_t)self->p->access_count;
    *PUSH(self->p->accesses, self->p->access_count) = a;
    return true;
}

bool decode_load(decoder *self)
{
    return decode_access(self, false);
}

bool decode_store(decoder *self)
{
    return decode_access(self, true);
}

/* prefetch and the like: hints. */
bool decode_nothing(decoder *self)
{
    self->op->step = step_yield;
    self->op->class = EMU_CLASS_CONTROL;
    self->op->mode = 1;
    return true;
}

/* ---- atomics ---- */

#define ATOMIC(name, expr)                                     \
    static uint64_t name(uint64_t old, uint64_t b, uint64_t c) \
    {                                                          \
        (void)c;                                               \
        return expr;                                           \
    }
ATOMIC(atomic_and, old &b)
ATOMIC(atomic_or, old | b)
ATOMIC(atomic_xor, old ^ b)
ATOMIC(atomic_exch, ((void)old, b))
ATOMIC(atomic_cas, old == b ? c : old)
ATOMIC(atomic_add, old + b)
ATOMIC(atomic_inc, (uint32_t)old >= (uint32_t)b ? 0 : old + 1)
ATOMIC(atomic_dec, (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1)
ATOMIC(atomic_min_u, old < b ? old : b)
ATOMIC(atomic_max_u, old > b ? old : b)
ATOMIC(atomic_min_s32, (int32_t)old < (int32_t)b ? old : b)
ATOMIC(atomic_max_s32, (int32_t)old > (int32_t)b ? old : b)
ATOMIC(atomic_min_s64, (int64_t)old < (int64_t)b ? old : b)
ATOMIC(atomic_max_s64, (int64_t)old > (int64_t)b ? old : b)

static uint64_t atomic_add_f64(uint64_t old, uint64_t b, uint64_t c)
{
    (void)c;
    return bits_of_f64(f64_of_bits(old) + f64_of_bits(b));
}

/* In global memory f32 sums flush; in shared memory they do not. The difference is below any check. */
static uint64_t atomic_add_f32(uint64_t old, uint64_t b, uint64_t c)
{
    (void)c;
    return bits_of_f32(canonical(f32_of_bits((uint32_t)old) + f32_of_bits((uint32_t)b)));
}

static uint32_t add_f16(uint64_t x, uint64_t y)
{
    return half_from_f32(half_to_f32((uint32_t)x & 0xffffu) + half_to_f32((uint32_t)y & 0xffffu));
}

static uint32_t add_bf16(uint64_t x, uint64_t y)
{
    return bf16_from_f32(bf16_to_f32((uint32_t)x & 0xffffu) + bf16_to_f32((uint32_t)y & 0xffffu));
}

ATOMIC(atomic_add_f16, add_f16(old, b))
ATOMIC(atomic_add_f16x2, add_f16(old, b) | (uint64_t)add_f16(old >> 16, b >> 16) << 16)
ATOMIC(atomic_add_bf16, add_bf16(old, b))
ATOMIC(atomic_add_bf16x2, add_bf16(old, b) | (uint64_t)add_bf16(old >> 16, b >> 16) << 16)

static const struct {
    const char *name, *type;
    atomic_fn *apply;
} operations[] = {
    {"and", "b32", atomic_and},       {"and", "b64", atomic_and},
    {"or", "b32", atomic_or},         {"or", "b64", atomic_or},
    {"xor", "b32", atomic_xor},       {"xor", "b64", atomic_xor},
    {"exch", "b32", atomic_exch},     {"exch", "b64", atomic_exch},
    {"cas", "b16", atomic_cas},       {"cas", "b32", atomic_cas},
    {"cas", "b64", atomic_cas},       {"add", "u32", atomic_add},
    {"add", "s32", atomic_add},       {"add", "u64", atomic_add},
    {"add", "f32", atomic_add_f32},   {"add", "f64", atomic_add_f64},
    {"add", "f16", atomic_add_f16},   {"add", "f16x2", atomic_add_f16x2},
    {"add", "bf16", atomic_add_bf16}, {"add", "bf16x2", atomic_add_bf16x2},
    {"inc", "u32", atomic_inc},       {"dec", "u32", atomic_dec},
    {"min", "u32", atomic_min_u},     {"max", "u32", atomic_max_u},
    {"min", "u64", atomic_min_u},     {"max", "u64", atomic_max_u},
    {"min", "s32", atomic_min_s32},   {"max", "s32", atomic_max_s32},
    {"min", "s64", atomic_min_s64},   {"max", "s64", atomic_max_s64},
};

static bool operation_of(const char *name, const char *type, atomic *x)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (strcmp(operations[i].name, name) == 0 &&
            (type == NULL || strcmp(operations[i].type, type) == 0)) {
            x->apply = operations[i].apply;
            return true;
        }
    return false;
}

static bool atomic_words(decoder *self, atomic *x)
{
    const char *operation = NULL;
    const type_row *type = NULL;
    for (size_t i = 0; i < self->in->modifier_count; i++) {
        const char *word = self->in->modifiers[i];
        if (operation == NULL && operation_of(word, NULL, x))
            operation = word;
        else if (!apply_word(word, &x->at, &type))
            return refuse(self, ".%s is not supported here", word);
    }
    if (operation == NULL || type == NULL || !operation_of(operation, type->word, x))
        return refuse(self, "this atomic operation is not supported");
    x->at.bytes = type->bytes;
    x->wide = type->bytes == 8;
    x->exchanges = strcmp(operation, "exch") == 0;
    return true;
}

bool decode_atomic(decoder *self)
{
    atomic x = {.at = {.count = 1, .order = ORDER_RELAXED}};
    const bool returns = strcmp(self->in->opcode, "atom") == 0;
    const size_t first = returns ? 1 : 0;
    if (!atomic_words(self, &x))
        return false;
    const bool casts = ptx_instruction_has(self->in, "cas");
    const size_t wanted = first + (casts ? 3 : 2);
    if (self->in->operand_count != wanted || x.at.count != 1)
        return refuse(self, "this form of an atomic operation is not supported");
    const ptx_operand *operands = self->in->operands;
    if (returns && !load_element(self, &x.at, 0, &operands[0]))
        return false;
    const char kind = x.wide ? 'd' : 'w';
    if (!decode_address(self, &x.at, &operands[first]) ||
        !source(self, &operands[first + 1], kind, &x.b) ||
        (casts && !source(self, &operands[first + 2], kind, &x.c)))
        return false;
    if (x.at.space == PTX_SPACE_LOCAL || x.at.space == PTX_SPACE_PARAM ||
        x.at.space == PTX_SPACE_CONST)
        return refuse(self, "an atomic operation in this space");
    self->op->step = step_atomic;
    self->op->class = EMU_CLASS_ATOMIC;
    self->op->target = (uint32_t)self->p->atomic_count;
    *PUSH(self->p->atomics, self->p->atomic_count) = x;
    return true;
}

/* ---- what cas expects ---- */

/* One pass over the copies: what goes into an expected register is expected. True: something was new. */
static bool follow_copies(const program *p, bool *expected)
{
    bool found = false;
    for (size_t k = 0; k < p->part_count; k++) {
        const program_part *part = &p->parts[k];
        for (size_t i = 0; i < part->function->code_count; i++) {
            const op *o = &p->ops[part->first + i];
            if (strcmp(part->function->code[i].opcode, "mov") != 0 || !expected[o->d] ||
                o->a == 0 || o->b != 0 || expected[o->a])
                continue;
            expected[o->a] = found = true;
        }
    }
    return found;
}

void decode_expected(program *p)
{
    bool some = false;
    SCOPED(scoped_free) bool *expected = xcalloc(p->unit_count + 1, sizeof *expected);
    for (size_t i = 0; i < p->atomic_count; i++) {
        if (p->atomics[i].apply != atomic_cas)
            continue;
        expected[p->atomics[i].b] = some = true;
    }
    while (some && follow_copies(p, expected))
        ;
    for (size_t i = 0; some && i < p->access_count; i++) {
        mem_access *a = &p->accesses[i];
        if (!a->is_store && a->count == 1 && a->order == ORDER_WEAK && a->units[0] != 0 &&
            expected[a->units[0]])
            a->order = ORDER_RELAXED;
    }
}
