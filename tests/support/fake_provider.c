/* fake_provider - the scripted model server of fake_provider.py, from a test in C
 *
 * SPDX-License-Identifier: MIT */
#include "tests/support/fake_provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "providers/http.h"

struct fake_provider {
    subproc *process;
    http *client;
    char base[64];
};

static void read_port(fake_provider *self, int fd)
{
    char line[64] = "";
    size_t size = 0;
    int port = 0;
    while (size + 1 < sizeof(line) && strchr(line, '\n') == NULL) {
        ssize_t got = read(fd, line + size, sizeof(line) - 1 - size);
        assert_true(got > 0);
        size += (size_t)got;
    }
    assert_int_equal(sscanf(line, "PORT %d", &port), 1);
    snprintf(self->base, sizeof(self->base), "http://127.0.0.1:%d", port);
}

fake_provider *fake_provider_start(void)
{
    fake_provider *self = xcalloc(1, sizeof(*self));
    int ends[2];
    err e = {0};
    assert_int_equal(pipe(ends), 0);
    static const char script[] = CE_SOURCE_DIR "/tests/support/fake_provider.py";
    const char *const argv[] = {"python3", "-B", script, "--key", FAKE_PROVIDER_KEY, NULL};
    const subproc_fd out = {.parent = ends[1], .child = 1};
    const subproc_options how = {.argv = argv, .fds = &out, .fd_count = 1};
    self->process = subproc_start(&how, &e);
    assert_non_null(self->process);
    close(ends[1]);
    read_port(self, ends[0]);
    close(ends[0]);
    self->client = http_create(NULL, &e);
    assert_non_null(self->client);
    return self;
}

void fake_provider_stop(fake_provider **self)
{
    if (*self == NULL) {
        return;
    }
    http_destroy(&(*self)->client);
    subproc_destroy(&(*self)->process);
    free(*self);
    *self = NULL;
}

const char *fake_provider_base(const fake_provider *self)
{
    return self->base;
}

static json *post(const fake_provider *self, const char *path, const char *body)
{
    char url[128];
    err e = {0};
    http_reply reply SCOPED(http_reply_fini);
    snprintf(url, sizeof(url), "%s%s", self->base, path);
    const http_request request = {.url = url,
                                  .body = body,
                                  .body_size = strlen(body),
                                  .body_max = (size_t)64 * 1024 * 1024,
                                  .connect_ms = 10000,
                                  .idle_ms = 10000,
                                  .total_ms = 10000};
    assert_int_equal(http_post(self->client, &request, &reply, &e), 0);
    assert_int_equal(reply.status, 200);
    return json_parse_tree(buf_text(&reply.body), reply.body.size, path, &e);
}

void fake_provider_steps(const fake_provider *self, const char *steps)
{
    SCOPED(scoped_free) char *script = xasprintf("{\"rules\": [{\"steps\": [%s]}]}", steps);
    json *done = post(self, "/_script", script);
    assert_non_null(done);
    json_destroy(&done);
}

json *fake_provider_log(const fake_provider *self)
{
    SCOPED(json_destroy) json *log = post(self, "/_log", "{}");
    return json_copy(json_get(log, "requests"));
}

size_t fake_provider_served(const fake_provider *self)
{
    SCOPED(json_destroy) json *log = fake_provider_log(self);
    return json_size(log);
}
