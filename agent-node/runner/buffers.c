/* buffers - see buffers.h.
 *
 * Data lies at the end of its mapping: a small stride past the end reaches unmapped addresses and
 * faults, a smaller one changes canary. What is left of the mapping in front of the data is canary too.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/buffers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/message.h"

enum {
    GAP_STEPS = 16, /* the salt moves data by up to so many times BUFFERS_ALIGN */
    PACKED_BYTES_MAX = 256 * 1024,
    PACKED_MIN = 8, /* small inputs of a contract that are worth it */
    REGION_NAME_MAX = CONTRACT_NAME_MAX + 1
};

typedef struct region {
    gpu_mem mem; /* its mapping, or its slice of the pack (no handle then) */
    bool packed;
    uint64_t at, bytes; /* of the data */
    const char *name;   /* of the tensor; NULL: scratch */
    size_t number;      /* of the tensor, or of the largest scratch buffer */
    size_t sharers;     /* scratch buffers in this place */
    dtype type;         /* tensors only */
    bool input;
    uint64_t sum; /* inputs: checksum after the import */
} region;

struct buffers {
    gpu *device;
    region *regions; /* inputs, outputs, places of scratch */
    gpu_mem pack;    /* the small inputs of a contract that has many: one mapping for all */
    size_t input_count, tensor_count, count;
    const plan_life *scratch; /* borrowed */
    bool shares;              /* scratch buffers lie in the plan's places, not each in its own */
    uint64_t salt;
    bool answers; /* no sentinels: see buffers_spec */
    bool is_protected;
};

/* ---- patterns and places: pure ---- */

uint64_t buffers_mix(uint64_t salt)
{
    uint64_t z = salt + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint32_t buffers_sentinel(dtype type, uint64_t salt, uint32_t *width)
{
    uint64_t p = buffers_mix(salt);
    switch (type) {
    case DTYPE_F16:
        *width = 2;
        return 0x7E00u | (uint32_t)(1 + p % 510);
    case DTYPE_BF16:
        *width = 2;
        return 0x7FC0u | (uint32_t)(1 + p % 62);
    case DTYPE_F32:
        *width = 4;
        return 0x7FC00000u | (uint32_t)(1 + p % 4194302);
    case DTYPE_F64:
        *width = 4;
        return 0x7FF80000u | (uint32_t)(1 + p % 524286);
    case DTYPE_I8:
    case DTYPE_U8:
    case DTYPE_I32:
    case DTYPE_I64:
    case DTYPE_BOOL:
    case DTYPE_COUNT:
        break;
    }
    *width = 1;
    return 0xA5u;
}

uint32_t buffers_answer(dtype type, uint64_t salt, uint32_t *width)
{
    uint32_t p = (uint32_t)buffers_mix(salt);
    switch (type) {
    case DTYPE_F16:
        *width = 2;
        return 0x3C00u | (p & 0x3FFu);
    case DTYPE_BF16:
        *width = 2;
        return 0x3F80u | (p & 0x7Fu);
    case DTYPE_F32:
        *width = 4;
        return 0x3F800000u | (p & 0x7FFFFFu);
    case DTYPE_F64:
        *width = 4;
        return 0x3FF00000u | (p & 0xFFFFFu);
    case DTYPE_I32:
    case DTYPE_I64:
        *width = 4;
        return 1;
    case DTYPE_I8:
    case DTYPE_U8:
    case DTYPE_BOOL:
    case DTYPE_COUNT:
        break;
    }
    *width = 1;
    return 1;
}

uint32_t buffers_scratch_sentinel(uint64_t salt)
{
    return 0x7FF8u | (uint32_t)(buffers_mix(salt) & 7);
}

uint32_t buffers_canary(uint64_t salt, size_t index)
{
    return (uint32_t)(buffers_mix(buffers_mix(salt) + index) >> 32);
}

static uint64_t gap(uint64_t salt, size_t index)
{
    return BUFFERS_CANARY_MIN + BUFFERS_ALIGN * (buffers_mix(~salt + index) % GAP_STEPS);
}

uint64_t buffers_need(uint64_t bytes, uint64_t salt, size_t index)
{
    return BUFFERS_CANARY_MIN + bytes + gap(salt, index) + BUFFERS_ALIGN - 1;
}

uint64_t buffers_offset(uint64_t bytes, uint64_t mapped, uint64_t salt, size_t index)
{
    return (mapped - gap(salt, index) - bytes) / BUFFERS_ALIGN * BUFFERS_ALIGN;
}

/* ---- create ---- */

static void name_region(const region *r, char *out, size_t size)
{
    if (r->name != NULL)
        snprintf(out, size, "%s", r->name);
    else
        snprintf(out, size, "scratch %zu%s", r->number,
                 r->sharers > 1 ? " or a buffer in the same place" : "");
}

void buffers_destroy(buffers **self)
{
    buffers *b = TAKE(*self);
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->count; i++)
        if (!b->regions[i].packed)
            b->device->ops->unmap(b->device, &b->regions[i].mem);
    b->device->ops->unmap(b->device, &b->pack);
    free(b->regions);
    free(b);
}

