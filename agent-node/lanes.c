/* lanes - the devices of a node, one holder at a time
 *
 * Devices are found once, by `ce-runner --probe` (the driver is never loaded into the node). A lane's
 * judge starts when it is first wanted and lives on; when a lane is taken the holder has device and
 * judge alone. Beside the devices there is a host lane, whose judge runs references on the CPU.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/lanes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent-node/gpulock.h"
#include "agent-node/runner_proc.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { PROBE_MS = 60000, PROBE_TEXT_MAX = 256 * 1024, CANCEL_POLL_MS = 200 };

struct lane {
    lane_facts facts;
    judge *judge;      /* NULL until wanted */
    const lanes *home; /* for the settings */
    bool taken, sees;
    int lock; /* of the GPU among all nodes of this host; 0: none */
};

struct lanes {
    const settings *options;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    lane devices[LANES_MAX];
    size_t count;
    lane host;
};

/* What CUDA guarantees for compute capability 8.0 and later (CUDA C++ Programming Guide, table
 * "Technical Specifications per Compute Capability"): plans are checked against it when there is no
 * device to ask. */
static const plan_device guaranteed_limits = {.sm_count = 108,
                                              .cc = 90,
                                              .grid_max = {INT32_MAX, 65535, 65535},
                                              .block_max = {1024, 1024, 64},
                                              .threads_per_block_max = 1024,
                                              .shared_per_block_max = INT64_C(99) * 1024,
                                              .memory_bytes = (int64_t)40 << 30};

/* ---- finding devices ---- */

static void copy_text(char *out, size_t size, const json *object, const char *key)
{
    snprintf(out, size, "%s", json_str(json_get(object, key), ""));
}

static void read_axis(int64_t out[3], const json *object, const char *key)
{
    for (size_t i = 0; i < 3; i++) {
        out[i] = json_int(json_at(json_get(object, key), i), out[i]);
    }
}

static void read_device(lane_facts *f, const json *d)
{
    int64_t driver = json_int(json_get(d, "driver"), 0);
    copy_text(f->kind, sizeof(f->kind), d, "kind");
    copy_text(f->device, sizeof(f->device), d, "device");
    copy_text(f->name, sizeof(f->name), d, "name");
    copy_text(f->uuid, sizeof(f->uuid), d, "uuid");
    copy_text(f->arch, sizeof(f->arch), d, "arch");
    if (driver > 0) {
        snprintf(f->driver, sizeof(f->driver), "%lld.%lld", (long long)driver / 1000,
                 (long long)driver % 1000 / 10);
    }
    f->l2_bytes = json_int(json_get(d, "l2_bytes"), 0);
    f->memory_rate = json_real(json_get(d, "memory_rate"), 0.0);
    f->limits = guaranteed_limits;
    f->limits.sm_count = json_int(json_get(d, "sm_count"), f->limits.sm_count);
    f->limits.cc = json_int(json_get(d, "cc"), f->limits.cc);
    f->limits.memory_bytes = json_int(json_get(d, "memory_bytes"), f->limits.memory_bytes);
    f->limits.shared_per_block_max =
        json_int(json_get(d, "shared_per_block"), f->limits.shared_per_block_max);
    f->limits.threads_per_block_max =
        json_int(json_get(d, "threads_per_block"), f->limits.threads_per_block_max);
    read_axis(f->limits.grid_max, d, "grid_max");
    read_axis(f->limits.block_max, d, "block_max");
}

static void add_none(lanes *self, const char *reason)
{
    lane_facts *f = &self->devices[self->count++].facts;
    snprintf(f->kind, sizeof(f->kind), "none");
    snprintf(f->arch, sizeof(f->arch), "sm_90a");
    snprintf(f->reason, sizeof(f->reason), "%s", reason);
    f->limits = guaranteed_limits;
}

/* What a device option asks for, in order: the first kind that is there serves. */
typedef struct wanted_kinds {
    const char *device;
    const char *kinds[3]; /* NULL-ended */
} wanted_kinds;

static const wanted_kinds kinds_of[] = {{"auto", {"cuda", "emu", NULL}},
                                        {"cuda", {"cuda", NULL}},
                                        {"emu", {"emu", NULL}},
                                        {"fake", {"fake", NULL}}};

/* A GPU that another node has is no lane of ours: its facts say whose it is. */
static void lock_device(lane *device)
{
    err why = {0};
    lane_facts *f = &device->facts;
    if (strcmp(f->kind, "cuda") != 0) {
        return;
    }
    device->lock = gpulock_take(GPULOCK_FOLDER, f->uuid, GPULOCK_PATIENCE_MS, &why);
    if (device->lock < 0) {
        device->lock = 0;
        snprintf(f->kind, sizeof(f->kind), "none");
        snprintf(f->reason, sizeof(f->reason), "%s", why.text);
    }
}

