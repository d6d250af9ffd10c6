/* cases - see cases.h.
 *
 * Every pair of values of two dimensions gets a shape (pairs in an order that the contract's hash
 * shuffles, the other dimensions filled so that a shape covers as many open pairs as it can). If that is
 * more than may be run, first come shapes that bring a value no kept shape has, the ends of a dimension
 * before what lies between; then the rest in order, shapes without elements last.
 *
 * SPDX-License-Identifier: MIT */
#include "suites/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum {
    VALUES_MAX = 20, /* sizes of one dimension */
    ALL_MAX = 1024,  /* shapes of a whole covering */
    DRAWS_MAX = 200, /* tries for one hidden shape */
    GAIN_END = 100   /* an end of a dimension counts for so many values between */
};

static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 4095, 4097};

static const char *const ordinary[] = {"normal", "uniform", "positive", "constant",
                                       "zeros",  "ties",    "integers", NULL};

typedef struct axis {
    int64_t values[VALUES_MAX]; /* ascending */
    size_t count;
    bool kept[VALUES_MAX]; /* by a shape of the result */
} axis;

typedef struct pair {
    size_t dim[2], value[2];
    bool covered;
} pair;

typedef struct covering {
    const contract *terms;
    int64_t elements_max;
    rng source;
    axis axes[CONTRACT_DIMS_MAX];
    pair *pairs;
    size_t pair_count;
    cases_shape all[ALL_MAX];
    bool taken[ALL_MAX];
    size_t all_count;
} covering;

/* ---- shapes ---- */

/* measure: elements of the largest tensor, 0 where an input has none; false where nothing fits. */
static bool measure(const contract *terms, const contract_shape *shape, int64_t *largest,
                    bool *empty)
{
    *largest = 0;
    *empty = false;
    if (contract_fits(terms, shape, NULL) < 0)
        return false;
    for (size_t i = 0; i < terms->input_count + terms->output_count; i++) {
        int64_t elements = 0;
        if (contract_elements(terms, i, shape, &elements, NULL) < 0)
            return false;
        *largest = elements > *largest ? elements : *largest;
        *empty |= i < terms->input_count && elements == 0;
    }
    return true;
}

static bool all_equal(const contract *terms, const contract_shape *shape)
{
    for (size_t d = 1; d < terms->dim_count; d++)
        if (shape->dims[d] != shape->dims[0])
            return false;
    return terms->dim_count > 1;
}

/* fill_shape: whether the shape may be run at all; if so *out has its size. */
static bool fill_shape(const contract *terms, const contract_shape *shape, int64_t elements_max,
                       cases_shape *out)
{
    int64_t largest;
    bool empty;
    if (!measure(terms, shape, &largest, &empty) || largest > elements_max)
        return false;
    *out = (cases_shape){.shape = *shape, .elements = empty ? 0 : largest};
    return true;
}

static bool listed(const cases_shape *list, size_t count, const contract *terms,
                   const contract_shape *shape)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(list[i].shape.dims, shape->dims, terms->dim_count * sizeof *shape->dims) == 0)
            return true;
    return false;
}

/* ---- axes and pairs ---- */

static void add_value(axis *a, int64_t value)
{
    size_t at = a->count;
    while (at > 0 && a->values[at - 1] >= value)
        at--;
    if (at < a->count && a->values[at] == value)
        return;
    memmove(a->values + at + 1, a->values + at, (a->count - at) * sizeof *a->values);
    a->values[at] = value;
    a->count++;
}

static void make_axis(const contract_dim *dim, axis *out)
{
    *out = (axis){.count = 0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t v = sizes[i] < dim->min ? dim->min : sizes[i];
        add_value(out, v > dim->max ? dim->max : v);
    }
}