static int size_tensors(buffers *b, const buffers_spec *spec, err *e)
{
    const contract *c = spec->terms;
    for (size_t i = 0; i < b->tensor_count; i++) {
        region *r = &b->regions[i];
        int64_t elements = 0;
        if (contract_elements(c, i, spec->shape, &elements, e) < 0)
            return -1;
        if (__builtin_mul_overflow((uint64_t)elements, dtype_size(c->tensors[i].type), &r->bytes))
            return err_set(e, ERR_LIMIT, "tensor %s is too large", c->tensors[i].name);
        r->name = c->tensors[i].name;
        r->number = i;
        r->type = c->tensors[i].type;
        r->input = i < b->input_count;
    }
    return 0;
}

/* place_of is the region that a scratch buffer lies in. */
static region *place_of(const buffers *b, size_t scratch)
{
    return &b->regions[b->tensor_count + (b->shares ? b->scratch[scratch].place : scratch)];
}

static void size_scratch(buffers *b, const plan_steps *steps)
{
    for (size_t i = 0; i < steps->scratch_count; i++) {
        const uint64_t bytes = (uint64_t)steps->scratch[i].bytes;
        region *r = place_of(b, i);
        if (r->sharers++ == 0 || bytes > r->bytes) {
            r->bytes = bytes;
            r->number = i;
        }
    }
}

static gpu_fill sentinel_fill(const buffers *b, const region *r)
{
    gpu_fill fill = {.at = r->at, .width = 2};
    if (b->answers) /* scratch has no dtype: two bfloat16 make a float near the same number */
        fill.value = buffers_answer(r->name != NULL ? r->type : DTYPE_BF16, b->salt, &fill.width);
    else
        fill.value = r->name != NULL ? buffers_sentinel(r->type, b->salt, &fill.width)
                                     : buffers_scratch_sentinel(b->salt);
    fill.count = r->bytes / fill.width;
    return fill;
}

/* fill_region writes canary everywhere, then the sentinel over the data. */
static int fill_region(const buffers *b, size_t index, err *e)
{
    const region *r = &b->regions[index];
    gpu_fill canary = {r->mem.base, buffers_canary(b->salt, index), 4, r->mem.bytes / 4};
    if (b->device->ops->fill(b->device, &canary, e) < 0)
        return -1;
    if (r->input)
        return 0;
    gpu_fill sentinel = sentinel_fill(b, r);
    return b->device->ops->fill(b->device, &sentinel, e);
}