static json_doc *probe(const settings *options, const char *kind, err *e)
{
    SCOPED(buf_fini) buf out;
    SCOPED(buf_fini) buf errors;
    buf_init(&out, PROBE_TEXT_MAX);
    buf_init(&errors, PROBE_TEXT_MAX);
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (here == NULL) {
        return NULL;
    }
    SCOPED(scoped_free) char *binary = file_join(here, "ce-runner");
    const char *argv[] = {binary, "--probe", "--device", kind, "--fake", options->fake, NULL};
    if (options->fake == NULL) {
        argv[4] = NULL;
    }
    int status = 0;
    SCOPED(runner_proc_env_free) char **env = runner_proc_env();
    const subproc_options how = {.argv = argv, .env = (const char *const *)env};
    if (subproc_run(&how, PROBE_MS, &out, &errors, &status, e) != 0) {
        return NULL;
    }
    if (status != 0) {
        err_set(e, ERR_UNAVAILABLE, "looking for devices failed: %.180s", buf_text(&errors));
        return NULL;
    }
    return json_parse(buf_text(&out), out.size, "ce-runner --probe", e);
}

/* The devices of one kind; *why (fresh text) says why there are none. */
static int find_kind(lanes *self, const char *kind, char **why, err *e)
{
    SCOPED(json_doc_destroy) json_doc *doc = probe(self->options, kind, e);
    if (doc == NULL) {
        return -1;
    }
    const json *list = json_get(json_doc_root(doc), "devices");
    for (size_t i = 0; i < json_size(list) && self->count < LANES_MAX; i++) {
        lane *device = &self->devices[self->count++];
        read_device(&device->facts, json_at(list, i));
        lock_device(device);
    }
    if (self->count == 0 && *why == NULL) {
        *why = xstrdup(json_str(json_get(json_doc_root(doc), "reason"), "no device found"));
    }
    return 0;
}

static const char *const *wanted(const char *device)
{
    const wanted_kinds *row = kinds_of;
    while (strcmp(row->device, device) != 0) {
        row++; /* settings_parse has refused any other */
    }
    return row->kinds;
}

static int find_devices(lanes *self, err *e)
{
    SCOPED(scoped_free) char *why = NULL;
    for (const char *const *kind = wanted(self->options->device); *kind != NULL; kind++) {
        if (find_kind(self, *kind, &why, e) != 0) {
            return -1;
        }
        if (self->count > 0) {
            return 0;
        }
    }
    if (strcmp(self->options->device, "fake") == 0) {
        return err_set(e, ERR_CONFIG, "the fake device: %s", why); /* its script is wrong */
    }
    SCOPED(scoped_free)
    char *reason =
        xasprintf("%s; run on a host with an NVIDIA GPU and driver, or with --device emu", why);
    add_none(self, reason);
    return 0;
}

/* ---- life ---- */

lanes *lanes_create(const settings *options, err *e)
{
    SCOPED(lanes_destroy) lanes *self = xcalloc(1, sizeof(*self));
    self->options = options;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_t monotonic; /* the wall clock may be set back meanwhile */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&self->freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    self->host.home = self;
    snprintf(self->host.facts.kind, sizeof(self->host.facts.kind), "none");
    snprintf(self->host.facts.device, sizeof(self->host.facts.device), "cpu");
    if (find_devices(self, e) != 0) {
        return NULL;
    }
    for (size_t i = 0; i < self->count; i++) {
        self->devices[i].home = self;
    }
    return TAKE(self);
}

void lanes_destroy(lanes **self_p)
{
    lanes *self = *self_p;
    if (self == NULL) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        judge_destroy(&self->devices[i].judge);
        if (self->devices[i].lock > 0) {
            close(self->devices[i].lock);
        }
    }
    judge_destroy(&self->host.judge);
    pthread_cond_destroy(&self->freed);
    pthread_mutex_destroy(&self->lock);
    free(self);
    *self_p = NULL;
}

size_t lanes_count(const lanes *self)
{
    return self->count;
}

const lane_facts *lanes_facts(const lanes *self, size_t i)
{
    return &self->devices[i].facts;
}

size_t lanes_rows(const lanes *self, struct row_device out[LANES_MAX])
{
    for (size_t i = 0; i < self->count; i++) {
        const lane_facts *f = &self->devices[i].facts;
        out[i] = (struct row_device){.kind = (char *)(uintptr_t)f->kind,
                                     .name = (char *)(uintptr_t)f->name,
                                     .uuid = (char *)(uintptr_t)f->uuid,
                                     .arch = (char *)(uintptr_t)f->arch,
                                     .memory_bytes = f->limits.memory_bytes,
                                     .reason = (char *)(uintptr_t)f->reason};
    }
    return self->count;
}

need_device lanes_device(const lane_facts *facts)
{
    return need_device_of(facts->kind, facts->arch, facts->limits.memory_bytes);
}

/* Whether a lane can run, and code for arch (NULL: any), and has what is needed (NULL: nothing). */
static bool is_fit(const lane_facts *f, const char *arch, const need_set *needs)
{
    const need_device device = lanes_device(f);
    return strcmp(f->kind, "none") != 0 && (arch == NULL || strcmp(f->arch, arch) == 0) &&
           (needs == NULL || need_met(needs, &device));
}

