/* service - a coordinator that outlives its runs: they are submitted, wait, are worked on, and end
 *
 * Theory of operation. A run is waiting (its id is in a list), opening (the clerk reads it), at work (the
 * coordinator has it), closing (the clerk writes state and reports), over (kept for who asks). One of
 * opening, at work and closing holds one run at most; when none does, the next is opened.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/clerk.h"
#include "coordinator/cmd.h"
#include "coordinator/estimate.h"
#include "coordinator/crier.h"
#include "coordinator/paid.h"
#include "coordinator/progress.h"
#include "coordinator/selection.h"
#include "coordinator/verdict.h"
#include "reports/report.h"

enum { LINE_MAX_BYTES = 1024, PIECE = 1024 * 1024, STATE_MAX = 16, DEAD_MAN_LOOK_MS = 1000 };

/* How a run ended, for who asks. */
typedef struct ended {
    char run[ID_TEXT];
    run_state state;
    int code;
    bool withdrawn; /* a contract failed: nothing of it is in the store */
    char text[LINE_MAX_BYTES];
} ended;

struct service {
    service_options options;
    coord *coord;
    clerk *clerk;
    run *nothing; /* what the coordinator has while no run is at work */
    run *active;  /* at work or closing */
    bool busy;    /* opening, at work or closing */
    char now[ID_TEXT];
    int64_t started_ms;
    size_t done_before;
    char waiting[SERVICE_WAITING_MAX][ID_TEXT];
    size_t waiting_count;
    ended over[SERVICE_ENDED_MAX]; /* a ring */
    size_t over_count;             /* of all time */
    bool stopping;
    int64_t good_ms; /* wall clock: when a run was complete last; at first, when this began */
    bool dead_told;  /* since then the hook has heard */
};

static void next_run(service *self);

/* ---- files of a run ---- */
static char *out_of(const service *self, const char *id)
{
    return file_join(self->options.out, id);
}

/* ---- submitting ---- */
typedef struct submission {
    service *self;
    settings wanted;
    char *command;
    char id[ID_TEXT];
    handout_ack ack;
} submission;

static void submission_free(submission *job)
{
    settings_fini(&job->wanted);
    free(job->command);
    free(job);
}

static int write_run(void *arg, err *e)
{
    submission *job = arg;
    const service_options *o = &job->self->options;
    SCOPED(selection_destroy) selection *chosen = selection_create(&job->wanted, e);
    if (!chosen || estimate_check_budget(&job->wanted, job->wanted.budget_usd, clock_wall_ms(), e))
        return -1;
    const run_request request = {.settings = &job->wanted,
                                 .selection = chosen,
                                 .command = job->command,
                                 .version = o->version,
                                 .now_ms = clock_wall_ms()};
    return run_create(o->store, &request, job->id, e);
}

static void run_written(void *owner, void *arg, int result, const err *e)
{
    service *self = owner;
    submission *job = arg;
    message m;
    if (result) {
        handout_acknowledge(self->coord, &job->ack, e);
        submission_free(job);
        return;
    }
    memcpy(self->waiting[self->waiting_count++], job->id, ID_TEXT);
    message_init(&m, MSG_SUBMITTED);
    m.body.submitted.ref = (int64_t)job->ack.seq;
    message_set_str(&m.body.submitted.run, job->id);
    coord_send(self->coord, &job->ack.peer, &m);
    submission_free(job);
    next_run(self);
}

/* What a sender may not choose: where this host keeps its things. */
static void localize(const service *self, settings *s)
{
    free(s->bind);
    free(s->out);
    free(s->suites_dir);
    s->bind = s->out = NULL;
    s->suites_dir = self->options.suites ? xstrdup(self->options.suites) : NULL;
}

void service_submit(service *self, const handout_ack *ack, const struct msg_submit *m)
{
    err e = {0};
    submission *job = xcalloc(1, sizeof *job);
    job->self = self;
    job->ack = *ack;
    job->command = xstrdup(m->command);
    if (self->waiting_count == SERVICE_WAITING_MAX) {
        err_set(&e, ERR_LIMIT, "%d runs wait already", SERVICE_WAITING_MAX);
    } else if (settings_read(m->settings, strlen(m->settings), &job->wanted, &e) == 0) {
        const clerk_job work = {.fn = write_run, .next = run_written, .arg = job, .owner = self};
        localize(self, &job->wanted);
        job->wanted.budget_usd = m->budget_usd;
        if (clerk_submit(self->clerk, &work, &e) == 0)
            return;
    }
    handout_acknowledge(self->coord, ack, &e);
    submission_free(job);
}

