/* guard - who may speak to the coordinator, looked at again all the time
 *
 * A connection that was let in stays open after its key was revoked: libzmq has no way to end one. So its
 * node is dropped, and nothing that it says afterwards comes from a registered node; it is told so and
 * cannot register again.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/guard.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/coord.h"
#include "coordinator/handout.h"
#include "wire/zap.h"

struct guard {
    keyring *keys;
    zap *zap;
    int64_t generation; /* of the keyring, when nodes were looked at */
    int64_t odd;        /* failed handshakes that were not told yet */
    int64_t odd_total;  /* those that were */
    int64_t told_ms;
};

static bool allows(void *arg, const curve_key *key)
{
    guard *self = arg;
    if (key && keyring_find(self->keys, key, NULL))
        return true;
    keyring_refresh(self->keys); /* an unknown key may be a moment old */
    return key && keyring_find(self->keys, key, NULL);
}

guard *guard_create(sock_ctx *ctx, const char *folder, err *e)
{
    guard *self = xcalloc(1, sizeof *self);
    self->keys = keyring_open(folder, e);
    self->zap = self->keys ? zap_start(ctx, allows, self, e) : NULL;
    if (self->zap)
        return self;
    guard_destroy(&self);
    return NULL;
}

void guard_destroy(guard **self)
{
    if (!*self)
        return;
    zap_stop(&(*self)->zap);
    keyring_destroy(&(*self)->keys);
    free(*self);
    *self = NULL;
}

const curve_file *guard_key(const guard *self)
{
    return keyring_own(self->keys);
}

/* ---- who is it? ---- */

/* "slurm" stands for slurm and for every slurm.x: one key can serve a whole partition. */
static bool stands_for(const char *key, const char *name)
{
    size_t size = strlen(key);
    return strncmp(key, name, size) == 0 && (!name[size] || name[size] == '.');
}

int guard_admit(const coord *c, const peer_id *from, const char *name, err *e)
{
    keyring_row row;
    if (!from->secure)
        return 0;
    if (!c->guard || !keyring_find(c->guard->keys, &from->key, &row))
        return err_set(e, ERR_DENIED,
                       "the key of node %.64s was revoked: make a new one with `ce-coord keys new`",
                       name);
    if (row.role != KEYRING_NODE)
        return err_set(e, ERR_DENIED, "%s is the key of an operator, not of a node", row.name);
    return stands_for(row.name, name)
               ? 0
               : err_set(e, ERR_DENIED, "key %s may register %s or %s.ANYTHING, not %.64s",
                         row.name, row.name, row.name, name);
}

bool guard_operates(const coord *c, const peer_id *from)
{
    keyring_row row;
    if (!from->secure)
        return true;
    return c->guard && keyring_find(c->guard->keys, &from->key, &row) &&
           row.role == KEYRING_OPERATOR;
}

int64_t guard_refused(const coord *c)
{
    return c->guard ? zap_refused(c->guard->zap) + c->guard->odd_total : 0;
}

/* ---- looking again ---- */

static void tell_bye(coord *c, const node *n)
{
    message m;
    message_init(&m, MSG_REFUSED);
    m.body.refused.protocol = MESSAGE_PROTOCOL;
    m.body.refused.code = ERR_DENIED;
    message_set_str(&m.body.refused.text, "this node's key was revoked");
    coord_send(c, &n->peer, &m);
}

static void drop_revoked(coord *c)
{
    guard *g = c->guard;
    int64_t now = keyring_generation(g->keys);
    if (now == g->generation)
        return;
    g->generation = now;
    for (size_t i = nodes_next(c->nodes, NODES_NONE); i != NODES_NONE;
         i = nodes_next(c->nodes, i)) {
        const node *n = nodes_get(c->nodes, i);
        if (!n->peer.secure || keyring_find(g->keys, &n->peer.key, NULL))
            continue;
        tell_bye(c, n);
        handout_lose_node(c, i, NODE_LOST, "its key was revoked");
    }
}

static void tell_refusals(guard *g)
{
    char brief[CURVE_BRIEF];
    for (zap_refusal r; zap_next(g->zap, &r);) {
        curve_brief(&r.key, brief);
        log_line(LOG_WARN, "keys",
                 "refused %lld connections from %s: key %s… is not allowed (any more); `ce-coord "
                 "keys new NAME` makes one that is",
                 (long long)r.times, r.address, brief);
    }
    if (g->odd)
        log_line(LOG_WARN, "keys",
                 "%lld handshakes failed: a node without a key (start it with --key FILE, which "
                 "`ce-coord keys new NAME` writes), one with the key of another coordinator, or no "
                 "node of ce at all",
                 (long long)g->odd);
    g->odd_total += g->odd;
    g->odd = 0;
}

/* Which of both sides sees what is wrong depends on who hangs up first. */
static void count_news(coord *c)
{
    for (sock_news news; (news = sock_event(c->router)) != SOCK_QUIET;)
        c->guard->odd += news == SOCK_PLAIN || news == SOCK_ODD;
}

void guard_tick(coord *c, int64_t now_ms)
{
    guard *g = c->guard;
    if (!g)
        return;
    drop_revoked(c);
    count_news(c);
    if (g->told_ms && now_ms - g->told_ms < GUARD_TELL_MS)
        return;
    if (!g->odd && zap_refused(g->zap) == 0)
        return;
    g->told_ms = now_ms;
    tell_refusals(g);
}
