/* The pool of compiler children, with the real NVRTC: honest sources, hostile ones, dying children.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/compile.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"

static const char binary[] = CE_BINARY_DIR "/bin/ce-compiler";
static compile_pool *shared;

static compile_pool *make(size_t children, int64_t deadline_ms, int64_t restart_after)
{
    err e;
    compile_options options = {.binary = binary,
                               .children = children,
                               .deadline_ms = deadline_ms,
                               .restart_after = restart_after};
    compile_pool *pool = compile_pool_create(&options, &e);
    if (pool == NULL && e.code == ERR_UNAVAILABLE) {
        printf("skipped: %s\n", e.text);
        exit(77);
    }
    if (pool == NULL)
        fail_msg("%s", e.text);
    return pool;
}

static int open_shared(void **state)
{
    (void)state;
    shared = make(2, 0, 0);
    return 0;
}

static int close_shared(void **state)
{
    (void)state;
    compile_pool_destroy(&shared);
    return 0;
}

static void run_for(compile_pool *pool, const char *arch, bool line_info, const char *source,
                    compile_result *out)
{
    static const char *const entries[] = {"k"};
    err e = {.text = ""};
    compile_request request = {.arch = arch,
                               .source = source,
                               .entries = entries,
                               .entry_count = 1,
                               .line_info = line_info};
    if (compile_pool_run(pool, &request, out, &e) != 0)
        fail_msg("%s", e.text);
}

static void run(compile_pool *pool, const char *source, compile_result *out)
{
    run_for(pool, "sm_90a", true, source, out);
}

static const char good[] = "extern \"C\" __global__ void k(float *y) { y[threadIdx.x] *= 2; }\n";

static void an_honest_source_gives_code_and_numbers(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run(shared, good, &r);
    assert_int_equal(r.result, OUTCOME_OK);
    assert_string_equal(r.detail, "");
    assert_true(r.cubin.size > 64);
    assert_memory_equal(r.cubin.data, "\177ELF", 4);
    assert_true(r.ptx.size > 64);
    assert_false(hash_is_zero(&r.code));
    assert_true(r.compile_ms > 0);
    assert_true(r.nvrtc[0] == '1');
    assert_int_equal(r.kernel_count, 1);
    assert_string_equal(r.kernels[0].name, "k");
    assert_in_range(r.kernels[0].registers, 1, 255);
}

static void a_virtual_target_gives_ptx_only(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run_for(shared, "compute_80", false, good, &r);
    assert_int_equal(r.result, OUTCOME_OK);
    assert_int_equal(r.cubin.size, 0);
    assert_true(r.ptx.size > 0);
    assert_false(hash_is_zero(&r.code));
}

static void a_syntax_error_is_an_outcome_with_a_log(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run(shared, "extern \"C\" __global__ void k(float *y)\n{\n    y[0] = missing;\n}\n", &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_string_equal(r.detail, "");
    assert_non_null(strstr(r.log, "kernel.cu(3): error"));
    assert_non_null(strstr(r.text, "kernel.cu(3): error"));
    assert_int_equal(r.cubin.size, 0);
    assert_int_equal(r.ptx.size, 0);
}

static void an_unknown_target_is_the_harness_fault(void **state)
{
    (void)state;
    static const char *const archs[] = {"sm_99", "sm_9; rm", "", "compute_5", "sm_90x"};
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        err e = {.code = ERR_NONE};
        compile_result r = {0};
        compile_request request = {.arch = archs[i], .source = good};
        assert_int_equal(compile_pool_run(shared, &request, &r, &e), -1);
        assert_true(e.code == ERR_UNAVAILABLE || e.code == ERR_USAGE);
    }
}

static void a_source_over_one_mebibyte_is_past_a_limit(void **state)
{
    (void)state;
    size_t size = 1024 * 1024 + 1;
    SCOPED(scoped_free) char *source = xmalloc(size + 1);
    memset(source, ' ', size);
    source[size] = '\0';
    SCOPED(compile_result_fini) compile_result r;
    run(shared, source, &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_string_equal(r.detail, "limit");
}

static void a_log_over_its_cap_is_past_a_limit(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf source;
    buf_init(&source, 1 << 20);
    buf_puts(&source, good);
    for (int i = 0; i < 3000; i++)
        buf_printf(&source, "#warning %0100d\n", i);
    SCOPED(compile_result_fini) compile_result r;
    run(shared, source.data, &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_string_equal(r.detail, "limit");
    assert_true(strlen(r.log) <= 256 * 1024);
}

/* ---- files that a candidate may not see ---- */

