/* sched - which task goes next
 *
 * Purpose:   the tasks of one run in memory: waiting, leased, done, failed. Contract tasks go first;
 *            nothing else is handed out before all of them have passed. Then entrants take turns: the one
 *            with the fewest tasks in flight is next. What an earlier lease finished is kept per
 *            task, so that the next holder repeats nothing. What a dead coordinator had handed out is
 *            parked for a while, so that its holder can claim it. Tasks differ in what they need of a device;
 *            who picks says which needs can be served now, and the caller keeps note of which needs any
 *            connected node can serve at all: a contract task that none can holds nobody back.
 * Ownership: the table owns its tasks and copies what it is given.
 * Threads:   one owner (the coordinator's loop).
 * Errors:    none; a task number that is out of range is a programming fault.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SCHED_H
#define CE_COORDINATOR_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/id.h"
#include "common/need.h"
#include "common/outcome.h"
#include "wire/message.h"

enum {
    SCHED_LEASES_MAX = 3, /* a task whose leases failed this often is given up */
    SCHED_STAGES = 6,     /* contract and the five stages, for counting */
    SCHED_SUSPECT = 2,    /* losses after which a task runs alone */
    SCHED_BLAMED = 3,     /* losses alone after which it is given up, on whatever nodes */
    SCHED_NODE = 65
};
#define SCHED_NONE SIZE_MAX

typedef enum sched_kind { SCHED_CONTRACT, SCHED_SYNTHESIZE } sched_kind;
typedef enum sched_state {
    SCHED_WAITING,
    SCHED_LEASED,
    SCHED_DONE,
    SCHED_FAILED,
    SCHED_STATES
} sched_state;

typedef struct sched_task {
    char id[ID_TEXT];
    const char *problem; /* shared by its tasks */
    sched_kind kind;
    size_t entrant; /* SCHED_NONE for a contract task */
    hash spec;
    sched_state state;
    int failures;   /* leases that ended in a harness error or with their node */
    outcome result; /* once done */
    size_t need;    /* number, see sched_need_at */
    int stage;      /* the newest stage a node reported: 0 contract … 5 polish; -1 none */
    struct row_stage_ref *stages; /* finished stages, in order */
    size_t stage_count;
    struct row_call_ref *calls; /* recorded answers of the unfinished stage */
    size_t call_count;
    int losses;                 /* nodes that were lost while they had it */
    bool suspect;               /* several nodes were: it runs where nothing else does */
    char (*blamed)[SCHED_NODE]; /* nodes that were lost while they had nothing else; NULL: none */
    int blames;
    int endings;  /* lost leases whose end is not durable yet */
    bool refused; /* its holder was told that a call may not be sent: giving back is no failure */
} sched_task;

typedef struct sched_counts {
    size_t planned;
    size_t state[SCHED_STATES];
    size_t scored;                 /* of the done: outcomes that count */
    size_t correct;                /* of the scored: ok */
    size_t not_run;                /* of the done */
    size_t in_stage[SCHED_STAGES]; /* of the leased */
} sched_counts;

/* Whether an entrant's waiting tasks are handed out. */
typedef enum sched_gate {
    SCHED_OPEN,
    SCHED_PAUSED, /* not now: the run goes on */
    SCHED_SHUT    /* not in this run: what waits stays resumable */
} sched_gate;

typedef struct sched sched;

sched *sched_create(void);
void sched_destroy(sched **self);

typedef struct sched_new {
    const char *id;
    sched_kind kind;
    const char *problem;
    size_t entrant; /* SCHED_NONE for a contract task */
    hash spec;
} sched_new;

/* sched_need says what the tasks of a problem need; before the first of them is added. Otherwise: nothing. */
void sched_need(sched *self, const char *problem, const need_set *needs);
/* sched_needs is how many different needs there are, numbered from 0; sched_need_at is one of them,
 * sched_waiting how many tasks wait that have it, sched_set_reach whether any connected node could run them,
 * which is believed until it is told otherwise. */
