/* lanes_convert - cvt between all types
 *
 * In two steps: read all lanes as 64-bit integers or as doubles (exact for every source), then make the
 * results. Rounding to integers and to halves follows op.mode; what the floating-point unit rounds
 * (f64 or integer to f32 or f64) follows the mode that warp.c has set.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/lanes_all.h"

#include <float.h>
#include <math.h>

#include "agent-node/emulator/convert.h"
#include "agent-node/emulator/half.h"

typedef union values {
    int64_t whole[LANES]; /* u64: its bits */
    double real[LANES];
} values;

static convert_type type_to(const op *o)
{
    return (convert_type)(o->imm & 0xff);
}

static convert_type type_from(const op *o)
{
    return (convert_type)(o->imm >> 8 & 0xff);
}

static bool has(const op *o, unsigned flag)
{
    return (o->imm >> 16 & flag) != 0;
}

static bool is_real(convert_type t)
{
    return t >= CONVERT_F16;
}

static bool is_signed(convert_type t)
{
    return !is_real(t) && (t & 1) != 0;
}

static unsigned bits_of(convert_type t)
{
    return 8u << (t / 2);
}

/* ---- reading ---- */

static void read_words(const warp *w, const op *o, uint64_t out[LANES])
{
    if (has(o, CONVERT_WIDE_FROM)) {
        memcpy(out, unit_at(w, o->a), LANES * sizeof *out);
        return;
    }
    const uint32_t *pa = unit_at(w, o->a);
    EACH_LANE(i)
    {
        out[i] = pa[i];
    }
}

static void read_whole(const warp *w, const op *o, values *out)
{
    uint64_t words[LANES];
    const convert_type t = type_from(o);
    const unsigned cut = 64 - bits_of(t);
    read_words(w, o, words);
    if (is_signed(t)) {
        EACH_LANE(i)
        {
            out->whole[i] = (int64_t)(words[i] << cut) >> cut;
        }
        return;
    }
    EACH_LANE(i)
    {
        out->whole[i] = (int64_t)(words[i] << cut >> cut);
    }
}

static void read_real(const warp *w, const op *o, values *out)
{
    const uint32_t *words = unit_at(w, o->a);
    const float *singles = unit_at(w, o->a);
    const bool flushes = has(o, CONVERT_FTZ);
    switch ((int)type_from(o)) {
    case CONVERT_F16:
        EACH_LANE(i)
        {
            out->real[i] = (double)half_to_f32(words[i]);
        }
        break;
    case CONVERT_BF16:
        EACH_LANE(i)
        {
            out->real[i] = (double)bf16_to_f32(words[i]);
        }
        break;
    case CONVERT_F32:
        EACH_LANE(i)
        {
            out->real[i] = (double)(flushes ? canonical(flush(singles[i])) : singles[i]);
        }
        break;
    default:
        memcpy(out->real, unit_at(w, o->a), sizeof out->real);
        break;
    }
}

/* ---- writing ---- */

static void put_word(warp *w, const op *o, const uint64_t words[LANES])
{
    if (has(o, CONVERT_WIDE_TO)) {
        uint64_t *d = unit_at(w, o->d);
        EACH_LANE(i)
        {
            d[i] = w->on64[i] != 0 ? words[i] : d[i];
        }
        return;
    }
    const uint32_t keep = has(o, CONVERT_NARROW_TO) ? 0xffffu : 0xffffffffu;
    uint32_t *d = unit_at(w, o->d);
    EACH_LANE(i)
    {
        d[i] = w->on[i] != 0 ? (uint32_t)words[i] & keep : d[i];
    }
}

static int64_t highest(convert_type t)
{
    const unsigned bits = bits_of(t);
    return is_signed(t) ? INT64_MAX >> (64 - bits) : bits == 64 ? -1 : (int64_t)(1ull << bits) - 1;
}