/* ---- ending ---- */
static ended *remember(service *self)
{
    ended *row = &self->over[self->over_count++ % SERVICE_ENDED_MAX];
    memset(row, 0, sizeof *row);
    memcpy(row->run, self->now, ID_TEXT);
    return row;
}

static const ended *recall(const service *self, const char *id)
{
    size_t count = self->over_count < SERVICE_ENDED_MAX ? self->over_count : SERVICE_ENDED_MAX;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(self->over[i].run, id) == 0)
            return &self->over[i];
    }
    return NULL;
}

typedef struct closing {
    service *self;
    ended how;
} closing;

static int write_end(store_tx *tx, void *arg, err *e)
{
    const closing *job = arg;
    if (job->how.withdrawn)
        return run_delete(tx, job->how.run, e);
    return run_set_state(tx, job->how.run, job->how.state, clock_wall_ms(), e);
}

static int close_run(void *arg, err *e)
{
    closing *job = arg;
    const service_options *o = &job->self->options;
    SCOPED(scoped_free) char *out = out_of(job->self, job->how.run);
    const report_ask ask = {.run = job->how.run};
    if (store_run(o->store, write_end, job, e))
        return -1;
    return job->how.withdrawn || job->how.state == RUN_INTERRUPTED
               ? 0
               : report_write_all(o->store, &ask, out, e);
}

static void tell_hook(service *self, const ended *how)
{
    crier_word word = {.event = CRIER_BUDGET,
                       .run = how->run,
                       .state = run_state_name(how->state),
                       .code = how->code,
                       .text = how->text};
    if (how->code == CMD_EXIT_BUDGET)
        crier_tell(self->options.hook, &word);
    word.event = CRIER_FINISH;
    crier_tell(self->options.hook, &word);
    if (how->state != RUN_COMPLETE)
        return;
    self->good_ms = clock_wall_ms();
    self->dead_told = false;
}

static void on_dead_man(void *arg)
{
    service *self = arg;
    char text[LINE_MAX_BYTES];
    int64_t silent = clock_wall_ms() - self->good_ms;
    if (self->dead_told || silent < self->options.dead_man_ms)
        return;
    snprintf(text, sizeof text, "no run has been complete for %.1f h", (double)silent / 3.6e6);
    const crier_word word = {.event = CRIER_DEAD_MAN, .text = text};
    crier_tell(self->options.hook, &word);
    log_line(LOG_WARN, "service", "%s", text);
    self->dead_told = true;
}

static void run_closed(void *owner, void *arg, int result, const err *e)
{
    service *self = owner;
    closing *job = arg;
    if (result)
        log_err(LOG_ERROR, "service", e, "run %s has ended, but not all was written", job->how.run);
    *remember(self) = job->how;
    log_line(LOG_INFO, "service", "run %s: %s", job->how.run, job->how.text);
    tell_hook(self, &job->how);
    free(job);
    run_destroy(&self->active);
    self->busy = false;
    next_run(self);
}

static void judge_end(const service *self, coord_end end, ended *how)
{
    bool budget = false;
    const char *why = paid_stopped(self->coord->paid, &budget);
    how->state = verdict_of(self->active->tasks, &how->code);
    if (end == COORD_INTERRUPTED) {
        how->state = RUN_INTERRUPTED;
        how->code = CMD_EXIT_INTERRUPTED;
        why = "it was cancelled";
    } else if (end == COORD_REFUSED) {
        how->withdrawn = true;
        how->state = RUN_FAILED;
        how->code = CMD_EXIT_USAGE;
        why = self->coord->why.text;
    } else if (why && how->code != CMD_EXIT_COMPLETE) {
        how->state = RUN_INCOMPLETE;
        how->code = budget ? CMD_EXIT_BUDGET : CMD_EXIT_INCOMPLETE;
    } else {
        why = NULL;
    }
    sched_counts work = sched_count(self->active->tasks, SCHED_SYNTHESIZE);
    snprintf(how->text, sizeof how->text, "%s: %zu of %zu scored, %zu correct%s%s",
             run_state_name(how->state), work.scored, work.planned, work.correct, why ? "; " : "",
             why ? why : "");
}

