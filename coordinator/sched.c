/* sched - tasks in an array, waiting ones in a queue per entrant
 *
 * Line 0 holds contract tasks, line e+1 those of entrant e; in a line there is a queue for each need, so that
 * who cannot go out now is stepped over at once. A queue is a list through `next` and `before`;
 * a parked task counts as waiting in its line, but stands in a list of its own. A task
 * that comes back goes to its head, so that started work is finished before new work begins; of two queues
 * the one whose head was added first is next, for the same reason.
 * Counters are kept as states change: reading them costs nothing at a million tasks.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/sched.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

typedef struct entry {
    sched_task task;
    size_t next, before; /* in its queue */
    bool parked;
} entry;

typedef struct queue {
    size_t head, tail; /* SCHED_NONE: empty */
    size_t size;
} queue;

typedef struct line {
    queue *queues; /* by need; those from queue_count on are empty */
    size_t queue_count;
    size_t in_flight, started, waiting;
    sched_gate gate;
} line;

typedef struct known_problem {
    char *name;
    size_t need;
} known_problem;

typedef struct known_need {
    need_set needs;
    bool out_of_reach; /* no connected node has it */
} known_need;

struct sched {
    known_problem *problems; /* each once */
    size_t problem_count, newest;
    known_need *needs; /* [0] nothing */
    size_t need_count;
    entry *entries;
    size_t count, cap;
    line *lines; /* [0] contract, [e + 1] entrant e */
    size_t line_count;
    size_t *index; /* open addressing by id: task number + 1, 0 = free */
    size_t index_size;
    sched_counts counts[2];
    size_t *parked; /* tasks that were; some may be claimed meanwhile */
    size_t parked_count;
    size_t *suspects; /* as parked, until a node is empty */
    size_t suspect_count;
    bool stopped;
};

static const char *const stage_names[SCHED_STAGES] = {"contract",    "interview",   "codegen",
                                                      "correctness", "performance", "polish"};

const char *sched_stage_name(int stage)
{
    return stage >= 0 && stage < SCHED_STAGES ? stage_names[stage] : NULL;
}

sched *sched_create(void)
{
    sched *self = xcalloc(1, sizeof(sched));
    self->needs = xcalloc(1, sizeof *self->needs);
    self->need_count = 1;
    return self;
}

void sched_destroy(sched **self)
{
    if (!*self)
        return;
    for (size_t i = 0; i < (*self)->count; i++) {
        sched_task *task = &(*self)->entries[i].task;
        free(task->blamed);
        for (size_t k = 0; k < task->stage_count; k++)
            free(task->stages[k].stage);
        for (size_t k = 0; k < task->call_count; k++)
            free(task->calls[k].stage);
        free(task->stages);
        free(task->calls);
    }
    for (size_t i = 0; i < (*self)->problem_count; i++)
        free((*self)->problems[i].name);
    for (size_t i = 0; i < (*self)->line_count; i++)
        free((*self)->lines[i].queues);
    free((*self)->problems);
    free((*self)->needs);
    free((*self)->entries);
    free((*self)->lines);
    free((*self)->parked);
    free((*self)->suspects);
    free((*self)->index);
    free(*self);
    *self = NULL;
}

/* ---- finding by id ---- */
static size_t hash_id(const char *id)
{
    uint64_t h = 1469598103934665603u; /* FNV-1a */
    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 1099511628211u;
    return (size_t)h;
}

static void index_put(sched *self, size_t task)
{
    size_t at = hash_id(self->entries[task].task.id) & (self->index_size - 1);
    while (self->index[at])
        at = (at + 1) & (self->index_size - 1);
    self->index[at] = task + 1;
}

static void index_add(sched *self, size_t task)
{
    if ((self->count + 1) * 2 <= self->index_size) {
        index_put(self, task);
        return;
    }
    free(self->index);
    self->index_size = self->index_size ? self->index_size * 4 : 64;
    self->index = xcalloc(self->index_size, sizeof *self->index);
    for (size_t i = 0; i <= task; i++)
        index_put(self, i);
}

size_t sched_find(const sched *self, const char *id)
{
    if (!self->index_size)
        return SCHED_NONE;
    for (size_t at = hash_id(id) & (self->index_size - 1); self->index[at];
         at = (at + 1) & (self->index_size - 1)) {
        size_t task = self->index[at] - 1;
        if (strcmp(self->entries[task].task.id, id) == 0)
            return task;
    }
    return SCHED_NONE;
}