static void make_pairs(covering *c)
{
    const contract *terms = c->terms;
    size_t most = 0;
    for (size_t a = 0; a < terms->dim_count; a++)
        for (size_t b = a + 1; b < terms->dim_count; b++)
            most += c->axes[a].count * c->axes[b].count;
    c->pairs = xcalloc(most + 1, sizeof *c->pairs);
    for (size_t a = 0; a < terms->dim_count; a++)
        for (size_t b = a + 1; b < terms->dim_count; b++)
            for (size_t i = 0; i < c->axes[a].count * c->axes[b].count; i++)
                c->pairs[c->pair_count++] =
                    (pair){.dim = {a, b}, .value = {i / c->axes[b].count, i % c->axes[b].count}};
    for (size_t i = c->pair_count; i > 1; i--) {
        size_t other = rng_below(&c->source, (uint32_t)i);
        pair swap = c->pairs[i - 1];
        c->pairs[i - 1] = c->pairs[other];
        c->pairs[other] = swap;
    }
}

static bool holds(const covering *c, const pair *p, const contract_shape *shape)
{
    return c->axes[p->dim[0]].values[p->value[0]] == shape->dims[p->dim[0]] &&
           c->axes[p->dim[1]].values[p->value[1]] == shape->dims[p->dim[1]];
}

static size_t open_pairs(const covering *c, const contract_shape *shape)
{
    size_t n = 0;
    for (size_t i = 0; i < c->pair_count; i++)
        n += !c->pairs[i].covered && holds(c, &c->pairs[i], shape);
    return n;
}

/* ---- the whole covering ---- */

static bool may_run(const covering *c, const contract_shape *shape, cases_shape *out)
{
    return !all_equal(c->terms, shape) && fill_shape(c->terms, shape, c->elements_max, out);
}

static void add_shape(covering *c, const contract_shape *shape)
{
    cases_shape found;
    for (size_t i = 0; i < c->pair_count; i++)
        c->pairs[i].covered |= holds(c, &c->pairs[i], shape);
    if (c->all_count < ALL_MAX && !listed(c->all, c->all_count, c->terms, shape) &&
        may_run(c, shape, &found))
        c->all[c->all_count++] = found;
}

/* widen gives dimension d the value with which the shape covers most open pairs. */
static void widen(const covering *c, size_t d, contract_shape *shape)
{
    contract_shape tried = *shape;
    cases_shape ignored;
    size_t best = open_pairs(c, shape);
    for (size_t i = 0; i < c->axes[d].count; i++) {
        tried.dims[d] = c->axes[d].values[i];
        size_t gain = open_pairs(c, &tried);
        if (gain > best && may_run(c, &tried, &ignored)) {
            best = gain;
            *shape = tried;
        }
    }
}

/* Other dimensions start small, so that the pair fits if any shape with it does. */
static void cover_pair(covering *c, const pair *p)
{
    contract_shape shape = {{0}};
    for (size_t d = 0; d < c->terms->dim_count; d++) {
        const axis *a = &c->axes[d];
        shape.dims[d] = a->values[0] == 0 && a->count > 1 ? a->values[1] : a->values[0];
    }
    for (size_t i = 0; i < 2; i++)
        shape.dims[p->dim[i]] = c->axes[p->dim[i]].values[p->value[i]];
    for (size_t d = 0; d < c->terms->dim_count; d++)
        if (d != p->dim[0] && d != p->dim[1])
            widen(c, d, &shape);
    add_shape(c, &shape);
}

static void cover(covering *c)
{
    make_pairs(c);
    for (size_t i = 0; i < c->pair_count; i++)
        if (!c->pairs[i].covered)
            cover_pair(c, &c->pairs[i]);
    for (size_t i = 0; c->terms->dim_count == 1 && i < c->axes[0].count; i++)
        add_shape(c, &(contract_shape){{c->axes[0].values[i]}});
    free(c->pairs);
    c->pairs = NULL;
    c->pair_count = 0;
}

/* ---- what is kept of it ---- */

static void keep(covering *c, const cases_shape *from, cases *out)
{
    out->shapes[out->count++] = *from;
    for (size_t d = 0; d < c->terms->dim_count; d++)
        for (size_t i = 0; i < c->axes[d].count; i++)
            c->axes[d].kept[i] |= c->axes[d].values[i] == from->shape.dims[d] &&
                                  (from->elements > 0 || from->shape.dims[d] == 0);
}

