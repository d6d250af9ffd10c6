/* test_file - whole files, atomically
 *
 * SPDX-License-Identifier: MIT */
/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/file.h"
#include "common/scoped.h"

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/ce-test-file-XXXXXX");
    *state = folder;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    int rc = file_remove_tree(*state, NULL);
    free(*state);
    return rc;
}

static size_t entries_of(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2;
}

static void what_was_written_is_read(void **state)
{
    SCOPED(scoped_free) char *path = file_join(*state, "f");
    static char data[200000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    static const size_t sizes[] = {0, 1, sizeof data};
    for (size_t i = 0; i < 3; i++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, sizeof data);
        assert_int_equal(file_write(path, data, sizes[i], NULL), 0);
        assert_int_equal(file_read(path, &out, NULL), 0);
        assert_int_equal(out.size, sizes[i]);
        assert_memory_equal(out.data, data, sizes[i]);
    }
    assert_int_equal(entries_of(*state), 1);
}

static void a_file_past_the_maximum_leaves_the_buffer_as_it_was(void **state)
{
    SCOPED(scoped_free) char *path = file_join(*state, "f");
    assert_int_equal(file_write(path, "12345", 5, NULL), 0);
    SCOPED(buf_fini) buf out;
    buf_init(&out, 8);
    buf_puts(&out, "abcd");
    err e = {0};
    assert_int_equal(file_read(path, &out, &e), -1);
    assert_int_equal(e.code, ERR_LIMIT);
    assert_string_equal(out.data, "abcd");
    assert_int_equal(buf_puts(&out, "efgh"), 0);
}

static void errors_name_path_and_reason(void **state)
{
    SCOPED(buf_fini) buf out;
    buf_init(&out, 8);
    err e = {0};
    SCOPED(scoped_free) char *absent = file_join(*state, "absent");
    assert_int_equal(file_read(absent, &out, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_non_null(strstr(e.text, absent));
    assert_int_equal(file_read(*state, &out, &e), -1);
    assert_non_null(strstr(e.text, "Is a directory"));
    SCOPED(scoped_free) char *deeper = file_join(absent, "f");
    assert_int_equal(file_write(deeper, "x", 1, &e), -1);
    assert_int_equal(e.code, ERR_NOT_FOUND);
    assert_int_equal(file_write(*state, "x", 1, &e), -1); /* a folder is in the way */
    assert_int_equal(entries_of(*state), 0);
}

/* A reader never sees anything but one of the two versions. */
static void replacing_is_atomic_for_readers(void **state)
{
    SCOPED(scoped_free) char *path = file_join(*state, "f");
    static char versions[2][50000];
    memset(versions[0], 'a', sizeof versions[0]);
    memset(versions[1], 'b', sizeof versions[1]);
    assert_int_equal(file_write(path, versions[0], sizeof versions[0], NULL), 0);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 200; i++)
            if (file_write(path, versions[i % 2], sizeof versions[0], NULL) < 0)
                _exit(1);
        _exit(0);
    }
    int status = 0;
    size_t reads = 0;
    for (; waitpid(writer, &status, WNOHANG) == 0; reads++) {
        SCOPED(buf_fini) buf out;
        buf_init(&out, sizeof versions[0]);
        assert_int_equal(file_read(path, &out, NULL), 0);
        assert_int_equal(out.size, sizeof versions[0]);
        assert_memory_equal(out.data, versions[out.data[0] == 'b'], out.size);
    }
    assert_int_equal(status, 0);
    assert_true(reads > 0);
}