static sched_task *at(sched *self, size_t task)
{
    assert(task < self->count);
    return &self->entries[task].task;
}

/* ---- queues ---- */
static line *line_of(sched *self, const sched_task *task)
{
    return &self->lines[task->kind == SCHED_CONTRACT ? 0 : task->entrant + 1];
}

static void ensure_lines(sched *self, size_t count)
{
    if (count <= self->line_count)
        return;
    self->lines = xreallocarray(self->lines, count, sizeof *self->lines);
    for (size_t i = self->line_count; i < count; i++)
        self->lines[i] = (line){.queues = NULL};
    self->line_count = count;
}

/* The queue of a task, made when it is the first of its need in its line. */
static queue *queue_of(sched *self, size_t task)
{
    const sched_task *t = &self->entries[task].task;
    line *l = line_of(self, t);
    if (t->need >= l->queue_count) {
        l->queues = xreallocarray(l->queues, t->need + 1, sizeof *l->queues);
        while (l->queue_count <= t->need)
            l->queues[l->queue_count++] = (queue){.head = SCHED_NONE, .tail = SCHED_NONE};
    }
    return &l->queues[t->need];
}

static void push_tail(sched *self, size_t task)
{
    queue *q = queue_of(self, task);
    self->entries[task].next = SCHED_NONE;
    self->entries[task].before = q->tail;
    line_of(self, at(self, task))->waiting++;
    q->size++;
    if (q->tail == SCHED_NONE)
        q->head = task;
    else
        self->entries[q->tail].next = task;
    q->tail = task;
}

static void push_head(sched *self, size_t task)
{
    queue *q = queue_of(self, task);
    self->entries[task].next = q->head;
    self->entries[task].before = SCHED_NONE;
    line_of(self, at(self, task))->waiting++;
    q->size++;
    if (q->head == SCHED_NONE)
        q->tail = task;
    else
        self->entries[q->head].before = task;
    q->head = task;
}

/* Takes a task out of its queue, wherever it stands there. */
static void take_out(sched *self, size_t task)
{
    const entry *e = &self->entries[task];
    queue *q = queue_of(self, task);
    line_of(self, at(self, task))->waiting--;
    q->size--;
    if (e->before == SCHED_NONE)
        q->head = e->next;
    else
        self->entries[e->before].next = e->next;
    if (e->next == SCHED_NONE)
        q->tail = e->before;
    else
        self->entries[e->next].before = e->before;
}

/* ---- states and counters ---- */
static void count_state(sched *self, sched_task *task, sched_state to)
{
    sched_counts *counts = &self->counts[task->kind];
    counts->state[task->state]--;
    counts->state[to]++;
    if (task->state == SCHED_LEASED) {
        line_of(self, task)->in_flight--;
        if (task->stage >= 0)
            counts->in_stage[task->stage]--;
        task->stage = -1;
    }
    task->state = to;
}

/* ---- problems and what they need ---- */

/* Tasks of a problem come one after the other: where the newest stands is looked at first. The place is good
 * until the next new problem. */
static known_problem *problem_of(sched *self, const char *name)
{
    for (size_t n = 0, i = self->newest; n < self->problem_count; n++) {
        if (strcmp(self->problems[i].name, name) == 0) {
            self->newest = i;
            return &self->problems[i];
        }
        i = (i + 1) % self->problem_count;
    }
    self->problems = xreallocarray(self->problems, self->problem_count + 1, sizeof *self->problems);
    self->problems[self->problem_count] = (known_problem){.name = xstrdup(name)};
    self->newest = self->problem_count++;
    return &self->problems[self->newest];
}

void sched_need(sched *self, const char *problem, const need_set *needs)
{
    size_t i = 0;
    while (i < self->need_count && !need_equal(&self->needs[i].needs, needs))
        i++;
    if (i == self->need_count) {
        self->needs = xreallocarray(self->needs, i + 1, sizeof *self->needs);
        self->needs[self->need_count++] = (known_need){.needs = *needs};
    }
    problem_of(self, problem)->need = i;
}

size_t sched_needs(const sched *self)
{
    return self->need_count;
}

const need_set *sched_need_at(const sched *self, size_t number)
{
    assert(number < self->need_count);
    return &self->needs[number].needs;
}

