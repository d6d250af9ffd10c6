/* plain_values - see plain_values.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/plain_values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/xalloc.h"

enum { ALIGN = 256 };

struct plain_values {
    judge_staging staging;
    uint8_t *memory; /* staging.total_bytes of shared memory */
};

/* ---- one element ---- */

/* Mixes place and seed (the finaliser of splitmix64). */
static uint64_t mixed(uint64_t place, uint64_t seed)
{
    uint64_t z = (place + 1) * 0x9E3779B97F4A7C15u + seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* An f32 that f16 holds exactly. */
static uint16_t half_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u;
    return (uint16_t)(value == 0.0f ? sign : sign | ((bits & 0x7fffffffu) - (112u << 23)) >> 13);
}

static void put_float(dtype type, uint8_t *at, float value)
{
    const double wide = (double)value;
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t half = type == DTYPE_F16 ? half_of(value) : (uint16_t)(bits >> 16);
    if (type == DTYPE_F64)
        memcpy(at, &wide, sizeof wide);
    else if (type == DTYPE_F32)
        memcpy(at, &value, sizeof value);
    else
        memcpy(at, &half, sizeof half);
}

static bool is_float(dtype type)
{
    return type == DTYPE_F16 || type == DTYPE_BF16 || type == DTYPE_F32 || type == DTYPE_F64;
}

/* ---- one tensor ---- */

typedef struct drawing {
    dtype type;
    int64_t count, last; /* elements; of them along the last dimension */
    int64_t low, high;   /* of integers */
    bool ascending;
    uint64_t seed;
} drawing;

static int64_t integer_at(const drawing *d, int64_t i)
{
    const uint64_t width = (uint64_t)d->high - (uint64_t)d->low + 1; /* 0: all of them */
    const uint64_t any = mixed((uint64_t)i, d->seed);
    if (!d->ascending)
        return (int64_t)((uint64_t)d->low + (width != 0 ? any % width : any));
    const double part = d->last > 1 ? (double)(i % d->last) / (double)(d->last - 1) : 0.0;
    return d->low + (int64_t)(part * (double)(d->high - d->low));
}

static void draw(const drawing *d, uint8_t *at)
{
    const size_t size = dtype_size(d->type);
    for (int64_t i = 0; i < d->count; i++, at += size) {
        if (is_float(d->type)) {
            put_float(d->type, at, (float)(mixed((uint64_t)i, d->seed) % 17) / 8.0f - 1.0f);
            continue;
        }
        const int64_t value = integer_at(d, i); /* little endian: the low bytes come first */
        memcpy(at, &value, size);
    }
}

static int describe(const contract *terms, size_t t, const contract_shape *shape, drawing *out,
                    err *e)
{
    const contract_tensor *tensor = &terms->tensors[t];
    int64_t sizes[CONTRACT_RANK_MAX] = {1};
    int64_t range[2] = {0, tensor->type == DTYPE_BOOL ? 1 : 7};
    bool has = false;
    *out = (drawing){.type = tensor->type, .ascending = tensor->ascending};
    if (contract_elements(terms, t, shape, &out->count, e) < 0 ||
        contract_tensor_shape(terms, t, shape, sizes, e) < 0 ||
        contract_range(terms, t, shape, &has, range, e) < 0)
        return -1;
    out->last = tensor->rank > 0 ? sizes[tensor->rank - 1] : 1;
    out->low = range[0];
    out->high = range[1];
    return 0;
}

/* ---- staging ---- */

static int lay(plain_values *v, const contract *terms, const contract_shape *shape, err *e)
{
    judge_staging *s = &v->staging;
    s->slots = 1;
    s->input_count = terms->input_count;
    s->output_count = terms->output_count;
    s->inputs = xcalloc(s->input_count + 1, sizeof *s->inputs);
    s->outputs = xcalloc(s->output_count + 1, sizeof *s->outputs);
    for (size_t t = 0; t < s->input_count + s->output_count; t++) {
        int64_t elements = 0;
        if (contract_elements(terms, t, shape, &elements, e) < 0)
            return -1;
        const int64_t size = (int64_t)dtype_size(terms->tensors[t].type);
        if (elements > (PLAIN_VALUES_MAX - s->total_bytes) / size)
            return err_set(e, ERR_LIMIT, "tensor %s: more than %d MiB in all",
                           terms->tensors[t].name, PLAIN_VALUES_MAX >> 20);
        judge_span *span = t < s->input_count ? &s->inputs[t] : &s->outputs[t - s->input_count];
        *span = (judge_span){s->total_bytes, elements * size};
        s->total_bytes += (elements * size + ALIGN - 1) / ALIGN * ALIGN;
    }
    s->total_bytes += ALIGN; /* never empty */
    return 0;
}

static int share(plain_values *v, err *e)
{
    judge_staging *s = &v->staging;
    snprintf(s->shm, sizeof s->shm, "/ce-plain-%d", (int)getpid());
    SCOPED(scoped_close) int fd = shm_open(s->shm, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        s->shm[0] = '\0';
        return err_errno(e, errno, "shared memory for inputs");
    }
    if (ftruncate(fd, s->total_bytes) < 0)
        return err_errno(e, errno, "shared memory for inputs");
    void *at = mmap(NULL, (size_t)s->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return err_errno(e, errno, "shared memory for inputs");
    v->memory = at;
    return 0;
}

plain_values *plain_values_create(const contract *terms, const contract_shape *shape, int64_t seed,
                                  err *e)
{
    SCOPED(plain_values_destroy) plain_values *v = xcalloc(1, sizeof *v);
    if (lay(v, terms, shape, e) < 0 || share(v, e) < 0)
        return NULL;
    for (size_t t = 0; t < terms->input_count; t++) {
        drawing d;
        if (describe(terms, t, shape, &d, e) < 0)
            return NULL;
        d.seed = mixed(t, (uint64_t)seed);
        draw(&d, v->memory + v->staging.inputs[t].offset);
    }
    return TAKE(v);
}

void plain_values_destroy(plain_values **self)
{
    plain_values *v = TAKE(*self);
    if (v == NULL)
        return;
    if (v->memory != NULL)
        munmap(v->memory, (size_t)v->staging.total_bytes);
    if (v->staging.shm[0] != '\0')
        shm_unlink(v->staging.shm);
    judge_staging_fini(&v->staging);
    free(v);
}

const judge_staging *plain_values_staging(const plain_values *self)
{
    return &self->staging;
}
