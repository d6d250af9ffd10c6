/* test_metrics - the text that a scrape gets
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "common/scoped.h"
#include "dashboards/metrics.h"
#include "tests/unit/reports/filled.h"

static void has(const buf *text, const char *line)
{
    if (strstr(buf_text(text), line) == NULL)
        fail_msg("\"%s\" is not in\n%s", line, buf_text(text));
}

static void hasnt(const buf *text, const char *word)
{
    if (strstr(buf_text(text), word) != NULL)
        fail_msg("\"%s\" is in\n%s", word, buf_text(text));
}

static void what_is_not_known_is_not_shown(void **state)
{
    (void)state;
    SCOPED(metrics_destroy) metrics *m = metrics_create("0.1.0");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, METRICS_TEXT_MAX);
    metrics_set(m, METRICS_LEASES_ACTIVE, 3);
    metrics_copy(m, false, 1000, &out);
    has(&out, "ce_build_info{version=\"0.1.0\"} 1\n");
    has(&out, "# TYPE ce_leases_active gauge\nce_leases_active 3\n");
    hasnt(&out, "ce_budget_remaining_usd");
    hasnt(&out, "ce_results");
    hasnt(&out, "# EOF");
}

static void the_totals_are_those_of_the_database(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    fixture_exec(f, "INSERT INTO night (series, folder, began_ms, ended_ms, verdict) VALUES "
                    "('a100', '/n', 1000, 2500, 'good'), ('h200', '/n', 1000, 3500, 'worse')");
    SCOPED(metrics_destroy) metrics *m = metrics_create("0.1.0");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, METRICS_TEXT_MAX);
    metrics_refresh(m, f->db, false, 1000);
    metrics_copy(m, false, 3500, &out);
    has(&out, "# TYPE ce_results_total counter\n");
    has(&out, "ce_results_total{suite=\"internal\",outcome=\"ok\"} 5\n");
    has(&out, "ce_results_total{suite=\"internal\",outcome=\"wrong\"} 1\n");
    has(&out, "ce_runs{state=\"complete\"} 1\n");
    has(&out, "ce_fenced_results_total 0\n");
    has(&out, "ce_model_calls_total{provider=\"mock\",model=\"demo\"} 10\n");
    has(&out, "ce_tokens_total{provider=\"mock\",model=\"demo\",kind=\"in\"} 10000\n");
    has(&out, "ce_cost_unknown_calls_total{provider=\"mock\",model=\"demo\"} 1\n");
    has(&out, "ce_task_duration_seconds_bucket{le=\"+Inf\"} 8\n");
    has(&out, "ce_task_duration_seconds_count 8\n");
    has(&out, "ce_metrics_age_seconds 2.5\n");
    has(&out, "ce_nightly_last_success_timestamp_seconds{series=\"a100\"} 2.5\n");
    has(&out, "ce_nightly_last_success_timestamp_seconds{series=\"h200\"} 0\n");
    has(&out, "ce_last_complete_run_timestamp_seconds 1764520090\n");
}

static void openmetrics_names_a_counter_without_total(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    filled_cuda(f);
    SCOPED(metrics_destroy) metrics *m = metrics_create("0.1.0");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, METRICS_TEXT_MAX);
    metrics_refresh(m, f->db, true, 1000);
    metrics_copy(m, true, 1000, &out);
    has(&out, "# TYPE ce_results counter\nce_results_total{");
    assert_string_equal(buf_text(&out) + out.size - 6, "# EOF\n");
}

static void totals_are_read_when_there_is_news_and_it_is_time(void **state)
{
    (void)state;
    static const struct {
        bool news;
        int64_t at_ms;
        const char *age; /* at that time */
    } steps[] = {
        {false, 1000, "ce_metrics_age_seconds 0\n"},   /* the first */
        {false, 90000, "ce_metrics_age_seconds 89\n"}, /* no news */
        {true, 100000, "ce_metrics_age_seconds 0\n"},
        {true, 100500, "ce_metrics_age_seconds 0.5\n"}, /* too early, kept in mind … */
        {false, 190000, "ce_metrics_age_seconds 0\n"},  /* … until it is time */
    };
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    SCOPED(metrics_destroy) metrics *m = metrics_create("0.1.0");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        SCOPED(buf_fini) buf out = {0};
        buf_init(&out, METRICS_TEXT_MAX);
        metrics_refresh(m, f->db, steps[i].news, steps[i].at_ms);
        metrics_copy(m, false, steps[i].at_ms, &out);
        has(&out, steps[i].age);
    }
}

static void a_label_is_escaped(void **state)
{
    (void)state;
    SCOPED(fixture_destroy) fixture *f = fixture_create();
    fixture_exec(f, "INSERT INTO event (at_ms, kind) VALUES (1, 'a\"b\\c' || char(10) || 'd')");
    SCOPED(metrics_destroy) metrics *m = metrics_create("0.1.0");
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, METRICS_TEXT_MAX);
    metrics_refresh(m, f->db, true, 1000);
    metrics_copy(m, false, 1000, &out);
    has(&out, "ce_events_total{kind=\"a\\\"b\\\\c\\nd\"} 1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_is_not_shown),
        cmocka_unit_test(the_totals_are_those_of_the_database),
        cmocka_unit_test(openmetrics_names_a_counter_without_total),
        cmocka_unit_test(totals_are_read_when_there_is_news_and_it_is_time),
        cmocka_unit_test(a_label_is_escaped),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
