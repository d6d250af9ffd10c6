/* roofline - see roofline.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/roofline.h"

#include <math.h>

static const double beaten = 0.95; /* of the floor: what remains is measurement */
static const double near_it = 1.15;

static int tensor_bytes(const contract *terms, const contract_shape *shape, size_t i, int64_t *out,
                        err *e)
{
    int64_t elements = 0;
    if (contract_elements(terms, i, shape, &elements, e) != 0) {
        return -1;
    }
    *out = elements * (int64_t)dtype_size(terms->tensors[i].type);
    return 0;
}

int roofline_bytes(const contract *terms, const contract_shape *shape, int64_t *out, err *e)
{
    int64_t total = 0;
    for (size_t i = 0; i < terms->input_count + terms->output_count; i++) {
        int64_t bytes = 0;
        if (tensor_bytes(terms, shape, i, &bytes, e) != 0) {
            return -1;
        }
        total += bytes;
    }
    *out = total;
    return 0;
}

static bool may_be_index(dtype type)
{
    return type == DTYPE_I32 || type == DTYPE_I64;
}

/* What must be read: all inputs, or the integer ones only when there are any. */
static int reads_min(const contract *terms, int64_t *out, err *e)
{
    int64_t all = 0;
    int64_t indices = 0;
    for (size_t i = 0; i < terms->input_count; i++) {
        int64_t bytes = 0;
        if (tensor_bytes(terms, &terms->benchmark, i, &bytes, e) != 0) {
            return -1;
        }
        all += bytes;
        indices += may_be_index(terms->tensors[i].type) ? bytes : 0;
    }
    *out = indices > 0 ? indices : all;
    return 0;
}

static int writes_min(const contract *terms, int64_t *out, err *e)
{
    *out = 0;
    for (size_t i = 0; i < terms->output_count; i++) {
        int64_t bytes = 0;
        if (tensor_bytes(terms, &terms->benchmark, terms->input_count + i, &bytes, e) != 0) {
            return -1;
        }
        *out += bytes;
    }
    return 0;
}

/* Dense half-precision tensor operations a second, as the vendor's data sheets state them for the fastest
 * card of each generation: A100 (312 T), H100 SXM and H200 (989.4 T: 1,979 with sparsity), B200 (2.25 P). */
static const struct {
    int64_t cc;
    double half;
} sheets[] = {{80, 312e12}, {90, 989.4e12}, {100, 2250e12}};

/* fp32 has no unit of its own that is as fast as three half-precision products, which give its precision
 * (two do not: they lose the low half of one factor). */
static const double half_products_of_f32 = 3.0;

/* The fastest unit that an input's dtype allows; 0: not known. */
static double unit_rate(const contract *terms, int64_t cc)
{
    double rate = 0.0, parts = 1.0;
    for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
        rate = sheets[i].cc == cc ? sheets[i].half : rate;
    }
    for (size_t i = 0; i < terms->input_count; i++) {
        dtype type = terms->tensors[i].type;
        if (type == DTYPE_F32) {
            parts = half_products_of_f32;
        } else if (type != DTYPE_F16 && type != DTYPE_BF16) {
            return 0.0;
        }
    }
    return rate / parts;
}

/* NaN: not known. A baseline that is faster than the table allows proves the table wrong. */
static int operations_ms(const contract *terms, const roofline_device *device, double *out, err *e)
{
    int64_t operations = 0;
    double rate = unit_rate(terms, device->cc);
    if (contract_operations(terms, &terms->benchmark, &operations, e) != 0) {
        return -1;
    }
    *out = operations > 0 && rate > 0 ? (double)operations / rate * 1e3 : (double)NAN;
    if (device->baseline_ms > 0 && device->baseline_ms < *out) {
        *out = device->baseline_ms;
    }
    return 0;
}

int roofline_floor_ms(const contract *terms, const roofline_device *device, double *out, err *e)
{
    int64_t reads = 0;
    int64_t writes = 0;
    double work = (double)NAN;
    if (reads_min(terms, &reads, e) != 0 || writes_min(terms, &writes, e) != 0 ||
        operations_ms(terms, device, &work, e) != 0) {
        return -1;
    }
    int64_t beyond = writes > device->l2_bytes ? writes - device->l2_bytes : 0;
    double bytes = device->bytes_per_s > 0 && reads + beyond > 0
                       ? (double)(reads + beyond) / device->bytes_per_s * 1e3
                       : (double)NAN;
    *out = fmax(bytes, work); /* NaN gives way */
    return 0;
}

bool roofline_beats(double ms, double floor_ms)
{
    return ms < beaten * floor_ms; /* false for NaN */
}

bool roofline_near(double ms, double floor_ms)
{
    return ms < near_it * floor_ms;
}
