/* test_fault - what CUDA error numbers say of a candidate
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cuda.h>
#include <string.h>

#include "agent-node/runner/fault.h"

typedef struct fault_case {
    int64_t native;
    fault_when when;
    outcome want; /* OUTCOME_OK: a harness error */
    const char *detail;
} fault_case;

static const fault_case cases[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, FAULT_AT_WAIT, OUTCOME_OUT_OF_BOUNDS, "access"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, FAULT_AT_LAUNCH, OUTCOME_OUT_OF_BOUNDS, "access"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, FAULT_AT_WAIT, OUTCOME_OUT_OF_BOUNDS, "access"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, FAULT_AT_WAIT, OUTCOME_OUT_OF_BOUNDS, "misaligned"},
    {CUDA_ERROR_LAUNCH_FAILED, FAULT_AT_WAIT, OUTCOME_CRASHED, "trap"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, FAULT_AT_WAIT, OUTCOME_CRASHED, "instruction"},
    {CUDA_ERROR_ASSERT, FAULT_AT_WAIT, OUTCOME_CRASHED, "assert"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, FAULT_AT_WAIT, OUTCOME_CRASHED, "stack"},
    {CUDA_ERROR_INVALID_PC, FAULT_AT_WAIT, OUTCOME_CRASHED, "pc"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, FAULT_AT_WAIT, OUTCOME_HUNG, ""},
    {CUDA_ERROR_INVALID_VALUE, FAULT_AT_LAUNCH, OUTCOME_LAUNCH_FAILED, "configuration"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, FAULT_AT_LAUNCH, OUTCOME_LAUNCH_FAILED, "resources"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, FAULT_AT_LAUNCH, OUTCOME_LAUNCH_FAILED, "resources"},
    {CUDA_ERROR_NOT_FOUND, FAULT_AT_LAUNCH, OUTCOME_LAUNCH_FAILED, "entry"},
    {CUDA_ERROR_INVALID_IMAGE, FAULT_AT_LOAD, OUTCOME_LAUNCH_FAILED, "load"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, FAULT_AT_LOAD, OUTCOME_LAUNCH_FAILED, "load"},
    {CUDA_ERROR_INVALID_PTX, FAULT_AT_LOAD, OUTCOME_LAUNCH_FAILED, "load"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, FAULT_AT_LOAD, OUTCOME_LAUNCH_FAILED, "load"},
    {CUDA_ERROR_OUT_OF_MEMORY, FAULT_AT_LOAD, OUTCOME_OK, NULL},
    {CUDA_ERROR_OUT_OF_MEMORY, FAULT_AT_LAUNCH, OUTCOME_OK, NULL},
    {CUDA_ERROR_INVALID_VALUE, FAULT_AT_WAIT, OUTCOME_OK, NULL},
    {CUDA_ERROR_ECC_UNCORRECTABLE, FAULT_AT_WAIT, OUTCOME_OK, NULL},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, FAULT_AT_WAIT, OUTCOME_OK, NULL},
    {CUDA_ERROR_UNKNOWN, FAULT_AT_WAIT, OUTCOME_OK, NULL},
    {CUDA_ERROR_ILLEGAL_ADDRESS, FAULT_AT_LOAD, OUTCOME_OK, NULL},
};

static void every_number_means_what_cuda_h_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        runner_verdict v;
        verdict_ok(&v);
        bool told = fault_judge(cases[i].native, cases[i].when, NULL, &v);
        assert_int_equal(told, cases[i].want != OUTCOME_OK);
        assert_int_equal(v.result, cases[i].want);
        assert_string_equal(v.detail, cases[i].detail != NULL ? cases[i].detail : "");
        assert_int_equal(*v.text != '\0', told);
    }
}

static void a_known_step_is_named_and_the_time_kept(void **state)
{
    (void)state;
    runner_verdict v;
    verdict_ok(&v);
    v.elapsed_us = 77;
    assert_true(fault_judge(CUDA_ERROR_INVALID_VALUE, FAULT_AT_LAUNCH, "/kernels/3", &v));
    assert_int_equal(strncmp(v.text, "/kernels/3: ", 12), 0);
    assert_int_equal(v.elapsed_us, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_means_what_cuda_h_says),
        cmocka_unit_test(a_known_step_is_named_and_the_time_kept),
    };
    return cmocka_run_group_tests_name("fault", tests, NULL, NULL);
}
