/* remote_fixture - a back end, the fake server and short patience
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_PROVIDERS_REMOTE_FIXTURE_H
#define CE_TESTS_PROVIDERS_REMOTE_FIXTURE_H

#include "tests/unit/providers/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "providers/remote.h"
#include "providers/sse.h"
#include "tests/support/fake_provider.h"

/* A back end with a model of it, and where its base URL ends on the fake server. */
typedef struct back_end {
    const remote_ops *ops;
    const char *model, *suffix;
} back_end;

static const remote_rules quick = {
    .connect_ms = 5000,
    .idle_ms = 5000,
    .total_ms = 10000,
    .retry = {
        .attempts = 3, .billed_retries = 1, .elapsed_ms = 20000, .base_ms = 1, .cap_ms = 300}};

static inline int start_server(void **state)
{
    setenv("ANTHROPIC_API_KEY", FAKE_PROVIDER_KEY, 1);
    setenv("OPENAI_API_KEY", FAKE_PROVIDER_KEY, 1);
    setenv("GEMINI_API_KEY", FAKE_PROVIDER_KEY, 1);
    setenv("CE_COMPAT_API_KEY", FAKE_PROVIDER_KEY, 1);
    *state = fake_provider_start();
    return 0;
}

static inline int stop_server(void **state)
{
    fake_provider *server = *state;
    fake_provider_stop(&server);
    return 0;
}

/* Asks one question with a demand and a form for the answer. */
static inline int ask_demanding(const fake_provider *server, const back_end *b,
                                const ability_demand *demand, const provider_format *format,
                                provider_answer *answer, err *e)
{
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, "codegen", 0);
    SCOPED(scoped_free)
    char *model = xasprintf("%s@%s%s", b->model, fake_provider_base(server), b->suffix);
    SCOPED(remote_close) remote *r = remote_open(b->ops, model, demand, &quick, e);
    request.format = format;
    *answer = (provider_answer){0};
    return r != NULL ? remote_ask(r, &request, answer, e) : -1;
}

/* Asks with rules of its own; tag keeps the limits of tests apart. */
static inline int ask_by(const fake_provider *server, const back_end *b, const char *tag,
                         const remote_rules *rules, const atomic_bool *cancelled,
                         provider_answer *answer, err *e)
{
    provider_material material = fixture_material();
    provider_request request = fixture_request(&material, "codegen", 0);
    SCOPED(scoped_free)
    char *model = xasprintf("%s%s@%s%s", b->model, tag, fake_provider_base(server), b->suffix);
    SCOPED(remote_close) remote *r = remote_open(b->ops, model, NULL, rules, e);
    assert_non_null(r);
    request.cancelled = cancelled;
    *answer = (provider_answer){0};
    *e = (err){0};
    return remote_ask(r, &request, answer, e);
}

static inline int ask(const fake_provider *server, const back_end *b, const char *tag,
                      provider_answer *answer, err *e)
{
    return ask_by(server, b, tag, &quick, NULL, answer, e);
}

/* Reads a stream's bytes, sliced, the way remote.c does. */
typedef struct sliced {
    const remote_ops *ops;
    reply reply;
} sliced;

static inline int sliced_event(void *arg, const char *name, const char *data, size_t size, err *e)
{
    sliced *self = arg;
    if (strcmp(data, "[DONE]") == 0) {
        return 0;
    }
    SCOPED(json_destroy) json *value = json_parse_tree(data, size, "event", e);
    assert_non_null(value);
    self->ops->read_event(&self->reply, name, value);
    return 0;
}

static inline void read_sliced(sliced *self, const remote_ops *ops, const char *bytes, size_t slice)
{
    SCOPED(sse_fini) sse parser;
    size_t length = strlen(bytes);
    err e = {0};
    self->ops = ops;
    reply_init(&self->reply);
    sse_init(&parser, 1 << 20, sliced_event, self);
    for (size_t at = 0; at < length; at += slice) {
        size_t size = length - at < slice ? length - at : slice;
        assert_int_equal(sse_feed(&parser, bytes + at, size, &e), 0);
    }
    if (ops->read_end != NULL) {
        ops->read_end(&self->reply);
    }
}

#endif