size_t sched_waiting(const sched *self, size_t number)
{
    size_t sum = 0;
    for (size_t i = 0; i < self->line_count; i++)
        sum += number < self->lines[i].queue_count ? self->lines[i].queues[number].size : 0;
    return sum;
}

void sched_set_reach(sched *self, size_t number, bool reached)
{
    assert(number < self->need_count);
    self->needs[number].out_of_reach = !reached;
}

bool sched_is_reached(const sched *self, size_t number)
{
    assert(number < self->need_count);
    return !self->needs[number].out_of_reach;
}

static size_t add(sched *self, const sched_new *new)
{
    if (self->count == self->cap) {
        self->cap = self->cap ? self->cap * 2 : 64;
        self->entries = xreallocarray(self->entries, self->cap, sizeof *self->entries);
    }
    size_t number = self->count;
    const known_problem *about = problem_of(self, new->problem);
    self->entries[number] = (entry){.task = {.kind = new->kind,
                                             .problem = about->name,
                                             .need = about->need,
                                             .entrant = new->entrant,
                                             .spec = new->spec,
                                             .state = SCHED_WAITING,
                                             .stage = -1}};
    memccpy(self->entries[number].task.id, new->id, 0, ID_TEXT - 1);
    ensure_lines(self, new->kind == SCHED_CONTRACT ? 1 : new->entrant + 2);
    index_add(self, number);
    self->count++;
    self->counts[new->kind].planned++;
    self->counts[new->kind].state[SCHED_WAITING]++;
    return number;
}

static void count_result(sched *self, sched_task *task, outcome result)
{
    task->result = result;
    sched_counts *counts = &self->counts[task->kind];
    counts->scored += outcome_is_scored(result);
    counts->correct += result == OUTCOME_OK;
    counts->not_run += result == OUTCOME_NOT_RUN;
}

size_t sched_add(sched *self, const sched_new *task)
{
    size_t number = add(self, task);
    push_tail(self, number);
    return number;
}

size_t sched_add_done(sched *self, const sched_new *task, outcome result)
{
    size_t number = add(self, task);
    count_state(self, at(self, number), SCHED_DONE);
    count_result(self, at(self, number), result);
    return number;
}

size_t sched_size(const sched *self)
{
    return self->count;
}

const sched_task *sched_get(const sched *self, size_t task)
{
    assert(task < self->count);
    return &self->entries[task].task;
}

/* Who decides what can go out. */
typedef struct filter {
    sched_fits_fn *fits; /* NULL: anything can */
    void *arg;
} filter;

static bool can_go(const filter *by, size_t number)
{
    return !by->fits || by->fits(by->arg, number);
}

/* The task of a line that is next; SCHED_NONE when none of it can go out. */
static size_t next_of(const line *l, const filter *by)
{
    size_t best = SCHED_NONE;
    for (size_t i = 0; i < l->queue_count; i++) {
        if (l->queues[i].head < best && can_go(by, i)) /* an empty queue's head is SCHED_NONE */
            best = l->queues[i].head;
    }
    return best;
}

static bool is_before(const line *a, const line *b)
{
    return !b || a->in_flight < b->in_flight ||
           (a->in_flight == b->in_flight && a->started < b->started);
}

static size_t next_task(const sched *self, const filter *by)
{
    size_t task = self->line_count ? next_of(&self->lines[0], by) : SCHED_NONE;
    const line *best = NULL;
    if (task != SCHED_NONE || !sched_released(self))
        return task;
    for (size_t i = 1; i < self->line_count; i++) {
        const line *l = &self->lines[i];
        size_t next = l->gate == SCHED_OPEN && is_before(l, best) ? next_of(l, by) : SCHED_NONE;
        if (next != SCHED_NONE) {
            best = l;
            task = next;
        }
    }
    return task;
}

static void lease_out(sched *self, size_t task)
{
    line *l = line_of(self, at(self, task));
    count_state(self, at(self, task), SCHED_LEASED);
    at(self, task)->refused = false;
    l->in_flight++;
    l->started++;
}

size_t sched_pick(sched *self, sched_fits_fn *fits, void *arg)
{
    size_t task = self->stopped ? SCHED_NONE : next_task(self, &(filter){fits, arg});
    if (task == SCHED_NONE)
        return SCHED_NONE;
    take_out(self, task);
    lease_out(self, task);
    return task;
}