/* tell_region tells a device that checks accesses what the data is. */
static int tell_region(const buffers *b, size_t index, err *e)
{
    const region *r = &b->regions[index];
    char name[REGION_NAME_MAX];
    if (b->device->ops->tell == NULL)
        return 0;
    name_region(r, name, sizeof name);
    const gpu_buffer what = {.at = r->at,
                             .bytes = r->bytes,
                             .name = name,
                             .element = r->name != NULL ? (uint32_t)dtype_size(r->type) : 0,
                             .is_input = r->input};
    return b->device->ops->tell(b->device, &what, e);
}

/* ---- the pack ---- */

static uint64_t slice_bytes(const buffers *b, size_t index)
{
    const uint64_t need = buffers_need(b->regions[index].bytes, b->salt, index);
    return (need + BUFFERS_ALIGN - 1) / BUFFERS_ALIGN * BUFFERS_ALIGN;
}

/* choose_packed marks the small inputs if there are many: a network has hundreds of parameters, and a mapping
 * takes megabytes and a good part of a millisecond. Gives the size of all slices. */
static uint64_t choose_packed(buffers *b)
{
    size_t small = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < b->input_count; i++)
        small += b->regions[i].bytes <= PACKED_BYTES_MAX;
    for (size_t i = 0; small >= PACKED_MIN && i < b->input_count; i++) {
        b->regions[i].packed = b->regions[i].bytes <= PACKED_BYTES_MAX;
        total += b->regions[i].packed ? slice_bytes(b, i) : 0;
    }
    return total;
}

static int map_pack(buffers *b, err *e)
{
    const uint64_t total = choose_packed(b);
    if (total == 0)
        return 0;
    if (b->device->ops->map(b->device, total, &b->pack, e) < 0)
        return err_wrap(e, "small inputs");
    uint64_t at =
        b->pack.base + b->pack.bytes - total; /* the last one ends where the mapping does */
    for (size_t i = 0; i < b->input_count; i++) {
        region *r = &b->regions[i];
        if (!r->packed)
            continue;
        r->mem = (gpu_mem){.base = at, .bytes = slice_bytes(b, i)};
        at += r->mem.bytes;
    }
    return 0;
}

static int map_region(buffers *b, size_t index, err *e)
{
    region *r = &b->regions[index];
    bool exact = b->device->exact;
    uint64_t need = exact ? r->bytes : buffers_need(r->bytes, b->salt, index);
    if (need < r->bytes)
        return err_set(e, ERR_LIMIT, "buffer %zu is too large", index);
    if (!r->packed && b->device->ops->map(b->device, need, &r->mem, e) < 0)
        return err_wrap(e, "%s", r->name != NULL ? r->name : "scratch");
    r->at = r->mem.base;
    if (exact)
        return 0;
    r->at = r->mem.base + buffers_offset(r->bytes, r->mem.bytes, b->salt, index);
    return tell_region(b, index, e) < 0 ? -1 : fill_region(b, index, e);
}

buffers *buffers_create(gpu *device, const buffers_spec *spec, err *e)
{
    SCOPED(buffers_destroy) buffers *b = xcalloc(1, sizeof *b);
    b->device = device;
    b->salt = spec->salt;
    b->answers = spec->answers;
    b->input_count = spec->terms->input_count;
    b->tensor_count = b->input_count + spec->terms->output_count;
    b->scratch = spec->steps->scratch;
    b->shares = device->ops->tell == NULL && !device->exact;
    b->count =
        b->tensor_count + (b->shares ? spec->steps->place_count : spec->steps->scratch_count);
    b->regions = xcalloc(b->count, sizeof *b->regions);
    if (size_tensors(b, spec, e) < 0)
        return NULL;
    size_scratch(b, spec->steps);
    if (!device->exact && map_pack(b, e) < 0)
        return NULL;
    for (size_t i = 0; i < b->count; i++)
        if (map_region(b, i, e) < 0)
            return NULL;
    return TAKE(b);
}

/* ---- data in and out ---- */

static int check_span(const region *r, const struct row_span *span, err *e)
{
    if ((uint64_t)span->bytes == r->bytes)
        return 0;
    return err_set(e, ERR_PROTOCOL, "staging holds %lld bytes for %s, the contract says %llu",
                   (long long)span->bytes, r->name, (unsigned long long)r->bytes);
}

