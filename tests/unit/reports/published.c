/* published - a copy of the database of docs/evidence/2026-11-30-h200-main-job
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/reports/published.h"

#include "common/file.h"
#include "common/scoped.h"

enum { FILE_MAX = 64 * 1024 * 1024 };

fixture *published_create(void)
{
    fixture *f = fixture_create();
    SCOPED(buf_fini) buf bytes = {0};
    buf_init(&bytes, FILE_MAX);
    store_destroy(&f->db);
    assert_int_equal(
        file_read(CE_SOURCE_DIR "/docs/evidence/2026-11-30-h200-main-job/ce.db", &bytes, NULL), 0);
    assert_int_equal(file_write(f->path, bytes.data, bytes.size, NULL), 0);
    fixture_reopen(f);
    return f;
}
