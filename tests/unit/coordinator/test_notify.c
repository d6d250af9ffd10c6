/* test_notify - what a service manager hears
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
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/scoped.h"
#include "coordinator/notify.h"

static int listen_at(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    memcpy(at.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static void expect(int fd, const char *words)
{
    char got[64] = "";
    assert_int_equal(recv(fd, got, sizeof got - 1, 0), strlen(words));
    assert_string_equal(got, words);
}

static void each_word_is_a_datagram(void **state)
{
    (void)state;
    char folder[] = "/tmp/ce-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/n", folder);
    SCOPED(scoped_close) int fd = listen_at(path);
    setenv("NOTIFY_SOCKET", path, 1);
    notify_ready();
    notify_alive();
    notify_stopping();
    expect(fd, "READY=1");
    expect(fd, "WATCHDOG=1");
    expect(fd, "STOPPING=1");
    unsetenv("NOTIFY_SOCKET");
    notify_ready(); /* nobody listens: nothing happens */
    unlink(path);
    rmdir(folder);
}

static void the_watchdog_is_fed_twice_in_its_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {{"30000000", 15000}, {"0", 0}, {"", 0}, {"soon", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        setenv("WATCHDOG_USEC", cases[i].text, 1);
        assert_int_equal(notify_every_ms(), cases[i].ms);
    }
    unsetenv("WATCHDOG_USEC");
    assert_int_equal(notify_every_ms(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_word_is_a_datagram),
        cmocka_unit_test(the_watchdog_is_fed_twice_in_its_time),
    };
    return cmocka_run_group_tests_name("notify", tests, NULL, NULL);
}
