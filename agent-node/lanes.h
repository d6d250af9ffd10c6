/* lanes - the devices of a node, one holder at a time
 *
 * Purpose:   finds the devices, keeps one judge for each, and hands a lane to one task thread at a time:
 *            what is measured on it has the device alone.
 * Ownership: lanes own their judges; a holder borrows lane and judge until lanes_release.
 * Threads:   safe; lanes_acquire blocks.
 * Errors:    lanes_create fails when the tools to look for devices are broken or the fake device's script
 *            is wrong; a missing device is no error: its facts carry the reason.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_LANES_H
#define CE_AGENT_NODE_LANES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent-node/judge.h"
#include "agent-node/settings.h"
#include "common/err.h"
#include "common/need.h"
#include "suites/plan.h"
#include "wire/message.h"

enum { LANES_MAX = 64 };

typedef struct lanes lanes;
typedef struct lane lane;

/* A device. kind "none": there is none, and reason says why. */
typedef struct lane_facts {
    char kind[16];
    char device[16]; /* "cuda:0", "fake" */
    char name[129], uuid[65], arch[17];
    char driver[32]; /* CUDA version of the driver, "13.0" */
    int64_t l2_bytes;
    double memory_rate; /* bytes a second that the memory clock allows; 0: not known */
    plan_device limits;
    char reason[240];
} lane_facts;

/* lanes_create looks for devices of the kind in the settings (auto: cuda, else emu). */
lanes *lanes_create(const settings *options, err *e);
void lanes_destroy(lanes **self);
/* lanes_facts: lane i, i < lanes_count. There is always at least one (maybe kind "none"). */
size_t lanes_count(const lanes *self);
const lane_facts *lanes_facts(const lanes *self, size_t i);
/* lanes_rows fills the lanes as the hello message tells them, and gives their number; texts are borrowed. */
size_t lanes_rows(const lanes *self, struct row_device out[LANES_MAX]);
/* lanes_device is what of a lane a task's needs are compared with. */
need_device lanes_device(const lane_facts *facts);
/* lanes_usable is the facts of a lane that can run, or NULL; of one that has what is needed (NULL: nothing), if
 * there is one. */
const lane_facts *lanes_usable(const lanes *self, const need_set *needs);

/* lanes_acquire waits for a free lane that runs code for `arch` and has what is needed (NULL: nothing; where
 * no lane has it, it is not asked for); ERR_UNAVAILABLE without one, ERR_CONFLICT once *cancelled is set. */
lane *lanes_acquire(lanes *self, const char *arch, const need_set *needs,
                    const atomic_bool *cancelled, err *e);
/* lanes_acquire_again waits for the lane of these facts: two times are compared on one card. */
lane *lanes_acquire_again(lanes *self, const lane_facts *facts, const atomic_bool *cancelled,
                          err *e);
/* lanes_acquire_host is the lane for reference checks: a device's, else a judge on the CPU. */
lane *lanes_acquire_host(lanes *self, const need_set *needs, const atomic_bool *cancelled, err *e);
void lanes_release(lanes *self, lane **held);
/* lane_judge starts the lane's judge if it does not run yet. */
judge *lane_judge(lane *self, err *e);
/* lane_sees: a holder has seen that tools that look on see planted defects on this device (lane_note_sight). */
bool lane_sees(const lane *self);
void lane_note_sight(lane *self);
const lane_facts *lane_get_facts(const lane *self);

#endif
