/* exec - the state of a running launch: grid, worker, block, warp, group of lanes
 *
 * Purpose:   what the executing parts share. A warp is a set of groups of lanes, each with a place in
 *            the program; groups that meet become one. A block has its warps, shared and local memory
 *            and barriers. A worker is a thread that has some blocks in turn.
 * Ownership: grid.c makes and frees all of it.
 * Threads:   a block belongs to one worker; what workers share is marked.
 * Errors:    none: what a kernel does wrong is recorded by finding.h.
 *
 * Private to agent-node/emulator.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_EMULATOR_EXEC_H
#define CE_EMULATOR_EXEC_H

#include <pthread.h>

#include "agent-node/emulator/memory.h"
#include "agent-node/emulator/program.h"

enum {
    CACHE_GAP = 128,
    BARRIER_MAX = 16,
    FLAG_SLOTS = 64,    /* of a block's shared memory; see race.h */
    WARP_SLICE = 16384, /* ops a warp runs before others of its block do */
    GROUP_SLICE = 4096, /* ops a group runs while others of its warp could */
    SPIN_SLICE = 48,    /* flag reads after which a warp is taken to wait for somebody */
    ORIGINS = 64        /* places of uninitialised reads a warp remembers */
};

#define NO_ORIGIN UINT32_MAX /* a register that nothing has written */

typedef struct grid grid;
typedef struct worker worker;
typedef struct block block;

typedef enum group_state {
    GROUP_RUNS,
    GROUP_SYNCS, /* at a warp-level operation, for other lanes of the warp */
    GROUP_WAITS  /* at a barrier of the block */
} group_state;

typedef struct group {
    uint32_t pc, mask;
    group_state state;
    uint32_t barrier; /* GROUP_WAITS: number of the barrier */
    bool worked;      /* has done more than jump since others of its warp came to a barrier */
    uint32_t depth;
    uint32_t calls[CALL_DEPTH_MAX]; /* ops of the calls it is in */
    uint64_t turn;                  /* when it was last chosen */
} group;

/* A read of a value that nobody has written, by an op; of several the last. */
typedef struct unset_read {
    uint32_t op;
    ptx_space space;
    uint64_t address;
    const region *buffer; /* global */
    bool shuffled;        /* read from a lane that takes no part */
    int64_t offset;       /* that lane */
    /* Of the elements' bytes, by element and lane, those that hold data: a struct moves with its padding. */
    uint8_t bytes[VECTOR_MAX][LANES];
} unset_read;

struct warp {
    uint8_t *file;        /* registers */
    uint32_t *valid;      /* a bit a lane, by unit */
    uint32_t *origin;     /* where an invalid value comes from: an op, by unit */
    uint32_t on[LANES];   /* all ones where the op at hand executes */
    uint64_t on64[LANES]; /* likewise */
    uint32_t mask;        /* likewise, a bit a lane */
    uint32_t lane_count;
    uint32_t pc;
    group *now; /* the running group */
    group groups[LANES];
    uint32_t group_count;
    uint32_t born, live; /* lanes that exist; that have not ended */
    uint32_t carry;      /* the CC register */
    uint32_t index;      /* in the block */
    uint32_t spins;      /* times the same flag was read in a row */
    uint32_t spin_op;    /* by this op */
    uint64_t spin_at;    /* at this address */
    uint64_t turns;      /* counts choices of a group */
    uint64_t ops, jumps; /* executed; of these jumps, returns and ends */
    uint64_t worked_at;  /* ops other than jumps when the running group was chosen */
    block *block;
    const program *program;
    emu_counters *counters; /* the worker's */
    unset_read unset[ORIGINS];
};

typedef struct barrier {
    uint32_t arrived;  /* threads */
    uint32_t expected; /* 0: all that live */
    uint32_t truths;   /* threads whose predicate holds */
    uint32_t votes;    /* threads with a predicate */
} barrier;

struct block {
    grid *grid;
    worker *worker;
    uint64_t number; /* in the grid */
    uint32_t at[3];
    warp *warps;
    uint32_t warp_count, thread_count, live;
    uint32_t next_warp; /* whose turn it is */
    uint32_t turns;     /* since it began */
    barrier barriers[BARRIER_MAX];

    uint8_t *shared;             /* addressed from SHARED_BASE */
    uint8_t *shared_valid;       /* a byte a byte: 0 or 1 */
    uint32_t *writers, *readers; /* marks a byte; see race.h */
    uint32_t shared_bytes;
    uint8_t *local, *local_valid; /* of all threads, one after another */

    bool suspects;       /* a value that nobody has written took effect: */
    emu_finding suspect; /* what to say of it, unless it turns out to be a race */
    ptx_space suspect_space;

