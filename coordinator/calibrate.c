/* calibrate - see calibrate.h.
 *
 * A joining node gets no lease before what is stored of its cards is read, as its leases carry that. A
 * self-test's rows are read back in the job that writes them.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/paired.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "store/card.h"
#include "wire/calibration.h"

enum { FAILURE_MAX = 240 };

static const int64_t week_ms = INT64_C(7) * 24 * 3600 * 1000;
static const double copy_apart = 0.05;

bool calibrate_copy_fits(double ms, double stored_ms)
{
    return isnan(stored_ms) || fabs(ms / stored_ms - 1) <= copy_apart;
}

/* ---- what is stored of a card ---- */

static int read_margin(store_tx *tx, const char *uuid, int class, double *margin, int64_t *runs,
                       err *e)
{
    double thetas[PAIRED_MARGIN_RUNS_MAX];
    size_t count = 0;
    bool calibrated = false;
    if (card_thetas(tx, uuid, calibration_class_name(class), thetas, PAIRED_MARGIN_RUNS_MAX, &count,
                    e))
        return -1;
    *margin = paired_margin(thetas, count, &calibrated);
    *runs = (int64_t)count;
    return 0;
}

/* read_card fills everything but the uuid. */
static int read_card(store_tx *tx, struct row_card *card, err *e)
{
    SCOPED(scoped_free) char *failure = NULL;
    if (read_margin(tx, card->uuid, 0, &card->margin_short, &card->runs_short, e) ||
        read_margin(tx, card->uuid, 1, &card->margin_middle, &card->runs_middle, e) ||
        read_margin(tx, card->uuid, 2, &card->margin_long, &card->runs_long, e) ||
        card_failure(tx, card->uuid, &failure, e))
        return err_wrap(e, "self-tests of %s", card->uuid);
    free(card->failure);
    card->failure = NULL;
    message_cut_str(&card->failure, failure ? failure : "", FAILURE_MAX);
    return 0;
}

static void cards_free(struct row_card *cards, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(cards[i].uuid);
        free(cards[i].failure);
    }
    free(cards);
}

/* The node that is meant, unless it has left meanwhile. */
static bool is_there(const coord *c, size_t number, const char *instance)
{
    const node *n = nodes_get(c->nodes, number);
    return n->up && strcmp(n->instance, instance) == 0;
}

/* ---- joining ---- */

typedef struct join_job {
    size_t number;
    char instance[NODES_INSTANCE];
    struct row_card *cards;
    double *copies; /* stored time of the copy on each; NaN: none */
    size_t count;
    bool usable; /* a lane that times */
    bool due;    /* a self-test, whatever the run wants */
} join_job;

static void join_job_free(join_job *job)
{
    cards_free(job->cards, job->count);
    free(job->copies);
    free(job);
}

static int read_cards(store_tx *tx, void *arg, err *e)
{
    join_job *job = arg;
    for (size_t i = 0; i < job->count; i++)
        if (read_card(tx, &job->cards[i], e) ||
            card_copy(tx, job->cards[i].uuid, clock_wall_ms() - week_ms, &job->copies[i], e))
            return -1;
    return 0;
}

static void ask_for_selftest(coord *c, const join_job *job)
{
    message m;
    message_init(&m, MSG_MEASURE);
    struct msg_measure *body = &m.body.measure;
    body->quick = true;
    body->known = xcalloc(job->count + 1, sizeof *body->known);
    for (size_t i = 0; i < job->count; i++) {
        if (isnan(job->copies[i]))
            continue;
        struct row_known_copy *row = &body->known[body->known_count++];
        message_set_str(&row->uuid, job->cards[i].uuid);
        row->ms = job->copies[i];
    }
    nodes_await_tests(c->nodes, job->number, (int64_t)job->count);
    coord_send(c, &nodes_get(c->nodes, job->number)->peer, &m);
}

static void cards_read(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    join_job *job = arg;
    if (result) {
        coord_stop(c, COORD_BROKEN, e);
    } else if (is_there(c, job->number, job->instance)) {
        if (job->due || (job->usable && c->options.run->settings.selftest))
            ask_for_selftest(c, job);
        nodes_set_cards(c->nodes, job->number, TAKE(job->cards), job->count);
        job->count = 0;
    }
    join_job_free(job);
}

void calibrate_joined(coord *c, size_t number, const struct msg_hello *hello)
{
    join_job *job = xcalloc(1, sizeof *job);
    job->number = number;
    memcpy(job->instance, nodes_get(c->nodes, number)->instance, sizeof job->instance);
    job->cards = xcalloc(hello->devices_count + 1, sizeof *job->cards);
    job->copies = xcalloc(hello->devices_count + 1, sizeof *job->copies);
    for (size_t i = 0; i < hello->devices_count; i++) {
        const struct row_device *d = &hello->devices[i];
        bool times = strcmp(d->kind, "cuda") == 0 || strcmp(d->kind, "fake") == 0;
        if (!times || !*d->uuid)
            continue;
        job->usable = true;
        message_set_str(&job->cards[job->count++].uuid, d->uuid);
    }
    nodes_await_cards(c->nodes, number);
    if (coord_submit(c, read_cards, job, cards_read))
        join_job_free(job);
}

