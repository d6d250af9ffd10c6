/* test_redact - texts go for good, from the file too; what others need stays
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/artifact.h"
#include "store/call.h"
#include "store/redact.h"
#include "store/task.h"
#include "tests/unit/store/fixture.h"

/* No compressor makes this shorter, so it lies in the file as it is. */
static const char prompt[] = "q8#Zr!4vLx0@TnW7pKd2$MfYb9^HsJc5&GgEaUu3*RiOo6(VqXw1)CeDt+NlBk-SyPz";
static const char answer[] = "7Hd^2kQz@9pLm#4xVb!0wTc&6nRj$1sYf*8gUe(3aXo)5iKq+Z-WtCrGvBlNhMyEuJ";
static const char extra[] = "Zx0@Qw9#Er8$Ty7%Ui6^Op5&As4*Df3(Gh2)Jk1_Lq+Wz-Xe=Cr{Vt}By[Nu]Mi;Ko";
static const char kernel[] = "K1!k2@k3#k4$k5%k6^k7&k8*k9(k0)kA_kB+kC-kD=kE{kF}kG[kH]kI;kJ:kK<kL>";

typedef struct step {
    redact_request request;
    redact_counts counts;
    call_row call;
    const char *task;
} step;

static int grant_fn(store_tx *tx, void *arg, err *e)
{
    return task_grant(tx, ((step *)arg)->task, "node", 1, 2000, e);
}

static int call_fn(store_tx *tx, void *arg, err *e)
{
    const step *s = arg;
    return call_put(tx, s->task, 1, &s->call, 3000, e);
}

static int redact_fn(store_tx *tx, void *arg, err *e)
{
    step *s = arg;
    return redact_run(tx, &s->request, &s->counts, e);
}

static void put_call(fixture *f, const char *task, const char *question, const char *text)
{
    step s = {.task = task,
              .call = {.stage = "codegen",
                       .provider = "mock",
                       .model = "m",
                       .prompt = fixture_text(f, question),
                       .answer = fixture_text(f, text),
                       .stop = "ok",
                       .tokens_in = 1,
                       .tokens_out = 1,
                       .latency_ms = 1,
                       .record = fixture_text(f, "{}")}};
    fixture_do(f, grant_fn, &s);
    fixture_do(f, call_fn, &s);
}

static bool in_file(const char *path, const char *text)
{
    SCOPED(buf_fini) buf bytes = {0};
    buf_init(&bytes, 64 * 1024 * 1024);
    return file_exists(path) && file_read(path, &bytes, NULL) == 0 &&
           memmem(bytes.data, bytes.size, text, strlen(text)) != NULL;
}

/* Is the text in the database, in its free pages, or in the WAL? */
static bool traced(const fixture *f, const char *text)
{
    char wal[128];
    snprintf(wal, sizeof wal, "%s-wal", f->path);
    return in_file(f->path, text) || in_file(wal, text);
}

static step redact(fixture *f, bool apply, const hash *also)
{
    step s = {.request = {.run = "run1",
                          .also = also,
                          .also_count = also != NULL,
                          .apply = apply,
                          .now_ms = 5000}};
    fixture_do(f, redact_fn, &s);
    return s;
}

