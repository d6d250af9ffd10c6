/* Occupancy: values of NVIDIA's occupancy calculator by compute capability.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/occupancy.h"

static void blocks_and_what_limits_them(void **state)
{
    (void)state;
    static const struct {
        occupancy_use use;
        occupancy is;
    } rows[] = {
        {{80, 256, 32, 0}, {8, 64, 64, "threads"}},
        {{80, 256, 40, 0}, {6, 48, 64, "registers"}},
        {{80, 256, 255, 0}, {1, 8, 64, "registers"}},
        {{80, 1024, 64, 0}, {1, 32, 64, "registers"}},
        {{80, 1024, 32, 0}, {2, 64, 64, "threads"}},
        {{80, 32, 16, 0}, {32, 32, 64, "blocks"}},
        {{80, 1, 16, 0}, {32, 32, 64, "blocks"}},
        {{80, 33, 16, 0}, {32, 64, 64, "threads"}},
        {{80, 768, 16, 0}, {2, 48, 64, "threads"}},
        {{80, 128, 32, 48 * 1024}, {3, 12, 64, "shared memory"}},
        {{80, 128, 32, 1}, {16, 64, 64, "threads"}},
        {{80, 256, 0, 0}, {8, 64, 64, "threads"}}, /* registers are not known */
        {{90, 128, 32, 48 * 1024}, {4, 16, 64, "shared memory"}},
        {{86, 256, 32, 0}, {6, 48, 48, "threads"}},
        {{87, 32, 16, 0}, {16, 16, 48, "blocks"}}, /* counts as 8.6 */
        {{70, 32, 16, 0}, {32, 32, 64, "blocks"}}, /* as the oldest */
        {{999, 32, 16, 0}, {32, 32, 64, "blocks"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const occupancy o = occupancy_of(&rows[i].use);
        assert_int_equal(o.blocks, rows[i].is.blocks);
        assert_int_equal(o.warps, rows[i].is.warps);
        assert_int_equal(o.warps_max, rows[i].is.warps_max);
        assert_string_equal(o.limit, rows[i].is.limit);
    }
}

static void what_does_not_fit_has_no_blocks(void **state)
{
    (void)state;
    const occupancy_use too_many = {80, 1024, 255, 0};
    const occupancy_use too_much = {80, 32, 16, 200 * 1024};
    assert_int_equal(occupancy_of(&too_many).blocks, 0);
    assert_string_equal(occupancy_of(&too_many).limit, "registers");
    assert_int_equal(occupancy_of(&too_much).blocks, 0);
    assert_string_equal(occupancy_of(&too_much).limit, "shared memory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_what_limits_them),
        cmocka_unit_test(what_does_not_fit_has_no_blocks),
    };
    return cmocka_run_group_tests_name("occupancy", tests, NULL, NULL);
}
