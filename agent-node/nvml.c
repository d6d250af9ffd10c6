/* nvml - see nvml.h.
 *
 * Whether a process is ours is asked of /proc: runner and judge are children of this process.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/nvml.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum {
    PROCESSES_MAX = 64,
    STAT_MAX = 4096,
    PATH_SIZE = 64,
    ANCESTORS_MAX = 64,
    CLOCK_SM = 1,
    CLOCK_MEMORY = 2
};

typedef struct device_handle *device_handle;

/* nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v3. */
typedef struct process_row {
    unsigned int pid;
    unsigned long long memory;
    unsigned int gpu_instance, compute_instance;
} process_row;

typedef int text_fn(device_handle, char *, unsigned int);
typedef int value_fn(device_handle, unsigned int *);
typedef int kind_fn(device_handle, unsigned int, unsigned int *);
typedef int pair_fn(device_handle, unsigned int *, unsigned int *);
typedef int bits_fn(device_handle, unsigned long long *);
typedef int list_fn(device_handle, unsigned int *, process_row *);

struct nvml {
    void *library;
    device_handle device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_uuid)(const char *, device_handle *);
    int (*driver)(char *, unsigned int);
    text_fn *vbios;
    value_fn *persistence, *display, *power, *power_limit;
    pair_fn *ecc, *mig;
    kind_fn *clock, *max_clock, *default_clock, *temperature;
    bits_fn *reasons;
    list_fn *processes, *mps_clients;
};

typedef struct symbol_row {
    const char *name;
    size_t offset;
    bool required;
} symbol_row;

static const symbol_row symbols[] = {
    {"nvmlInit_v2", offsetof(nvml, init), true},
    {"nvmlShutdown", offsetof(nvml, shutdown), true},
    {"nvmlDeviceGetHandleByUUID", offsetof(nvml, by_uuid), true},
    {"nvmlSystemGetDriverVersion", offsetof(nvml, driver), false},
    {"nvmlDeviceGetVbiosVersion", offsetof(nvml, vbios), false},
    {"nvmlDeviceGetPersistenceMode", offsetof(nvml, persistence), false},
    {"nvmlDeviceGetDisplayActive", offsetof(nvml, display), false},
    {"nvmlDeviceGetPowerUsage", offsetof(nvml, power), false},
    {"nvmlDeviceGetEnforcedPowerLimit", offsetof(nvml, power_limit), false},
    {"nvmlDeviceGetEccMode", offsetof(nvml, ecc), false},
    {"nvmlDeviceGetMigMode", offsetof(nvml, mig), false},
    {"nvmlDeviceGetClockInfo", offsetof(nvml, clock), true},
    {"nvmlDeviceGetMaxClockInfo", offsetof(nvml, max_clock), false},
    {"nvmlDeviceGetDefaultApplicationsClock", offsetof(nvml, default_clock), false},
    {"nvmlDeviceGetTemperature", offsetof(nvml, temperature), false},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(nvml, reasons), true},
    {"nvmlDeviceGetComputeRunningProcesses_v3", offsetof(nvml, processes), false},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v3", offsetof(nvml, mps_clients), false},
};