int buffers_import(buffers *self, uint64_t staging, const struct row_span *inputs, err *e)
{
    gpu *g = self->device;
    for (size_t i = 0; i < self->input_count; i++) {
        region *r = &self->regions[i];
        if (check_span(r, &inputs[i], e) < 0 ||
            g->ops->copy(g, r->at, staging + (uint64_t)inputs[i].offset, r->bytes, e) < 0)
            return -1;
    }
    for (size_t i = 0; i < self->input_count && !g->exact; i++) {
        region *r = &self->regions[i];
        if (g->ops->sum(g, r->at, r->bytes, self->salt, &r->sum, e) < 0)
            return -1;
    }
    return 0;
}

int buffers_protect(buffers *self, err *e)
{
    for (size_t i = 0; i < self->input_count; i++)
        if (!self->regions[i].packed &&
            self->device->ops->protect(self->device, &self->regions[i].mem, e) < 0)
            return -1;
    if (self->pack.bytes != 0 && self->device->ops->protect(self->device, &self->pack, e) < 0)
        return -1;
    self->is_protected = true;
    return 0;
}

int buffers_export(const buffers *self, uint64_t staging, const struct row_span *outputs, err *e)
{
    gpu *g = self->device;
    for (size_t i = self->input_count; i < self->tensor_count; i++) {
        const region *r = &self->regions[i];
        const struct row_span *span = &outputs[i - self->input_count];
        if (check_span(r, span, e) < 0 ||
            g->ops->copy(g, staging + (uint64_t)span->offset, r->at, r->bytes, e) < 0)
            return -1;
    }
    return g->ops->wait(g, e);
}

/* ---- verify ---- */

/* Changed canary bytes nearest to the data. */
typedef struct damage {
    bool before, after;
    uint64_t distance; /* bytes between it and the data */
} damage;

static uint8_t canary_byte(uint32_t word, uint64_t offset)
{
    return (uint8_t)(word >> (8 * (offset % 4)));
}

/* is_intact: the pattern repeats every 4 bytes, so the range must equal itself shifted by 4. */
static bool is_intact(const uint8_t *bytes, uint64_t size, uint32_t word, uint64_t offset)
{
    for (uint64_t i = 0; i < size && i < 4; i++)
        if (bytes[i] != canary_byte(word, offset + i))
            return false;
    return size <= 4 || memcmp(bytes, bytes + 4, size - 4) == 0;
}

/* look reads the canary of a region. `first` and `after` are offsets from the start of the mapping. */
static int look(const buffers *b, size_t index, damage *out, err *e)
{
    const region *r = &b->regions[index];
    gpu *g = b->device;
    uint32_t word = buffers_canary(b->salt, index);
    uint64_t first = r->at - r->mem.base;
    uint64_t after = first + r->bytes;
    uint64_t tail = r->mem.bytes - after;
    *out = (damage){0};
    SCOPED(scoped_free) uint8_t *bytes = xmalloc(first > tail ? first : tail);
    if (g->ops->read(g, bytes, r->at + r->bytes, tail, e) < 0)
        return -1;
    bool intact = is_intact(bytes, tail, word, after);
    for (uint64_t i = 0; !intact && i < tail; i++)
        if (bytes[i] != canary_byte(word, after + i)) {
            *out = (damage){.after = true, .distance = i};
            return 0;
        }
    if (g->ops->read(g, bytes, r->mem.base, first, e) < 0)
        return -1;
    intact = is_intact(bytes, first, word, 0);
    for (uint64_t i = 0; !intact && i < first; i++)
        if (bytes[first - 1 - i] != canary_byte(word, first - 1 - i)) {
            *out = (damage){.before = true, .distance = i};
            return 0;
        }
    return 0;
}

