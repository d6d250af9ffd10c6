/* nodes - an array of connected nodes; rows of nodes that left are used again
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/nodes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/xalloc.h"

struct nodes {
    node *rows;
    size_t count, cap; /* rows in use or free again */
    size_t up;
    uint64_t changes;
};

nodes *nodes_create(void)
{
    return xcalloc(1, sizeof(nodes));
}

static void forget_cards(node *n)
{
    for (size_t i = 0; i < n->card_count; i++) {
        free(n->cards[i].uuid);
        free(n->cards[i].failure);
    }
    free(n->cards);
    n->cards = NULL;
    n->card_count = 0;
}

void nodes_destroy(nodes **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->count; i++) {
        free((*self)->rows[i].reason);
        free((*self)->rows[i].devices);
        free((*self)->rows[i].lanes);
        forget_cards(&(*self)->rows[i]);
    }
    free((*self)->rows);
    free(*self);
    *self = NULL;
}

static size_t free_row(nodes *self)
{
    for (size_t i = 0; i < self->count; i++) {
        if (!self->rows[i].up)
            return i;
    }
    if (self->count == self->cap) {
        self->cap = self->cap ? self->cap * 2 : 8;
        self->rows = xreallocarray(self->rows, self->cap, sizeof *self->rows);
    }
    self->rows[self->count] = (node){.up = false};
    return self->count++;
}

static int check_hello(const nodes *self, const struct msg_hello *hello, err *e)
{
    if (hello->protocol != MESSAGE_PROTOCOL)
        return err_set(
            e, ERR_PROTOCOL,
            "node %.64s speaks protocol %lld, this coordinator %d: install the same version "
            "of ce on both",
            hello->node, (long long)hello->protocol, MESSAGE_PROTOCOL);
    if (!*hello->node || !*hello->instance)
        return err_set(e, ERR_PROTOCOL, "a node without name or instance");
    if (nodes_named(self, hello->node) != NODES_NONE)
        return err_set(e, ERR_CONFLICT, "a node named %.64s is connected already", hello->node);
    if (self->up >= NODES_MAX)
        return err_set(e, ERR_LIMIT, "%d nodes are connected: no room for %.64s", NODES_MAX,
                       hello->node);
    return 0;
}

static void note_device(node *n, const struct row_device *device)
{
    if (*device->reason) {
        if (!n->reason)
            n->reason = xstrdup(device->reason);
        return;
    }
    n->cuda |= strcmp(device->kind, "cuda") == 0;
    n->emu |= strcmp(device->kind, "emu") == 0;
    n->fake |= strcmp(device->kind, "fake") == 0;
    n->lanes[n->lane_count++] = need_device_of(device->kind, device->arch, device->memory_bytes);
}

/* "fake, NVIDIA H200": what its lanes are. */
static char *describe(const struct msg_hello *hello)
{
    buf out;
    buf_init(&out, NODES_DEVICES);
    for (size_t i = 0; i < hello->devices_count; i++) {
        const struct row_device *d = &hello->devices[i];
        if (!*d->reason)
            buf_printf(&out, "%s%s", out.size ? ", " : "", *d->name ? d->name : d->kind);
    }
    return buf_take(&out);
}

int nodes_join(nodes *self, const peer_id *peer, const struct msg_hello *hello, int64_t now_ms,
               size_t *out, err *e)
{
    if (check_hello(self, hello, e))
        return -1;
    size_t number = free_row(self);
    node *n = &self->rows[number];
    free(n->reason);
    free(n->devices);
    free(n->lanes);
    forget_cards(n);
    *n = (node){
        .peer = *peer, .up = true, .seen_ms = now_ms, .tested_ms = now_ms, .slots = hello->slots};
    memccpy(n->name, hello->node, 0, NODES_NAME - 1);
    memccpy(n->instance, hello->instance, 0, NODES_INSTANCE - 1);
    n->lanes = xcalloc(hello->devices_count + 1, sizeof *n->lanes);
    for (size_t i = 0; i < hello->devices_count; i++)
        note_device(n, &hello->devices[i]);
    n->devices = describe(hello);
    self->up++;
    self->changes++;
    *out = number;
    return 0;
}

void nodes_leave(nodes *self, size_t number)
{
    assert(number < self->count && self->rows[number].up);
    self->rows[number].up = false;
    self->up--;
    self->changes++;
}

const node *nodes_get(const nodes *self, size_t number)
{
    assert(number < self->count);
    return &self->rows[number];
}

size_t nodes_of_peer(const nodes *self, const peer_id *peer)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i].up && peer_id_equal(&self->rows[i].peer, peer))
            return i;
    }
    return NODES_NONE;
}

