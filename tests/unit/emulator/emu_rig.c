/* emu_rig - see emu_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/emulator/emu_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/compiler/include.h"
#include "agent-node/compiler/nvrtc.h"
#include "agent-node/compiler/standard.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { LOG_MAX = 1 << 16, FILE_BYTES_MAX = 1 << 22, ALIGN = 256, RIG_DEADLINE_MS = 20000 };

static nvrtc *compiler;
static include_set headers;

bool rig_have_nvrtc(void)
{
    err e = {0};
    if (compiler != NULL)
        return true;
    compiler = nvrtc_open(&(nvrtc_options){.path = NULL}, &e);
    if (compiler != NULL && include_find(NULL, 0, nvrtc_path(compiler), &headers, &e) == 0)
        return true;
    print_message("skipped: %s\n", e.text);
    return false;
}

char *rig_compile(const char *source)
{
    char *options[INCLUDE_MAX + 3];
    size_t count = 0;
    err e = {0};
    nvrtc_output out = {0};
    const standard_set *given = standard_headers();
    assert_true(rig_have_nvrtc());
    options[count++] = xstrdup("-std=c++17");
    options[count++] = xstrdup("-lineinfo");
    options[count++] = xstrdup("--gpu-architecture=compute_80");
    for (size_t i = 0; i < headers.count; i++)
        options[count++] = xasprintf("--include-path=%s", headers.folders[i]);
    const nvrtc_job job = {.source = source,
                           .options = (const char *const *)options,
                           .option_count = count,
                           .header_names = given->names,
                           .header_texts = given->texts,
                           .header_count = given->count,
                           .log_max = LOG_MAX};
    if (nvrtc_compile(compiler, &job, &out, &e) != 0)
        fail_msg("%s", e.text);
    if (out.state != NVRTC_DONE)
        fail_msg("%s", out.log);
    char *ptx = xstrndup(out.ptx, out.ptx_size);
    nvrtc_output_fini(&out);
    for (size_t i = 0; i < count; i++)
        free(options[i]);
    return ptx;
}

emu_module *rig_ptx(const char *text)
{
    err e = {0};
    emu_module *m = emu_module_create(text, strlen(text), &e);
    if (m == NULL)
        fail_msg("%s", e.text);
    return m;
}

emu_module *rig_module(const char *source)
{
    SCOPED(scoped_free) char *ptx = rig_compile(source);
    return rig_ptx(ptx);
}

char *rig_source(const char *path)
{
    err e = {0};
    SCOPED(scoped_free) char *full = xasprintf("%s/%s", CE_SOURCE_DIR, path);
    buf text;
    buf_init(&text, FILE_BYTES_MAX);
    if (file_read(full, &text, &e) < 0)
        fail_msg("%s", e.text);
    return buf_take(&text);
}

void emu_rig_init(emu_rig *self)
{
    *self = (emu_rig){.memory = emu_memory_create()};
}

void emu_rig_fini(emu_rig *self)
{
    emu_memory_destroy(&self->memory);
    for (size_t i = 0; i < self->buffer_count; i++)
        free(self->buffers[i]);
    self->buffer_count = 0;
}

static void add_arg(emu_rig *self, const void *bytes, size_t size)
{
    assert_true(self->arg_count < RIG_ARGS);
    emu_arg *a = &self->args[self->arg_count++];
    *a = (emu_arg){.size = size};
    memcpy(a->bytes, bytes, size);
}

void rig_pointer(emu_rig *self, void *address)
{
    const uint64_t value = (uint64_t)(uintptr_t)address;
    add_arg(self, &value, sizeof value);
}

void *rig_buffer(emu_rig *self, const char *name, rig_role role, uint32_t element, size_t count)
{
    err e = {0};
    const size_t bytes = element * count;
    assert_true(self->buffer_count < RIG_BUFFERS);
    uint8_t *at = aligned_alloc(ALIGN, (bytes + 2 * ALIGN) / ALIGN * ALIGN);
    assert_non_null(at);
    memset(at, 0, bytes + ALIGN);
    self->buffers[self->buffer_count++] = at;
    const emu_buffer buffer = {.base = (uint64_t)(uintptr_t)at,
                               .bytes = bytes,
                               .name = name,
                               .element = element,
                               .is_input = role == RIG_INPUT,
                               .is_initialised = role != RIG_OUTPUT};
    if (emu_memory_add(self->memory, &buffer, &e) < 0)
        fail_msg("%s", e.text);
    rig_pointer(self, at);
    return at;
}

void rig_i32(emu_rig *self, int32_t value)
{
    add_arg(self, &value, sizeof value);
}

void rig_i64(emu_rig *self, int64_t value)
{
    add_arg(self, &value, sizeof value);
}

void rig_f32(emu_rig *self, float value)
{
    add_arg(self, &value, sizeof value);
}

void rig_forget_args(emu_rig *self)
{
    self->arg_count = 0;
}

void rig_launch(emu_rig *self, emu_module *module, const char *entry, uint32_t grid, uint32_t block)
{
    err e = {0};
    const emu_launch launch = {.entry = entry,
                               .grid = {grid, 1, 1},
                               .block = {block, 1, 1},
                               .shared = self->shared,
                               .cooperative = self->cooperative,
                               .args = self->args,
                               .arg_count = self->arg_count};
    const emu_options options = {.deadline_ms =
                                     self->deadline_ms != 0 ? self->deadline_ms : RIG_DEADLINE_MS,
                                 .workers = self->workers};
    if (emu_module_run(module, self->memory, &launch, &options, &self->report, &e) < 0)
        fail_msg("%s", e.text);
}

void rig_expect_clean(const emu_rig *self)
{
    if (self->report.finding_count != 0)
        fail_msg("%s", self->report.findings[0].text);
}

uint32_t rig_random(uint32_t index, uint32_t seed)
{
    uint32_t v = index * 0x9e3779b9u + seed * 0x85ebca6bu + 0x7f4a7c15u;
    v = (v ^ v >> 16) * 0x21f0aaadu;
    v = (v ^ v >> 15) * 0x735a2d97u;
    return v ^ v >> 15;
}

float rig_uniform(uint32_t index, uint32_t seed)
{
    return (float)(rig_random(index, seed) >> 8) / 8388608.0f - 1.0f;
}

/* ---- halves: by frexp and ldexp ---- */

