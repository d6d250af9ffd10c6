/* Folders of headers: found, resolved, hashed.
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

#include "agent-node/compiler/include.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"

static char root[32];

static void put(const char *path, const char *text)
{
    err e = {.text = ""};
    SCOPED(scoped_free) char *whole = file_join(root, path);
    SCOPED(scoped_free) char *folder = strdup(whole);
    *strrchr(folder, '/') = '\0';
    if (file_mkdirs(folder, &e) != 0 || file_write(whole, text, strlen(text), &e) != 0)
        fail_msg("%s", e.text);
}

static int make_toolkit(void **state)
{
    (void)state;
    strncpy(root, "/tmp/ce-include-XXXXXX", sizeof root - 1);
    assert_non_null(mkdtemp(root));
    put("cuda/include/cuda_fp16.h", "half");
    put("cuda/include/cccl/cub/cub.cuh", "cub");
    put("cuda/lib/libnvrtc.so.13", "library");
    put("empty/other.h", "other");
    SCOPED(scoped_free) char *to = file_join(root, "cuda/include/cuda_fp16.h");
    SCOPED(scoped_free) char *links = file_join(root, "links");
    SCOPED(scoped_free) char *from = file_join(root, "links/cuda_fp16.h");
    assert_int_equal(file_mkdirs(links, NULL), 0);
    return symlink(to, from);
}

static int remove_toolkit(void **state)
{
    (void)state;
    return file_remove_tree(root, NULL);
}

static void find(const char *given, const char *nvrtc, include_set *out)
{
    err e = {.text = ""};
    SCOPED(scoped_free) char *folder = given != NULL ? file_join(root, given) : NULL;
    SCOPED(scoped_free) char *library = nvrtc != NULL ? file_join(root, nvrtc) : NULL;
    const char *folders[] = {folder};
    if (include_find(folders, given != NULL, library, out, &e) != 0)
        fail_msg("%s", e.text);
}

static void headers_are_found_beside_the_library_with_their_cccl(void **state)
{
    (void)state;
    SCOPED(include_fini) include_set set;
    find(NULL, "cuda/lib/libnvrtc.so.13", &set);
    assert_int_equal(set.count, 2);
    assert_true(str_starts(set.folders[0], root));
    assert_true(str_ends(set.folders[0], "/cuda/include"));
    assert_true(str_ends(set.folders[1], "/cuda/include/cccl"));
}

static void a_folder_of_links_stands_for_where_the_headers_are(void **state)
{
    (void)state;
    SCOPED(include_fini) include_set set;
    find("links", NULL, &set);
    assert_true(str_ends(set.folders[0], "/cuda/include"));
}

static void a_folder_without_cuda_headers_is_refused_by_name(void **state)
{
    (void)state;
    err e;
    include_set set;
    SCOPED(scoped_free) char *folder = file_join(root, "empty");
    const char *folders[] = {folder};
    assert_int_equal(include_find(folders, 1, NULL, &set, &e), -1);
    assert_int_equal(e.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "/empty is no folder of CUDA headers"));
}

static hash hash_now(void)
{
    SCOPED(include_fini) include_set set;
    find("cuda/include", NULL, &set);
    hash h;
    assert_int_equal(include_hash(&set, &h, NULL), 0);
    return h;
}

static void the_hash_sees_every_name_and_byte(void **state)
{
    (void)state;
    hash first = hash_now();
    hash again = hash_now();
    assert_true(hash_equal(&first, &again));
    put("cuda/include/cccl/cub/cub.cuh", "cuB");
    hash changed = hash_now();
    assert_false(hash_equal(&first, &changed));
    put("cuda/include/cccl/cub/cub.cuh", "cub");
    put("cuda/include/new.h", "");
    hash added = hash_now();
    assert_false(hash_equal(&first, &added));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_found_beside_the_library_with_their_cccl),
        cmocka_unit_test(a_folder_of_links_stands_for_where_the_headers_are),
        cmocka_unit_test(a_folder_without_cuda_headers_is_refused_by_name),
        cmocka_unit_test(the_hash_sees_every_name_and_byte),
    };
    return cmocka_run_group_tests_name("include", tests, make_toolkit, remove_toolkit);
}
