/* modelled - see modelled.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/modelled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/roofline.h"
#include "common/scoped.h"

static json *parsed(const char *counters)
{
    return counters != NULL ? json_parse_tree(counters, strlen(counters), "emulator", NULL) : NULL;
}

static int64_t number(const json *launch, const char *key)
{
    return json_int(json_get(launch, key), 0);
}

/* Instructions of warps, in all launches. */
static int64_t work_of(const json *counters)
{
    const json *launches = json_get(counters, "launches");
    int64_t sum = 0;
    for (size_t i = 0; i < json_size(launches); i++)
        sum += number(json_at(launches, i), "warp_instructions");
    return sum;
}

void modelled_set(json *report, const char *counters)
{
    json *tree = parsed(counters);
    if (tree != NULL)
        json_set(report, "modelled", &tree);
}

void modelled_keep(char **kept, const char *counters, const contract *terms,
                   const contract_shape *shape)
{
    SCOPED(json_destroy) json *tree = parsed(counters);
    SCOPED(json_destroy) json *before = parsed(*kept);
    if (tree == NULL || (before != NULL && work_of(before) >= work_of(tree)))
        return;
    json *dims = contract_shape_json(terms, shape);
    json_set(tree, "shape", &dims);
    free(*kept);
    *kept = json_dump(tree);
}

/* ---- cost ---- */

enum { SECTOR_BYTES = 32 };
static const double near_it = 1.15;

static int64_t instructions_of(const json *launch)
{
    int64_t sum = 0;
    for (json_iter it = {0}; json_next(json_get(launch, "thread_instructions"), &it);)
        sum += json_int(it.value, 0);
    return sum;
}

void modelled_add(modelled_cost *sum, const char *counters, const contract *terms,
                  const contract_shape *shape)
{
    SCOPED(json_destroy) json *tree = parsed(counters);
    const json *launches = json_get(tree, "launches");
    int64_t least = 0;
    if (tree == NULL || roofline_bytes(terms, shape, &least, NULL) != 0)
        return;
    sum->shapes++;
    sum->bytes_min += least;
    sum->partial = sum->partial || number(tree, "left_out") != 0;
    for (size_t i = 0; i < json_size(launches); i++) {
        sum->bytes += SECTOR_BYTES * number(json_at(launches, i), "global_sectors");
        sum->thread_instructions += instructions_of(json_at(launches, i));
    }
}

void modelled_set_cost(char **kept, const modelled_cost *cost)
{
    SCOPED(json_destroy) json *tree = parsed(*kept);
    if (tree == NULL || cost->shapes == 0 || cost->partial)
        return;
    json *out = json_new_object();
    json_set_int(out, "shapes", cost->shapes);
    json_set_int(out, "bytes", cost->bytes);
    json_set_int(out, "bytes_min", cost->bytes_min);
    json_set_int(out, "thread_instructions", cost->thread_instructions);
    json_set(tree, "cost", &out);
    free(*kept);
    *kept = json_dump(tree);
}

bool modelled_get_cost(const char *kept, modelled_cost *out)
{
    SCOPED(json_destroy) json *tree = parsed(kept);
    const json *cost = json_get(tree, "cost");
    *out = (modelled_cost){.shapes = number(cost, "shapes"),
                           .bytes = number(cost, "bytes"),
                           .bytes_min = number(cost, "bytes_min"),
                           .thread_instructions = number(cost, "thread_instructions")};
    return out->shapes > 0;
}

bool modelled_is_less(const modelled_cost *a, const modelled_cost *b)
{
    return a->bytes != b->bytes ? a->bytes < b->bytes
                                : a->thread_instructions < b->thread_instructions;
}

bool modelled_near(const modelled_cost *cost)
{
    return (double)cost->bytes < near_it * (double)cost->bytes_min;
}

/* ---- in words ---- */

static double ratio(int64_t part, int64_t whole)
{
    return whole != 0 ? (double)part / (double)whole : 0.0;
}

static void say_size(const json *size, buf *out)
{
    size_t rank = json_size(size);
    while (rank > 1 && json_int(json_at(size, rank - 1), 1) == 1)
        rank--;
    for (size_t i = 0; i < rank; i++)
        buf_printf(out, "%s%" PRId64, i > 0 ? "x" : "", json_int(json_at(size, i), 0));
}

static void say_classes(const json *launch, buf *out)
{
    const char *between = "  instructions of threads:";
    for (json_iter it = {0}; json_next(json_get(launch, "thread_instructions"), &it);) {
        buf_printf(out, "%s %s %" PRId64, between, it.key, json_int(it.value, 0));
        between = ",";
    }
    buf_puts(out, "\n");
}

static void say_memory(const json *launch, buf *out)
{
    const int64_t global = number(launch, "global_requests");
    const int64_t shared = number(launch, "shared_requests");
    if (global != 0)
        buf_printf(out, "  global memory: %" PRId64 " requests, %.1f sectors of 32 bytes each\n",
                   global, ratio(number(launch, "global_sectors"), global));
    if (shared != 0)
        buf_printf(out,
                   "  shared memory: %" PRId64 " requests, %.2f passes each (more than the width "
                   "asks for: bank conflicts)\n",
                   shared, ratio(number(launch, "shared_passes"), shared));
    buf_printf(out, "  branches of warps: %" PRId64 ", %.1f %% divergent; barriers: %" PRId64 "\n",
               number(launch, "branches"),
               100.0 * ratio(number(launch, "divergent_branches"), number(launch, "branches")),
               number(launch, "barriers"));
}

static void say_occupancy(const json *launch, buf *out)
{
    buf_printf(out, "  occupancy: %.0f %% (%" PRId64 " blocks at once; limited by %s)",
               100.0 * json_real(json_get(launch, "occupancy"), 0.0),
               number(launch, "blocks_at_once"),
               json_str(json_get(launch, "occupancy_limit"), "?"));
    if (json_typeof(json_get(launch, "registers")) == JSON_TYPE_NULL)
        buf_puts(out, ", registers not known");
    else
        buf_printf(out, ", %" PRId64 " registers a thread", number(launch, "registers"));
    buf_printf(out, ", %" PRId64 " bytes of shared memory a block\n",
               number(launch, "shared_bytes"));
}

static void say_launch(const json *launch, buf *out)
{
    const int64_t launches = number(launch, "launches");
    buf_printf(out, "%s, grid ", json_str(json_get(launch, "kernel"), "?"));
    say_size(json_get(launch, "grid"), out);
    buf_puts(out, ", block ");
    say_size(json_get(launch, "block"), out);
    if (launches != 1)
        buf_printf(out, ", %" PRId64 " launches", launches);
    buf_printf(out, ": %" PRId64 " instructions of warps\n", number(launch, "warp_instructions"));
    say_classes(launch, out);
    say_memory(launch, out);
    say_occupancy(launch, out);
}

void modelled_text(const json *counters, buf *out)
{
    const json *launches = json_get(counters, "launches");
    if (json_size(launches) == 0)
        return;
    buf_puts(out, "modelled for compute capability 8.0, nothing is measured:\n");
    for (size_t i = 0; i < json_size(launches); i++)
        say_launch(json_at(launches, i), out);
    if (number(counters, "left_out") != 0)
        buf_printf(out, "and %" PRId64 " launches of other kernels or sizes\n",
                   number(counters, "left_out"));
}