size_t nodes_named(const nodes *self, const char *name)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i].up && strcmp(self->rows[i].name, name) == 0)
            return i;
    }
    return NODES_NONE;
}

size_t nodes_next(const nodes *self, size_t after)
{
    for (size_t i = after == NODES_NONE ? 0 : after + 1; i < self->count; i++) {
        if (self->rows[i].up)
            return i;
    }
    return NODES_NONE;
}

size_t nodes_count(const nodes *self)
{
    return self->up;
}

static bool same_key(const peer_id *a, const peer_id *b)
{
    return a->secure == b->secure && curve_equal(&a->key, &b->key);
}

size_t nodes_beat(nodes *self, const nodes_pulse *pulse, int64_t lost_ms, int64_t now_ms,
                  bool *alive)
{
    const struct msg_beat *beat = pulse->beat;
    size_t number = nodes_named(self, beat->node);
    if (number == NODES_NONE || strcmp(self->rows[number].instance, beat->instance) != 0 ||
        !same_key(&self->rows[number].peer, pulse->from))
        return NODES_NONE;
    *alive = beat->tick_age_ms < lost_ms;
    if (*alive)
        nodes_seen(self, number, now_ms);
    return number;
}

void nodes_seen(nodes *self, size_t number, int64_t now_ms)
{
    assert(number < self->count);
    self->rows[number].seen_ms = now_ms;
}

size_t nodes_lost(const nodes *self, int64_t lost_ms, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++) {
        if (self->rows[i].up && now_ms - self->rows[i].seen_ms >= lost_ms)
            return i;
    }
    return NODES_NONE;
}

void nodes_forgive(nodes *self, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++)
        self->rows[i].seen_ms = now_ms;
}

void nodes_drain(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].draining = true;
    self->changes++;
}

void nodes_await_cards(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].unread = true;
}

void nodes_set_cards(nodes *self, size_t number, struct row_card *cards, size_t count)
{
    assert(number < self->count);
    forget_cards(&self->rows[number]);
    self->rows[number].cards = cards;
    self->rows[number].card_count = count;
    self->rows[number].unread = false;
}

static void update(struct row_card *to, const struct row_card *from)
{
    free(to->failure);
    char *uuid = to->uuid;
    *to = *from;
    to->uuid = uuid;
    to->failure = xstrdup(from->failure);
}

void nodes_update_card(nodes *self, const struct row_card *card)
{
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i))
        for (size_t k = 0; k < self->rows[i].card_count; k++)
            if (strcmp(self->rows[i].cards[k].uuid, card->uuid) == 0)
                update(&self->rows[i].cards[k], card);
}

void nodes_await_tests(nodes *self, size_t number, int64_t cards)
{
    assert(number < self->count);
    self->rows[number].untested = cards;
}

void nodes_tested(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].untested -= self->rows[number].untested > 0;
}

void nodes_doubt(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].doubted = true;
}

bool nodes_is_failing(const node *n)
{
    size_t failures = 0;
    for (size_t i = 0; i < n->card_count; i++)
        failures += *n->cards[i].failure != '\0';
    return failures > 0 && failures == n->card_count;
}

size_t nodes_untested(nodes *self, bool all, int64_t now_ms)
{
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        node *n = &self->rows[i];
        bool failing = nodes_is_failing(n), soon = n->doubted || failing;
        if (!(all || failing) || n->draining || n->untested > 0 || n->card_count == 0 ||
            now_ms - n->tested_ms < (soon ? NODES_DOUBT_MS : NODES_CANARY_MS))
            continue;
        n->tested_ms = now_ms;
        n->doubted = false;
        return i;
    }
    return NODES_NONE;
}

void nodes_set_credit(nodes *self, size_t number, int64_t credit)
{
    assert(number < self->count);
    self->rows[number].credit = credit;
}

static int64_t room(const node *n)
{
    int64_t slots = n->blame_count >= NODES_BLAMES ? 1 : n->slots; /* on probation */
    bool closed = n->draining || n->alone || n->unread || n->untested > 0 || nodes_quarantined(n);
    int64_t empty = closed ? 0 : slots - n->held;
    return n->credit < empty ? n->credit : empty;
}

/* 2: made for it, 1: second choice (auto on the emulator), 0: cannot run it. */
static int kinds_fit(const node *n, const char *device)
{
    if (strcmp(device, "auto") == 0)
        return n->cuda ? 2 : n->emu ? 1 : 0;
    if (strcmp(device, "cuda") == 0)
        return n->cuda ? 2 : 0;
    if (strcmp(device, "emu") == 0)
        return n->emu ? 2 : 0;
    return n->fake ? 2 : 0;
}

