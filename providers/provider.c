/* provider - who answers a stage's question
 *
 * SPDX-License-Identifier: MIT */
#include "providers/provider.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/scoped.h"
#include "common/xalloc.h"
#include "providers/anthropic.h"
#include "providers/catalog.h"
#include "providers/compat.h"
#include "providers/gemini.h"
#include "providers/gold.h"
#include "providers/mock.h"
#include "providers/openai.h"
#include "providers/remote.h"
#include "providers/replay.h"

struct provider {
    const provider_ops *ops;
    char *model;     /* what follows the colon */
    void *state;     /* a local back end's own */
    remote *far_end; /* NULL: local */
};

static const provider_ops *const back_ends[] = {
    &gold_ops, &mock_ops, &replay_ops, &anthropic_ops, &openai_ops, &gemini_ops, &compat_ops};

static const char *const stop_names[PROVIDER_STOP_COUNT] = {"ok", "length", "refused", "filter",
                                                            "exhausted"};

const char *provider_stop_name(provider_stop stop)
{
    return stop_names[stop];
}

bool provider_stop_parse(const char *name, provider_stop *out)
{
    for (int i = 0; i < PROVIDER_STOP_COUNT; i++) {
        if (strcmp(stop_names[i], name) == 0) {
            *out = (provider_stop)i;
            return true;
        }
    }
    return false;
}

void provider_answer_fini(provider_answer *self)
{
    scoped_free(&self->text);
    scoped_free(&self->usage);
}

static const provider_ops *find_ops(const char *name)
{
    for (size_t i = 0; i < sizeof(back_ends) / sizeof(back_ends[0]); i++) {
        if (strcmp(back_ends[i]->name, name) == 0) {
            return back_ends[i];
        }
    }
    return NULL;
}

provider *provider_create(const char *model_id, const ability_demand *demand, err *e)
{
    const char *model = NULL;
    const catalog_entry *entry = catalog_split(model_id, &model, e);
    if (entry == NULL) {
        return NULL;
    }
    SCOPED(provider_destroy) provider *self = xcalloc(1, sizeof(*self));
    self->ops = find_ops(entry->name);
    assert(self->ops != NULL && "every catalog entry has a back end");
    self->model = xstrdup(model);
    if (self->ops->remote != NULL) {
        self->far_end = remote_open(self->ops->remote, model, demand, &remote_default, e);
        return self->far_end != NULL ? TAKE(self) : NULL;
    }
    if (self->ops->open != NULL && self->ops->open(model, &self->state, e) != 0) {
        return NULL;
    }
    return TAKE(self);
}

void provider_destroy(provider **self)
{
    provider *p = *self;
    if (p == NULL) {
        return;
    }
    if (p->ops->close != NULL && p->state != NULL) {
        p->ops->close(p->state);
    }
    remote_close(&p->far_end);
    free(p->model);
    free(p);
    *self = NULL;
}

int provider_weigh(provider *self, const provider_request *request, provider_weight *out, err *e)
{
    *out = (provider_weight){.paid = self->far_end != NULL};
    return out->paid ? remote_weigh(self->far_end, request, out, e) : 0;
}

int provider_ask(provider *self, const provider_request *request, provider_answer *out, err *e)
{
    *out = (provider_answer){.tokens_in = -1,
                             .tokens_out = -1,
                             .tokens_cache_read = -1,
                             .tokens_cache_write = -1,
                             .cost_usd = (double)NAN};
    int rc = self->far_end != NULL ? remote_ask(self->far_end, request, out, e)
                                   : self->ops->answer(self->state, request, out, e);
    if (rc != 0) {
        const provider_trouble left = out->trouble;
        provider_answer_fini(out);
        *out = (provider_answer){.trouble = left};
        return err_wrap(e, "provider %s, stage %s", self->ops->name, request->stage);
    }
    return 0;
}

const char *provider_name(const provider *self)
{
    return self->ops->name;
}

const char *provider_model(const provider *self)
{
    return self->model;
}

bool provider_binds(const provider *self)
{
    return self->far_end != NULL && remote_terms(self->far_end)->family->schema;
}

const char *provider_degraded(const provider *self)
{
    return self->far_end != NULL ? remote_terms(self->far_end)->degraded : "";
}