static int bind(nvml *self, err *e)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(self->library, symbols[i].name);
        if (address == NULL && symbols[i].required)
            return err_set(e, ERR_UNAVAILABLE, "libnvidia-ml.so.1 has no %s", symbols[i].name);
        memcpy((char *)self + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

static int find(nvml *self, const char *uuid, err *e)
{
    int code = self->init();
    if (code != 0)
        return err_set(e, ERR_UNAVAILABLE, "NVML does not start (%d)", code);
    code = self->by_uuid(uuid, &self->device);
    if (code == 0)
        return 0;
    self->shutdown();
    return err_set(e, ERR_UNAVAILABLE, "NVML does not know the card %s (%d)", uuid, code);
}

nvml *nvml_open(const char *uuid, err *e)
{
    nvml *self = xcalloc(1, sizeof *self);
    /* NODELETE: the library may have threads of its own. */
    self->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (self->library == NULL)
        err_set(e, ERR_UNAVAILABLE, "NVML: libnvidia-ml.so.1 is not there");
    else if (bind(self, e) == 0 && find(self, uuid, e) == 0)
        return self;
    self->shutdown = NULL; /* not started */
    nvml_close(&self);
    return NULL;
}

void nvml_close(nvml **self)
{
    nvml *n = TAKE(*self);
    if (n == NULL)
        return;
    if (n->shutdown != NULL)
        n->shutdown();
    if (n->library != NULL)
        dlclose(n->library);
    free(n);
}

/* ---- values: -1 when the function is absent or says no ---- */

static int64_t value_of(const nvml *n, value_fn *ask)
{
    unsigned int value = 0;
    return ask != NULL && ask(n->device, &value) == 0 ? (int64_t)value : -1;
}

static int64_t kind_of(const nvml *n, kind_fn *ask, unsigned int kind)
{
    unsigned int value = 0;
    return ask != NULL && ask(n->device, kind, &value) == 0 ? (int64_t)value : -1;
}

static int64_t current_of(const nvml *n, pair_fn *ask)
{
    unsigned int current = 0;
    unsigned int pending = 0;
    return ask != NULL && ask(n->device, &current, &pending) == 0 ? (int64_t)current : -1;
}

/* Is this the name of a process of MPS? The kernel cuts names at 15 bytes. */
static bool is_mps(const char *pid)
{
    char path[PATH_SIZE];
    SCOPED(buf_fini) buf text;
    buf_init(&text, STAT_MAX);
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    return file_read(path, &text, NULL) == 0 &&
           strncmp(buf_text(&text), "nvidia-cuda-mps", 15) == 0;
}

static bool daemon_runs(void)
{
    DIR *all = opendir("/proc");
    bool found = false;
    for (const struct dirent *one; all != NULL && !found && (one = readdir(all)) != NULL;)
        found = one->d_name[0] >= '1' && one->d_name[0] <= '9' && is_mps(one->d_name);
    if (all != NULL)
        closedir(all);
    return found;
}

/* Its clients are told by NVML; its daemon is a process, unless it is in another container. */
static int64_t find_mps(const nvml *n)
{
    process_row rows[PROCESSES_MAX];
    unsigned int count = PROCESSES_MAX;
    bool told = n->mps_clients != NULL && n->mps_clients(n->device, &count, rows) == 0;
    if ((told && count > 0) || daemon_runs())
        return 1;
    return told ? 0 : -1;
}

void nvml_get_facts(const nvml *self, nvml_facts *out)
{
    *out = (nvml_facts){.ecc = current_of(self, self->ecc),
                        .mig = current_of(self, self->mig),
                        .mps = find_mps(self),
                        .persistence = value_of(self, self->persistence),
                        .display = value_of(self, self->display),
                        .power_limit_mw = value_of(self, self->power_limit),
                        .sm_default_mhz = kind_of(self, self->default_clock, CLOCK_SM),
                        .sm_max_mhz = kind_of(self, self->max_clock, CLOCK_SM),
                        .memory_max_mhz = kind_of(self, self->max_clock, CLOCK_MEMORY)};
    if (out->sm_default_mhz <= 0)
        out->sm_default_mhz = out->sm_max_mhz;
    if (self->driver != NULL)
        self->driver(out->driver, sizeof out->driver);
    if (self->vbios != NULL)
        self->vbios(self->device, out->vbios, sizeof out->vbios);
}

/* ---- whose processes ---- */

static int64_t parent_of(int64_t pid)
{
    char path[64];
    SCOPED(buf_fini) buf text;
    buf_init(&text, STAT_MAX);
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (file_read(path, &text, NULL) != 0)
        return 0;
    const char *after = strrchr(buf_text(&text), ')'); /* a name may hold anything */
    long long parent = 0;
    return after != NULL && sscanf(after + 1, " %*c %lld", &parent) == 1 ? parent : 0;
}

static bool is_ours(int64_t pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        if (pid == getpid())
            return true;
        pid = parent_of(pid);
    }
    return false;
}

static int64_t count_foreign(const nvml *n)
{
    process_row rows[PROCESSES_MAX];
    unsigned int count = PROCESSES_MAX;
    if (n->processes == NULL || n->processes(n->device, &count, rows) != 0)
        return -1;
    int64_t ours = 0;
    for (unsigned int i = 0; i < count; i++)
        ours += is_ours(rows[i].pid);
    return ours > 0 ? (int64_t)count - ours : -1;
}

void nvml_read(const nvml *self, nvml_reading *out)
{
    unsigned long long reasons = 0;
    *out = (nvml_reading){.sm_mhz = kind_of(self, self->clock, CLOCK_SM),
                          .memory_mhz = kind_of(self, self->clock, CLOCK_MEMORY),
                          .power_mw = value_of(self, self->power),
                          .celsius = kind_of(self, self->temperature, 0),
                          .reasons = -1,
                          .foreign = count_foreign(self)};
    if (self->reasons(self->device, &reasons) == 0)
        out->reasons = (int64_t)reasons;
}
