/* One compile without the pool: inside both kinds of sandbox, and the compiler's key.
 *
 * Modules: nvrtc standard
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
#include <sys/wait.h>
#include <unistd.h>

#include "agent-node/compiler/build.h"
#include "agent-node/compiler/sandbox.h"
#include "agent-node/compiler/standard.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { CANNOT = 10, NO_SANDBOX, NO_COMPILE, SEEN };

static builder tool;
static include_set headers;

static int open_tool(void **state)
{
    (void)state;
    err e;
    nvrtc_options options = {.path = NULL};
    tool.compiler = nvrtc_open(&options, &e);
    if (tool.compiler == NULL ||
        include_find(NULL, 0, nvrtc_path(tool.compiler), &headers, &e) != 0) {
        printf("skipped: %s\n", e.text);
        exit(77);
    }
    tool.headers = &headers;
    return 0;
}

static int close_tool(void **state)
{
    (void)state;
    include_fini(&headers);
    nvrtc_close(&tool.compiler);
    return 0;
}

static outcome compile(const char *source, bool *log_has_file)
{
    err e = {.text = ""};
    SCOPED(message_fini) message answer;
    struct row_entry row = {.name = (char *)(uintptr_t) "k"};
    struct msg_compile job = {.arch = (char *)(uintptr_t) "sm_90a",
                              .line_info = true,
                              .source = (char *)(uintptr_t)source,
                              .entries = &row,
                              .entries_count = 1};
    message_init(&answer, MSG_COMPILED);
    if (build_run(&tool, &job, &answer.body.compiled, &e) != 0)
        return OUTCOME_NOT_RUN;
    *log_has_file = strstr(answer.body.compiled.log, "root:") != NULL;
    return (outcome)answer.body.compiled.outcome;
}

static void compile_locked(sandbox_kind kind)
{
    const char *paths[INCLUDE_MAX + 1];
    size_t count = 0;
    err e = {.text = ""};
    bool seen = false;
    SCOPED(scoped_free) char *library = xstrdup(nvrtc_path(tool.compiler));
    *strrchr(library, '/') = '\0';
    for (size_t i = 0; i < headers.count; i++)
        paths[count++] = headers.folders[i];
    paths[count++] = library;
    sandbox_options options = {paths, count, 4LL << 30};
    if (build_warm_up(&tool, &e) != 0)
        _exit(CANNOT);
    if (sandbox_enter(kind, &options, &e) != 0)
        _exit(NO_SANDBOX);
    static const char good[] = "#include <cuda_fp16.h>\n#include <cub/block/block_reduce.cuh>\n"
                               "extern \"C\" __global__ void k(__half *y) { y[0] = hsin(y[1]); }\n";
    if (compile(good, &seen) != OUTCOME_OK)
        _exit(NO_COMPILE);
    if (compile("#include \"/etc/passwd\"\n", &seen) != OUTCOME_COMPILE_FAILED || seen)
        _exit(SEEN);
    _exit(0);
}

static void check_kind(sandbox_kind kind)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        compile_locked(kind);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_SANDBOX) {
        printf("%s cannot be entered on this host\n", sandbox_name(kind));
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_compiler_under_landlock_sees_its_headers_only(void **state)
{
    (void)state;
    check_kind(SANDBOX_LANDLOCK);
}

static void a_compiler_in_a_namespace_sees_its_headers_only(void **state)
{
    (void)state;
    check_kind(SANDBOX_NAMESPACE);
}

static void without_a_sandbox_the_file_would_be_seen(void **state)
{
    (void)state;
    bool seen = false;
    assert_int_equal(compile("#include \"/etc/passwd\"\n", &seen), OUTCOME_COMPILE_FAILED);
    assert_true(seen);
}

static void standard_headers_are_given_by_their_names(void **state)
{
    (void)state;
    const standard_set *given = standard_headers();
    assert_in_range(given->count, 1, STANDARD_MAX);
    for (size_t i = 0; i < given->count; i++) {
        bool seen = false;
        SCOPED(scoped_free)
        char *source = xasprintf("#include <%s>\n#include \"%s\"\nextern \"C\" __global__ void "
                                 "k(float *y) { y[0] = 1; }\n",
                                 given->names[i], given->names[i]);
        if (compile(source, &seen) != OUTCOME_OK)
            fail_msg("%s does not compile alone", given->names[i]);
    }
}

static void the_key_depends_on_the_headers(void **state)
{
    (void)state;
    hash whole;
    hash part;
    include_set fewer = headers;
    builder other = {tool.compiler, &fewer};
    fewer.count = 0;
    assert_int_equal(build_key(&tool, &whole, NULL), 0);
    assert_int_equal(build_key(&other, &part, NULL), 0);
    assert_false(hash_equal(&whole, &part));
}

static void a_library_of_the_wrong_major_is_not_opened(void **state)
{
    (void)state;
    err e = {.text = ""};
    nvrtc_options options = {.path = nvrtc_path(tool.compiler), .max_major = 11};
    assert_null(nvrtc_open(&options, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    options = (nvrtc_options){.path = "/bin/sh"};
    assert_null(nvrtc_open(&options, &e));
    assert_non_null(strstr(e.text, "/bin/sh cannot be used as NVRTC"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_sandbox_the_file_would_be_seen),
        cmocka_unit_test(a_compiler_under_landlock_sees_its_headers_only),
        cmocka_unit_test(a_compiler_in_a_namespace_sees_its_headers_only),
        cmocka_unit_test(standard_headers_are_given_by_their_names),
        cmocka_unit_test(the_key_depends_on_the_headers),
        cmocka_unit_test(a_library_of_the_wrong_major_is_not_opened),
    };
    return cmocka_run_group_tests_name("build", tests, open_tool, close_tool);
}