static const char secret_text[] = "ce_secret_marker_4711";
static char secret_path[32];

static int write_secret(void **state)
{
    (void)state;
    snprintf(secret_path, sizeof secret_path, "/tmp/ce-secret-XXXXXX");
    int fd = mkstemp(secret_path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f, "#error %s\n%s\n", secret_text, secret_text);
    fclose(f);
    return 0;
}

static int remove_secret(void **state)
{
    (void)state;
    return unlink(secret_path);
}

/* %s is the file's path. */
static const char *const peeks[] = {
    "#include \"%s\"\n",
    "#include <%s>\n",
    "#include \"../../../../../../../../../..%s\"\n",
    "#include <cuda/../../../../../../../../..%s>\n",
    "#inc\\\nlude \"%s\"\n",
    "%%:include \"%s\"\n",
    "#/**/include/**/\"%s\"\n",
    "?\?=include \"%s\"\n",
    "#define FILE_NAME \"%s\"\n#include FILE_NAME\n",
    "#define PASTE(x) <x>\n#include PASTE(%s)\n",
    "#include_next \"%s\"\n",
    "#include_next <%s>\n",
    "#import \"%s\"\n",
    "#pragma include \"%s\"\n",
    "#pragma GCC dependency \"%s\"\n",
    "#pragma push_macro(\"X\")\n_Pragma(\"include \\\"x\\\"\")\n#include \"%s\"\n",
    "__device__ const char data[] = {\n#embed \"%s\"\n};\n",
    "extern \"C\" __global__ void j() { asm volatile(\".incbin \\\"%s\\\"\"); }\n",
    "extern \"C\" __global__ void j() { asm volatile(\".include \\\"%s\\\"\"); }\n",
    "asm(\".incbin \\\"%s\\\"\");\n",
    "#line 1 \"%s\"\n#error shown?\n",
};

static void peek(const char *format, const char *path)
{
    char source[2048];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(source, sizeof source, format, path);
#pragma GCC diagnostic pop
    SCOPED(buf_fini) buf text;
    buf_init(&text, 1 << 16);
    buf_puts(&text, source);
    buf_puts(&text, good);
    SCOPED(compile_result_fini) compile_result r;
    run(shared, text.data, &r);
    const char *leaks[] = {secret_text, "root:", "/bin/sh", "/bin/bash", "daemon"};
    for (size_t i = 0; i < sizeof leaks / sizeof leaks[0]; i++)
        if (strstr(r.log, leaks[i]) != NULL || strstr(r.text, leaks[i]) != NULL)
            fail_msg("%s shows %s:\n%s", source, leaks[i], r.log);
    /* What means nothing here (a pragma, assembly for the host) is ignored, and nothing was read. */
    bool ignored = strncmp(format, "asm(", 4) == 0 ||
                   (strncmp(format, "#pragma", 7) == 0 && strstr(format, "#include") == NULL);
    if (!ignored)
        if (r.result != OUTCOME_COMPILE_FAILED)
            fail_msg("%s is %s: %s", source, outcome_name(r.result), r.text);
    if (r.result == OUTCOME_OK)
        assert_null(memmem(r.ptx.data, r.ptx.size, secret_text, strlen(secret_text)));
}

static void no_way_of_including_shows_a_foreign_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof peeks / sizeof peeks[0]; i++) {
        peek(peeks[i], secret_path);
        peek(peeks[i], "/etc/passwd");
    }
}

static void a_refused_include_is_named_in_the_log(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run(shared, "#include \"/etc/passwd\"\n", &r);
    assert_non_null(strstr(r.log, "/etc/passwd"));
    assert_non_null(strstr(r.log, "cannot open source file"));
}

