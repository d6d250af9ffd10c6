/* test_crier - what a command of the user's hears
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
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/json.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/crier.h"

static const char *const surroundings[] = {"PATH=/usr/bin:/bin", "ANTHROPIC_API_KEY=sk-secret",
                                           "CE_RUN=another", "HOOK_URL=http://example.org", NULL};

typedef struct place {
    char folder[64];
    char *heard; /* a file */
} place;

static place place_make(void)
{
    place p = {.folder = "/tmp/ce-hook-XXXXXX"};
    assert_non_null(mkdtemp(p.folder));
    p.heard = file_join(p.folder, "heard");
    return p;
}

static void place_fini(place *p)
{
    file_remove_tree(p->folder, NULL);
    free(p->heard);
}

/* $HEARD is the file. */
static void tell(const place *p, const char *script, const crier_word *words, size_t count)
{
    err e = {0};
    char command[1024];
    snprintf(command, sizeof command, "HEARD=%s; %s", p->heard, script);
    const crier_options how = {.command = command, .db = "x.db", .environment = surroundings};
    SCOPED(crier_destroy) crier *h = crier_create(&how, &e);
    assert_non_null(h);
    for (size_t i = 0; i < count; i++)
        crier_tell(h, &words[i]);
}

static char *read_heard(const place *p)
{
    SCOPED(buf_fini) buf text;
    err e = {0};
    buf_init(&text, 1 << 20);
    if (file_read(p->heard, &text, &e))
        fail_msg("%s", e.text);
    return buf_take(&text);
}

static void facts_are_in_the_environment_and_on_standard_input(void **state)
{
    (void)state;
    SCOPED(place_fini) place p = place_make();
    const crier_word word = {.event = CRIER_FINISH,
                             .run = "01jd",
                             .state = "complete",
                             .code = 0,
                             .text = "a \"quoted\" $(line)\nand another"};
    tell(&p, "{ env; echo ---; cat; } > $HEARD", &word, 1);
    SCOPED(scoped_free) char *text = read_heard(&p);
    static const char *const wanted[] = {"CE_EVENT=finish\n",
                                         "CE_RUN=01jd\n",
                                         "CE_STATE=complete\n",
                                         "CE_CODE=0\n",
                                         "CE_DB=x.db\n",
                                         "CE_MESSAGE=a \"quoted\" $(line)\nand another\n",
                                         "HOOK_URL=http://example.org\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (!strstr(text, wanted[i]))
            fail_msg("%s is not in\n%s", wanted[i], text);
    }
    assert_null(strstr(text, "sk-secret"));
    assert_null(strstr(text, "CE_RUN=another"));
    const char *document = strstr(text, "---\n") + 4;
    SCOPED(json_destroy) json *facts = json_parse_tree(document, strlen(document), "facts", NULL);
    assert_non_null(facts);
    assert_string_equal(json_str(json_get(facts, "message"), ""), word.text);
    assert_string_equal(json_str(json_get(facts, "event"), ""), "finish");
}

static void words_come_in_order_and_all_before_the_end(void **state)
{
    (void)state;
    SCOPED(place_fini) place p = place_make();
    const crier_word words[] = {
        {.event = CRIER_BUDGET}, {.event = CRIER_FINISH}, {.event = CRIER_DEAD_MAN}};
    tell(&p, "echo $CE_EVENT >> $HEARD", words, sizeof words / sizeof words[0]);
    SCOPED(scoped_free) char *text = read_heard(&p);
    assert_string_equal(text, "budget\nfinish\ndead_man\n");
}

/* Nobody waits for a command: telling returns while it stands still, and a full queue drops. */
static void telling_never_waits(void **state)
{
    (void)state;
    SCOPED(place_fini) place p = place_make();
    SCOPED(scoped_free) char *gate = file_join(p.folder, "gate");
    char command[1024];
    err e = {0};
    snprintf(command, sizeof command, "while ! test -e %s; do sleep 0.05; done; echo >> %s", gate,
             p.heard);
    const crier_options how = {.command = command, .db = "x.db", .environment = surroundings};
    SCOPED(scoped_close) int log = memfd_create("log", MFD_CLOEXEC);
    log_open("test", LOG_WARN, NULL, log);
    SCOPED(crier_destroy) crier *h = crier_create(&how, &e);
    const crier_word word = {.event = CRIER_FINISH};
    for (int i = 0; i < CRIER_QUEUE + 2; i++)
        crier_tell(h, &word);
    assert_false(file_exists(p.heard));
    assert_true(lseek(log, 0, SEEK_END) > 0); /* the last one was dropped, and that was said */
    assert_int_equal(file_write(gate, "", 0, &e), 0);
    crier_destroy(&h);
    SCOPED(scoped_free) char *text = read_heard(&p);
    assert_in_range(strlen(text), CRIER_QUEUE, CRIER_QUEUE + 1);
    log_open("test", LOG_OFF, NULL, STDERR_FILENO);
}

static void a_failure_is_logged(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"exit 3", "exited with 3"}, {"kill -9 $$", "SIGKILL"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(place_fini) place p = place_make();
        SCOPED(scoped_close) int log = memfd_create("log", MFD_CLOEXEC);
        char text[4096] = "";
        log_open("test", LOG_WARN, NULL, log);
        const crier_word word = {.event = CRIER_DEAD_MAN};
        tell(&p, rows[i][0], &word, 1);
        log_open("test", LOG_OFF, NULL, STDERR_FILENO);
        assert_true(pread(log, text, sizeof text - 1, 0) > 0);
        if (!strstr(text, rows[i][1]) || !strstr(text, "dead_man"))
            fail_msg("%s", text);
    }
}

static void nobody_is_told_nothing(void **state)
{
    (void)state;
    crier *none = NULL;
    const crier_word word = {.event = CRIER_FINISH};
    crier_tell(none, &word);
    crier_destroy(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_in_the_environment_and_on_standard_input),
        cmocka_unit_test(words_come_in_order_and_all_before_the_end),
        cmocka_unit_test(telling_never_waits),
        cmocka_unit_test(a_failure_is_logged),
        cmocka_unit_test(nobody_is_told_nothing),
    };
    return cmocka_run_group_tests_name("crier", tests, NULL, NULL);
}