/* The coordinator has no lease and no store job of the run any more. */
static void on_ended(void *arg, coord_end end)
{
    service *self = arg;
    closing *job = xcalloc(1, sizeof *job);
    err e = {0};
    const clerk_job work = {.fn = close_run, .next = run_closed, .arg = job, .owner = self};
    job->self = self;
    memcpy(job->how.run, self->now, ID_TEXT);
    judge_end(self, end, &job->how);
    coord_take_run(self->coord, self->nothing);
    if (clerk_submit(self->clerk, &work, &e)) {
        log_err(LOG_ERROR, "service", &e, "run %s cannot be closed", self->now);
        free(job);
    }
}

/* ---- beginning ---- */
typedef struct opening {
    service *self;
    run *opened;
} opening;

static int open_run(void *arg, err *e)
{
    opening *job = arg;
    job->opened = run_open(job->self->options.store, job->self->now, clock_wall_ms(), e);
    return job->opened ? 0 : -1;
}

static void run_opened(void *owner, void *arg, int result, const err *e)
{
    service *self = owner;
    opening *job = arg;
    self->active = job->opened;
    self->coord->opening = false;
    free(job);
    if (result) {
        ended *how = remember(self);
        how->state = RUN_FAILED;
        how->code = CMD_EXIT_HARNESS;
        snprintf(how->text, sizeof how->text, "cannot be opened: %s", e->text);
        self->busy = false;
        next_run(self);
        return;
    }
    sched_counts work = sched_count(self->active->tasks, SCHED_SYNTHESIZE);
    self->started_ms = clock_mono_ms();
    self->done_before = work.state[SCHED_DONE];
    coord_take_run(self->coord, self->active);
}

static void next_run(service *self)
{
    if (self->busy || self->stopping || !self->waiting_count)
        return;
    opening *job = xcalloc(1, sizeof *job);
    const clerk_job work = {.fn = open_run, .next = run_opened, .arg = job, .owner = self};
    job->self = self;
    memcpy(self->now, self->waiting[0], ID_TEXT);
    if (clerk_submit(self->clerk, &work, NULL)) {
        free(job);
        return;
    }
    self->waiting_count--;
    memmove(self->waiting[0], self->waiting[1], self->waiting_count * ID_TEXT);
    self->busy = true;
}

/* What an earlier coordinator left goes on, oldest first. */
static int read_left(store_tx *tx, void *arg, err *e)
{
    service *self = arg;
    SCOPED(run_list_fini) run_list list = {.rows = NULL};
    if (run_list_read(tx, &list, e))
        return -1;
    for (size_t i = list.count; i-- > 0;) {
        const run_row *row = &list.rows[i];
        if (row->state == RUN_COMPLETE && row->finished_ms > self->good_ms)
            self->good_ms = row->finished_ms;
        if (run_state_is_open(row->state) && row->kind == RUN_EVAL &&
            self->waiting_count < SERVICE_WAITING_MAX)
            memccpy(self->waiting[self->waiting_count++], row->id, 0, ID_TEXT - 1);
    }
    return 0;
}

/* ---- telling ---- */
static void line_of(const service *self, buf *out)
{
    if (self->active)
        progress_line(out,
                      &(progress_at){self->active, nodes_count(self->coord->nodes),
                                     clock_mono_ms() - self->started_ms, self->done_before},
                      SIZE_MAX);
    else
        buf_puts(out, "begins");
}

static size_t find_waiting(const service *self, const char *id)
{
    size_t i = 0;
    while (i < self->waiting_count && !str_starts(self->waiting[i], id))
        i++;
    return i;
}

typedef struct look {
    handout_ack ack;
    char run[ID_TEXT];
    run_state state;
} look;

static int read_state(store_tx *tx, void *arg, err *e)
{
    look *job = arg;
    SCOPED(run_row_fini) run_row row = {.id = NULL};
    if (run_find(tx, job->run, &row, e))
        return -1;
    memccpy(job->run, row.id, 0, ID_TEXT - 1);
    job->state = row.state;
    return 0;
}

static int code_of(run_state state)
{
    return state == RUN_COMPLETE      ? CMD_EXIT_COMPLETE
           : state == RUN_INCOMPLETE  ? CMD_EXIT_INCOMPLETE
           : state == RUN_INTERRUPTED ? CMD_EXIT_INTERRUPTED
                                      : CMD_EXIT_HARNESS;
}

