/* published - a copy of the database of docs/evidence/2026-11-30-h200-main-job
 *
 * Purpose:   a real run on an H200, with every record and sample: what packs and audits are tested on.
 * Ownership: as a fixture.
 * Threads:   one.
 * Errors:    a failed step fails the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_REPORTS_PUBLISHED_H
#define CE_TESTS_UNIT_REPORTS_PUBLISHED_H

#include "tests/unit/store/fixture.h"

#define PUBLISHED_RUN "01m8ptcb"

fixture *published_create(void);

#endif
