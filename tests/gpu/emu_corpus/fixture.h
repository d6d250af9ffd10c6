/* fixture - what a GPU gave for the rows of the corpus
 *
 * Purpose:   a compact file, written once on a GPU and read by tests on any host. A row is found by its
 *            hash (instruction, PTX and operands), so that a changed row is missing, never compared.
 * Ownership: fixture_read and fixture_create give an owned fixture.
 * Threads:   one owner.
 * Errors:    ERR_NOT_FOUND without the file, ERR_CONFIG when it is no fixture.
 *
 * File: "ce-emu-1\n", the device's name and '\n', then per row: hash (4 bytes), length (2), data. Data holds
 * the results thread after thread, each in as many bytes as its kind has; a predicate takes one. All
 * little endian.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_GPU_EMU_CORPUS_FIXTURE_H
#define CE_TESTS_GPU_EMU_CORPUS_FIXTURE_H

#include "common/err.h"
#include "tests/gpu/emu_corpus/corpus.h"

enum { FIXTURE_MAX = 4 << 20 };

typedef struct fixture fixture;

fixture *fixture_create(const char *device);
fixture *fixture_read(const char *path, err *e);
void fixture_destroy(fixture **self);
const char *fixture_device(const fixture *self);
/* fixture_row gives the two words of every thread; false: the row is not there. */
bool fixture_row(const fixture *self, const corpus_row *row, uint64_t *out);
void fixture_add(fixture *self, const corpus_row *row, const uint64_t *results);
int fixture_write(const fixture *self, const char *path, err *e);

#endif
