/* phases - see phases.h.
 *
 * Inputs and the first check. A write to read-only memory faults, but a fault does not tell which buffer
 * it was. So until one check with launches has passed, inputs stay writable and only their checksums
 * tell: a candidate that writes to an input gets out_of_bounds(input) by name. After that, and always
 * when timing, inputs are read-only.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/phases.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/launch.h"
#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/message.h"

enum {
    LOAD_MS = 30000,       /* a module load that takes longer is hung */
    AFTERWARDS_MS = 30000, /* looking at memory after a launch */
    POISON_MAX = CONTRACT_TENSORS_MAX + PLAN_SCRATCH_MAX
};

typedef struct armed armed;

struct phases {
    gpu *device;
    phases_launching_fn *launching;
    void *arg;
    contract *terms; /* NULL: nothing loaded */
    plan *steps;
    uint8_t *image; /* cubin, or PTX for the emulator */
    size_t image_size;
    armed *armed; /* NULL: not timing */
    bool proved;  /* a check with launches has passed: inputs are read-only from now on */
};

static void armed_destroy(armed **self);

phases *phases_create(gpu *device, phases_launching_fn *launching, void *arg)
{
    phases *p = xcalloc(1, sizeof *p);
    p->device = device;
    p->launching = launching;
    p->arg = arg;
    return p;
}

void phases_destroy(phases **self)
{
    phases *p = TAKE(*self);
    if (p == NULL)
        return;
    armed_destroy(&p->armed);
    plan_destroy(&p->steps);
    contract_destroy(&p->terms);
    free(p->image);
    free(p);
}

static int candidate_begins(const phases *p, int64_t deadline_ms, err *e)
{
    return p->launching(p->arg, true, deadline_ms, e);
}

static int candidate_ended(const phases *p, err *e)
{
    return p->launching(p->arg, false, AFTERWARDS_MS, e);
}

static void tell_plan_fault(const plan_fault *fault, runner_verdict *out)
{
    verdict_set(out, OUTCOME_PLAN_INVALID, fault->pointer, "%s: %s", fault->pointer, fault->text);
}

/* ---- load ---- */

/* load_module is a whole load: whether the driver takes the code is known afterwards. */
static int load_module(phases *p, runner_verdict *out, err *e)
{
    gpu *g = p->device;
    if (g->ops->load(g, p->image, p->image_size, out, e) < 0)
        return -1;
    g->ops->unload(g);
    return 0;
}

int phases_load(phases *self, const struct msg_runner_load *request, runner_verdict *out, err *e)
{
    gpu *g = self->device;
    plan_fault fault;
    verdict_ok(out);
    if (self->terms != NULL)
        return err_set(e, ERR_PROTOCOL, "this runner has a candidate already");
    contract *terms = contract_parse(request->contract, strlen(request->contract), "contract", e);
    if (terms == NULL)
        return err_wrap(e, "runner");
    self->terms = terms;
    self->steps = plan_parse(request->plan, strlen(request->plan), terms, &fault);
    if (self->steps == NULL) {
        tell_plan_fault(&fault, out);
        return 0;
    }
    const message_bytes *image = strcmp(g->ops->kind, "emu") == 0 ? &request->ptx : &request->cubin;
    self->image_size = image->size;
    self->image = xmemdup(image->data != NULL ? image->data : (const uint8_t *)"", image->size);
    for (size_t i = 0; g->ops->know != NULL && i < request->kernels_count; i++)
        g->ops->know(g, request->kernels[i].name, (uint32_t)request->kernels[i].registers);
    if (candidate_begins(self, LOAD_MS, e) < 0)
        return -1;
    if (g->ops->script != NULL)
        return g->ops->script(g, GPU_PHASE_LOAD, NULL, out, e);
    return load_module(self, out, e);
}

/* ---- shape and steps ---- */

