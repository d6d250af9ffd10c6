/* probe - see probe.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/probe.h"

#include <stdlib.h>
#include <string.h>

#include "agent-node/runner/gpu.h"
#include "agent-node/runner/timing/cupti_api.h"
#include "common/json.h"
#include "common/scoped.h"

static void set_axis(json *device, const char *key, const int64_t axis[3])
{
    json *list = json_new_array();
    for (size_t i = 0; i < 3; i++) {
        json *size = json_new_int(axis[i]);
        json_append(list, &size);
    }
    json_set(device, key, &list);
}

static json *device_json(const char *name, const gpu_facts *f)
{
    json *device = json_new_object();
    json_set_str(device, "device", name);
    json_set_str(device, "kind", f->kind);
    json_set_str(device, "name", f->name);
    json_set_str(device, "uuid", f->uuid);
    json_set_str(device, "arch", f->arch);
    json_set_int(device, "memory_bytes", f->memory_bytes);
    json_set_real(device, "memory_rate", f->memory_rate);
    json_set_int(device, "cc", f->cc);
    json_set_int(device, "sm_count", f->sm_count);
    json_set_int(device, "l2_bytes", f->l2_bytes);
    json_set_int(device, "driver", f->driver);
    json_set_int(device, "shared_per_block", f->shared_per_block);
    json_set_int(device, "threads_per_block", f->threads_per_block);
    set_axis(device, "grid_max", f->grid_max);
    set_axis(device, "block_max", f->block_max);
    return device;
}

static int list_fake(json *devices, const char *script, err *e)
{
    SCOPED(gpu_close)
    gpu *fake = gpu_open(&(gpu_options){.device = "fake", .fake_script = script}, e);
    if (fake == NULL)
        return -1;
    json *device = device_json("fake", &fake->facts);
    json_append(devices, &device);
    return 0;
}

static void list_emu(json *devices)
{
    SCOPED(gpu_close) gpu *emu = gpu_emu_open();
    json *device = device_json("emu", &emu->facts);
    json_append(devices, &device);
}

/* list_cuda appends what can be asked; the first that cannot gives the reason. */
static int list_cuda(json *devices, err *e)
{
    int count = gpu_cuda_count(e);
    if (count == 0)
        return err_set(e, ERR_UNAVAILABLE, "the NVIDIA driver lists no device");
    for (int i = 0; i < count; i++) {
        gpu_facts facts;
        if (gpu_cuda_facts(i, &facts, e) < 0)
            return -1;
        char name[16];
        snprintf(name, sizeof(name), "cuda:%d", i);
        json *device = device_json(name, &facts);
        json_append(devices, &device);
    }
    return count < 0 ? -1 : 0;
}

void probe_print(const char *device, const char *script, FILE *out)
{
    bool fake = device != NULL && strcmp(device, "fake") == 0;
    err e;
    SCOPED(json_destroy) json *report = json_new_object();
    json *devices = json_new_array();
    int rc = 0;
    if (device != NULL && strcmp(device, "emu") == 0)
        list_emu(devices);
    else
        rc = fake ? list_fake(devices, script, &e) : list_cuda(devices, &e);
    if (rc < 0)
        json_set_str(report, "reason", e.text);
    else
        json_set_null(report, "reason");
    json_set(report, "devices", &devices);
    SCOPED(scoped_free) char *text = json_dump(report);
    fprintf(out, "%s\n", text);
}

void probe_print_profiler(FILE *out)
{
    enum { NEWEST_DRIVER = 13000, WHY_MAX = 512 };
    char why[WHY_MAX] = "";
    cupti_api api;
    SCOPED(json_destroy) json *report = json_new_object();
    bool found = cupti_api_open(&api, NULL, NEWEST_DRIVER, why, sizeof why);
    json_set_str(report, "library", found ? api.library : NULL);
    json_set_bool(report, "counters", found && api.has_counters);
    json_set_str(report, "reason", found ? NULL : why);
    SCOPED(scoped_free) char *text = json_dump(report);
    fprintf(out, "%s\n", text);
}