void sched_park(sched *self, size_t task)
{
    assert(at(self, task)->state == SCHED_WAITING && !self->entries[task].parked);
    take_out(self, task);
    line_of(self, at(self, task))->waiting++;
    self->entries[task].parked = true;
    self->parked = xreallocarray(self->parked, self->parked_count + 1, sizeof *self->parked);
    self->parked[self->parked_count++] = task;
}

static void leave_parking(sched *self, size_t task)
{
    self->entries[task].parked = false;
    line_of(self, at(self, task))->waiting--;
}

void sched_unpark(sched *self)
{
    for (size_t i = self->parked_count; i-- > 0;) {
        size_t task = self->parked[i];
        if (!self->entries[task].parked)
            continue;
        leave_parking(self, task);
        push_head(self, task);
    }
    self->parked_count = 0;
}

void sched_part(sched *self, size_t task)
{
    at(self, task)->endings++;
}

void sched_parted(sched *self, size_t task)
{
    assert(at(self, task)->endings > 0);
    at(self, task)->endings--;
}

bool sched_claim(sched *self, size_t task)
{
    if (!self->stopped && at(self, task)->state == SCHED_LEASED && at(self, task)->endings > 0)
        return true;
    if (self->stopped || at(self, task)->state != SCHED_WAITING)
        return false;
    if (self->entries[task].parked)
        leave_parking(self, task);
    else
        take_out(self, task);
    lease_out(self, task);
    return true;
}

void sched_stop(sched *self)
{
    self->stopped = true;
}

void sched_hold(sched *self, size_t entrant, sched_gate gate)
{
    assert(entrant + 1 < self->line_count);
    line *l = &self->lines[entrant + 1];
    l->gate = l->gate == SCHED_SHUT ? SCHED_SHUT : gate;
}

bool sched_others_wait(const sched *self, size_t entrant)
{
    for (size_t i = 1; i < self->line_count; i++) {
        const line *l = &self->lines[i];
        if (i != entrant + 1 && l->waiting > 0 && l->gate == SCHED_OPEN)
            return true;
    }
    return false;
}

void sched_refuse(sched *self, size_t task)
{
    at(self, task)->refused = true;
}

static void wait_again(sched *self, size_t task)
{
    if (!at(self, task)->suspect) {
        push_head(self, task);
        return;
    }
    line_of(self, at(self, task))->waiting++;
    self->entries[task].parked = true;
    self->suspects = xreallocarray(self->suspects, self->suspect_count + 1, sizeof *self->suspects);
    self->suspects[self->suspect_count++] = task;
}

bool sched_return(sched *self, size_t task, bool failure, bool final)
{
    sched_task *t = at(self, task);
    assert(t->state == SCHED_LEASED);
    t->failures += failure;
    bool given_up = final || (failure && t->failures >= SCHED_LEASES_MAX);
    count_state(self, t, given_up ? SCHED_FAILED : SCHED_WAITING);
    if (!given_up)
        wait_again(self, task);
    return given_up;
}

static bool is_blamed_on(const sched_task *t, const char *name)
{
    for (int i = 0; i < t->blames; i++) {
        if (strcmp(t->blamed[i], name) == 0)
            return true;
    }
    return false;
}

bool sched_lose(sched *self, size_t task, const char *name, bool alone)
{
    sched_task *t = at(self, task);
    bool poison = false;
    t->suspect |= ++t->losses >= SCHED_SUSPECT;
    if (alone) {
        poison = t->blames + 1 >= SCHED_BLAMED || (t->blames && !is_blamed_on(t, name));
        if (!t->blamed)
            t->blamed = xcalloc(SCHED_BLAMED, sizeof *t->blamed);
        memccpy(t->blamed[t->blames++], name, 0, SCHED_NODE - 1);
    }
    return sched_return(self, task, false, poison);
}

size_t sched_pick_suspect(sched *self, sched_fits_fn *fits, void *arg)
{
    const filter by = {fits, arg};
    for (size_t i = 0; i < self->suspect_count && !self->stopped; i++) {
        size_t task = self->suspects[i];
        const line *l = line_of(self, at(self, task));
        bool open = l == &self->lines[0] || (sched_released(self) && l->gate == SCHED_OPEN);
        if (self->entries[task].parked && !(open && can_go(&by, at(self, task)->need)))
            continue;
        self->suspects[i--] = self->suspects[--self->suspect_count];
        if (!self->entries[task].parked)
            continue; /* it was claimed */
        leave_parking(self, task);
        lease_out(self, task);
        return task;
    }
    return SCHED_NONE;
}

