/* decode_lanes - instructions that compute lane by lane, by the tables of lanes.h; mov and cvt
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent-node/emulator/convert.h"
#include "agent-node/emulator/decode.h"

enum { KEY_MAX = 96 };

static const char *const modes[] = {"rn", "rz", "rm", "rp"};

static bool rounding_of(const char *word, uint8_t *out)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(word, modes[i]) == 0) {
            *out = (uint8_t)i; /* order of enum rounding */
            return true;
        }
    return false;
}

static bool joint_of(const char *word, uint8_t *out)
{
    static const char *const names[] = {"", "and", "or", "xor"};
    for (size_t i = JOINT_AND; i <= JOINT_XOR; i++)
        if (strcmp(word, names[i]) == 0) {
            *out = (uint8_t)i;
            return true;
        }
    return false;
}

static bool is_one_of(const char *word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

/* key_of joins opcode and modifiers; what an op keeps elsewhere (rounding, how a predicate joins) is
 * taken out. */
static void key_of(decoder *self, char key[KEY_MAX])
{
    static const char *const rounds[] = {"add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"};
    static const char *const joins[] = {"set", "setp"};
    const ptx_instruction *in = self->in;
    bool rounded = is_one_of(in->opcode, rounds, sizeof rounds / sizeof *rounds);
    bool joined = is_one_of(in->opcode, joins, sizeof joins / sizeof *joins);
    size_t used = (size_t)snprintf(key, KEY_MAX, "%s", in->opcode);
    for (size_t i = 0; i < in->modifier_count && used < KEY_MAX; i++) {
        const char *word = in->modifiers[i];
        if ((rounded && rounding_of(word, &self->op->round)) ||
            (joined && joint_of(word, &self->op->mode)))
            continue;
        used += (size_t)snprintf(key + used, KEY_MAX - used, ".%s", word);
    }
}

static bool predicate_pair(decoder *self, const ptx_operand *x)
{
    if (x->kind != PTX_OPERAND_PAIR || x->item_count != 2)
        return result(self, x, 'p', &self->op->d);
    return result(self, &x->items[0], 'p', &self->op->d) &&
           result(self, &x->items[1], 'p', &self->op->e);
}

/* One operand by its letter; `place` is where a source goes. */
static bool take(decoder *self, const ptx_operand *x, char kind, uint32_t *place)
{
    op *o = self->op;
    switch (kind) {
    case 'i':
        return integer_operand(self, x, &o->imm);
    case 'P':
        return predicate_pair(self, x);
    case '?':
    case 'p':
        if (x->negated)
            o->flags |= OP_NOT_C;
        return source(self, x, 'p', place);
    default:
        return source(self, x, kind, place);
    }
}

static bool take_shape(decoder *self, const char *shape)
{
    op *o = self->op;
    uint32_t *const places[] = {&o->a, &o->b, &o->c, &o->e};
    const size_t operands = self->in->operand_count;
    size_t length = strlen(shape);
    bool optional = length > 0 && shape[length - 1] == '?';
    if (optional) { /* a predicate goes to c, whatever stands before it */
        length -= operands < length ? 1 : 0;
        if (operands == length && shape[length - 1] == '?' &&
            !take(self, &self->in->operands[length - 1], '?', &o->c))
            return false;
    }
    if (operands != length)
        return refuse(self, "%zu operands, %zu were expected", operands, length);
    if (shape[0] == 'P' ? !predicate_pair(self, &self->in->operands[0])
                        : !result(self, &self->in->operands[0], shape[0], &o->d))
        return false;
    for (size_t i = 1; i < length && shape[i] != '?'; i++) {
        const ptx_operand *x = &self->in->operands[i];
        if (x->negated && shape[i] == 'p' && places[i - 1] != &o->c)
            return refuse(self, "a negated operand is not supported");
        if (!take(self, x, shape[i], places[i - 1]))
            return false;
    }
    return true;
}

static void adopt(op *o, const lane_row *row)
{
    o->lanes = row->lanes;
    o->compare = row->compare;
    o->flags |= row->flags;
    o->class = row->class;
}

bool decode_lanes(decoder *self)
{
    char key[KEY_MAX];
    key_of(self, key);
    const lane_row *row = lanes_find(key);
    if (row == NULL)
        return refuse(self, "this instruction is not supported");
    adopt(self->op, row);
    if (self->op->round != ROUND_NEAREST && row->class != EMU_CLASS_FLOAT32 &&
        row->class != EMU_CLASS_FLOAT64)
        return refuse(self, "this rounding is not supported");
    if (!take_shape(self, row->shape))
        return false;
    if ((self->op->flags & OP_NOT_C) != 0 && (row->flags & OP_OWN_VALID) == 0)
        return refuse(self, "a negated operand is not supported");
    if (self->op->d == 0)
        return refuse(self, "the result is thrown away");
    return true;
}

/* ---- mov ---- */

static bool parts_of(decoder *self, const ptx_operand *v, bool is_result, char kind)
{
    op *o = self->op;
    uint32_t *const sources[] = {&o->a, &o->b, &o->c, &o->e};
    uint32_t *const results[] = {&o->d, &o->e, &o->b, &o->c};
    for (size_t i = 0; i < v->item_count; i++) {
        bool ok = is_result ? result(self, &v->items[i], kind, results[i])
                            : source(self, &v->items[i], kind, sources[i]);
        if (!ok)
            return false;
    }
    return true;
}

/* mov.b64 d, {a, b} and mov.b32 {a, b}, d */
static bool decode_parts(decoder *self, const ptx_operand *to, const ptx_operand *from)
{
    char key[32];
    const bool packs = from->kind == PTX_OPERAND_VECTOR;
    const ptx_operand *v = packs ? from : to;
    const char *type = self->in->modifier_count > 0 ? self->in->modifiers[0] : "";
    snprintf(key, sizeof key, "%s.%.8s.%zu", packs ? "pack" : "unpack", type, v->item_count);
    const lane_row *row = lanes_find(key);
    if (row == NULL || to->kind == from->kind)
        return refuse(self, "this way to take a register apart is not supported");
    const char whole = strcmp(type, "b64") == 0 ? 'd' : 'w';
    adopt(self->op, row);
    if (!parts_of(self, v, !packs, 'w'))
        return false;
    return packs ? result(self, to, whole, &self->op->d) : source(self, from, whole, &self->op->a);
}

static bool is_clock(const ptx_operand *x)
{
    return x->kind == PTX_OPERAND_SPECIAL &&
           (strncmp(x->name, "%clock", 6) == 0 || strncmp(x->name, "%globaltimer", 12) == 0);
}

bool decode_mov(decoder *self)
{
    const ptx_operand *to = operand_at(self, 0);
    const ptx_operand *from = to != NULL ? operand_at(self, 1) : NULL;
    if (from == NULL)
        return false;
    if (to->kind == PTX_OPERAND_VECTOR || from->kind == PTX_OPERAND_VECTOR)
        return decode_parts(self, to, from);
    if (!is_clock(from))
        return decode_lanes(self);
    self->op->step = step_clock;
    self->op->class = EMU_CLASS_MOVE;
    self->op->mode = to->kind == PTX_OPERAND_REGISTER && register_is_wide(self, to->reg);
    return result(self, to, 'x', &self->op->d);
}

/* ---- cvt ---- */

static const struct {
    const char *name;
    convert_type type;
} types[] = {{"u8", CONVERT_U8},     {"s8", CONVERT_S8},   {"u16", CONVERT_U16},
             {"s16", CONVERT_S16},   {"u32", CONVERT_U32}, {"s32", CONVERT_S32},
             {"u64", CONVERT_U64},   {"s64", CONVERT_S64}, {"f16", CONVERT_F16},
             {"bf16", CONVERT_BF16}, {"f32", CONVERT_F32}, {"f64", CONVERT_F64}};

static bool type_named(const char *word, convert_type *out)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(word, types[i].name) == 0) {
            *out = types[i].type;
            return true;
        }
    return false;
}