static int find_dim(const contract *terms, const char *name)
{
    for (size_t i = 0; i < terms->dim_count; i++)
        if (strcmp(terms->dims[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int read_shape(const contract *terms, const struct row_dim *dims, size_t count,
                      contract_shape *out, err *e)
{
    bool seen[CONTRACT_DIMS_MAX] = {false};
    *out = (contract_shape){{0}};
    if (count != terms->dim_count)
        return err_set(e, ERR_PROTOCOL, "the request gives %zu dims, the contract has %zu", count,
                       terms->dim_count);
    for (size_t i = 0; i < count; i++) {
        int at = find_dim(terms, dims[i].name);
        if (at < 0 || seen[at])
            return err_set(e, ERR_PROTOCOL, "the request gives dim %s, which is %s", dims[i].name,
                           at < 0 ? "none of the contract's" : "given twice");
        seen[at] = true;
        out->dims[at] = dims[i].value;
    }
    return 0;
}

static plan_device plan_device_of(const gpu_facts *f)
{
    plan_device d = {.on_emu = strcmp(f->kind, "emu") == 0,
                     .sm_count = f->sm_count,
                     .cc = f->cc,
                     .threads_per_block_max = f->threads_per_block,
                     .shared_per_block_max = f->shared_per_block,
                     .memory_bytes = f->memory_bytes};
    memcpy(d.grid_max, f->grid_max, sizeof d.grid_max);
    memcpy(d.block_max, f->block_max, sizeof d.block_max);
    return d;
}

/* expand gives the plan's steps at the requested shape, or a verdict and no steps. */
static int expand(const phases *p, const struct row_dim *dims, size_t count, contract_shape *shape,
                  plan_steps *steps, runner_verdict *out, err *e)
{
    plan_fault fault;
    verdict_ok(out);
    if (p->steps == NULL)
        return err_set(e, ERR_PROTOCOL, "no candidate is loaded");
    if (read_shape(p->terms, dims, count, shape, e) < 0)
        return -1;
    plan_device device = plan_device_of(&p->device->facts);
    if (plan_expand(p->steps, p->terms, shape, &device, steps, &fault) < 0)
        tell_plan_fault(&fault, out);
    return 0;
}

/* ---- staging ---- */

static gpu_staging staging_of(const message_bytes *handle, const char *shm)
{
    return (gpu_staging){handle->size == 64 ? handle->data : NULL,
                         shm != NULL && *shm != '\0' ? shm : NULL};
}

static int count_spans(const contract *c, size_t slots, size_t inputs, size_t outputs, err *e)
{
    if (inputs == c->input_count * slots && outputs == c->output_count)
        return 0;
    return err_set(e, ERR_PROTOCOL,
                   "staging lists %zu inputs and %zu outputs; %zu slots of the contract need %zu "
                   "and %zu",
                   inputs, outputs, slots, c->input_count * slots, c->output_count);
}

/* import_sets fills every set's inputs from staging, slot after slot. */
static int import_sets(phases *p, const gpu_staging *staging, buffers *const *sets, size_t count,
                       const struct row_span *inputs, err *e)
{
    gpu *g = p->device;
    uint64_t base = 0;
    if (g->ops->attach(g, staging, &base, e) < 0)
        return -1;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < count; k++)
        rc = buffers_import(sets[k], base, inputs + k * p->terms->input_count, e);
    return g->ops->detach(g, base, rc == 0 ? e : NULL) < 0 ? -1 : rc;
}

static int export_set(phases *p, const gpu_staging *staging, const buffers *set,
                      const struct row_span *outputs, err *e)
{
    gpu *g = p->device;
    uint64_t base = 0;
    if (g->ops->attach(g, staging, &base, e) < 0)
        return -1;
    int rc = buffers_export(set, base, outputs, e);
    return g->ops->detach(g, base, rc == 0 ? e : NULL) < 0 ? -1 : rc;
}

/* ---- check ---- */

/* load_and_run leaves the module loaded. */
static int load_and_run(phases *p, const launch *calls, int64_t deadline_ms, runner_verdict *out,
                        err *e)
{
    gpu *g = p->device;
    if (candidate_begins(p, LOAD_MS, e) < 0 || g->ops->load(g, p->image, p->image_size, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    if (launch_examine(calls, g, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    if (candidate_begins(p, deadline_ms, e) < 0)
        return -1;
    return g->ops->run(g, calls->calls, calls->count, deadline_ms, out, e);
}

/* launch_once loads the module, runs the calls and unloads it. */
static int launch_once(phases *p, const launch *calls, int64_t deadline_ms, runner_verdict *out,
                       err *e)
{
    if (load_and_run(p, calls, deadline_ms, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    p->device->ops->unload(p->device);
    return candidate_ended(p, e);
}

/* run_set runs the plan on a filled set, shared memory full of the salt's junk, and looks for damage. */
static int run_set(phases *p, const struct msg_runner_check *request, const buffers_spec *spec,
                   buffers *set, runner_verdict *out, err *e)
{
    gpu *g = p->device;
    SCOPED(launch_fini) launch calls = {0};
    launch_init(&calls, spec->steps, set, true);
    if (calls.count > 0 && ((g->ops->dirty != NULL && g->ops->dirty(g, spec->salt, e) < 0) ||
                            launch_once(p, &calls, request->deadline_ms, out, e) < 0))
        return -1;
    return verdict_is_ok(out) ? buffers_verify(set, out, e) : 0;
}

static int check_set(phases *p, const struct msg_runner_check *request, const buffers_spec *spec,
                     buffers *set, runner_verdict *out, err *e)
{
    gpu_staging staging = staging_of(&request->handle, request->shm);
    if (import_sets(p, &staging, &set, 1, request->inputs, e) < 0 ||
        (p->proved && buffers_protect(set, e) < 0) || run_set(p, request, spec, set, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    p->proved |= spec->steps->step_count > 0;
    return export_set(p, &staging, set, request->outputs, e);
}

/* look_on only launches: what the tool sees it says elsewhere, and the outputs were compared before. */
static int look_on(phases *p, const struct msg_runner_check *request, const buffers_spec *spec,
                   buffers *set, runner_verdict *out, err *e)
{
    gpu_staging staging = staging_of(&request->handle, request->shm);
    SCOPED(launch_fini) launch calls = {0};
    if (import_sets(p, &staging, &set, 1, request->inputs, e) < 0)
        return -1;
    launch_init(&calls, spec->steps, set, false);
    return calls.count > 0 ? launch_once(p, &calls, request->deadline_ms, out, e) : 0;
}

/* ---- the pair ---- */

/* run_other runs on memory elsewhere, with other canaries and junk, and where the sentinels were with what
 * could be an answer. */
static int run_other(phases *p, const struct msg_runner_check *request, const buffers_spec *spec,
                     uint64_t *print, runner_verdict *out, err *e)
{
    gpu_staging staging = staging_of(&request->handle, request->shm);
    buffers_spec other = *spec;
    other.salt = (uint64_t)request->pair_salt;
    other.answers = true;
    SCOPED(buffers_destroy) buffers *set = buffers_create(p->device, &other, e);
    if (set == NULL || import_sets(p, &staging, &set, 1, request->inputs, e) < 0 ||
        buffers_protect(set, e) < 0 || run_set(p, request, &other, set, out, e) < 0)
        return -1;
    return verdict_is_ok(out) ? buffers_fingerprint(set, print, e) : 0;
}

/* check_pair: the third run repeats the first, so a difference between those two is chance; a
 * difference of the second alone comes from what memory held before. */
static int check_pair(phases *p, const struct msg_runner_check *request, const buffers_spec *spec,
                      buffers *set, runner_verdict *out, err *e)
{
    uint64_t first = 0, other = 0, again = 0;
    if (buffers_fingerprint(set, &first, e) < 0 || run_other(p, request, spec, &other, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    if (buffers_refill(set, e) < 0 || run_set(p, request, spec, set, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    if (buffers_fingerprint(set, &again, e) < 0)
        return -1;
    if (first != again)
        verdict_set(
            out, OUTCOME_NONDETERMINISTIC, NULL,
            "two runs on the same inputs and memory gave different outputs; likely cause: a "
            "race, or atomic additions whose order changes");
    else if (first != other)
        verdict_set(out, OUTCOME_UNINITIALISED, VERDICT_LEFTOVERS,
                    "the outputs depend on what outputs, scratch or shared memory held before the "
                    "launch, or on where the buffers lie");
    return 0;
}

int phases_check(phases *self, const struct msg_runner_check *request, runner_verdict *out, err *e)
{
    gpu *g = self->device;
    contract_shape shape;
    SCOPED(plan_steps_fini) plan_steps steps = {0};
    if (expand(self, request->dims, request->dims_count, &shape, &steps, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    if (g->ops->script != NULL)
        return candidate_begins(self, request->deadline_ms, e) < 0
                   ? -1
                   : g->ops->script(g, GPU_PHASE_CHECK, NULL, out, e);
    if (count_spans(self->terms, 1, request->inputs_count, request->outputs_count, e) < 0)
        return -1;
    buffers_spec spec = {self->terms, &shape, &steps, (uint64_t)request->salt, false};
    SCOPED(buffers_destroy) buffers *set = buffers_create(g, &spec, e);
    if (set == NULL)
        return -1;
    if (g->exact)
        return look_on(self, request, &spec, set, out, e);
    if (check_set(self, request, &spec, set, out, e) < 0)
        return -1;
    bool paired = request->pair_salt > 0 && steps.step_count > 0 && verdict_is_ok(out);
    return paired ? check_pair(self, request, &spec, set, out, e) : 0;
}

/* ---- time ---- */

/* The rotated slots of one timing request. */
typedef struct slot_sets {
    size_t count;
    buffers **sets;
    launch *calls;
    gpu_slot *slots;
    gpu_fill (*fills)[POISON_MAX];
} slot_sets;

static void slot_sets_fini(slot_sets *self)
{
    for (size_t k = 0; k < self->count; k++) {
        launch_fini(&self->calls[k]);
        buffers_destroy(&self->sets[k]);
    }
    free(self->sets);
    free(self->calls);
    free(self->slots);
    free(self->fills);
}

static int slot_sets_init(slot_sets *self, gpu *g, const buffers_spec *spec, size_t count, err *e)
{
    *self = (slot_sets){.count = count};
    self->sets = xcalloc(count, sizeof(buffers *));
    self->calls = xcalloc(count, sizeof *self->calls);
    self->slots = xcalloc(count, sizeof *self->slots);
    self->fills = xcalloc(count, sizeof *self->fills);
    for (size_t k = 0; k < count; k++) {
        self->sets[k] = buffers_create(g, spec, e);
        if (self->sets[k] == NULL)
            return err_wrap(e, "slot %zu of %zu", k, count);
        launch_init(&self->calls[k], spec->steps, self->sets[k], false);
        self->slots[k] = (gpu_slot){.fills = self->fills[k],
                                    .fill_count = buffers_poison(self->sets[k], self->fills[k]),
                                    .calls = self->calls[k].calls,
                                    .call_count = self->calls[k].count};
    }
    return 0;
}

/* Outputs that were copied aside while a timed call's results lay in their slot. */
typedef struct kept_outputs {
    gpu_mem memory; /* max entries of `bytes` each */
    uint64_t bytes;
    size_t max, count;
    size_t *slots; /* of each entry */
} kept_outputs;

/* Everything between arm and disarm. */
struct armed {
    const phases *home;
    contract_shape shape;
    plan_steps steps;
    buffers_spec spec;
    slot_sets sets;
    kept_outputs kept;
    bool chained;
    size_t slots;
    int64_t samples; /* of all blocks */
    err keep_error;  /* why an output could not be kept */
};

static void armed_destroy(armed **self)
{
    armed *a = TAKE(*self);
    if (a == NULL)
        return;
    gpu *g = a->home->device;
    if (g->ops->script == NULL) {
        g->ops->disarm(g);
        g->ops->unmap(g, &a->kept.memory);
    }
    slot_sets_fini(&a->sets);
    plan_steps_fini(&a->steps);
    free(a->kept.slots);
    free(a);
}

/* ---- keeping outputs ---- */

/* output_bytes: of output i, on its own cache lines. */
static int output_bytes(const armed *a, size_t i, uint64_t *exact, err *e)
{
    const contract *terms = a->home->terms;
    size_t tensor = terms->input_count + i;
    int64_t elements = 0;
    if (contract_elements(terms, tensor, &a->shape, &elements, e) < 0)
        return -1;
    *exact = (uint64_t)elements * dtype_size(terms->tensors[tensor].type);
    return 0;
}

static uint64_t rounded(uint64_t bytes)
{
    return (bytes + BUFFERS_ALIGN - 1) / BUFFERS_ALIGN * BUFFERS_ALIGN;
}

/* list_entries makes a list for all outputs that will be kept. */
static void list_entries(armed *a, const struct msg_runner_arm *request)
{
    a->chained = request->chained;
    a->slots = (size_t)request->slots;
    a->kept.max = (size_t)request->keeps * (a->chained ? a->slots : 1);
    a->kept.slots = xcalloc(a->kept.max + 1, sizeof *a->kept.slots);
}

static int make_room(armed *a, err *e)
{
    const phases *p = a->home;
    kept_outputs *k = &a->kept;
    for (size_t i = 0; i < p->terms->output_count; i++) {
        uint64_t exact = 0;
        if (output_bytes(a, i, &exact, e) < 0)
            return -1;
        k->bytes += rounded(exact);
    }
    if (k->max == 0 || k->bytes == 0)
        return 0;
    return p->device->ops->map(p->device, k->bytes * k->max, &k->memory, e);
}

/* copy_outputs moves one set's outputs to an entry. */
static int copy_outputs(const armed *a, size_t entry, const buffers *set, err *e)
{
    gpu *g = a->home->device;
    uint64_t at = a->kept.memory.base + entry * a->kept.bytes;
    for (size_t i = 0; i < a->home->terms->output_count; i++) {
        uint64_t exact = 0;
        if (output_bytes(a, i, &exact, e) < 0 ||
            g->ops->copy(g, at, buffers_tensor(set, a->home->terms->input_count + i), exact, e) < 0)
            return -1;
        at += rounded(exact);
    }
    return g->ops->wait(g, e);
}

static int keep_slot(void *arg, size_t slot)
{
    armed *a = arg;
    kept_outputs *k = &a->kept;
    if (k->count == k->max)
        return err_set(&a->keep_error, ERR_PROTOCOL, "more outputs to keep than were announced");
    if (copy_outputs(a, k->count, a->sets.sets[slot], &a->keep_error) < 0)
        return -1;
    k->slots[k->count++] = slot;
    return 0;
}

const size_t *phases_kept_slots(const phases *self, size_t *count)
{
    *count = self->armed != NULL ? self->armed->kept.count : 0;
    return *count > 0 ? self->armed->kept.slots : NULL;
}

static int export_kept(const phases *p, const struct msg_runner_kept *request, uint64_t base,
                       err *e)
{
    gpu *g = p->device;
    uint64_t at = p->armed->kept.memory.base + (uint64_t)request->index * p->armed->kept.bytes;
    for (size_t i = 0; i < request->outputs_count; i++) {
        const struct row_span *to = &request->outputs[i];
        uint64_t exact = 0;
        if (output_bytes(p->armed, i, &exact, e) < 0)
            return -1;
        if ((uint64_t)to->bytes != exact)
            return err_set(e, ERR_PROTOCOL, "output %zu has %llu bytes, staging gives it %lld", i,
                           (unsigned long long)exact, (long long)to->bytes);
        if (g->ops->copy(g, base + (uint64_t)to->offset, at, exact, e) < 0)
            return -1;
        at += rounded(exact);
    }
    return 0;
}

int phases_kept(phases *self, const struct msg_runner_kept *request, runner_verdict *out, err *e)
{
    gpu *g = self->device;
    verdict_ok(out);
    if (g->ops->script != NULL)
        return 0;
    if (self->armed == NULL || (size_t)request->index >= self->armed->kept.count ||
        request->outputs_count != self->terms->output_count)
        return err_set(e, ERR_PROTOCOL, "kept outputs %lld, %zu tensors: there are none such",
                       (long long)request->index, request->outputs_count);
    gpu_staging staging = staging_of(&request->handle, NULL);
    uint64_t base = 0;
    if (g->ops->attach(g, &staging, &base, e) < 0)
        return -1;
    int rc = export_kept(self, request, base, e);
    return g->ops->detach(g, base, rc == 0 ? e : NULL) < 0 ? -1 : rc;
}

/* ---- arm ---- */

/* run_and_arm launches slot 0 once by itself (a fault is then told apart from a failing measurement,
 * and lazily loaded code is loaded before a graph is captured), then gets all slots ready. */
static int run_and_arm(phases *p, armed *a, const struct msg_runner_arm *request,
                       gpu_timing *timing, runner_verdict *out, err *e)
{
    gpu *g = p->device;
    int64_t start = clock_mono_ms();
    if (load_and_run(p, &a->sets.calls[0], request->deadline_ms, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    int64_t left = request->deadline_ms - (clock_mono_ms() - start);
    gpu_time_job job = {.slots = a->sets.slots,
                        .slot_count = a->sets.count,
                        .chained = request->chained,
                        .settle = request->settle,
                        .deadline_ms = left > 1 ? left : 1,
                        .keep = keep_slot,
                        .keep_arg = a};
    if (candidate_begins(p, job.deadline_ms, e) < 0 || g->ops->arm(g, &job, timing, out, e) < 0)
        return -1;
    return verdict_is_ok(out) ? candidate_ended(p, e) : 0;
}

static int prepare_slots(phases *p, armed *a, const struct msg_runner_arm *request, err *e)
{
    size_t count = (size_t)request->slots;
    gpu_staging staging = staging_of(&request->handle, NULL);
    list_entries(a, request);
    a->spec = (buffers_spec){p->terms, &a->shape, &a->steps, (uint64_t)request->salt, false};
    if (slot_sets_init(&a->sets, p->device, &a->spec, count, e) < 0 || make_room(a, e) < 0 ||
        import_sets(p, &staging, a->sets.sets, count, request->inputs, e) < 0)
        return -1;
    for (size_t k = 0; k < count; k++)
        if (buffers_protect(a->sets.sets[k], e) < 0)
            return -1;
    return 0;
}

static int arm_slots(phases *p, const struct msg_runner_arm *request, gpu_timing *timing,
                     runner_verdict *out, err *e)
{
    if (p->armed->steps.step_count == 0)
        return err_set(e, ERR_PROTOCOL, "nothing to time: the outputs are empty at this shape");
    if (count_spans(p->terms, (size_t)request->slots, request->inputs_count, p->terms->output_count,
                    e) < 0 ||
        prepare_slots(p, p->armed, request, e) < 0)
        return -1;
    return run_and_arm(p, p->armed, request, timing, out, e);
}

int phases_arm(phases *self, const struct msg_runner_arm *request, gpu_timing *timing,
               runner_verdict *out, err *e)
{
    gpu *g = self->device;
    if (self->armed != NULL)
        return err_set(e, ERR_PROTOCOL, "timing is under way already");
    SCOPED(armed_destroy) armed *a = xcalloc(1, sizeof *a);
    a->home = self;
    if (expand(self, request->dims, request->dims_count, &a->shape, &a->steps, out, e) < 0)
        return -1;
    if (!verdict_is_ok(out))
        return 0;
    self->armed = TAKE(a);
    if (g->ops->script != NULL) {
        list_entries(self->armed, request);
        return g->ops->script(g, GPU_PHASE_ARM, timing, out, e);
    }
    return arm_slots(self, request, timing, out, e);
}

/* ---- blocks ---- */

static int want_armed(const phases *p, err *e)
{
    return p->armed != NULL ? 0 : err_set(e, ERR_PROTOCOL, "nothing is armed");
}

/* A scripted device has no outputs, but says whose it would have kept. */
static void pretend_to_keep(armed *a, const struct msg_runner_block *request)
{
    size_t count = request->keep < 0 ? 0 : a->chained ? a->slots : 1;
    for (size_t i = 0; i < count && a->kept.count < a->kept.max; i++)
        a->kept.slots[a->kept.count++] = a->chained ? i : (size_t)request->keep % a->slots;
}

int phases_block(phases *self, const struct msg_runner_block *request, gpu_timing *timing,
                 runner_verdict *out, err *e)
{
    gpu *g = self->device;
    gpu_block block = {.samples = (size_t)request->samples,
                       .untimed = (size_t)request->untimed,
                       .keep = request->keep,
                       .deadline_ms = request->deadline_ms,
                       .warm = request->warm};
    verdict_ok(out);
    timing->sample_count = block.samples;
    if (want_armed(self, e) < 0 || candidate_begins(self, block.deadline_ms, e) < 0)
        return -1;
    self->armed->samples += request->samples;
    if (g->ops->script != NULL) {
        pretend_to_keep(self->armed, request);
        return g->ops->script(g, request->warm ? GPU_PHASE_WARM : GPU_PHASE_TIME, timing, out, e);
    }
    if (g->ops->block(g, &block, timing, out, e) < 0) {
        if (e != NULL && self->armed->keep_error.code != ERR_NONE)
            *e = self->armed->keep_error;
        return -1;
    }
    return verdict_is_ok(out) ? candidate_ended(self, e) : 0;
}

char *phases_profile(phases *self, const struct msg_runner_profile *request, err *e)
{
    gpu *g = self->device;
    const gpu_profile_job job = {.samples = (size_t)request->samples,
                                 .counters = request->counters,
                                 .library = request->library[0] != '\0' ? request->library : NULL,
                                 .deadline_ms = request->deadline_ms};
    if (want_armed(self, e) < 0)
        return NULL;
    if (g->ops->profile == NULL) {
        err_set(e, ERR_PROTOCOL, "a device of kind %s measures nothing", g->ops->kind);
        return NULL;
    }
    if (candidate_begins(self, job.deadline_ms, e) < 0)
        return NULL;
    SCOPED(scoped_free) char *profile = g->ops->profile(g, &job);
    return candidate_ended(self, e) < 0 ? NULL : TAKE(profile);
}

int phases_disarm(phases *self, const struct msg_runner_disarm *request, runner_verdict *out,
                  err *e)
{
    gpu *g = self->device;
    verdict_ok(out);
    if (want_armed(self, e) < 0)
        return -1;
    if (g->ops->script == NULL) {
        g->ops->disarm(g);
        g->ops->unload(g);
    }
    if (request->samples != self->armed->samples)
        return err_set(e, ERR_PROTOCOL, "%lld samples were taken, the node has %lld",
                       (long long)self->armed->samples, (long long)request->samples);
    const slot_sets *s = &self->armed->sets;
    for (size_t k = 0; k < s->count && verdict_is_ok(out); k++)
        if (buffers_verify(s->sets[k], out, e) < 0)
            return -1;
    armed_destroy(&self->armed);
    return 0;
}