static void probing_finds_no_file(void **state)
{
    (void)state;
    char source[1024];
    for (size_t i = 0; i < 2; i++) {
        char file[128];
        snprintf(file, sizeof file, i == 0 ? "\"%s\"" : "<%s>", secret_path);
        snprintf(
            source, sizeof source,
            "#if __has_include(%s) || __has_include(\"/etc/passwd\")\n#error found\n#endif\n%s",
            file, good);
        SCOPED(compile_result_fini) compile_result r;
        run(shared, source, &r);
        assert_int_equal(r.result, OUTCOME_OK);
    }
}

static void toolkit_headers_stay_readable(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run(shared,
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cooperative_groups.h>\n"
        "#include <cub/block/block_reduce.cuh>\n#include <cuda/std/type_traits>\n"
        "extern \"C\" __global__ void k(__half *y) { y[0] = __hadd(y[1], y[2]); }\n",
        &r);
    assert_int_equal(r.result, OUTCOME_OK);
}

/* ---- deadlines and deaths ---- */

/* A type that doubles 60 times. */
static const char endless[] =
    "template <class T, class U> struct P {};\n"
    "template <int N> struct R {\n"
    "    using T = P<typename R<N - 1>::T, P<typename R<N - 1>::T, int>>;\n};\n"
    "template <> struct R<0> { using T = int; };\n"
    "template <class T> struct S { static constexpr long v = 1; };\n"
    "template <class A, class B> struct S<P<A, B>> {\n"
    "    static constexpr long v = (S<A>::v ^ S<B>::v) + sizeof(P<B, A>);\n};\n"
    "extern \"C\" __global__ void k(long *y) { y[0] = S<R<60>::T>::v; }\n";

static void a_time_bomb_meets_the_deadline(void **state)
{
    (void)state;
    static const char *const bombs[] = {
        /* constant evaluation */
        "__device__ constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ "
        "n; return s; "
        "}\n"
        "__device__ constexpr long g(long n) { long s = 0; for (long i = 0; i < n; i++) s += "
        "f(900000 + i); "
        "return s; }\n"
        "static_assert(g(900000) != 1, \"\");\n"
        "extern \"C\" __global__ void k(long *y) { y[0] = 1; }\n",
        endless,
        /* a macro that doubles 40 times */
        "#define A0 y[0] += 1;\n"
#define DOUBLE(n, m) "#define A" #n " A" #m " A" #m "\n"
        DOUBLE(1, 0) DOUBLE(2, 1) DOUBLE(3, 2) DOUBLE(4, 3) DOUBLE(5, 4) DOUBLE(6, 5) DOUBLE(7, 6)
            DOUBLE(8, 7) DOUBLE(9, 8) DOUBLE(10, 9) DOUBLE(11, 10) DOUBLE(12, 11) DOUBLE(13, 12)
                DOUBLE(14, 13) DOUBLE(15, 14) DOUBLE(16, 15) DOUBLE(17, 16) DOUBLE(18, 17)
                    DOUBLE(19, 18) DOUBLE(20, 19) DOUBLE(21, 20) DOUBLE(22, 21) DOUBLE(23, 22)
                        DOUBLE(24, 23) "extern \"C\" __global__ void k(float *y) { A24 }\n",
    };
    compile_pool *pool = make(1, 1500, 0);
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        int64_t from = clock_mono_ms();
        SCOPED(compile_result_fini) compile_result r;
        run(pool, bombs[i], &r);
        if (r.result != OUTCOME_COMPILE_FAILED)
            fail_msg("bomb %zu: %s %s", i, outcome_name(r.result), r.text);
        assert_true(clock_mono_ms() - from < 20000);
    }
    SCOPED(compile_result_fini) compile_result after;
    run(pool, good, &after);
    assert_int_equal(after.result, OUTCOME_OK);
    compile_pool_destroy(&pool);
}