static int verify_canary(const buffers *b, size_t index, runner_verdict *out, err *e)
{
    damage d;
    char name[REGION_NAME_MAX];
    if (look(b, index, &d, e) < 0)
        return -1;
    name_region(&b->regions[index], name, sizeof name);
    if (d.after)
        verdict_set(out, OUTCOME_OUT_OF_BOUNDS, "write",
                    "a kernel wrote outside %s: the byte at offset %llu past its end changed", name,
                    (unsigned long long)d.distance);
    if (d.before)
        verdict_set(out, OUTCOME_OUT_OF_BOUNDS, "write",
                    "a kernel wrote outside %s: the byte %llu before its start changed", name,
                    (unsigned long long)d.distance + 1);
    return 0;
}

static int verify_input(const buffers *b, size_t index, runner_verdict *out, err *e)
{
    const region *r = &b->regions[index];
    uint64_t sum = 0;
    if (b->device->ops->sum(b->device, r->at, r->bytes, b->salt, &sum, e) < 0)
        return -1;
    if (sum != r->sum)
        verdict_set(out, OUTCOME_OUT_OF_BOUNDS, "input", "a kernel changed the input %s", r->name);
    return 0;
}

int buffers_verify(buffers *self, runner_verdict *out, err *e)
{
    for (size_t i = 0; i < self->count && verdict_is_ok(out); i++) {
        if (self->is_protected && self->regions[i].input)
            continue;
        if (verify_canary(self, i, out, e) < 0)
            return -1;
    }
    for (size_t i = 0; i < self->input_count && verdict_is_ok(out); i++)
        if (verify_input(self, i, out, e) < 0)
            return -1;
    return 0;
}

/* ---- again ---- */

int buffers_refill(buffers *self, err *e)
{
    for (size_t i = self->input_count; i < self->count; i++) {
        gpu_fill sentinel = sentinel_fill(self, &self->regions[i]);
        if (sentinel.count > 0 && self->device->ops->fill(self->device, &sentinel, e) < 0)
            return -1;
    }
    return 0;
}

/* A checksum takes whole words and would run into the canary: the bytes behind them are read. */
static int fingerprint(const buffers *b, const region *r, uint64_t *out, err *e)
{
    gpu *g = b->device;
    uint64_t whole = r->bytes / 4 * 4, rest = 0;
    if (g->ops->sum(g, r->at, whole, r->number, out, e) < 0 ||
        g->ops->read(g, &rest, r->at + whole, r->bytes - whole, e) < 0)
        return -1;
    *out = buffers_mix(*out + rest);
    return 0;
}

int buffers_fingerprint(const buffers *self, uint64_t *out, err *e)
{
    uint64_t all = 0;
    for (size_t i = self->input_count; i < self->tensor_count; i++) {
        uint64_t one = 0;
        if (fingerprint(self, &self->regions[i], &one, e) < 0)
            return -1;
        all = buffers_mix(all ^ one);
    }
    *out = all;
    return 0;
}

/* ---- look ---- */

uint64_t buffers_tensor(const buffers *self, size_t tensor)
{
    return self->regions[tensor].at;
}

uint64_t buffers_scratch(const buffers *self, size_t scratch, uint64_t *bytes)
{
    const region *r = place_of(self, scratch);
    const uint64_t size = (uint64_t)self->scratch[scratch].bytes;
    if (bytes != NULL)
        *bytes = size;
    return r->at + (r->bytes - size) / BUFFERS_ALIGN * BUFFERS_ALIGN;
}

bool buffers_shares(const buffers *self)
{
    return self->shares;
}

gpu_fill buffers_renewal(const buffers *self, size_t scratch)
{
    return sentinel_fill(self, place_of(self, scratch));
}

size_t buffers_poison(const buffers *self, gpu_fill *out)
{
    size_t n = 0;
    for (size_t i = self->input_count; i < self->count; i++)
        if (self->regions[i].bytes != 0)
            out[n++] = sentinel_fill(self, &self->regions[i]);
    return n;
}
