/* emu_rig - a module, its buffers and a launch, in few lines
 *
 * Purpose:   what the emulator's tests share: CUDA source to a module by the real NVRTC, buffers with known
 *            contents, and launches whose report is kept.
 * Ownership: emu_rig_fini frees all but modules.
 * Threads:   one test.
 * Errors:    a failing helper fails the test. Without NVRTC a test ends with 77: skipped.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_EMU_RIG_H
#define CE_TESTS_EMU_RIG_H

#include "agent-node/emulator/emulator.h"

enum { RIG_BUFFERS = 16, RIG_ARGS = 16 };

typedef struct emu_rig {
    emu_memory *memory;
    void *buffers[RIG_BUFFERS];
    size_t buffer_count;
    emu_arg args[RIG_ARGS];
    size_t arg_count;
    unsigned workers;    /* 0: all */
    int64_t deadline_ms; /* 0: ten seconds */
    uint32_t shared;     /* dynamic */
    bool cooperative;
    emu_report report; /* of the last launch */
} emu_rig;

/* rig_have_nvrtc: otherwise the whole program should end with 77. */
bool rig_have_nvrtc(void);
/* rig_compile makes PTX for compute_80, with line information; the caller frees. The test fails when the
 * source does not compile. */
char *rig_compile(const char *source);
emu_module *rig_module(const char *source);
/* rig_source reads a file below the source tree. */
char *rig_source(const char *path);
emu_module *rig_ptx(const char *text);

void emu_rig_init(emu_rig *self);
void emu_rig_fini(emu_rig *self);

typedef enum rig_role {
    RIG_INPUT,
    RIG_OUTPUT,
    RIG_READY
} rig_role; /* READY: written, but no input */

/* rig_buffer adds a buffer of count elements and its address as the next argument. */
void *rig_buffer(emu_rig *self, const char *name, rig_role role, uint32_t element, size_t count);
void rig_i32(emu_rig *self, int32_t value);
void rig_i64(emu_rig *self, int64_t value);
void rig_f32(emu_rig *self, float value);
/* rig_reuse makes all arguments and buffers of before the next launch's start: forget the arguments. */
void rig_forget_args(emu_rig *self);
void rig_pointer(emu_rig *self, void *address);

/* rig_launch runs; the report is in self->report. */
void rig_launch(emu_rig *self, emu_module *module, const char *entry, uint32_t grid,
                uint32_t block);
/* rig_expect_clean fails the test with the first finding's text, if there is one. */
void rig_expect_clean(const emu_rig *self);

/* A reproducible number. */
uint32_t rig_random(uint32_t index, uint32_t seed);
float rig_uniform(uint32_t index, uint32_t seed); /* in [-1, 1) */

/* Halves by arithmetic, independent of the emulator. */
float rig_from_half(uint16_t h);
uint16_t rig_to_half(double v);
float rig_from_bf16(uint16_t h);
uint16_t rig_to_bf16(double v);

#endif