/* The disk fills while the new version is written: the old one stays, no temporary is left. */
static void a_failed_write_keeps_the_old_file(void **state)
{
    SCOPED(scoped_free) char *path = file_join(*state, "f");
    assert_int_equal(file_write(path, "old", 3, NULL), 0);
    pid_t writer = fork();
    if (writer == 0) {
        static const char large[4096];
        const struct rlimit small = {1000, 1000};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        err e = {0};
        bool failed = file_write(path, large, sizeof large, &e) < 0 && e.code == ERR_LIMIT;
        _exit(failed ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    SCOPED(buf_fini) buf out;
    buf_init(&out, 100);
    assert_int_equal(file_read(path, &out, NULL), 0);
    assert_string_equal(out.data, "old");
    assert_int_equal(entries_of(*state), 1);
}

static void the_umask_is_honoured(void **state)
{
    SCOPED(scoped_free) char *path = file_join(*state, "f");
    mode_t before = umask(027);
    int rc = file_write(path, "x", 1, NULL);
    umask(before);
    assert_int_equal(rc, 0);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void folders_are_made_with_their_parents(void **state)
{
    err e = {0};
    SCOPED(scoped_free) char *deep = file_join(*state, "a//b/c/");
    assert_int_equal(file_mkdirs(deep, &e), 0);
    assert_int_equal(file_mkdirs(deep, &e), 0);
    assert_true(file_exists(deep));
    SCOPED(scoped_free) char *file = file_join(*state, "a/file");
    assert_int_equal(file_write(file, "x", 1, NULL), 0);
    SCOPED(scoped_free) char *through = file_join(file, "d");
    assert_int_equal(file_mkdirs(file, &e), -1);
    assert_int_equal(e.code, ERR_CONFLICT);
    assert_int_equal(file_mkdirs(through, &e), -1);
}

static void a_tree_is_removed_without_following_links(void **state)
{
    err e = {0};
    SCOPED(scoped_free) char *kept = file_join(*state, "kept");
    SCOPED(scoped_free) char *precious = file_join(kept, "precious");
    SCOPED(scoped_free) char *tree = file_join(*state, "tree");
    SCOPED(scoped_free) char *deep = file_join(tree, "x/y/z");
    SCOPED(scoped_free) char *link = file_join(tree, "x/link");
    SCOPED(scoped_free) char *dangling = file_join(tree, "x/dangling");
    assert_int_equal(file_mkdirs(kept, &e), 0);
    assert_int_equal(file_write(precious, "x", 1, &e), 0);
    assert_int_equal(file_mkdirs(deep, &e), 0);
    assert_int_equal(symlink(kept, link), 0);
    assert_int_equal(symlink("/nowhere", dangling), 0);
    assert_int_equal(file_remove_tree(tree, &e), 0);
    assert_false(file_exists(tree));
    assert_true(file_exists(precious));
    assert_int_equal(file_remove_tree(tree, &e), 0);
    assert_int_equal(symlink(kept, tree), 0);
    assert_int_equal(file_remove_tree(tree, &e), 0); /* the link itself */
    assert_true(file_exists(precious));
    assert_int_equal(file_remove_tree(precious, &e), 0);
    assert_false(file_exists(precious));
}

static void joining_gives_one_slash(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < 4; i++) {
        SCOPED(scoped_free) char *joined = file_join(rows[i][0], rows[i][1]);
        assert_string_equal(joined, rows[i][2]);
    }
}

static void the_program_knows_its_folder(void **state)
{
    (void)state;
    err e = {0};
    SCOPED(scoped_free) char *folder = file_self_dir(&e);
    assert_non_null(folder);
    SCOPED(scoped_free) char *self = file_join(folder, "test_file");
    assert_true(file_exists(self));
}

static void a_file_is_printed_whatever_its_size(void **state)
{
    (void)state;
    char place[] = "/tmp/ce-file-print-XXXXXX";
    assert_non_null(mkdtemp(place));
    SCOPED(scoped_free) char *path = file_join(place, "a");
    SCOPED(scoped_free) char *copy = file_join(place, "b");
    SCOPED(buf_fini) buf text = {0};
    SCOPED(buf_fini) buf again = {0};
    buf_init(&text, 1024 * 1024);
    buf_init(&again, 1024 * 1024);
    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "line %d\n", i);
    assert_int_equal(file_write(path, buf_text(&text), text.size, NULL), 0);
    FILE *out = fopen(copy, "wb");
    assert_non_null(out);
    assert_int_equal(file_print(path, out, NULL), 0);
    assert_int_equal(file_print("/nowhere/at/all", out, NULL), -1);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(file_read(copy, &again, NULL), 0);
    assert_string_equal(buf_text(&again), buf_text(&text));
    file_remove_tree(place, NULL);
}

int main(void)
{
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_printed_whatever_its_size),
        IN_FOLDER(what_was_written_is_read),
        IN_FOLDER(a_file_past_the_maximum_leaves_the_buffer_as_it_was),
        IN_FOLDER(errors_name_path_and_reason),
        IN_FOLDER(replacing_is_atomic_for_readers),
        IN_FOLDER(a_failed_write_keeps_the_old_file),
        IN_FOLDER(the_umask_is_honoured),
        IN_FOLDER(folders_are_made_with_their_parents),
        IN_FOLDER(a_tree_is_removed_without_following_links),
        cmocka_unit_test(joining_gives_one_slash),
        cmocka_unit_test(the_program_knows_its_folder),
    };
    return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