static void texts_go_and_the_rest_stays(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    put_call(f, "task1", prompt, answer);
    hash spec = fixture_text(f, extra);
    fixture_text(f, kernel);
    assert_true(traced(f, prompt) && traced(f, answer) && traced(f, extra));
    step look = redact(f, false, &spec);
    assert_true(look.counts.texts >= 3);
    assert_int_equal(fixture_count(f, "run WHERE redacted_ms IS NOT NULL"), 0);
    int64_t rows = fixture_count(f, "artifact");
    step done = redact(f, true, &spec);
    assert_int_equal(done.counts.texts, look.counts.texts);
    store_destroy(&f->db);
    err e = {0};
    assert_int_equal(redact_compact(f->path, &e), 0);
    assert_false(traced(f, prompt) || traced(f, answer) || traced(f, extra));
    assert_true(traced(f, kernel));
    fixture_reopen(f);
    assert_int_equal(fixture_count(f, "artifact"), rows); /* the hashes stay */
    assert_int_equal(fixture_count(f, "model_call WHERE answer IS NOT NULL"), 1);
    assert_int_equal(fixture_count(f, "run WHERE redacted_ms = 5000"), 1);
    step again = redact(f, true, &spec);
    assert_int_equal(again.counts.texts, 0);
    assert_int_equal(fixture_count(f, "run WHERE redacted_ms = 5000"), 1);
}

/* An answer that came too late is in no call, but it is that run's all the same. */
static void texts_that_came_too_late_go_too(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    hash name = fixture_text(f, answer);
    char hex[HASH_HEX];
    hash_hex(&name, hex);
    SCOPED(scoped_free)
    char *sql =
        xasprintf("INSERT INTO late (at_ms, task, kind, node, token, newest, state, reason, "
                  "record) VALUES (1, 'task1', 'call', 'n', 1, 2, 'leased', 'r', "
                  "'{\"answer\":\"%s\",\"prompt\":null}')",
                  hex);
    fixture_exec(f, sql);
    redact(f, true, NULL);
    store_destroy(&f->db);
    err e = {0};
    assert_int_equal(redact_compact(f->path, &e), 0);
    assert_false(traced(f, answer));
    fixture_reopen(f);
}

static int get_fn(store_tx *tx, void *arg, err *e)
{
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, 4096);
    return artifact_get(tx, arg, &out, e);
}

static void a_redacted_text_says_so_and_can_be_put_again(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    put_call(f, "task1", prompt, answer);
    redact(f, true, NULL);
    hash name = hash_of_text(answer);
    assert_non_null(strstr(fixture_fails(f, get_fn, &name, ERR_NOT_FOUND), "was redacted"));
    fixture_text(f, answer);
    fixture_do(f, get_fn, &name);
}

static void what_another_run_needs_stays_until_it_is_redacted_too(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_seed(f);
    put_call(f, "task1", prompt, answer);
    fixture_exec(
        f, "INSERT INTO run SELECT 'run0', created_ms, finished_ms, state, suite, suite_version, "
           "suite_hash, device, seed, samples, correct_protocol, timing_protocol, settings, "
           "command, version, budget_usd, redacted_ms, kind, opened FROM run WHERE id = 'run1'; "
           "INSERT INTO problem SELECT 'run0', id, position, title, category, dtype, contract, "
           "contract_hash, prompt, reference, gold_source, gold_plan FROM problem "
           "WHERE run = 'run1'");
    /* The fixture's specs are its prompts: what is kept elsewhere stays. */
    fixture_exec(f, "UPDATE task SET spec = (SELECT record FROM model_call LIMIT 1)");
    step one = redact(f, true, NULL);
    assert_true(one.counts.texts == 2 && one.counts.shared > 0);
    fixture_exec(f, "UPDATE run SET redacted_ms = 1 WHERE id = 'run0'");
    step two = redact(f, true, NULL);
    assert_int_equal(two.counts.texts, one.counts.shared);
    assert_int_equal(two.counts.shared, 0);
}

static void a_file_in_use_is_not_rewritten(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    err e = {0};
    assert_int_equal(redact_compact(f->path, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_go_and_the_rest_stays),
        cmocka_unit_test(texts_that_came_too_late_go_too),
        cmocka_unit_test(a_redacted_text_says_so_and_can_be_put_again),
        cmocka_unit_test(what_another_run_needs_stays_until_it_is_redacted_too),
        cmocka_unit_test(a_file_in_use_is_not_rewritten),
    };
    return cmocka_run_group_tests_name("redact", tests, NULL, NULL);
}