typedef struct cvt {
    unsigned flags, type_count;
    convert_type types[2]; /* result, source */
    bool pair, to_integer, rounded;
    rounding how;
} cvt;

/* rni, rzi, rmi, rpi; rn, rz, rm, rp, rna */
static bool cvt_rounding(const char *word, cvt *c)
{
    uint8_t how = 0;
    char base[3] = {word[0], word[0] != '\0' ? word[1] : '\0', '\0'};
    if (!rounding_of(base, &how))
        return false;
    c->to_integer = word[2] == 'i' && word[3] == '\0';
    c->how = (rounding)how;
    c->rounded = true;
    return word[2] == '\0' || c->to_integer;
}

static bool cvt_word(decoder *self, const char *word, cvt *c)
{
    if (cvt_rounding(word, c))
        return true;
    if (strcmp(word, "ftz") == 0 || strcmp(word, "sat") == 0 || strcmp(word, "relu") == 0) {
        c->flags |= word[0] == 'f' ? CONVERT_FTZ : word[0] == 's' ? CONVERT_SAT : CONVERT_RELU;
        return true;
    }
    if (strcmp(word, "f16x2") == 0 || strcmp(word, "bf16x2") == 0) {
        c->pair = true;
        c->types[c->type_count & 1] = word[0] == 'b' ? CONVERT_BF16 : CONVERT_F16;
        return c->type_count++ == 0;
    }
    if (c->type_count < 2 && type_named(word, &c->types[c->type_count])) {
        c->type_count++;
        return true;
    }
    return refuse(self, ".%s is not supported here", word);
}

