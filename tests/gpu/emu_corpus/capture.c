/* emu_corpus - runs the corpus on a GPU and writes what it gave: the fixture of the emulator's tests
 *
 *   emu_corpus OUT          runs all rows on cuda:0 and writes OUT (tests/data/emu/h200.bin)
 *   emu_corpus --list       prints the rows: name and PTX
 *   emu_corpus --table      prints docs/emulator-instructions.md
 *   emu_corpus --check FILE runs all rows again and says which differ from FILE
 *
 * Exit: 0, 1 when something fails, 2 usage, 3 rows differ, 77 without a GPU.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/gpu.h"
#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "tests/gpu/emu_corpus/fixture.h"

enum {
    IN_WORDS = CORPUS_THREADS * CORPUS_OPERANDS,
    OUT_WORDS = CORPUS_THREADS * 2,
    DEADLINE_MS = 20000,
    SKIPPED = 77,
    TABLE_MAX = 1 << 20
};

typedef struct capture {
    gpu *device;
    gpu_mem in, out;
    corpus *rows;
    fixture *made;
} capture;

static void capture_fini(capture *self)
{
    fixture_destroy(&self->made);
    corpus_destroy(&self->rows);
    if (self->device == NULL)
        return;
    self->device->ops->unmap(self->device, &self->in);
    self->device->ops->unmap(self->device, &self->out);
    gpu_close(&self->device);
}

static int complain(const err *e)
{
    fprintf(stderr, "emu_corpus: %s\n", e->text);
    return e->code == ERR_UNAVAILABLE ? SKIPPED : 1;
}

/* upload writes words of the host by fills: the runner's devices have no other way in. */
static int upload(capture *c, const uint64_t *words, size_t count, err *e)
{
    uint32_t halves[2];
    for (size_t i = 0; i < count; i++) {
        memcpy(halves, &words[i], sizeof halves);
        for (unsigned k = 0; k < 2; k++) {
            const gpu_fill fill = {c->in.base + i * 8 + k * 4, halves[k], 4, 1};
            if (c->device->ops->fill(c->device, &fill, e) < 0)
                return -1;
        }
    }
    return 0;
}

static int launch(capture *c, size_t number, err *e)
{
    char entry[32];
    runner_verdict v;
    gpu_arg args[2] = {{.size = 8}, {.size = 8}};
    snprintf(entry, sizeof entry, "k%zu", number);
    memcpy(args[0].bytes, &c->in.base, 8);
    memcpy(args[1].bytes, &c->out.base, 8);
    const gpu_call call = {.entry = entry,
                           .grid = {1, 1, 1},
                           .block = {CORPUS_THREADS, 1, 1},
                           .args = args,
                           .arg_count = 2,
                           .pointer = c->rows->rows[number].name};
    verdict_ok(&v);
    if (c->device->ops->run(c->device, &call, 1, DEADLINE_MS, &v, e) < 0)
        return -1;
    return verdict_is_ok(&v) ? 0
                             : err_set(e, ERR_GPU, "%s: %s", c->rows->rows[number].name, v.text);
}

static bool same_operands(const corpus_row *a, const corpus_row *b)
{
    return memcmp(a->in, b->in, sizeof a->in) == 0 && !(a->low < b->low) && !(a->low > b->low) &&
           !(a->high < b->high) && !(a->high > b->high);
}

/* Rows in a sequence often have the same operands: these stay where they are. */
static int run_row(capture *c, size_t number, err *e)
{
    static size_t uploaded = SIZE_MAX;
    uint64_t in[IN_WORDS], out[OUT_WORDS];
    const corpus_row *row = &c->rows->rows[number];
    if (uploaded == SIZE_MAX || !same_operands(row, &c->rows->rows[uploaded])) {
        corpus_operands(row, in);
        if (upload(c, in, IN_WORDS, e) < 0)
            return -1;
        uploaded = number;
    }
    const gpu_fill clear = {c->out.base, 0, 4, corpus_out_bytes() / 4};
    if (c->device->ops->fill(c->device, &clear, e) < 0 || launch(c, number, e) < 0 ||
        c->device->ops->read(c->device, out, c->out.base, sizeof out, e) < 0)
        return -1;
    fixture_add(c->made, row, out);
    return 0;
}

