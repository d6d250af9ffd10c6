/* test_nvml - what a card says, from a library that stands in for the driver's
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/nvml.h"

static void readings_are_the_cards(void **state)
{
    (void)state;
    err e = {0};
    nvml_reading now;
    nvml *card = nvml_open("GPU-mock", &e);
    if (card == NULL)
        fail_msg("%s", e.text);
    nvml_read(card, &now);
    assert_int_equal(now.sm_mhz, 1755);
    assert_int_equal(now.memory_mhz, 2619);
    assert_int_equal(now.reasons, NVML_SW_POWER);
    assert_int_equal(now.power_mw, -1); /* the library has no such function */
    assert_int_equal(now.foreign, 1);   /* this process is ours, process 1 is not */
    nvml_close(&card);
    assert_null(card);
    nvml_close(&card);
}

static void facts_say_what_is_not_told(void **state)
{
    (void)state;
    err e = {0};
    nvml_facts facts;
    nvml *card = nvml_open("GPU-mock", &e);
    assert_non_null(card);
    nvml_get_facts(card, &facts);
    assert_string_equal(facts.driver, "580.0");
    assert_string_equal(facts.vbios, "");
    assert_int_equal(facts.mig, 0);
    assert_int_equal(facts.mps, 0);
    assert_int_equal(facts.ecc, -1);
    assert_int_equal(facts.sm_max_mhz, 1980);
    assert_int_equal(facts.sm_default_mhz, 1980); /* the application clock is not told */
    nvml_close(&card);
}

static void an_unknown_card_is_unavailable(void **state)
{
    (void)state;
    err e = {0};
    assert_null(nvml_open("GPU-other", &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "GPU-other"));
}

int main(int argc, char **argv)
{
    (void)argc;
    if (getenv("CE_MOCK_NVML") == NULL) { /* the loader reads its path once: start anew */
        setenv("CE_MOCK_NVML", "1", 1);
        setenv("LD_LIBRARY_PATH", CE_BINARY_DIR "/tests/mock_nvml", 1);
        execv("/proc/self/exe", argv);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readings_are_the_cards),
        cmocka_unit_test(facts_say_what_is_not_told),
        cmocka_unit_test(an_unknown_card_is_unavailable),
    };
    return cmocka_run_group_tests_name("nvml", tests, NULL, NULL);
}