static void a_compile_past_its_deadline_is_past_a_limit(void **state)
{
    (void)state;
    compile_pool *pool = make(1, 300, 0);
    SCOPED(compile_result_fini) compile_result r;
    run(pool,
        "#include <cub/block/block_radix_sort.cuh>\n#include <cub/block/block_scan.cuh>\n"
        "extern \"C\" __global__ void k(int *y)\n{\n"
        "    using sort = cub::BlockRadixSort<int, 1024, 24>;\n"
        "    __shared__ typename sort::TempStorage m;\n    int v[24];\n"
        "    for (int i = 0; i < 24; i++) v[i] = y[i];\n    sort(m).Sort(v);\n"
        "    for (int i = 0; i < 24; i++) y[i] = v[i];\n}\n",
        &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_string_equal(r.detail, "limit");
    assert_non_null(strstr(r.text, "longer than"));
    compile_pool_destroy(&pool);
}

static void a_file_that_includes_itself_without_end_fails(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    run(shared, "#include __FILE__\n", &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
}

/* children_of lists the processes whose parent we are. */
static size_t children_of(pid_t parent, pid_t *out, size_t room)
{
    size_t count = 0;
    DIR *proc = opendir("/proc");
    assert_non_null(proc);
    for (struct dirent *d = readdir(proc); d != NULL; d = readdir(proc)) {
        int64_t pid = 0;
        if (!str_to_i64(d->d_name, &pid))
            continue;
        char path[64];
        snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
        SCOPED(buf_fini) buf text;
        buf_init(&text, 4096);
        if (file_read(path, &text, NULL) != 0)
            continue;
        const char *after = strrchr(text.data, ')');
        if (after != NULL && strtol(after + 4, NULL, 10) == parent && count < room)
            out[count++] = (pid_t)pid;
    }
    closedir(proc);
    return count;
}

typedef struct victim {
    pid_t own[16]; /* children that are not to be hit */
    size_t own_count;
    int kills; /* how many to hit */
    int done;
} victim;

static bool is_own(const victim *v, pid_t pid)
{
    for (size_t i = 0; i < v->own_count; i++)
        if (v->own[i] == pid)
            return true;
    return false;
}

/* cpu_ticks is what a process has computed. */
static long cpu_ticks(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    SCOPED(buf_fini) buf text;
    buf_init(&text, 4096);
    if (file_read(path, &text, NULL) != 0)
        return -1;
    const char *at = strrchr(text.data, ')');
    for (int field = 0; at != NULL && field < 12; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtol(at, NULL, 10) : -1;
}

enum { BUSY_SECONDS = 2 }; /* starting takes less */

/* kill_busy kills a child that is neither idle nor starting: one that has computed for long. */
static void *kill_busy(void *arg)
{
    victim *v = arg;
    const long busy = BUSY_SECONDS * sysconf(_SC_CLK_TCK);
    int64_t until = clock_mono_ms() + 60000;
    while (v->done < v->kills && clock_mono_ms() < until) {
        pid_t found[16];
        size_t count = children_of(getpid(), found, 16);
        for (size_t i = 0; i < count; i++) {
            if (is_own(v, found[i]) || cpu_ticks(found[i]) <= busy)
                continue;
            v->done += kill(found[i], SIGKILL) == 0;
            v->own[v->own_count++] = found[i]; /* once is enough */
        }
        usleep(20000);
    }
    return NULL;
}

static void compile_while_killing(int kills, compile_result *out)
{
    victim v = {.kills = kills};
    v.own_count = children_of(getpid(), v.own, 8);
    compile_pool *pool = make(1, 10000, 0);
    pthread_t killer;
    assert_int_equal(pthread_create(&killer, NULL, kill_busy, &v), 0);
    run(pool, endless, out);
    pthread_join(killer, NULL);
    assert_int_equal(v.done, kills);
    SCOPED(compile_result_fini) compile_result after;
    run(pool, good, &after);
    assert_int_equal(after.result, OUTCOME_OK);
    compile_pool_destroy(&pool);
}

static void a_child_killed_once_is_tried_again(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    compile_while_killing(1, &r);
    /* The second try runs into the deadline: it was a try of its own. */
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_non_null(strstr(r.text, "longer than"));
}

static void a_child_killed_twice_is_the_sources_doing(void **state)
{
    (void)state;
    SCOPED(compile_result_fini) compile_result r;
    compile_while_killing(2, &r);
    assert_int_equal(r.result, OUTCOME_COMPILE_FAILED);
    assert_string_equal(r.detail, "limit");
    assert_non_null(strstr(r.text, "SIGKILL"));
}

/* ---- many at once ---- */

enum { THREADS = 8, EACH = 20 };

static void *compile_many(void *arg)
{
    size_t *right = arg;
    for (int i = 0; i < EACH; i++) {
        char source[256];
        snprintf(source, sizeof source,
                 "extern \"C\" __global__ void k(float *y) { y[threadIdx.x] *= %d.5f; %s }\n", i,
                 i % 5 == 4 ? "broken" : "");
        compile_result r;
        run(shared, source, &r);
        *right += r.result == (i % 5 == 4 ? OUTCOME_COMPILE_FAILED : OUTCOME_OK);
        compile_result_fini(&r);
    }
    return NULL;
}

static void eight_threads_share_two_children(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    size_t right[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, &right[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(right[i], EACH);
    }
}

static void a_child_is_replaced_after_its_share(void **state)
{
    (void)state;
    pid_t before[8];
    pid_t first[8];
    pid_t second[8];
    size_t own = children_of(getpid(), before, 8);
    compile_pool *pool = make(1, 0, 2);
    size_t count = children_of(getpid(), first, 8);
    assert_int_equal(count, own + 1);
    for (int i = 0; i < 3; i++) {
        SCOPED(compile_result_fini) compile_result r;
        run(pool, good, &r);
        assert_int_equal(r.result, OUTCOME_OK);
    }
    assert_int_equal(children_of(getpid(), second, 8), own + 1);
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            same += first[i] == second[k];
    assert_int_equal(same, own);
    compile_pool_destroy(&pool);
    assert_int_equal(children_of(getpid(), second, 8), own);
}

static void a_host_without_nvrtc_is_told_what_to_install(void **state)
{
    (void)state;
    err e = {.code = ERR_NONE};
    compile_options options = {.binary = binary, .nvrtc = "/nowhere/libnvrtc.so.13"};
    assert_null(compile_pool_create(&options, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "/nowhere/libnvrtc.so.13"));
    options = (compile_options){.binary = binary, .max_major = 11};
    assert_null(compile_pool_create(&options, &e));
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "install the CUDA toolkit"));
}

static void a_missing_compiler_is_an_error(void **state)
{
    (void)state;
    err e = {.code = ERR_NONE};
    compile_options options = {.binary = "/nowhere/ce-compiler"};
    assert_null(compile_pool_create(&options, &e));
    assert_int_equal(e.code, ERR_NOT_FOUND);
}

/* ---- what polish may change ---- */

typedef struct polish_row {
    const char *name;
    const char *source;
    bool same; /* as the first row */
} polish_row;

static const polish_row polishes[] = {
    {"original",
     "__device__ float helper(float a) { return a * 3.0f; }\n"
     "extern \"C\" __global__ void k(float *y, int n)\n{\n    __shared__ float tile[64];\n"
     "    static constexpr float t[3] = {1, 2, 3};\n"
     "    int i = threadIdx.x;\n    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     true},
    {"comments",
     "// Doubles.\n__device__ float helper(float a) { return a * 3.0f; }\n\n\n"
     "/* a\n * b */\nextern \"C\" __global__ void k(float *y, int n)\n{\n"
     "    __shared__ float tile[64]; // staged\n"
     "    static constexpr float t[3] = {1, 2, 3};\n    int i = threadIdx.x;\n"
     "    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     true},
    {"names",
     "__device__ float scaled(float value) { return value * 3.0f; }\n"
     "extern \"C\" __global__ void k(float *out, int count)\n{\n"
     "    __shared__ float staged_rows[64];\n"
     "    static constexpr float weights_of_row[3] = {1, 2, 3};\n"
     "    int lane = threadIdx.x;\n    staged_rows[lane] = out[lane];\n    __syncthreads();\n"
     "    out[lane] = scaled(staged_rows[63 - lane]) + weights_of_row[lane % 3];\n}\n",
     true},
    {"constant",
     "__device__ float helper(float a) { return a * 3.5f; }\n"
     "extern \"C\" __global__ void k(float *y, int n)\n{\n    __shared__ float tile[64];\n"
     "    static constexpr float t[3] = {1, 2, 3};\n"
     "    int i = threadIdx.x;\n    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     false},
    {"table",
     "__device__ float helper(float a) { return a * 3.0f; }\n"
     "extern \"C\" __global__ void k(float *y, int n)\n{\n    __shared__ float tile[64];\n"
     "    static constexpr float t[3] = {1, 2, 4};\n"
     "    int i = threadIdx.x;\n    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     false},
    {"shared size",
     "__device__ float helper(float a) { return a * 3.0f; }\n"
     "extern \"C\" __global__ void k(float *y, int n)\n{\n"
     "    __shared__ float tile[65];\n"
     "    static constexpr float t[3] = {1, 2, 3};\n"
     "    int i = threadIdx.x;\n    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     false},
    {"parameters",
     "__device__ float helper(float a) { return a * 3.0f; }\n"
     "extern \"C\" __global__ void k(float *y, long n)\n{\n"
     "    __shared__ float tile[64];\n"
     "    static constexpr float t[3] = {1, 2, 3};\n"
     "    int i = threadIdx.x;\n    tile[i] = y[i];\n    __syncthreads();\n"
     "    y[i] = helper(tile[63 - i]) + t[i % 3];\n}\n",
     false},
};

static void check_polish(const char *arch)
{
    hash first = {0};
    for (size_t i = 0; i < sizeof polishes / sizeof polishes[0]; i++) {
        SCOPED(compile_result_fini) compile_result r;
        run_for(shared, arch, false, polishes[i].source, &r);
        assert_int_equal(r.result, OUTCOME_OK);
        if (i == 0)
            first = r.code;
        if (hash_equal(&first, &r.code) != polishes[i].same)
            fail_msg("%s on %s: code %s", polishes[i].name, arch,
                     polishes[i].same ? "differs" : "is the same");
    }
}

static void code_is_the_same_when_only_comments_and_names_change(void **state)
{
    (void)state;
    check_polish("sm_90a");
    check_polish("sm_80");
    check_polish("sm_120");
    check_polish("compute_80");
}

static void the_key_names_compiler_and_headers(void **state)
{
    (void)state;
    compile_pool *pool = make(1, 0, 0);
    hash a = compile_pool_key(shared);
    hash b = compile_pool_key(pool);
    assert_false(hash_is_zero(&a));
    assert_true(hash_equal(&a, &b));
    assert_string_equal(compile_pool_nvrtc(shared), compile_pool_nvrtc(pool));
    compile_pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_source_gives_code_and_numbers),
        cmocka_unit_test(a_virtual_target_gives_ptx_only),
        cmocka_unit_test(a_syntax_error_is_an_outcome_with_a_log),
        cmocka_unit_test(an_unknown_target_is_the_harness_fault),
        cmocka_unit_test(a_source_over_one_mebibyte_is_past_a_limit),
        cmocka_unit_test(a_log_over_its_cap_is_past_a_limit),
        cmocka_unit_test_setup_teardown(no_way_of_including_shows_a_foreign_file, write_secret,
                                        remove_secret),
        cmocka_unit_test(a_refused_include_is_named_in_the_log),
        cmocka_unit_test_setup_teardown(probing_finds_no_file, write_secret, remove_secret),
        cmocka_unit_test(toolkit_headers_stay_readable),
        cmocka_unit_test(a_time_bomb_meets_the_deadline),
        cmocka_unit_test(a_compile_past_its_deadline_is_past_a_limit),
        cmocka_unit_test(a_file_that_includes_itself_without_end_fails),
        cmocka_unit_test(a_child_killed_once_is_tried_again),
        cmocka_unit_test(a_child_killed_twice_is_the_sources_doing),
        cmocka_unit_test(eight_threads_share_two_children),
        cmocka_unit_test(a_child_is_replaced_after_its_share),
        cmocka_unit_test(a_host_without_nvrtc_is_told_what_to_install),
        cmocka_unit_test(a_missing_compiler_is_an_error),
        cmocka_unit_test(code_is_the_same_when_only_comments_and_names_change),
        cmocka_unit_test(the_key_names_compiler_and_headers),
    };
    return cmocka_run_group_tests_name("compile", tests, open_shared, close_shared);
}