static int run_chunk(capture *c, size_t first, err *e)
{
    runner_verdict v;
    SCOPED(scoped_free) char *text = corpus_module(c->rows, first);
    verdict_ok(&v);
    /* The terminating zero belongs to the image: that is how a driver takes PTX. */
    if (c->device->ops->load(c->device, text, strlen(text) + 1, &v, e) < 0)
        return -1;
    if (!verdict_is_ok(&v))
        return err_set(e, ERR_GPU, "rows from %zu on: %s", first, v.text);
    for (size_t i = first; i < c->rows->count && i < first + CORPUS_CHUNK; i++)
        if (run_row(c, i, e) < 0)
            return -1;
    c->device->ops->unload(c->device);
    return 0;
}

static int run_all(capture *c, const char *device, err *e)
{
    c->device = gpu_open(&(gpu_options){.device = device}, e);
    if (c->device == NULL)
        return -1;
    if (c->device->ops->map(c->device, IN_WORDS * sizeof(uint64_t), &c->in, e) < 0 ||
        c->device->ops->map(c->device, corpus_out_bytes(), &c->out, e) < 0)
        return -1;
    c->made = fixture_create(c->device->facts.name);
    for (size_t first = 0; first < c->rows->count; first += CORPUS_CHUNK)
        if (run_chunk(c, first, e) < 0)
            return -1;
    return 0;
}

static void print_rows(const corpus *c)
{
    for (size_t i = 0; i < c->count; i++)
        printf("%s\t%s\n", c->rows[i].name, c->rows[i].body);
}

static void print_table(const corpus *c)
{
    buf text;
    buf_init(&text, TABLE_MAX);
    corpus_table(c, &text);
    printf("%s", buf_text(&text));
    buf_fini(&text);
}

/* The rows whose results are not those of an earlier file. */
static int compare(const capture *c, const char *path, err *e)
{
    uint64_t now[OUT_WORDS], before[OUT_WORDS];
    int differ = 0;
    SCOPED(fixture_destroy) fixture *old = fixture_read(path, e);
    if (old == NULL)
        return -1;
    for (size_t i = 0; i < c->rows->count; i++) {
        const corpus_row *row = &c->rows->rows[i];
        if (!fixture_row(c->made, row, now) || !fixture_row(old, row, before) ||
            memcmp(now, before, sizeof now) != 0) {
            printf("%s differs\n", row->name);
            differ++;
        }
    }
    printf("%zu rows on %s, %d differ from %s\n", c->rows->count, fixture_device(c->made), differ,
           fixture_device(old));
    return differ;
}

static int finish(capture *c, const char *path, bool check)
{
    err e = {0};
    if (check) {
        const int differ = compare(c, path, &e);
        return differ < 0 ? complain(&e) : differ > 0 ? 3 : 0;
    }
    if (fixture_write(c->made, path, &e) < 0)
        return complain(&e);
    printf("%zu rows of %s written to %s\n", c->rows->count, fixture_device(c->made), path);
    return 0;
}

int main(int argc, char **argv)
{
    err e = {0};
    SCOPED(capture_fini) capture c = {.rows = corpus_create()};
    const bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        print_rows(c.rows);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--table") == 0) {
        print_table(c.rows);
        return 0;
    }
    if (argc != 2 && !check) {
        fprintf(stderr, "usage: emu_corpus OUT | --check FILE | --list | --table\n");
        return 2;
    }
    if (run_all(&c, "cuda:0", &e) < 0)
        return complain(&e);
    return finish(&c, argv[argc - 1], check);
}