static void tell(service *self, const handout_ack *ack, const ended *how, bool over)
{
    message m;
    message_init(&m, MSG_RUN_STATE);
    struct msg_run_state *body = &m.body.run_state;
    body->ref = (int64_t)ack->seq;
    body->over = over;
    body->code = how->code;
    message_set_str(&body->run, how->run);
    message_set_str(&body->state, run_state_name(how->state));
    message_set_str(&body->text, how->text);
    coord_send(self->coord, &ack->peer, &m);
}

static void state_read(void *owner, void *arg, int result, const err *e)
{
    coord *c = owner;
    look *job = arg;
    if (result) {
        handout_acknowledge(c, &job->ack, e);
    } else {
        ended how = {.state = job->state, .code = code_of(job->state)};
        memcpy(how.run, job->run, ID_TEXT);
        snprintf(how.text, sizeof how.text, "%s", run_state_name(job->state));
        tell(c->options.service, &job->ack, &how, true);
    }
    free(job);
}

void service_tell_run(service *self, const handout_ack *ack, const char *id)
{
    const ended *old = recall(self, id);
    if (old) {
        tell(self, ack, old, true);
        return;
    }
    ended how = {.state = RUN_RUNNING};
    SCOPED(buf_fini) buf line;
    buf_init(&line, LINE_MAX_BYTES);
    size_t place = find_waiting(self, id);
    if (self->busy && str_starts(self->now, id)) {
        memcpy(how.run, self->now, ID_TEXT);
        line_of(self, &line);
    } else if (place < self->waiting_count) {
        memcpy(how.run, self->waiting[place], ID_TEXT);
        how.state = RUN_CHECKING;
        buf_printf(&line, "waits, runs before it: %zu", place + self->busy);
    } else {
        look *job = xcalloc(1, sizeof *job);
        job->ack = *ack;
        memccpy(job->run, id, 0, ID_TEXT - 1);
        if (coord_submit(self->coord, read_state, job, state_read))
            free(job);
        return;
    }
    snprintf(how.text, sizeof how.text, "%s", buf_text(&line));
    tell(self, ack, &how, false);
}

void service_view(const service *self, struct row_run_view **out, size_t *count)
{
    struct row_run_view *rows = xcalloc(self->waiting_count + 1, sizeof *rows);
    *count = 0;
    if (self->busy) {
        SCOPED(buf_fini) buf line;
        buf_init(&line, LINE_MAX_BYTES);
        line_of(self, &line);
        message_set_str(&rows[0].run, self->now);
        message_set_str(&rows[0].state, "running");
        message_cut_str(&rows[0].text, buf_text(&line), LINE_MAX_BYTES);
        *count = 1;
    }
    for (size_t i = 0; i < self->waiting_count && *count < SERVICE_WAITING_MAX; i++) {
        message_set_str(&rows[*count].run, self->waiting[i]);
        message_set_str(&rows[*count].state, "waiting");
        message_set_str(&rows[(*count)++].text, "");
    }
    *out = rows;
}

/* ---- reports ---- */
typedef struct reading {
    char *path;
    int64_t offset;
    buf text;
    bool last;
    handout_ack ack;
} reading;

static void reading_free(reading *job)
{
    buf_fini(&job->text);
    free(job->path);
    free(job);
}

static int read_piece(void *arg, err *e)
{
    reading *job = arg;
    SCOPED(scoped_fclose) FILE *in = fopen(job->path, "rbe");
    if (!in || fseek(in, (long)job->offset, SEEK_SET))
        return err_set(e, ERR_NOT_FOUND, "there is no file %s", job->path);
    SCOPED(scoped_free) char *piece = xmalloc(PIECE);
    size_t size = fread(piece, 1, PIECE, in);
    job->last = size < PIECE;
    return buf_add(&job->text, piece, size);
}

static void piece_read(void *owner, void *arg, int result, const err *e)
{
    service *self = owner;
    reading *job = arg;
    message m;
    (void)e;
    message_init(&m, MSG_FILE_DATA);
    m.body.file_data.ref = (int64_t)job->ack.seq;
    m.body.file_data.found = result == 0;
    m.body.file_data.last = job->last;
    message_set_bytes(&m.body.file_data.data, buf_text(&job->text), job->text.size);
    coord_send(self->coord, &job->ack.peer, &m);
    reading_free(job);
}