static const lane_facts *find(const lanes *self, const char *arch, const need_set *needs)
{
    for (size_t i = 0; i < self->count; i++) {
        if (is_fit(&self->devices[i].facts, arch, needs)) {
            return &self->devices[i].facts;
        }
    }
    return NULL;
}

const lane_facts *lanes_usable(const lanes *self, const need_set *needs)
{
    const lane_facts *best = find(self, NULL, needs);
    return best != NULL ? best : find(self, NULL, NULL);
}

/* ---- holding ---- */

static void wait_freed(lanes *self)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += CANCEL_POLL_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&self->freed, &self->lock, &until);
}

/* A run of lanes, and what one of them must be. */
typedef struct choice {
    lane *first;
    size_t count;
    const char *arch;      /* NULL: any lane, whatever it is */
    const need_set *needs; /* NULL: nothing */
} choice;

/* The first free lane of them; waits for one. */
static lane *take(lanes *self, const choice *among, const atomic_bool *cancelled, err *e)
{
    lane *found = NULL;
    pthread_mutex_lock(&self->lock);
    while (found == NULL && !atomic_load(cancelled)) {
        for (size_t i = 0; i < among->count && found == NULL; i++) {
            lane *one = &among->first[i];
            bool fits = among->arch == NULL || is_fit(&one->facts, among->arch, among->needs);
            found = fits && !one->taken ? one : NULL;
        }
        if (found == NULL) {
            wait_freed(self);
        }
    }
    if (found != NULL) {
        found->taken = true;
    }
    pthread_mutex_unlock(&self->lock);
    if (found == NULL) {
        err_set(e, ERR_CONFLICT, "cancelled while waiting for the device");
    }
    return found;
}

lane *lanes_acquire(lanes *self, const char *arch, const need_set *needs,
                    const atomic_bool *cancelled, err *e)
{
    if (lanes_usable(self, NULL) == NULL) {
        err_set(e, ERR_UNAVAILABLE, "%s", self->devices[0].facts.reason);
        return NULL;
    }
    if (find(self, arch, NULL) == NULL) {
        err_set(e, ERR_UNAVAILABLE, "no device here runs code for %s", arch);
        return NULL;
    }
    const choice among = {.first = self->devices,
                          .count = self->count,
                          .arch = arch,
                          .needs = find(self, arch, needs) != NULL ? needs : NULL};
    return take(self, &among, cancelled, e);
}

lane *lanes_acquire_again(lanes *self, const lane_facts *facts, const atomic_bool *cancelled,
                          err *e)
{
    for (size_t i = 0; i < self->count; i++) {
        if (&self->devices[i].facts == facts) {
            return take(self, &(choice){.first = &self->devices[i], .count = 1}, cancelled, e);
        }
    }
    err_set(e, ERR_INTERNAL, "these are the facts of no lane");
    return NULL;
}

lane *lanes_acquire_host(lanes *self, const need_set *needs, const atomic_bool *cancelled, err *e)
{
    const lane_facts *usable = lanes_usable(self, needs);
    if (usable != NULL && strcmp(usable->kind, "fake") != 0) {
        return lanes_acquire(self, usable->arch, needs, cancelled,
                             e); /* its judge runs references too */
    }
    return take(self, &(choice){.first = &self->host, .count = 1}, cancelled, e);
}

void lanes_release(lanes *self, lane **held)
{
    if (*held == NULL) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    (*held)->taken = false;
    pthread_cond_broadcast(&self->freed);
    pthread_mutex_unlock(&self->lock);
    *held = NULL;
}

/* Two processes that count devices differently would compare two cards. */
static int check_same(const lane *self, err *e)
{
    const char *uuid = judge_get_facts(self->judge)->uuid;
    if (uuid[0] == '\0' || self->facts.uuid[0] == '\0' || strcmp(uuid, self->facts.uuid) == 0) {
        return 0;
    }
    return err_set(e, ERR_CONFIG,
                   "%s is %s here and %s for PyTorch: they see devices in different orders; set "
                   "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                   self->facts.device, self->facts.uuid, uuid);
}

judge *lane_judge(lane *self, err *e)
{
    const settings *s = self->home->options;
    if (self->judge == NULL) {
        SCOPED(scoped_free) char *cache = s->cache != NULL ? file_join(s->cache, "inductor") : NULL;
        bool emu = strcmp(self->facts.kind, "emu") == 0; /* its memory is the host's */
        self->judge = judge_start(&(judge_options){.python = s->python,
                                                   .device = emu ? "cpu" : self->facts.device,
                                                   .fake_script = s->fake,
                                                   .cache_dir = cache},
                                  e);
        if (self->judge != NULL && check_same(self, e) != 0) {
            judge_destroy(&self->judge);
        }
    }
    return self->judge;
}

const lane_facts *lane_get_facts(const lane *self)
{
    return &self->facts;
}

bool lane_sees(const lane *self)
{
    return self->sees;
}

void lane_note_sight(lane *self)
{
    self->sees = true;
}
