/* test_lineage - attempts and what each gained
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/stages/lineage.h"
#include "common/json.h"
#include "common/scoped.h"

static void a_step_is_told_with_its_comparison(void **state)
{
    (void)state;
    char purpose[] = "estimate", verdict[] = "faster", profile[] = "{\"bound\":\"memory\"}";
    comparison_record row = {.purpose = purpose,
                             .verdict = verdict,
                             .candidate_ms = 0.5,
                             .speedup = 2,
                             .gain = 1.25,
                             .kept = true,
                             .profile = profile};
    const stage_record record = {.comparisons = &row, .comparison_count = 1};
    static const lineage_step steps[] = {{4, OUTCOME_OK, 0}, {-1, OUTCOME_WRONG, -1}};
    lineage l = {0};
    lineage_add(&l, &steps[0]);
    lineage_add(&l, &steps[1]);
    SCOPED(scoped_free) char *text = lineage_json(&l, &record);
    lineage_fini(&l);
    assert_string_equal(
        text,
        "[{\"attempt\":4,\"bound\":\"memory\",\"candidate_ms\":0.5,\"gain\":1.25,\"kept\":true,"
        "\"outcome\":\"ok\",\"purpose\":\"estimate\",\"speedup\":2.0,\"verdict\":\"faster\"},"
        "{\"attempt\":null,\"bound\":null,\"candidate_ms\":null,\"gain\":null,\"kept\":false,"
        "\"outcome\":\"wrong\",\"purpose\":null,\"speedup\":null,\"verdict\":null}]");
}

static void an_empty_lineage_is_none(void **state)
{
    (void)state;
    const lineage l = {0};
    const stage_record record = {0};
    assert_null(lineage_json(&l, &record));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_told_with_its_comparison),
        cmocka_unit_test(an_empty_lineage_is_none),
    };
    return cmocka_run_group_tests_name("lineage", tests, NULL, NULL);
}
