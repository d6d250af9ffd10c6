/* filled - databases with known runs, filled through the store's own writers
 *
 * Purpose:   what the golden files in tests/data/reports were made from.
 * Ownership: fills a fixture's store.
 * Threads:   one.
 * Errors:    a failed step fails the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_REPORTS_FILLED_H
#define CE_TESTS_UNIT_REPORTS_FILLED_H

#include "tests/unit/store/fixture.h"

/* filled_cuda: run "run-cuda", complete: entrants gold and "mock:de|mo"; problems add, sum, scan, norm;
 * one sample. gold: 2.5, 0.8 (a loss), ok without a speed, 1.1. mock: wrong(unwritten), compile_failed,
 * 1.6, no_answer. */
void filled_cuda(fixture *f);
/* filled_newer: run "run-newer", complete, 500 s later: entrant "mock:two" on the same suite: add 2.55,
 * sum 1.2, scan wrong, norm 0.9. */
void filled_newer(fixture *f);
/* filled_fake: run "run-fake", complete on the fake device: gold, all ok with scripted times. */
void filled_fake(fixture *f);
/* filled_partial: run "run-part", interrupted: gold, 3 samples of problem add: one ok 1.5, one leased,
 * one given up. */
void filled_partial(fixture *f);

/* golden compares text with tests/data/reports/<name>; CE_UPDATE_GOLDEN=1 in the environment writes the
 * file instead. */
void golden(const char *name, const char *text);

#endif