static double from_code(uint16_t h, int mantissa, int bias)
{
    const int exponent = (h & 0x7fff) >> mantissa;
    const int fraction = h & ((1 << mantissa) - 1);
    const double sign = (h & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 2 * bias + 1)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - mantissa);
    return sign * ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
}

/* The code whose value is nearest, ties to the even code. */
static uint16_t to_code(double v, int mantissa, int bias)
{
    const uint16_t sign = signbit(v) != 0 ? 0x8000 : 0;
    const double size = fabs(v);
    const uint16_t infinity = (uint16_t)((2 * bias + 1) << mantissa);
    if (isnan(v))
        return 0x7fff;
    uint16_t low = 0, high = infinity;
    /* The largest code whose value is at most `size`. */
    while (low + 1 < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (from_code(middle, mantissa, bias) <= size)
            low = middle;
        else
            high = middle;
    }
    const double below = from_code(low, mantissa, bias);
    const double above = high == infinity ? ldexp(1.0, bias + 1) : from_code(high, mantissa, bias);
    const double rest = size - below, gap = above - below;
    if (size >= above)
        return sign | high;
    const bool up = rest * 2 > gap || (rest * 2 >= gap && (low & 1) != 0);
    return (uint16_t)(sign | (up ? high : low));
}

float rig_from_half(uint16_t h)
{
    return (float)from_code(h, 10, 15);
}

uint16_t rig_to_half(double v)
{
    return to_code(v, 10, 15);
}

float rig_from_bf16(uint16_t h)
{
    return (float)from_code(h, 7, 127);
}

uint16_t rig_to_bf16(double v)
{
    return to_code(v, 7, 127);
}
