/* mock_rig - see mock_rig.h.
 *
 * SPDX-License-Identifier: MIT */
#include "mock_rig.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/xalloc.h"

static const char folder[] = CE_BINARY_DIR "/tests/mock_cuda";

void mock_rig_enter(char **argv)
{
    const char *path = getenv("LD_LIBRARY_PATH");
    if (path != NULL && strcmp(path, folder) == 0)
        return;
    setenv("LD_LIBRARY_PATH", folder, 1);
    execv("/proc/self/exe", argv);
    perror("mock_rig: exec");
    exit(1);
}

static void *need(void *library, const char *name)
{
    void *address = library != NULL ? dlsym(library, name) : NULL;
    if (address != NULL)
        return address;
    fprintf(stderr, "mock_rig: %s: %s\n", name, dlerror());
    exit(1);
}

mock_hooks mock_rig_hooks(void)
{
    mock_hooks h = {.library = dlopen("libcuda.so.1", RTLD_NOW)};
    void *trace = need(h.library, "mock_cuda_trace");
    void *clear = need(h.library, "mock_cuda_trace_clear");
    void *refuse = need(h.library, "mock_cuda_refuse");
    void *room = need(h.library, "mock_cuda_queue_room");
    memcpy(&h.trace, &trace, sizeof trace);
    memcpy(&h.trace_clear, &clear, sizeof clear);
    memcpy(&h.refuse, &refuse, sizeof refuse);
    memcpy(&h.queue_room, &room, sizeof room);
    return h;
}

const char mock_rig_contract[] =
    "{\"problem\":\"add\",\"dims\":[{\"name\":\"n\",\"min\":0,\"max\":1048576}],"
    "\"inputs\":[{\"name\":\"a\",\"dtype\":\"f32\",\"shape\":[\"n\"]},"
    "{\"name\":\"b\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"scalars\":[],"
    "\"outputs\":[{\"name\":\"y\",\"dtype\":\"f32\",\"shape\":[\"n\"]}],\"reduction\":\"1\","
    "\"values\":[\"normal\"],\"order_free\":false,\"shapes\":[{\"n\":1}],"
    "\"benchmark\":{\"n\":1048576}}";

contract *mock_rig_terms(void)
{
    err e = {0};
    contract *c = contract_parse(mock_rig_contract, strlen(mock_rig_contract), "contract", &e);
    if (c == NULL)
        fprintf(stderr, "mock_rig: %s\n", e.text);
    return c;
}

char *mock_rig_plan(const char *entry)
{
    return xasprintf(
        "{\"kernels\":[{\"entry\":\"%s\",\"grid\":[\"ceil_div(n, 256)\"],\"block\":[256],"
        "\"args\":[\"a\",\"b\",\"y\",{\"i32\":\"n\"}]}]}",
        entry);
}