/* Clamps an integer of `from` into the range of `to`; 64-bit results need care with signs. */
static int64_t clamp_whole(int64_t v, bool from_signed, convert_type to)
{
    const bool large = !from_signed && v < 0; /* a u64 past INT64_MAX */
    if (!is_signed(to)) {
        if (from_signed && v < 0)
            return 0;
        return bits_of(to) < 64 && (large || v > highest(to)) ? highest(to) : v;
    }
    const int64_t top = highest(to);
    return large || v > top ? top : from_signed && v < -top - 1 ? -top - 1 : v;
}

static void whole_to_whole(warp *w, const op *o, const values *in)
{
    const convert_type to = type_to(o);
    const bool from_signed = is_signed(type_from(o));
    const unsigned cut = 64 - bits_of(to);
    uint64_t out[LANES];
    if (has(o, CONVERT_SAT)) {
        for (unsigned i = 0; i < LANES; i++)
            out[i] = (uint64_t)clamp_whole(in->whole[i], from_signed, to);
    } else if (is_signed(to)) {
        EACH_LANE(i)
        {
            out[i] = (uint64_t)((int64_t)((uint64_t)in->whole[i] << cut) >> cut);
        }
    } else {
        EACH_LANE(i)
        {
            out[i] = (uint64_t)in->whole[i] << cut >> cut;
        }
    }
    put_word(w, o, out);
}

/* ---- reals ---- */

/* A NaN of f64 keeps its sign and the upper bits of its payload. */
static float narrowed(double v, bool flushes, bool from_f64)
{
    const float r = from_f64 ? (float)v : canonical((float)v);
    return flushes ? flush(r) : r;
}

static uint32_t half_nan(double v)
{
    const uint64_t bits = bits_of_f64(v);
    return (uint32_t)(bits >> 48 & 0x8000u) | 0x7e00u | (uint32_t)(bits >> 42 & 0x3ffu);
}

static double limited(double v, const op *o)
{
    if (has(o, CONVERT_RELU))
        v = v != v ? v : v > 0.0 ? v : 0.0;
    return has(o, CONVERT_SAT) ? (v > 0.0 ? (v < 1.0 ? v : 1.0) : 0.0) : v;
}

static void real_to_half(const op *o, const values *in, uint64_t out[LANES])
{
    const bool brain = type_to(o) == CONVERT_BF16, from_f64 = type_from(o) == CONVERT_F64;
    for (unsigned i = 0; i < LANES; i++) {
        const double v = limited(in->real[i], o);
        out[i] = v != v && from_f64
                     ? half_nan(v)
                     : half_round(v, brain ? 7 : 10, brain ? 8 : 5, (rounding)o->mode);
    }
}

static void single_to_half(const warp *w, const op *o, uint64_t out[LANES])
{
    const float *pa = unit_at(w, o->a);
    if (type_to(o) == CONVERT_BF16) {
        EACH_LANE(i)
        {
            out[i] = bf16_from_f32(pa[i]);
        }
        return;
    }
    EACH_LANE(i)
    {
        out[i] = half_from_f32(pa[i]);
    }
}

static void real_to_real(warp *w, const op *o, const values *in)
{
    uint64_t out[LANES];
    const bool flushes = has(o, CONVERT_FTZ), from_f64 = type_from(o) == CONVERT_F64;
    const bool plain = (o->imm >> 16 & (CONVERT_SAT | CONVERT_RELU)) == 0;
    switch ((int)type_to(o)) {
    case CONVERT_F16:
    case CONVERT_BF16:
        if (type_from(o) == CONVERT_F32 && o->mode == ROUND_NEAREST && plain && !flushes)
            single_to_half(w, o, out);
        else
            real_to_half(o, in, out);
        break;
    case CONVERT_F32:
        EACH_LANE(i)
        {
            out[i] = bits_of_f32(narrowed(limited(in->real[i], o), flushes, from_f64));
        }
        break;
    default:
        for (unsigned i = 0; i < LANES; i++)
            out[i] = bits_of_f64(limited(in->real[i], o));
        break;
    }
    put_word(w, o, out);
}