static char letter_of(convert_type t)
{
    return t == CONVERT_U64 || t == CONVERT_S64 || t == CONVERT_F64 ? 'd' : 'w';
}

/* Registers of cvt may be wider than its types; integers only. */
static bool cvt_operand(decoder *self, const ptx_operand *x, convert_type t, bool is_result,
                        unsigned *flags)
{
    char kind = t < CONVERT_F16 ? 'x' : letter_of(t);
    if (x->kind != PTX_OPERAND_REGISTER) {
        if (letter_of(t) == 'd')
            *flags |= is_result ? CONVERT_WIDE_TO : CONVERT_WIDE_FROM;
        return is_result ? refuse(self, "the result is no register")
                         : source(self, x, letter_of(t), &self->op->a);
    }
    if (!(is_result ? result(self, x, kind, &self->op->d) : source(self, x, kind, &self->op->a)))
        return false;
    const uint32_t bytes = register_type(self, x->reg)->bytes;
    if (bytes == 8)
        *flags |= is_result ? CONVERT_WIDE_TO : CONVERT_WIDE_FROM;
    if (is_result && bytes <= 2)
        *flags |= CONVERT_NARROW_TO;
    return letter_of(t) != 'd' || bytes == 8 ? true : refuse(self, "the register is too narrow");
}

static bool decode_cvt_pair(decoder *self, cvt *c)
{
    op *o = self->op;
    if (c->types[1] != CONVERT_F32 || self->in->operand_count != 3 || (c->flags & CONVERT_SAT) != 0)
        return refuse(self, "this conversion is not supported");
    o->lanes = lanes_set()->convert_pair;
    o->mode = (uint8_t)c->how;
    o->imm = convert_word(c->types[0], CONVERT_F32, c->flags);
    return result(self, &self->in->operands[0], 'w', &o->d) &&
           source(self, &self->in->operands[1], 'w', &o->a) &&
           source(self, &self->in->operands[2], 'w', &o->b);
}

static bool is_float(convert_type t)
{
    return t >= CONVERT_F16;
}

bool decode_cvt(decoder *self)
{
    op *o = self->op;
    cvt c = {0};
    for (size_t i = 0; i < self->in->modifier_count; i++)
        if (!cvt_word(self, self->in->modifiers[i], &c))
            return false;
    o->class = EMU_CLASS_CONVERT;
    if (c.type_count != 2)
        return refuse(self, "a conversion without its two types");
    if (c.pair)
        return decode_cvt_pair(self, &c);
    if (self->in->operand_count != 2)
        return refuse(self, "this conversion is not supported");
    const convert_type to = c.types[0], from = c.types[1];
    if (is_float(to) && is_float(from) && c.to_integer)
        c.flags |= CONVERT_TO_WHOLE;
    /* Results in f32 and f64 are rounded by the floating-point unit, all others by the function. */
    if (!c.to_integer && (to == CONVERT_F32 || to == CONVERT_F64))
        o->round = (uint8_t)c.how;
    o->mode = (uint8_t)c.how;
    if (!cvt_operand(self, &self->in->operands[0], to, true, &c.flags) ||
        !cvt_operand(self, &self->in->operands[1], from, false, &c.flags))
        return false;
    o->lanes = lanes_set()->convert;
    o->imm = convert_word(to, from, c.flags);
    return true;
}
