/* tally - see tally.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/emulator/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/occupancy.h"
#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct known {
    char *kernel;
    uint32_t registers;
} known;

typedef struct row {
    char kernel[EMU_NAME_MAX];
    uint32_t grid[3], block[3], dynamic;
    uint32_t shared_bytes; /* with the static ones */
    uint64_t launches;
    emu_counters counters;
} row;

struct tally {
    known *kernels;
    size_t kernel_count;
    row rows[TALLY_ROWS];
    size_t row_count;
    uint64_t left_out;
};

tally *tally_create(void)
{
    return xcalloc(1, sizeof(tally));
}

void tally_destroy(tally **self)
{
    tally *t = TAKE(*self);
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->kernel_count; i++)
        free(t->kernels[i].kernel);
    free(t->kernels);
    free(t);
}

void tally_know(tally *self, const char *kernel, uint32_t registers)
{
    self->kernels = xreallocarray(self->kernels, self->kernel_count + 1, sizeof *self->kernels);
    self->kernels[self->kernel_count++] = (known){xstrdup(kernel), registers};
}

uint32_t tally_registers(const tally *self, const char *kernel)
{
    for (size_t i = 0; i < self->kernel_count; i++)
        if (strncmp(self->kernels[i].kernel, kernel, EMU_NAME_MAX - 1) == 0)
            return self->kernels[i].registers;
    return 0;
}

void tally_clear(tally *self)
{
    self->row_count = 0;
    self->left_out = 0;
}

static bool is_of(const row *r, const emu_launch *l)
{
    return strncmp(r->kernel, l->entry, sizeof r->kernel - 1) == 0 && r->dynamic == l->shared &&
           memcmp(r->grid, l->grid, sizeof r->grid) == 0 &&
           memcmp(r->block, l->block, sizeof r->block) == 0;
}

static row *row_of(tally *t, const emu_launch *l, uint32_t shared_bytes)
{
    for (size_t i = 0; i < t->row_count; i++)
        if (is_of(&t->rows[i], l))
            return &t->rows[i];
    if (t->row_count == TALLY_ROWS)
        return NULL;
    row *r = &t->rows[t->row_count++];
    *r = (row){.dynamic = l->shared, .shared_bytes = shared_bytes};
    snprintf(r->kernel, sizeof r->kernel, "%s", l->entry);
    memcpy(r->grid, l->grid, sizeof r->grid);
    memcpy(r->block, l->block, sizeof r->block);
    return r;
}

void tally_add(tally *self, const emu_launch *launch, const emu_report *report)
{
    row *r = row_of(self, launch, report->shared_bytes);
    if (r == NULL) {
        self->left_out++;
        return;
    }
    r->launches++;
    emu_counters_add(&r->counters, &report->counters);
}

/* ---- JSON ---- */

static void set_size(json *out, const char *key, const uint32_t size[3])
{
    json *list = json_new_array();
    for (int i = 0; i < 3; i++) {
        json *n = json_new_int(size[i]);
        json_append(list, &n);
    }
    json_set(out, key, &list);
}

static void set_classes(json *out, const emu_counters *c)
{
    json *classes = json_new_object();
    for (int i = 0; i < EMU_CLASS_COUNT; i++)
        if (c->thread_instructions[i] != 0)
            json_set_int(classes, emu_class_name((emu_class)i), (int64_t)c->thread_instructions[i]);
    json_set(out, "thread_instructions", &classes);
}

static void set_counters(json *out, const emu_counters *c)
{
    set_classes(out, c);
    json_set_int(out, "warp_instructions", (int64_t)c->warp_instructions);
    json_set_int(out, "global_requests", (int64_t)c->global_requests);
    json_set_int(out, "global_sectors", (int64_t)c->global_sectors);
    json_set_int(out, "shared_requests", (int64_t)c->shared_requests);
    json_set_int(out, "shared_passes", (int64_t)c->shared_wavefronts);
    json_set_int(out, "branches", (int64_t)c->branches);
    json_set_int(out, "divergent_branches", (int64_t)c->divergent_branches);
    json_set_int(out, "barriers", (int64_t)c->barriers);
}

static void set_occupancy(json *out, const tally *t, const row *r)
{
    const occupancy_use use = {.cc = 80,
                               .threads = r->block[0] * r->block[1] * r->block[2],
                               .registers = tally_registers(t, r->kernel),
                               .shared_bytes = r->shared_bytes};
    const occupancy o = occupancy_of(&use);
    if (use.registers != 0)
        json_set_int(out, "registers", use.registers);
    else
        json_set_null(out, "registers");
    json_set_int(out, "shared_bytes", r->shared_bytes);
    json_set_int(out, "blocks_at_once", o.blocks);
    json_set_real(out, "occupancy", (double)o.warps / o.warps_max);
    json_set_str(out, "occupancy_limit", o.limit);
}

static json *row_json(const tally *t, const row *r)
{
    json *out = json_new_object();
    json_set_str(out, "kernel", r->kernel);
    json_set_int(out, "launches", (int64_t)r->launches);
    set_size(out, "grid", r->grid);
    set_size(out, "block", r->block);
    set_counters(out, &r->counters);
    set_occupancy(out, t, r);
    return out;
}

char *tally_json(const tally *self)
{
    if (self->row_count == 0)
        return NULL;
    SCOPED(json_destroy) json *out = json_new_object();
    json *list = json_new_array();
    for (size_t i = 0; i < self->row_count; i++) {
        json *one = row_json(self, &self->rows[i]);
        json_append(list, &one);
    }
    json_set_bool(out, "modelled", true);
    json_set(out, "launches", &list);
    json_set_int(out, "left_out", (int64_t)self->left_out);
    return json_dump(out);
}