/* gain_of counts the values that no kept shape has. A shape without elements brings its zeros only. */
static size_t gain_of(const covering *c, const cases_shape *s)
{
    size_t gain = 0;
    for (size_t d = 0; d < c->terms->dim_count; d++)
        for (size_t i = 0; i < c->axes[d].count; i++) {
            const axis *a = &c->axes[d];
            bool brings = a->values[i] == s->shape.dims[d] && !a->kept[i] &&
                          (s->elements > 0 || a->values[i] == 0);
            gain += !brings ? 0 : i == 0 || i + 1 == a->count ? GAIN_END : 1;
        }
    return gain;
}

/* next_shape: the one with the most gain, else the first with elements, else the first. */
static size_t next_shape(const covering *c)
{
    size_t best = c->all_count, best_score = 0;
    for (size_t i = 0; i < c->all_count; i++) {
        size_t score = 2 * gain_of(c, &c->all[i]) + (c->all[i].elements > 0 ? 2 : 1);
        if (!c->taken[i] && score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

static void keep_declared(covering *c, size_t limit, cases *out)
{
    const contract *terms = c->terms;
    for (size_t i = 0; i < terms->shape_count && out->count < limit; i++) {
        cases_shape found;
        if (!listed(out->shapes, out->count, terms, &terms->shapes[i]) &&
            fill_shape(terms, &terms->shapes[i], c->elements_max, &found)) {
            found.again = true;
            keep(c, &found, out);
        }
    }
}

static void keep_covering(covering *c, size_t limit, cases *out)
{
    while (out->count < limit) {
        size_t i = next_shape(c);
        if (i == c->all_count)
            return;
        c->taken[i] = true;
        if (!listed(out->shapes, out->count, c->terms, &c->all[i].shape))
            keep(c, &c->all[i], out);
    }
}

/* ---- families ---- */

static int larger_first(const void *a, const void *b)
{
    const cases_shape *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements > y->elements ? -1 : 1;
    return memcmp(x->shape.dims, y->shape.dims, sizeof x->shape.dims);
}

static bool is_ordinary(const char *family)
{
    for (size_t i = 0; ordinary[i] != NULL; i++)
        if (strcmp(ordinary[i], family) == 0)
            return true;
    return false;
}

static int ordinary_first(const void *a, const void *b)
{
    const cases_shape *x = a, *y = b;
    bool x_plain = is_ordinary(x->family), y_plain = is_ordinary(y->family);
    if (x_plain != y_plain)
        return x_plain ? -1 : 1;
    return larger_first(b, a);
}

/* deal: the largest shapes get each family once before any family comes again. Where there are too few
 * shapes for two of each, the largest are taken a second time. */
static void deal(const contract *terms, size_t limit, rng *source, cases *out)
{
    const family_list *families = &terms->families;
    size_t start = rng_below(source, (uint32_t)families->count), full = 0;
    qsort(out->shapes, out->count, sizeof *out->shapes, larger_first);
    while (full < out->count && out->shapes[full].elements > 0)
        full++;
    size_t rounds = terms->dim_count == 0 ? 1 : 2; /* a fixed shape may be large: once is enough */
    for (size_t j = full; full > 0 && j < rounds * families->count && out->count < limit; j++) {
        out->shapes[out->count] = out->shapes[j % full];
        out->shapes[out->count++].again = true;
    }
    size_t turn = start;
    for (size_t i = 0; i < out->count; i++) {
        bool empty = out->shapes[i].elements == 0;
        out->shapes[i].family = families->names[empty ? 0 : turn++ % families->count];
    }
    qsort(out->shapes, out->count, sizeof *out->shapes, ordinary_first);
}

/* ---- the whole ---- */

static uint64_t seed_of(const contract *terms)
{
    hash h = contract_hash(terms);
    uint64_t seed = 0;
    for (size_t i = 0; i < sizeof seed; i++)
        seed = seed << 8 | h.bytes[i];
    return seed;
}

void cases_build(const contract *terms, bool emu, cases *out)
{
    covering *c = xcalloc(1, sizeof *c);
    size_t limit = emu ? CASES_EMU_SHAPES - CASES_HIDDEN : terms->shape_count + CASES_SHAPES;
    c->terms = terms;
    c->elements_max = emu ? CASES_EMU_ELEMENTS : CASES_ELEMENTS;
    rng_init(&c->source, seed_of(terms));
    for (size_t d = 0; d < terms->dim_count; d++)
        make_axis(&terms->dims[d], &c->axes[d]);
    *out = (cases){.shapes = xcalloc(limit + (size_t)2 * FAMILY_MAX, sizeof *out->shapes)};
    if (!emu)
        c->elements_max = INT64_MAX; /* what the suite declares is run */
    keep_declared(c, limit, out);
    c->elements_max = emu ? CASES_EMU_ELEMENTS : CASES_ELEMENTS;
    cover(c);
    keep_covering(c, limit, out);
    deal(terms, emu ? limit : limit + (size_t)2 * FAMILY_MAX, &c->source, out);
    free(c);
}

void cases_fini(cases *self)
{
    free(self->shapes);
    *self = (cases){0};
}

/* ---- hidden shapes ---- */

/* draw_size: as likely between 10 and 20 as between 1000 and 2000. */
static int64_t draw_size(const contract_dim *dim, rng *source)
{
    double low = log2((double)(dim->min > 0 ? dim->min : 1));
    double high = log2((double)dim->max + 1.0);
    double at = (double)(rng_next(source) >> 11) * 0x1p-53;
    int64_t size = (int64_t)floor(exp2(low + at * (high - low)));
    size = size < dim->min ? dim->min : size;
    return size > dim->max ? dim->max : size;
}

bool cases_draw(const contract *terms, bool emu, rng *source, cases_shape *out)
{
    int64_t most = emu ? CASES_EMU_ELEMENTS : CASES_ELEMENTS;
    for (int tries = 0; tries < DRAWS_MAX; tries++) {
        contract_shape shape = {{0}};
        for (size_t d = 0; d < terms->dim_count; d++)
            shape.dims[d] = draw_size(&terms->dims[d], source);
        if (!fill_shape(terms, &shape, most, out) || out->elements == 0)
            continue;
        out->family = terms->families.names[rng_below(source, (uint32_t)terms->families.count)];
        return true;
    }
    return false;
}

/* ---- large index, benchmark ---- */

/* grow sets dimension d to the smallest size with more than CASES_LARGE elements. */
static bool grow(const contract *terms, size_t d, contract_shape *shape, cases_shape *out)
{
    int64_t low = shape->dims[d], high = terms->dims[d].max;
    while (low <= high) {
        int64_t middle = low + (high - low) / 2, largest;
        bool empty;
        shape->dims[d] = middle;
        if (!measure(terms, shape, &largest, &empty))
            return false;
        if (largest > CASES_LARGE) {
            *out = (cases_shape){.shape = *shape, .elements = largest};
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return out->elements > CASES_LARGE;
}

bool cases_large(const contract *terms, cases_shape *out)
{
    cases_shape best = cases_benchmark(terms);
    bool found = false;
    for (size_t d = 0; d < terms->dim_count; d++) {
        contract_shape shape = terms->benchmark;
        cases_shape grown = {.elements = 0};
        if (grow(terms, d, &shape, &grown) && (!found || grown.elements < best.elements)) {
            grown.family = best.family;
            best = grown;
            found = true;
        }
    }
    if (found)
        *out = best;
    return found;
}

cases_shape cases_benchmark(const contract *terms)
{
    const family_list *families = &terms->families;
    cases_shape out = {.shape = terms->benchmark, .family = families->names[0]};
    bool empty;
    measure(terms, &terms->benchmark, &out.elements, &empty);
    if (family_list_has(families, "normal"))
        out.family = "normal";
    return out;
}