static double to_whole(double v, rounding how)
{
    switch (how) {
    case ROUND_ZERO:
        return trunc(v);
    case ROUND_DOWN:
        return floor(v);
    case ROUND_UP:
        return ceil(v);
    case ROUND_NEAREST_AWAY:
        return round(v);
    case ROUND_NEAREST:
        break;
    }
    return nearbyint(v);
}

/* A float outside the range gives the nearest end of it. */
static uint64_t integer_of(double v, convert_type to, bool from_f64)
{
    if (v != v) {
        const bool wide = from_f64 || bits_of(to) == 64;
        return wide ? 1ull << (bits_of(to) - 1) : 0;
    }
    if (!is_signed(to)) {
        const double top = ldexp(1.0, (int)bits_of(to));
        return v <= 0.0 ? 0 : v >= top ? (uint64_t)highest(to) : (uint64_t)v;
    }
    const double top = ldexp(1.0, (int)bits_of(to) - 1);
    return (uint64_t)(v >= top ? highest(to) : v <= -top ? -highest(to) - 1 : (int64_t)v);
}

static void real_to_whole(warp *w, const op *o, const values *in)
{
    uint64_t out[LANES];
    const bool from_f64 = type_from(o) == CONVERT_F64;
    for (unsigned i = 0; i < LANES; i++)
        out[i] = integer_of(to_whole(in->real[i], (rounding)o->mode), type_to(o), from_f64);
    put_word(w, o, out);
}

/* Zero by itself: compilers convert u64 by a difference, which is -0 when rounding down. */
static inline double f64_of_whole(int64_t v, bool is_u64)
{
    return v == 0 ? 0.0 : is_u64 ? (double)(uint64_t)v : (double)v;
}

static inline float f32_of_whole(int64_t v, bool is_u64)
{
    return v == 0 ? 0.0f : is_u64 ? (float)(uint64_t)v : (float)v;
}

static void whole_to_real(warp *w, const op *o, const values *in)
{
    uint64_t out[LANES];
    const bool is_u64 = type_from(o) == CONVERT_U64;
    if (type_to(o) == CONVERT_F32) {
        EACH_LANE(i)
        {
            const float v = f32_of_whole(in->whole[i], is_u64);
            out[i] = bits_of_f32(has(o, CONVERT_SAT) ? saturate(v) : v);
        }
    } else if (type_to(o) == CONVERT_F64) {
        EACH_LANE(i)
        {
            out[i] = bits_of_f64(f64_of_whole(in->whole[i], is_u64));
        }
    } else {
        values real;
        for (unsigned i = 0; i < LANES; i++)
            real.real[i] = f64_of_whole(in->whole[i], is_u64);
        real_to_half(o, &real, out);
    }
    put_word(w, o, out);
}

static void round_all(values *v, rounding how)
{
    for (unsigned i = 0; i < LANES; i++)
        v->real[i] = to_whole(v->real[i], how);
}

void LANE_NAME(lanes_convert)(warp *w, const op *o)
{
    values in;
    if (!is_real(type_from(o))) {
        read_whole(w, o, &in);
        if (is_real(type_to(o)))
            whole_to_real(w, o, &in);
        else
            whole_to_whole(w, o, &in);
        return;
    }
    read_real(w, o, &in);
    if (!is_real(type_to(o))) {
        real_to_whole(w, o, &in);
        return;
    }
    if (has(o, CONVERT_TO_WHOLE))
        round_all(&in, (rounding)o->mode);
    real_to_real(w, o, &in);
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the high half. */
void LANE_NAME(lanes_convert_pair)(warp *w, const op *o)
{
    uint64_t high[LANES], low[LANES];
    op part = *o;
    values in;
    const bool fast = o->mode == ROUND_NEAREST && !has(o, CONVERT_RELU);
    if (fast) {
        single_to_half(w, &part, high);
        part.a = o->b;
        single_to_half(w, &part, low);
    } else {
        read_real(w, &part, &in);
        real_to_half(o, &in, high);
        part.a = o->b;
        read_real(w, &part, &in);
        real_to_half(o, &in, low);
    }
    EACH_LANE(i)
    {
        low[i] |= high[i] << 16;
    }
    put_word(w, o, low);
}
