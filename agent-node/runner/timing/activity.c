/* activity - see activity.h.
 *
 * Only members that every layout of a record since CUDA 12.0 has in the same place are read: newer ones
 * append.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/activity.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 4 * 1024 * 1024, BUFFER_ALIGN = 8 };

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

/* What the callbacks fill. */
static struct {
    pthread_mutex_t lock;
    const cupti_api *cupti; /* NULL: nothing is collected */
    span_record *records;
    size_t count, room;
    size_t dropped, unreadable;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static span_record *next_place(void)
{
    if (shared.count == ACTIVITY_RECORDS_MAX)
        return NULL;
    if (shared.count == shared.room) {
        size_t room = shared.room != 0 ? 2 * shared.room : 1024;
        span_record *grown = realloc(shared.records, room * sizeof *grown);
        if (grown == NULL)
            return NULL;
        shared.records = grown;
        shared.room = room;
    }
    span_record *place = &shared.records[shared.count++];
    memset(place, 0, sizeof *place);
    return place;
}

static uint32_t positive(int32_t value)
{
    return value > 0 ? (uint32_t)value : 0;
}

static void read_kernel(const CUpti_Activity *record, span_record *out)
{
    const CUpti_ActivityKernel10 *k = (const void *)record;
    out->kind = SPAN_KERNEL;
    out->correlation = k->correlationId;
    out->graph = k->graphId;
    out->start = k->start;
    out->end = k->end;
    snprintf(out->name, sizeof out->name, "%s", k->name != NULL ? k->name : "?");
    const int32_t grid[] = {k->gridX, k->gridY, k->gridZ};
    const int32_t block[] = {k->blockX, k->blockY, k->blockZ};
    for (size_t i = 0; i < 3; i++) {
        out->grid[i] = positive(grid[i]);
        out->block[i] = positive(block[i]);
    }
    out->registers = k->registersPerThread;
    out->shared_static = positive(k->staticSharedMemory);
    out->shared_dynamic = positive(k->dynamicSharedMemory);
    out->local_bytes = k->localMemoryPerThread;
}

static void read_copy(const CUpti_Activity *record, span_record *out)
{
    const CUpti_ActivityMemcpy6 *c = (const void *)record;
    out->kind = SPAN_COPY;
    out->correlation = c->correlationId;
    out->graph = c->graphId;
    out->start = c->start;
    out->end = c->end;
}

static void read_fill(const CUpti_Activity *record, span_record *out)
{
    const CUpti_ActivityMemset4 *f = (const void *)record;
    out->kind = SPAN_FILL;
    out->correlation = f->correlationId;
    out->graph = f->graphId;
    out->start = f->start;
    out->end = f->end;
}

static void keep(const CUpti_Activity *record)
{
    void (*read)(const CUpti_Activity *, span_record *) =
        record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
                record->kind == CUPTI_ACTIVITY_KIND_KERNEL
            ? read_kernel
        : record->kind == CUPTI_ACTIVITY_KIND_MEMCPY ? read_copy
        : record->kind == CUPTI_ACTIVITY_KIND_MEMSET ? read_fill
                                                     : NULL;
    if (read == NULL)
        return;
    span_record *place = next_place();
    if (place == NULL)
        shared.dropped++;
    else
        read(record, place);
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    *size = *buffer != NULL ? BUFFER_BYTES : 0;
    *most = 0;
}

static void read_buffer(uint8_t *buffer, size_t bytes)
{
    CUpti_Activity *record = NULL;
    CUptiResult code;
    size_t dropped = 0;
    while ((code = shared.cupti->cuptiActivityGetNextRecord(buffer, bytes, &record)) ==
           CUPTI_SUCCESS)
        keep(record);
    shared.unreadable += code != CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (shared.cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
        shared.dropped += dropped;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t bytes)
{
    (void)context;
    (void)stream;
    (void)size;
    pthread_mutex_lock(&shared.lock);
    if (shared.cupti != NULL && bytes > 0)
        read_buffer(buffer, bytes);
    pthread_mutex_unlock(&shared.lock);
    free(buffer);
}

/* ---- collecting ---- */

static void forget(const cupti_api *next)
{
    pthread_mutex_lock(&shared.lock);
    free(shared.records);
    shared.records = NULL;
    shared.count = shared.room = shared.dropped = shared.unreadable = 0;
    shared.cupti = next;
    pthread_mutex_unlock(&shared.lock);
}

bool activity_begin(const cupti_api *cupti, char *why, size_t size)
{
    forget(cupti);
    if (!cupti_api_ok(cupti, cupti->cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
                      "cuptiActivityRegisterCallbacks", why, size))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char call[64];
        snprintf(call, sizeof call, "cuptiActivityEnable(%d)", (int)kinds[i]);
        if (!cupti_api_ok(cupti, cupti->cuptiActivityEnable(kinds[i]), call, why, size)) {
            activity_end(cupti);
            return false;
        }
    }
    return true;
}

bool activity_take(const cupti_api *cupti, span_record **out, size_t *count, char *why, size_t size)
{
    if (!cupti_api_ok(cupti, cupti->cuptiActivityFlushAll(0), "cuptiActivityFlushAll", why, size) ||
        !cupti_api_ok(cupti, cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
                      "cuptiActivityFlushAll(forced)", why, size))
        return false;
    pthread_mutex_lock(&shared.lock);
    *out = shared.records;
    *count = shared.count;
    size_t lost = shared.dropped + shared.unreadable;
    shared.records = NULL;
    shared.count = shared.room = shared.dropped = shared.unreadable = 0;
    pthread_mutex_unlock(&shared.lock);
    if (lost == 0)
        return true;
    snprintf(why, size, "incomplete: %zu activity records were dropped", lost);
    free(*out);
    *out = NULL;
    return false;
}

void activity_end(const cupti_api *cupti)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cupti->cuptiActivityDisable(kinds[i]);
    cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    forget(NULL);
}
