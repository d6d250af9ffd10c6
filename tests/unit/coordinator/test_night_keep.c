/* test_night_keep - the rule of what goes and what never does
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "coordinator/night_keep.h"

/* One letter a night, newest first: o open, g good, a good and accepted, w worse, p worse and published.
 * What becomes of it: F fixed with its pack, f fixed without, k kept, l kept without its pack, x goes. */
static void check(const char *nights, int64_t window, int64_t keep, int64_t packs, const char *want)
{
    enum { MOST = 16 };
    night_row rows[MOST] = {{0}};
    bool published[MOST] = {false};
    night_fate fates[MOST];
    night_list list = {rows, 0};
    for (; nights[list.count]; list.count++) {
        char c = nights[list.count];
        rows[list.count].verdict = c == 'o'               ? NIGHT_OPEN
                                   : c == 'g' || c == 'a' ? NIGHT_GOOD
                                                          : NIGHT_WORSE;
        rows[list.count].accepted = c == 'a';
        published[list.count] = c == 'p';
    }
    const night_config rules = {.window = window, .keep_nights = keep, .keep_packs = packs};
    night_keep_plan(&rules, &list, published, fates);
    for (size_t i = 0; i < list.count; i++) {
        char got = fates[i].goes    ? 'x'
                   : fates[i].fixed ? (fates[i].pack_goes ? 'f' : 'F')
                                    : (fates[i].pack_goes ? 'l' : 'k');
        if (got != want[i])
            fail_msg("%s: night %zu: %c, wanted %c", nights, i, got, want[i]);
    }
}

static void the_newest_stay_and_some_never_go(void **state)
{
    (void)state;
    check("wwww", 1, 2, 1, "klxx");
    check("wwgw", 1, 2, 1, "klFx"); /* the last good one, however old */
    check("wggw", 2, 1, 1, "kFfx"); /* what the gate looks back on, without its pack */
    check("wggw", 1, 1, 1, "kFxx");
    check("wwpw", 1, 1, 0, "lxFx"); /* published */
    check("owww", 1, 1, 0, "Fxxx"); /* at work */
    check("gagg", 7, 1, 1, "Ffxx"); /* before the accepted one the gate does not look */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_newest_stay_and_some_never_go)};
    return cmocka_run_group_tests_name("night_keep", tests, NULL, NULL);
}
