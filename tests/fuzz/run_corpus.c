/* run_corpus - a fuzz target without a fuzzer
 *
 * Runs every file of a folder, every cut-off front of the short ones, and mutations of all of them.
 * The mutations come from a fixed seed: a failure repeats, and its input is named on stderr.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"

enum {
    FILES_MAX = 256,
    INPUT_MAX = 1024 * 1024,
    CUTS_MAX = 512,
    MUTATIONS = 4000,
    MUTANT_MAX = 64 * 1024
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct corpus {
    char *names[FILES_MAX];
    buf inputs[FILES_MAX];
    size_t count;
} corpus;

static char current[512]; /* what runs now, for the signal handler */
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint64_t draw(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below == 0 ? 0 : state % below;
}

static void tell(int signal_number)
{
    if (write(STDERR_FILENO, current, strlen(current)) < 0)
        _exit(2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* run_one gives the target a block of exactly the input's size, so that sanitizers see one byte more. */
static void run_one(const char *name, const char *what, size_t number, const void *data,
                    size_t size)
{
    snprintf(current, sizeof current, "failed on %s, %s %zu\n", name, what, number);
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    if (exact == NULL)
        abort();
    if (size > 0)
        memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static int load(corpus *c, const char *folder)
{
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, NULL, alphasort);
    if (found < 0) {
        perror(folder);
        return -1;
    }
    int rc = 0;
    for (int i = 0; i < found; i++) {
        err e;
        if (entries[i]->d_name[0] != '.' && rc == 0 && c->count < FILES_MAX) {
            char *path = file_join(folder, entries[i]->d_name);
            buf_init(&c->inputs[c->count], INPUT_MAX);
            c->names[c->count] = path;
            rc = file_read(path, &c->inputs[c->count++], &e);
            if (rc < 0)
                fprintf(stderr, "%s\n", e.text);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static void add_noise(buf *mutant, const buf *other)
{
    static const char *const pieces[] = {
        "\"", "{", "}",  "[",   "]",    ":",    ",",        "\\",
        "\n", "-", "0",  "1e9", "null", "\xff", "\xc0\x80", "9223372036854775808",
        "\t", "#", "&a", "*a",  "!",    "(",    ")",        "?",
        "%",  "||"};
    if (draw(3) == 0 && other->size > 0) {
        size_t from = draw(other->size);
        buf_add(mutant, other->data + from, 1 + draw(other->size - from));
        return;
    }
    if (draw(2) == 0) {
        char byte = (char)draw(256);
        buf_add(mutant, &byte, 1);
        return;
    }
    buf_puts(mutant, pieces[draw(sizeof pieces / sizeof pieces[0])]);
}

/* mutate copies the input with one to four places changed. */
static void mutate(buf *mutant, const buf *input, const buf *other)
{
    size_t at = 0;
    for (uint64_t edits = 1 + draw(4); edits > 0; edits--) {
        size_t keep = draw(input->size - at + 1);
        buf_add(mutant, input->data + at, keep);
        at += keep;
        if (draw(2) == 0)
            add_noise(mutant, other);
        if (draw(2) == 0)
            at += draw(input->size - at < 9 ? input->size - at + 1 : 9);
    }
    buf_add(mutant, input->data + at, input->size - at);
}

static void run_all(const corpus *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const buf *input = &c->inputs[i];
        run_one(c->names[i], "whole file", 0, input->data, input->size);
        for (size_t cut = 0; cut < input->size && cut < CUTS_MAX; cut++)
            run_one(c->names[i], "first bytes:", cut, input->data, cut);
    }
    for (size_t i = 0; i < MUTATIONS; i++) {
        size_t which = i % c->count;
        SCOPED(buf_fini) buf mutant;
        buf_init(&mutant, MUTANT_MAX);
        mutate(&mutant, &c->inputs[which], &c->inputs[draw(c->count)]);
        run_one(c->names[which], "mutation", i, buf_text(&mutant), mutant.size);
    }
}

int main(int argc, char **argv)
{
    static corpus c;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    signal(SIGABRT, tell);
    signal(SIGSEGV, tell);
    signal(SIGFPE, tell);
    int rc = load(&c, argv[1]);
    if (rc == 0 && c.count == 0) {
        fprintf(stderr, "%s: no files\n", argv[1]);
        rc = -1;
    }
    if (rc == 0)
        run_all(&c);
    for (size_t i = 0; i < c.count; i++) {
        buf_fini(&c.inputs[i]);
        free(c.names[i]);
    }
    return rc == 0 ? 0 : 1;
}
