/* need - comparing, and saying what is missing
 *
 * SPDX-License-Identifier: MIT */
#include "common/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY_MAX = 10000 };

static const double gib = 1024.0 * 1024.0 * 1024.0;

int need_read(const json_cursor *object, need_set *out, err *e)
{
    json_cursor at;
    if (json_maybe(object, "memory", &at) && json_want_int(&at, 0, INT64_MAX, &out->memory, e) < 0)
        return -1;
    return json_maybe(object, "capability", &at)
               ? json_want_int(&at, 0, CAPABILITY_MAX, &out->capability, e)
               : 0;
}

void need_write(const need_set *self, json *object)
{
    if (self->memory > 0)
        json_set_int(object, "memory", self->memory);
    if (self->capability > 0)
        json_set_int(object, "capability", self->capability);
}

bool need_is_none(const need_set *self)
{
    return self->memory == 0 && self->capability == 0;
}

bool need_equal(const need_set *a, const need_set *b)
{
    return a->memory == b->memory && a->capability == b->capability;
}

int64_t need_capability(const char *arch)
{
    return strncmp(arch, "sm_", 3) == 0 ? strtol(arch + 3, NULL, 10) : 0;
}

need_device need_device_of(const char *kind, const char *arch, int64_t memory)
{
    need_device out = {.memory = memory, .capability = need_capability(arch)};
    memccpy(out.kind, kind, 0, sizeof out.kind - 1);
    return out;
}

bool need_kind(const char *wanted, const char *kind)
{
    if (strcmp(wanted, "auto") == 0)
        return strcmp(kind, "cuda") == 0 || strcmp(kind, "emu") == 0;
    return strcmp(wanted, kind) == 0;
}

static bool has_memory(const need_set *self, const need_device *d)
{
    return d->memory == 0 || d->memory >= self->memory;
}

static bool has_capability(const need_set *self, const need_device *d)
{
    return d->capability == 0 || d->capability >= self->capability;
}

bool need_met(const need_set *self, const need_device *device)
{
    return strcmp(device->kind, "emu") == 0 ||
           (has_memory(self, device) && has_capability(self, device));
}

const need_device *need_find(const need_set *self, const char *wanted, const need_device *devices,
                             size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (need_kind(wanted, devices[i].kind) && need_met(self, &devices[i]))
            return &devices[i];
    }
    return NULL;
}

/* The most that any device of the kind has of each; how many there are. */
static size_t measure(const char *wanted, const need_device *devices, size_t count,
                      need_device *most)
{
    size_t found = 0;
    *most = (need_device){.memory = 0};
    for (size_t i = 0; i < count; i++) {
        const need_device *d = &devices[i];
        if (!need_kind(wanted, d->kind))
            continue;
        found++;
        most->memory = d->memory > most->memory ? d->memory : most->memory;
        most->capability = d->capability > most->capability ? d->capability : most->capability;
    }
    return found;
}

void need_why(const need_set *self, const char *wanted, const need_device *devices, size_t count,
              char out[NEED_TEXT])
{
    need_device most;
    const char *kind = strcmp(wanted, "auto") == 0 ? "cuda or emu" : wanted;
    if (measure(wanted, devices, count, &most) == 0)
        snprintf(out, NEED_TEXT, "needs a device of kind %s; no connected node has one", kind);
    else if (!has_memory(self, &most))
        snprintf(out, NEED_TEXT, "needs %.1f GiB of device memory; the largest device has %.1f GiB",
                 (double)self->memory / gib, (double)most.memory / gib);
    else if (!has_capability(self, &most))
        snprintf(out, NEED_TEXT, "needs compute capability %.1f; the highest of a device is %.1f",
                 (double)self->capability / 10.0, (double)most.capability / 10.0);
    else
        snprintf(out, NEED_TEXT,
                 "needs %.1f GiB of device memory and compute capability %.1f; no device has both",
                 (double)self->memory / gib, (double)self->capability / 10.0);
}
