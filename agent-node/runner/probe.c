/* probe - see probe.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/probe.h"

#include <stdlib.h>

#include "agent-node/runner/gpu.h"
#include "common/json.h"
#include "common/scoped.h"

static json *device_json(const gpu_facts *f)
{
    json *device = json_new_object();
    json_set_str(device, "kind", f->kind);
    json_set_str(device, "name", f->name);
    json_set_str(device, "uuid", f->uuid);
    json_set_str(device, "arch", f->arch);
    json_set_int(device, "memory_bytes", f->memory_bytes);
    json_set_int(device, "cc", f->cc);
    json_set_int(device, "sm_count", f->sm_count);
    json_set_int(device, "l2_bytes", f->l2_bytes);
    json_set_int(device, "driver", f->driver);
    return device;
}

/* list_devices appends what can be asked; the first that cannot gives the reason. */
static int list_devices(json *devices, err *e)
{
    int count = gpu_cuda_count(e);
    if (count == 0)
        return err_set(e, ERR_UNAVAILABLE, "the NVIDIA driver lists no device");
    for (int i = 0; i < count; i++) {
        gpu_facts facts;
        if (gpu_cuda_facts(i, &facts, e) < 0)
            return -1;
        json *device = device_json(&facts);
        json_append(devices, &device);
    }
    return count < 0 ? -1 : 0;
}

void probe_print(FILE *out)
{
    err e;
    SCOPED(json_destroy) json *report = json_new_object();
    json *devices = json_new_array();
    if (list_devices(devices, &e) < 0)
        json_set_str(report, "reason", e.text);
    else
        json_set_null(report, "reason");
    json_set(report, "devices", &devices);
    SCOPED(scoped_free) char *text = json_dump(report);
    fprintf(out, "%s\n", text);
}