    uint32_t stamp;               /* counts what orders threads; see race.h */
    uint32_t seen[BLOCK_THREADS]; /* stamps up to which everything is ordered before the thread */
    uint32_t warp_seen[BLOCK_THREADS]; /* the same, for accesses of its own warp */
    uint32_t fenced[BLOCK_THREADS];    /* the thread's last fence */
    uint32_t flags[FLAG_SLOTS];
    uint32_t last_fence;             /* stamp of the last one that had something to order */
    uint32_t device_fenced_at;       /* the same, of device scope */
    bool touched;                    /* memory has been accessed since */
    uint32_t grid_fenced, grid_seen; /* the same between blocks, in the grid's time */
};

/* One thread of the emulator. */
struct worker {
    grid *grid;
    pthread_t thread;
    bool started;
    block **blocks;     /* grown on demand, reused */
    size_t block_count; /* made; the first `active` ones hold a block of the grid */
    size_t active;
    uint64_t reported; /* thread instructions added to the grid's */
    emu_counters counters;
    const region **last; /* by access: the region met last */
    char gap[CACHE_GAP]; /* workers count all the time: not in one another's cache lines */
};

struct grid {
    const program *program;
    emu_memory *memory;
    const emu_launch *launch;
    const emu_options *options;
    uint64_t block_count;
    uint32_t warps_per_block, threads_per_block;
    size_t resident_max; /* blocks a worker may hold */
    uint64_t workspace;  /* address of a cooperative launch's; 0: none */
    uint8_t *params;
    uint8_t *shared_map, *local_map; /* what the bytes are when a block begins: unset or gap */
    uint32_t shared_bytes, local_bytes;
    int64_t deadline;    /* monotonic ms; 0: none */
    char gap[CACHE_GAP]; /* what is written by all is not beside what is read by all */
    /* Shared by the workers: */
    uint64_t next;        /* atomic: block to start */
    uint64_t stop_above;  /* atomic: blocks above this number are of no interest any more */
    uint64_t executed;    /* atomic: thread instructions, added now and then */
    uint32_t clock;       /* atomic: counts releases; see race.h */
    int64_t found_at;     /* atomic: monotonic ms when the first finding was noticed */
    uint32_t halt;        /* atomic: deadline or budget: everybody out */
    pthread_mutex_t lock; /* findings */
    emu_report *report;
};

static inline uint32_t thread_of(const warp *w, unsigned lane)
{
    return w->index * LANES + lane;
}

/* warp_run runs a warp for a slice. */
typedef enum warp_state {
    WARP_RAN,     /* could go on */
    WARP_SPINS,   /* could go on, but waits for somebody's flag */
    WARP_BLOCKED, /* every group waits */
    WARP_ENDED,
    WARP_STOPPED /* a finding */
} warp_state;

warp_state warp_run(warp *w);
/* warp_reset puts all lanes that exist at the kernel's first op. */
void warp_reset(warp *w, uint32_t lanes);

typedef enum block_state { BLOCK_RAN, BLOCK_SPINS, BLOCK_ENDED, BLOCK_STOPPED } block_state;

block *block_create(worker *owner);
void block_destroy(block **self);
size_t block_bytes(const grid *g); /* what block_create takes from the heap */
void block_begin(block *b, uint64_t number);
/* block_run gives every warp a slice. */
block_state block_run(block *b);

/* ---- the steps, by what they do (flow.c, sync.c, load.c, atomic.c) ---- */

step step_branch(warp *w, const op *o);
step step_branch_table(warp *w, const op *o);
step step_call(warp *w, const op *o);
step step_return(warp *w, const op *o);
step step_exit(warp *w, const op *o);
step step_trap(warp *w, const op *o);
step step_assert(warp *w, const op *o);
step step_barrier(warp *w, const op *o); /* bar.sync, barrier.sync */
step step_barrier_arrive(warp *w, const op *o);
step step_barrier_reduce(warp *w, const op *o);
step step_warp_barrier(warp *w, const op *o);
step step_shuffle(warp *w, const op *o);
step step_vote(warp *w, const op *o);
step step_match(warp *w, const op *o);
step step_reduce(warp *w, const op *o); /* redux.sync */
step step_activemask(warp *w, const op *o);
step step_fence(warp *w, const op *o);
step step_yield(warp *w, const op *o); /* nanosleep */
step step_load(warp *w, const op *o);
step step_store(warp *w, const op *o);
step step_load_param(warp *w, const op *o);
step step_atomic(warp *w, const op *o);
step step_clock(warp *w, const op *o);

/* sync_whole_warp: STEP_NEXT when all lanes that live are here; else the group waits for them. */
step sync_whole_warp(warp *w);
/* sync_retry looks at the groups that wait for lanes of their warp, after lanes have gone. */
void sync_retry(warp *w);
/* sync_stuck is called when no group of the warp can run: releases a warp barrier that is complete
 * across places, or records what is wrong. */
step sync_stuck(warp *w);
/* barrier_retry completes barriers of the block that wait only for threads that have ended. */
void barrier_retry(block *b);

/* Groups of a warp (warp.c). */
group *group_split(warp *w, group *from, uint32_t mask, uint32_t pc);
void group_remove(warp *w, group *g);

/* warp_mask sets which lanes the op at hand executes. */
void warp_mask(warp *w, uint32_t mask);

#endif
