/* test_doctor - what is there is found, what is not is said with what to do
 *
 * The programs that the doctor asks are scripts here: they say what the real ones would on another host.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/doctor.h"

#define DEVICE                                                                           \
    "{\"devices\":[{\"device\":\"cuda:0\",\"name\":\"NVIDIA H200\",\"arch\":\"sm_90a\"," \
    "\"driver\":13000}],\"reason\":null}"

typedef struct world {
    char folder[64];
    char *programs, *python, *params;
} world;

static void put(const char *path, const char *text)
{
    err e = {0};
    assert_int_equal(file_write(path, text, strlen(text), &e), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

/* A program that answers each flag with a line. */
static void put_program(const world *w, const char *name, const char *probe, const char *profiler)
{
    SCOPED(scoped_free) char *path = file_join(w->programs, name);
    SCOPED(scoped_free)
    char *text =
        xasprintf("#!/bin/sh\nif [ \"$1\" = --profiler ]; then echo '%s'; else echo '%s'; fi\n",
                  profiler, probe);
    put(path, text);
}

static int set_up(void **state)
{
    world *w = xcalloc(1, sizeof *w);
    err e = {0};
    snprintf(w->folder, sizeof w->folder, "/tmp/ce-doctor-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    w->programs = file_join(w->folder, "bin");
    w->python = file_join(w->folder, "python3");
    w->params = file_join(w->folder, "params");
    assert_int_equal(file_mkdirs(w->programs, &e), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    world *w = *state;
    file_remove_tree(w->folder, NULL);
    free(w->programs);
    free(w->python);
    free(w->params);
    free(w);
    return 0;
}

static void furnish(const world *w)
{
    put_program(w, "ce-runner", DEVICE,
                "{\"library\":\"/opt/cuda/libcupti.so.13\",\"counters\":true,\"reason\":null}");
    put_program(
        w, "ce-compiler",
        "{\"sandbox\":\"landlock\",\"nvrtc\":\"13.0\",\"library\":\"/opt/cuda/libnvrtc.so.13\","
        "\"headers\":\"/opt/cuda/include\",\"reason\":null}",
        "");
    put(w->python, "#!/bin/sh\necho 2.11.0 13.0\n");
    put(w->params, "RmProfilingAdminOnly: 0\n");
}

static const doctor_finding *finding(const doctor_report *r, const char *name)
{
    for (size_t i = 0; i < DOCTOR_CHECKS; i++)
        if (strcmp(r->findings[i].name, name) == 0)
            return &r->findings[i];
    fail_msg("no check %s", name);
    return NULL;
}

static void examine(const world *w, const char *const *environment, doctor_report *out)
{
    const doctor_request request = {.programs = w->programs,
                                    .data = w->folder,
                                    .suites = CE_SOURCE_DIR "/suites",
                                    .python = w->python,
                                    .driver_params = w->params,
                                    .environment = environment};
    doctor_examine(&request, out);
}

static void a_host_with_everything_is_well(void **state)
{
    static const char *const environment[] = {"OPENAI_API_KEY=sk-not-to-be-told", NULL};
    static const struct {
        const char *name, *where;
    } rows[] = {{"driver", "cuda:0 NVIDIA H200 (sm_90a, driver's CUDA 13.0)"},
                {"nvrtc", "13.0, /opt/cuda/libnvrtc.so.13; headers: /opt/cuda/include"},
                {"sandbox", "landlock"},
                {"cupti", "/opt/cuda/libcupti.so.13"},
                {"counters", "for every user"},
                {"judge", "PyTorch and its CUDA 2.11.0 13.0"},
                {"suites", "/suites"},
                {"credentials", "OPENAI_API_KEY"}};
    doctor_report r SCOPED(doctor_fini) = {0};
    furnish(*state);
    examine(*state, environment, &r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const doctor_finding *f = finding(&r, rows[i].name);
        assert_true(f->found);
        assert_null(f->advice);
        assert_non_null(strstr(f->where, rows[i].where));
    }
    assert_true(doctor_well(&r));
}

static void an_empty_host_is_told_what_to_do(void **state)
{
    static const char *const environment[] = {"OPENAI_API_KEY=", "HOME=/root", NULL};
    static const struct {
        const char *name, *advice;
    } rows[] = {{"driver", "driver"},     {"nvrtc", "scripts/deps run"}, {"sandbox", "Landlock"},
                {"cupti", "CUPTI"},       {"counters", "no GPU"},        {"judge", "PyTorch"},
                {"credentials", "export"}};
    doctor_report r SCOPED(doctor_fini) = {0};
    examine(*state, environment, &r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const doctor_finding *f = finding(&r, rows[i].name);
        assert_false(f->found);
        assert_non_null(strstr(f->advice, rows[i].advice));
        assert_true(f->where[0] != '\0');
    }
    assert_false(doctor_well(&r));
}

static void no_gpu_is_no_reason_to_be_unwell(void **state)
{
    const world *w = *state;
    doctor_report r SCOPED(doctor_fini) = {0};
    furnish(w);
    put_program(w, "ce-runner", "{\"devices\":[],\"reason\":\"no NVIDIA driver\"}",
                "{\"library\":null,\"counters\":false,\"reason\":\"no libcupti\"}");
    examine(w, NULL, &r);
    assert_false(finding(&r, "driver")->found);
    assert_string_equal(finding(&r, "driver")->where, "no NVIDIA driver");
    assert_string_equal(finding(&r, "cupti")->where, "no libcupti");
    assert_true(doctor_well(&r));
}

static void each_needed_part_alone_makes_it_unwell(void **state)
{
    static const char *const answers[] = {
        "{\"sandbox\":null,\"nvrtc\":\"13.0\",\"library\":\"x\",\"headers\":\"y\",\"reason\":null}",
        "{\"sandbox\":\"landlock\",\"nvrtc\":null,\"library\":null,\"headers\":null,\"reason\":"
        "\"none\"}",
        "{\"sandbox\":\"landlock\",\"nvrtc\":\"13.0\",\"library\":\"x\",\"headers\":null,"
        "\"reason\":\"none\"}",
        "no JSON"};
    const world *w = *state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        doctor_report r SCOPED(doctor_fini) = {0};
        furnish(w);
        put_program(w, "ce-compiler", answers[i], "");
        examine(w, NULL, &r);
        assert_false(doctor_well(&r));
    }
}

static void a_compiler_newer_than_the_driver_is_not_looked_for(void **state)
{
    const world *w = *state;
    doctor_report r SCOPED(doctor_fini) = {0};
    furnish(w);
    SCOPED(scoped_free) char *path = file_join(w->programs, "ce-compiler");
    put(path, "#!/bin/sh\n[ \"$2\" = --max-major=13 ] || exit 1\n"
              "echo '{\"sandbox\":\"landlock\",\"nvrtc\":\"13.0\",\"headers\":\"y\"}'\n");
    examine(w, NULL, &r);
    assert_true(finding(&r, "nvrtc")->found);
    put_program(w, "ce-runner", "{\"devices\":[]}", "{}");
    doctor_fini(&r);
    examine(w, NULL, &r);
    assert_false(finding(&r, "nvrtc")->found);
}

static void a_pytorch_without_cuda_beside_a_gpu_is_told(void **state)
{
    const world *w = *state;
    doctor_report r SCOPED(doctor_fini) = {0};
    furnish(w);
    put(w->python, "#!/bin/sh\necho 1.13.1 None\n");
    examine(w, NULL, &r);
    assert_true(finding(&r, "judge")->found);
    assert_non_null(strstr(finding(&r, "judge")->advice, "no CUDA"));
}

static void a_key_in_a_file_is_named_and_no_value_is_told(void **state)
{
    const world *w = *state;
    SCOPED(scoped_free) char *file = file_join(w->folder, "GEMINI_API_KEY");
    SCOPED(scoped_free) char *folder = xasprintf("CE_CREDENTIALS=%s", w->folder);
    const char *const environment[] = {folder, "X_API_KEY=sk-secret", NULL};
    doctor_report r SCOPED(doctor_fini) = {0};
    furnish(w);
    put(file, "sk-secret\n");
    examine(w, environment, &r);
    assert_string_equal(finding(&r, "credentials")->where, "GEMINI_API_KEY (file), X_API_KEY");
    SCOPED(json_destroy) json *document = doctor_json(&r);
    SCOPED(scoped_free) char *text = json_dump(document);
    assert_null(strstr(text, "sk-secret"));
}

static void a_database_folder_that_is_to_be_made_is_looked_for_above(void **state)
{
    const world *w = *state;
    doctor_report r SCOPED(doctor_fini) = {0};
    SCOPED(scoped_free) char *deep = file_join(w->folder, "not/yet/there");
    const doctor_request request = {.programs = w->programs, .data = deep, .python = w->python};
    furnish(w);
    doctor_examine(&request, &r);
    assert_true(strncmp(finding(&r, "disk")->where, w->folder, strlen(w->folder)) == 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_host_with_everything_is_well),
        TEST(an_empty_host_is_told_what_to_do),
        TEST(no_gpu_is_no_reason_to_be_unwell),
        TEST(each_needed_part_alone_makes_it_unwell),
        TEST(a_compiler_newer_than_the_driver_is_not_looked_for),
        TEST(a_pytorch_without_cuda_beside_a_gpu_is_told),
        TEST(a_key_in_a_file_is_named_and_no_value_is_told),
        TEST(a_database_folder_that_is_to_be_made_is_looked_for_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