size_t sched_needs(const sched *self);
const need_set *sched_need_at(const sched *self, size_t number);
size_t sched_waiting(const sched *self, size_t number);
void sched_set_reach(sched *self, size_t number, bool reached);
bool sched_is_reached(const sched *self, size_t number);

/* sched_add appends a waiting task; sched_add_done one that an earlier part of the run has finished. The
 * result is its number. */
size_t sched_add(sched *self, const sched_new *task);
size_t sched_add_done(sched *self, const sched_new *task, outcome result);
size_t sched_size(const sched *self);
const sched_task *sched_get(const sched *self, size_t task);
/* sched_find is the number of the task with that id, or SCHED_NONE. */
size_t sched_find(const sched *self, const char *id);

/* Whether a task with that need can go out now. The newest need that it said yes to is that of the picked
 * task. */
typedef bool sched_fits_fn(void *arg, size_t number);
/* sched_pick takes the next task that fits (now leased), or SCHED_NONE. fits NULL: any. */
size_t sched_pick(sched *self, sched_fits_fn *fits, void *arg);
/* sched_stop: nothing is picked any more. */
void sched_stop(sched *self);
/* sched_hold opens, pauses or shuts an entrant; shut stays shut. sched_others_wait: is there a task of
 * another entrant that could be picked? */
void sched_hold(sched *self, size_t entrant, sched_gate gate);
bool sched_others_wait(const sched *self, size_t entrant);
/* sched_refuse marks a leased task until it is picked again. */
void sched_refuse(sched *self, size_t task);
/* sched_return gives a leased task back. A failure counts; true when that was one too many and the task
 * is now failed. final = no further try whatever the count. */
bool sched_return(sched *self, size_t task, bool failure, bool final);
/* sched_park keeps a waiting task from being picked until sched_unpark: a node may have it still.
 * sched_claim takes that very task, parked or not: false when it does not wait. */
/* sched_part: the task's lease was lost; sched_parted: that is durable. Between them the task counts as leased
 * and can be claimed. */
void sched_part(sched *self, size_t task);
void sched_parted(sched *self, size_t task);
void sched_park(sched *self, size_t task);
void sched_unpark(sched *self);
bool sched_claim(sched *self, size_t task);
/* sched_lose gives a task back whose node was lost; alone: it had nothing else. A node may be lost for any
 * reason, so a task is not to blame until it took two nodes along alone, or one of them again and again:
 * then it is failed, and the result is true. */
bool sched_lose(sched *self, size_t task, const char *node, bool alone);
/* sched_pick_suspect takes the next task that must run alone, or SCHED_NONE. */
size_t sched_pick_suspect(sched *self, sched_fits_fn *fits, void *arg);
/* sched_finish ends a leased task. */
void sched_finish(sched *self, size_t task, outcome result);
/* sched_stage_name: of sched_task.stage; NULL for none. */
const char *sched_stage_name(int stage);
void sched_enter_stage(sched *self, size_t task, const char *stage);

/* sched_add_stage keeps a finished stage and forgets the answers of that stage; sched_add_call keeps an
 * answer, and is true when it was new. Repeating either is harmless. */
void sched_add_stage(sched *self, size_t task, const char *stage, const hash *record);
bool sched_add_call(sched *self, size_t task, const char *stage, int64_t index, const hash *record);

/* sched_suspects: does a task wait that must run alone? */
bool sched_suspects(const sched *self);
/* sched_released: all contract tasks are done that any node could run, and one at least. */
bool sched_released(const sched *self);
/* sched_idle: nothing waits (that could be picked) and nothing is leased. */
bool sched_idle(const sched *self);
sched_counts sched_count(const sched *self, sched_kind kind);
/* sched_ended: done or given up. */
size_t sched_ended(const sched_counts *counts);

#endif