void sched_finish(sched *self, size_t task, outcome result)
{
    sched_task *t = at(self, task);
    assert(t->state == SCHED_LEASED);
    count_state(self, t, SCHED_DONE);
    count_result(self, t, result);
}

static int stage_number(const char *stage)
{
    for (int i = 0; i < SCHED_STAGES; i++) {
        if (strcmp(stage_names[i], stage) == 0)
            return i;
    }
    return -1;
}

void sched_enter_stage(sched *self, size_t task, const char *stage)
{
    sched_task *t = at(self, task);
    int number = stage_number(stage);
    if (t->state != SCHED_LEASED || number < 0)
        return;
    sched_counts *counts = &self->counts[t->kind];
    if (t->stage >= 0)
        counts->in_stage[t->stage]--;
    t->stage = number;
    counts->in_stage[number]++;
}

/* ---- what earlier leases finished ---- */
static void forget_calls(sched_task *task, const char *stage)
{
    size_t kept = 0;
    for (size_t i = 0; i < task->call_count; i++) {
        if (strcmp(task->calls[i].stage, stage) == 0)
            free(task->calls[i].stage);
        else
            task->calls[kept++] = task->calls[i];
    }
    task->call_count = kept;
}

static bool has_stage(const sched_task *task, const char *stage)
{
    for (size_t i = 0; i < task->stage_count; i++) {
        if (strcmp(task->stages[i].stage, stage) == 0)
            return true;
    }
    return false;
}

static bool has_call(const sched_task *task, const char *stage, int64_t index)
{
    for (size_t i = 0; i < task->call_count; i++) {
        if (task->calls[i].index == index && strcmp(task->calls[i].stage, stage) == 0)
            return true;
    }
    return false;
}

void sched_add_stage(sched *self, size_t task, const char *stage, const hash *record)
{
    sched_task *t = at(self, task);
    forget_calls(t, stage);
    if (has_stage(t, stage))
        return;
    t->stages = xreallocarray(t->stages, t->stage_count + 1, sizeof *t->stages);
    t->stages[t->stage_count++] =
        (struct row_stage_ref){.stage = xstrdup(stage), .record = *record};
}

bool sched_add_call(sched *self, size_t task, const char *stage, int64_t index, const hash *record)
{
    sched_task *t = at(self, task);
    if (has_stage(t, stage) || has_call(t, stage, index))
        return false;
    t->calls = xreallocarray(t->calls, t->call_count + 1, sizeof *t->calls);
    t->calls[t->call_count++] =
        (struct row_call_ref){.stage = xstrdup(stage), .index = index, .record = *record};
    return true;
}

/* ---- looking ---- */
bool sched_suspects(const sched *self)
{
    return self->suspect_count > 0;
}

bool sched_released(const sched *self)
{
    const sched_counts *contracts = &self->counts[SCHED_CONTRACT];
    size_t done = contracts->state[SCHED_DONE];
    if (done == contracts->planned || done == 0)
        return done == contracts->planned;
    for (size_t i = 0; i < self->lines[0].queue_count; i++)
        done += self->needs[i].out_of_reach ? self->lines[0].queues[i].size : 0;
    return done == contracts->planned;
}

/* Waiting tasks that this run will still hand out. */
static size_t count_open(const sched *self)
{
    size_t open = 0;
    for (size_t i = 1; i < self->line_count; i++)
        open += self->lines[i].gate == SCHED_SHUT ? 0 : self->lines[i].waiting;
    return open;
}

bool sched_idle(const sched *self)
{
    size_t leased = self->counts[SCHED_CONTRACT].state[SCHED_LEASED] +
                    self->counts[SCHED_SYNTHESIZE].state[SCHED_LEASED];
    size_t waiting = self->counts[SCHED_CONTRACT].state[SCHED_WAITING] +
                     (sched_released(self) ? count_open(self) : 0);
    return leased == 0 && (waiting == 0 || self->stopped);
}

sched_counts sched_count(const sched *self, sched_kind kind)
{
    return self->counts[kind];
}

size_t sched_ended(const sched_counts *counts)
{
    return counts->state[SCHED_DONE] + counts->state[SCHED_FAILED];
}