void calibrate_tick(coord *c, int64_t now_ms)
{
    bool all = c->options.run->settings.selftest;
    for (size_t due; (due = nodes_untested(c->nodes, all, now_ms)) != NODES_NONE;) {
        const node *n = nodes_get(c->nodes, due);
        join_job *job = xcalloc(1, sizeof *job);
        job->number = due;
        job->due = true;
        memcpy(job->instance, n->instance, sizeof job->instance);
        job->cards = xcalloc(n->card_count + 1, sizeof *job->cards);
        job->copies = xcalloc(n->card_count + 1, sizeof *job->copies);
        for (; job->count < n->card_count; job->count++)
            job->cards[job->count].uuid = xstrdup(n->cards[job->count].uuid);
        if (coord_submit(c, read_cards, job, cards_read))
            join_job_free(job);
    }
}

/* ---- records ---- */

typedef struct test_job {
    size_t number;
    char instance[NODES_INSTANCE];
    char name[NODES_NAME];
    handout_ack ack;
    calibration_record record;
    struct row_card card;
    char failure[FAILURE_MAX + 1]; /* what said no */
} test_job;

static void test_job_free(test_job *job)
{
    calibration_record_fini(&job->record);
    free(job->card.uuid);
    free(job->card.failure);
    free(job);
}

static void add_failure(test_job *job, const calibration_check *row)
{
    size_t used = strlen(job->failure);
    snprintf(job->failure + used, sizeof job->failure - used, "%s%s%s%s%s%s", used ? "; " : "",
             row->name, *row->label ? " " : "", row->label, row->text ? ": " : "",
             row->text ? row->text : "");
}

/* The copy is compared here as well: a node that tests itself alone knows nothing of other days. */
static int judge_copy(store_tx *tx, const test_job *job, calibration_check *row, err *e)
{
    double stored = 0;
    if (strcmp(row->name, CALIBRATION_COPY) != 0 || isnan(row->value))
        return 0;
    if (card_copy(tx, job->record.device_uuid, clock_wall_ms() - week_ms, &stored, e))
        return -1;
    if (!calibrate_copy_fits(row->value, stored)) {
        row->passed = false;
        row->decides = true;
        row->limit = stored;
        free(row->text);
        row->text = xasprintf("%.5f ms, stored median %.5f ms", row->value, stored);
    }
    return 0;
}

static card_check stored_check(const calibration_check *row)
{
    return (card_check){.name = row->name,
                        .label = row->label,
                        .duration = row->duration,
                        .decides = row->decides,
                        .passed = row->passed,
                        .verdict = row->verdict,
                        .reason = row->reason,
                        .theta = row->theta,
                        .ci_low = row->ci_low,
                        .ci_high = row->ci_high,
                        .candidate_ms = row->candidate_ms,
                        .pairs = row->pairs,
                        .value = row->value,
                        .bound = row->limit,
                        .text = row->text,
                        .raw = row->raw};
}

static card_test stored_test(const test_job *job)
{
    const calibration_record *r = &job->record;
    return (card_test){.at_ms = clock_wall_ms(),
                       .node = job->name,
                       .device_uuid = r->device_uuid,
                       .device = r->device,
                       .device_kind = r->device_kind,
                       .driver = r->driver,
                       .torch = r->torch,
                       .version = r->version,
                       .protocol = r->protocol,
                       .quick = r->quick,
                       .passed = !*job->failure,
                       .failure = *job->failure ? job->failure : NULL,
                       .wall_s = r->wall_s};
}

static int write_test(store_tx *tx, void *arg, err *e)
{
    test_job *job = arg;
    calibration_record *r = &job->record;
    SCOPED(scoped_free) card_check *rows = xcalloc(r->check_count + 1, sizeof *rows);
    *job->failure = '\0';
    for (size_t i = 0; i < r->check_count; i++) {
        if (judge_copy(tx, job, &r->checks[i], e))
            return -1;
        if (r->checks[i].decides && !r->checks[i].passed)
            add_failure(job, &r->checks[i]);
        rows[i] = stored_check(&r->checks[i]);
    }
    const card_test test = stored_test(job);
    return card_put(tx, &test, rows, r->check_count, e) ? -1 : read_card(tx, &job->card, e);
}

static void tell_calibrated(coord *c, const test_job *job)
{
    message m;
    message_init(&m, MSG_CALIBRATED);
    m.body.calibrated.ref = (int64_t)job->ack.seq;
    m.body.calibrated.passed = !*job->failure;
    message_set_str(&m.body.calibrated.text, job->failure);
    coord_send(c, &job->ack.peer, &m);
}

static void test_written(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    test_job *job = arg;
    bool there = is_there(c, job->number, job->instance);
    if (there)
        nodes_tested(c->nodes, job->number);
    if (result) {
        log_err(LOG_WARN, "store", e, "a self-test was not taken");
        handout_acknowledge(c, &job->ack, e);
    } else {
        if (*job->failure)
            log_line(LOG_WARN, "nodes", "%s, %s fails its self-test: %s", job->name,
                     job->record.device_uuid, job->failure);
        nodes_update_card(c->nodes, &job->card);
        tell_calibrated(c, job);
    }
    test_job_free(job);
    handout_dispatch(c);
}

void calibrate_take(coord *c, size_t number, const handout_ack *ack, const char *record)
{
    const node *n = nodes_get(c->nodes, number);
    err e = {0};
    test_job *job = xcalloc(1, sizeof *job);
    if (calibration_read(record, strlen(record), &job->record, &e)) {
        log_err(LOG_WARN, "wire", &e, "node %s sent a bad self-test", n->name);
        handout_acknowledge(c, ack, &e);
        test_job_free(job);
        return;
    }
    job->number = number;
    job->ack = *ack;
    memcpy(job->instance, n->instance, sizeof job->instance);
    memcpy(job->name, n->name, sizeof job->name);
    job->card.uuid = xstrdup(job->record.device_uuid);
    if (coord_submit(c, write_test, job, test_written))
        test_job_free(job);
}