void service_read_file(service *self, const handout_ack *ack, const struct msg_file_get *m)
{
    err e = {0};
    /* Names of reports have no slash, ids are what id.h makes: nothing else of this host is read. */
    if (!*m->run || strspn(m->run, "0123456789abcdefghijklmnopqrstuvwxyz") != strlen(m->run) ||
        strchr(m->name, '/') || !*m->name || *m->name == '.') {
        err_set(&e, ERR_USAGE, "%.32s of run %.32s is no report", m->name, m->run);
        handout_acknowledge(self->coord, ack, &e);
        return;
    }
    reading *job = xcalloc(1, sizeof *job);
    SCOPED(scoped_free) char *out = out_of(self, m->run);
    const clerk_job work = {.fn = read_piece, .next = piece_read, .arg = job, .owner = self};
    job->path = file_join(out, m->name);
    job->offset = m->offset;
    job->ack = *ack;
    buf_init(&job->text, PIECE);
    if (clerk_submit(self->clerk, &work, &e)) {
        handout_acknowledge(self->coord, ack, &e);
        reading_free(job);
    }
}

/* ---- cancelling ---- */
typedef struct cancelling {
    char run[ID_TEXT];
} cancelling;

static int write_cancelled(store_tx *tx, void *arg, err *e)
{
    const cancelling *job = arg;
    return run_set_state(tx, job->run, RUN_INTERRUPTED, clock_wall_ms(), e);
}

static void cancelled_written(void *owner, void *arg, int result, const err *e)
{
    free(arg);
    if (result)
        coord_stop(owner, COORD_BROKEN, e);
}

int service_cancel(service *self, const char *id, err *e)
{
    if (!*id)
        return err_set(e, ERR_USAGE, "which run?");
    if (self->active && str_starts(self->now, id)) {
        coord_stop(self->coord, COORD_INTERRUPTED, NULL);
        return 0;
    }
    size_t place = find_waiting(self, id);
    if (place == self->waiting_count)
        return err_set(e, ERR_NOT_FOUND, "no run that begins with %.32s is waiting or at work", id);
    cancelling *job = xcalloc(1, sizeof *job);
    memcpy(job->run, self->waiting[place], ID_TEXT);
    self->waiting_count--;
    memmove(self->waiting[place], self->waiting[place + 1],
            (self->waiting_count - place) * ID_TEXT);
    if (coord_submit(self->coord, write_cancelled, job, cancelled_written))
        free(job);
    return 0;
}

/* ---- life ---- */
static void on_clerk(void *arg)
{
    service *self = arg;
    clerk_take(self->clerk);
}

static run *make_nothing(void)
{
    run *self = xcalloc(1, sizeof *self);
    self->tasks = sched_create();
    self->settings.device = xstrdup("auto");
    return self;
}

service *service_create(const service_options *options, err *e)
{
    SCOPED(service_destroy) service *self = xcalloc(1, sizeof *self);
    self->options = *options;
    self->nothing = make_nothing();
    const coord_options how = {.store = options->store,
                               .run = self->nothing,
                               .bind = options->bind,
                               .endpoint = options->endpoint,
                               .keys = options->keys,
                               .lost_ms = options->lost_ms,
                               .service = self,
                               .ended = on_ended};
    if (store_run(options->store, read_left, self, e))
        return NULL;
    if (!self->good_ms)
        self->good_ms = clock_wall_ms();
    self->clerk = clerk_create(e);
    self->coord = self->clerk ? coord_create(&how, e) : NULL;
    if (!self->coord)
        return NULL;
    coord_take_run(self->coord, self->nothing);
    loop_add_fd(self->coord->events, clerk_fd(self->clerk), on_clerk, self);
    if (options->dead_man_ms)
        loop_add_timer(self->coord->events, 0, DEAD_MAN_LOOK_MS, on_dead_man, self);
    return TAKE(self);
}

void service_destroy(service **self)
{
    if (!*self)
        return;
    clerk_destroy(&(*self)->clerk);
    coord_destroy(&(*self)->coord);
    run_destroy(&(*self)->active);
    run_destroy(&(*self)->nothing);
    free(*self);
    *self = NULL;
}

coord *service_coord(service *self)
{
    return self->coord;
}

int service_run(service *self, err *e)
{
    coord_end end;
    self->coord->opening = self->waiting_count > 0;
    next_run(self);
    return coord_run(self->coord, &end, e);
}

void service_stop(service *self)
{
    self->stopping = true;
    loop_stop(self->coord->events);
}
