/* need - what a task needs of a device, and which devices have it
 *
 * Purpose:   one rule for the coordinator (which node), the node (which lane) and reports (why a task
 *            waits): a device of the wanted kind, with so much memory and such a compute capability. The
 *            emulator has no compute capability and computes in the host's memory: it is not asked.
 * Ownership: plain values.
 * Threads:   any.
 * Errors:    need_read: ERR_CONFIG with the JSON pointer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMMON_NEED_H
#define CE_COMMON_NEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/json.h"

enum { NEED_TEXT = 240 };

/* Zero: nothing. */
typedef struct need_set {
    int64_t memory;     /* bytes of device memory */
    int64_t capability; /* compute capability times 10 */
} need_set;

typedef struct need_device {
    char kind[16];      /* cuda, emu, fake */
    int64_t memory;     /* bytes; 0: not known */
    int64_t capability; /* compute capability times 10; 0: not known */
} need_device;

/* need_read takes the optional members `memory` and `capability` of an object; need_write sets those that ask
 * for something. */
int need_read(const json_cursor *object, need_set *out, err *e);
void need_write(const need_set *self, json *object);
bool need_is_none(const need_set *self);
bool need_equal(const need_set *a, const need_set *b);
/* need_device_of describes a device as a hello and a stored node do; memory in bytes. */
need_device need_device_of(const char *kind, const char *arch, int64_t memory);
/* need_capability reads a compile target: 90 of "sm_90a"; 0 where it names none. */
int64_t need_capability(const char *arch);
/* need_kind: may a task for `wanted` (auto, cuda, emu, fake) run on a device of that kind? */
bool need_kind(const char *wanted, const char *kind);
/* need_met: has the device, whatever its kind, what is needed? What is not known counts as there. */
bool need_met(const need_set *self, const need_device *device);
/* need_find is the first device that fits `wanted` and the need, or NULL. */
const need_device *need_find(const need_set *self, const char *wanted, const need_device *devices,
                             size_t count);
/* need_why says what is missing where need_find finds none: "needs 81.2 GiB of device memory; the largest
 * device has 79.1 GiB". */
void need_why(const need_set *self, const char *wanted, const need_device *devices, size_t count,
              char out[NEED_TEXT]);

#endif
