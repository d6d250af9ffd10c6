/* test_evidence - packing and verifying; tests/service/evidence.py tries every kind of tampering
 *
 * Modules: closure parcel derive signature checkout
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "reports/checkout.h"
#include "reports/closure.h"
#include "reports/evidence.h"
#include "reports/folder.h"
#include "store/run.h"
#include "tests/unit/reports/published.h"

enum { TEXT_MAX = 16 * 1024 * 1024 };

static evidence_pack pack(fixture *f, const char *folder, keyscan_list secrets)
{
    evidence_pack made = {0};
    err e = {0};
    const evidence_order order = {
        .run = PUBLISHED_RUN, .folder = folder, .version = "1", .secrets = secrets};
    if (evidence_write(f->db, &order, &made, &e) < 0)
        fail_msg("%s", e.text);
    return made;
}

static evidence_verdict verify(const char *folder, buf *findings, buf *notes)
{
    evidence_verdict verdict = {.notes = notes};
    const evidence_ask ask = {.folder = folder, .version = "1"};
    err e = {0};
    buf_init(findings, TEXT_MAX);
    buf_init(notes, TEXT_MAX);
    if (evidence_verify(&ask, &verdict, findings, &e) < 0)
        fail_msg("%s", e.text);
    return verdict;
}

static void a_pack_holds_and_is_the_same_again(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(buf_fini) buf findings = {0};
    SCOPED(buf_fini) buf notes = {0};
    SCOPED(scoped_free) char *first = file_join(f->folder, "first");
    SCOPED(scoped_free) char *second = file_join(f->folder, "deeper/second");
    const evidence_pack one = pack(f, first, NULL), two = pack(f, second, NULL);
    assert_true(hash_equal(&one.manifest, &two.manifest));
    assert_int_equal(one.counts.withheld + one.counts.masked, 0);
    const evidence_verdict verdict = verify(first, &findings, &notes);
    assert_string_equal(buf_text(&findings), "");
    assert_string_equal(buf_text(&notes), "");
    assert_int_equal(verdict.audit.speedups, 8);
    assert_true(hash_equal(&verdict.manifest, &one.manifest));
    err e = {0};
    const evidence_order full = {.run = PUBLISHED_RUN, .folder = first, .version = "1"};
    evidence_pack none;
    assert_int_equal(evidence_write(f->db, &full, &none, &e), -1);
    assert_int_equal(e.code, ERR_USAGE);
}

/* What an environment knows to be secret takes the texts with it, also rows. */
static void a_known_secret_stays(void **state)
{
    (void)state;
    static const char *const secrets[] = {"rms_norm_fp16", NULL}; /* in prompts, specs and rows */
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(folder_list_fini) folder_list files = {0};
    SCOPED(scoped_free) char *folder = file_join(f->folder, "pack");
    const evidence_pack made = pack(f, folder, secrets);
    assert_true(made.counts.withheld > 0 && made.counts.masked > 0);
    assert_int_equal(folder_read(folder, &files, NULL), 0);
    for (size_t i = 0; i < files.count; i++) {
        SCOPED(scoped_free) char *path = file_join(folder, files.paths[i]);
        SCOPED(buf_fini) buf text = {0};
        buf_init(&text, TEXT_MAX);
        assert_int_equal(file_read(path, &text, NULL), 0);
        if (memmem(buf_text(&text), text.size, secrets[0], strlen(secrets[0])) != NULL)
            fail_msg("%s", files.paths[i]);
    }
}

static int closure_fn(store_tx *tx, void *arg, err *e)
{
    SCOPED(run_row_fini) run_row run = {0};
    return run_find(tx, PUBLISHED_RUN, &run, e) < 0 ? -1 : closure_read(tx, run.id, NULL, arg, e);
}

static void a_closure_has_what_records_name(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(closure_fini) closure all = {0};
    fixture_do(f, closure_fn, &all);
    for (size_t i = 1; i < all.count; i++)
        assert_true(memcmp(all.rows[i - 1].name.bytes, all.rows[i].name.bytes, HASH_SIZE) < 0);
    /* KernelSpecs are named by nothing but stage records. */
    SCOPED(closure_fini) closure fewer = {0};
    fixture_exec(f, "UPDATE stage_result SET record = (SELECT min(samples) FROM measurement) WHERE "
                    "stage = 'interview'");
    fixture_do(f, closure_fn, &fewer);
    assert_true(fewer.count < all.count - 8);
}

static void code_is_told_by_git(void **state)
{
    (void)state;
    SCOPED(checkout_fini) checkout code = {0};
    err e = {0};
    if (checkout_read("/", NULL, &code, &e) == 0)
        skip(); /* the root is a checkout */
    assert_true(e.code == ERR_CONFIG || e.code == ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "git"));
}

static void a_signature_of_nobody_is_refused(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(scoped_free) char *file = file_join(f->folder, "x");
    SCOPED(scoped_free) char *sig = file_join(f->folder, "x.sig");
    const signature_ask ask = {NULL, NULL};
    err e = {0};
    assert_int_equal(file_write(file, "x", 1, NULL), 0);
    assert_int_equal(file_write(sig, "no signature", 12, NULL), 0);
    assert_int_equal(signature_check(file, &ask, &e), -1);
    assert_true(e.code == ERR_CONFIG || e.code == ERR_UNAVAILABLE);
    assert_int_equal(signature_make(file, "/nowhere/key", NULL, &e), -1);
    assert_false(file_exists(sig)); /* an old one does not stay */
}

static void a_page_has_board_and_hash(void **state)
{
    (void)state;
    char hex[HASH_HEX];
    SCOPED(fixture_destroy) fixture *f = published_create();
    SCOPED(scoped_free) char *folder = file_join(f->folder, "pack");
    SCOPED(buf_fini) buf page = {0};
    err e = {0};
    buf_init(&page, TEXT_MAX);
    const evidence_pack made = pack(f, folder, NULL);
    if (evidence_document(folder, &page, &e) < 0)
        fail_msg("%s", e.text);
    hash_hex(&made.manifest, hex);
    const char *const wanted[] = {"# Evidence: internal", "What was not tested",
                                  "| sum_reduction_fp32", hex};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_non_null(strstr(buf_text(&page), wanted[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pack_holds_and_is_the_same_again),
        cmocka_unit_test(a_known_secret_stays),
        cmocka_unit_test(a_closure_has_what_records_name),
        cmocka_unit_test(code_is_told_by_git),
        cmocka_unit_test(a_signature_of_nobody_is_refused),
        cmocka_unit_test(a_page_has_board_and_hash),
    };
    return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