static int lanes_fit(const node *n, const nodes_want *want)
{
    bool any = need_is_none(&want->needs) ||
               need_find(&want->needs, want->device, n->lanes, n->lane_count) != NULL;
    return any ? kinds_fit(n, want->device) : 0;
}

/* A card that fails its self-test is the last resort of what it can run. */
static int fitness(const node *n, const nodes_want *want)
{
    int fit = 2 * lanes_fit(n, want);
    return fit > 0 && nodes_is_failing(n) ? 1 : fit;
}

bool nodes_quarantined(const node *n)
{
    return n->quarantined_ms != 0;
}

static bool is_usable(const node *n)
{
    return !n->draining && !nodes_quarantined(n);
}

static bool has_other(const nodes *self, size_t number, const char *device)
{
    const nodes_want want = {.device = device};
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        if (i != number && is_usable(&self->rows[i]) && fitness(&self->rows[i], &want) > 0)
            return true;
    }
    return false;
}

static void note_blame(node *n, size_t task, int64_t now_ms)
{
    for (size_t i = 0; i < n->blame_count; i++) {
        if (n->blames[i] == (int64_t)task)
            return;
    }
    if (n->blame_count == NODES_BLAMES) {
        memmove(n->blames, n->blames + 1, (NODES_BLAMES - 1) * sizeof *n->blames);
        memmove(n->blamed_ms, n->blamed_ms + 1, (NODES_BLAMES - 1) * sizeof *n->blamed_ms);
        n->blame_count--;
    }
    n->blames[n->blame_count] = (int64_t)task;
    n->blamed_ms[n->blame_count++] = now_ms;
}

bool nodes_blame(nodes *self, size_t number, size_t task, const char *device, int64_t now_ms)
{
    assert(number < self->count);
    node *n = &self->rows[number];
    note_blame(n, task, now_ms);
    if (n->blame_count < NODES_BLAMES || now_ms - n->blamed_ms[0] > NODES_BLAME_MS ||
        !has_other(self, number, device))
        return false;
    n->quarantined_ms = now_ms > 0 ? now_ms : 1;
    self->changes++;
    return true;
}

void nodes_praise(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].blame_count = 0;
}

void nodes_tick(nodes *self, int64_t now_ms)
{
    for (size_t i = 0; i < self->count; i++) {
        node *n = &self->rows[i];
        if (nodes_quarantined(n) && now_ms - n->quarantined_ms > NODES_BLAME_MS) {
            n->quarantined_ms = 0;
            self->changes++;
        }
    }
}

size_t nodes_find_empty(const nodes *self, const nodes_want *want)
{
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        const node *n = &self->rows[i];
        if (n->held == 0 && room(n) > 0 && fitness(n, want) > 0)
            return i;
    }
    return NODES_NONE;
}

/* The best fit that any node offers, with room or not. */
static int best_fit(const nodes *self, const nodes_want *want)
{
    int best = 0;
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        int fit = is_usable(&self->rows[i]) ? fitness(&self->rows[i], want) : 0;
        best = fit > best ? fit : best;
    }
    return best;
}

size_t nodes_find(const nodes *self, const nodes_want *want)
{
    int fit = best_fit(self, want);
    size_t best = NODES_NONE;
    if (fit == 0 && want->strict)
        return NODES_NONE;
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        const node *n = &self->rows[i];
        if (room(n) > 0 && fitness(n, want) == fit &&
            (best == NODES_NONE || room(n) > room(&self->rows[best])))
            best = i;
    }
    return best;
}

void nodes_take(nodes *self, size_t number, bool alone)
{
    assert(number < self->count);
    node *n = &self->rows[number];
    n->credit--;
    n->held++;
    n->alone |= alone;
}

bool nodes_fit(const nodes *self, const nodes_want *want)
{
    return best_fit(self, want) > 0;
}

size_t nodes_lanes(const nodes *self, need_device *out, size_t max)
{
    size_t count = 0;
    for (size_t i = nodes_next(self, NODES_NONE); i != NODES_NONE; i = nodes_next(self, i)) {
        const node *n = &self->rows[i];
        for (size_t k = 0; k < n->lane_count && is_usable(n); k++, count++) {
            if (count < max)
                out[count] = n->lanes[k];
        }
    }
    return count;
}

uint64_t nodes_changes(const nodes *self)
{
    return self->changes;
}

void nodes_hold(nodes *self, size_t number)
{
    assert(number < self->count);
    self->rows[number].held++;
}

void nodes_release(nodes *self, size_t number)
{
    assert(number < self->count && self->rows[number].held > 0);
    self->rows[number].held--;
    self->rows[number].alone = false;
}
