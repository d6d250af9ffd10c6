/* mock_nvml - libnvidia-ml.so.1 with one card, GPU-mock, on which this process and a stranger compute
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOCK_API __attribute__((visibility("default")))

enum { NOT_FOUND = 6, NOT_SUPPORTED = 3 };

typedef struct process_row {
    unsigned int pid;
    unsigned long long memory;
    unsigned int gpu_instance, compute_instance;
} process_row;

static int card;

MOCK_API int nvmlInit_v2(void);
MOCK_API int nvmlShutdown(void);
MOCK_API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
MOCK_API int nvmlSystemGetDriverVersion(char *text, unsigned int size);
MOCK_API int nvmlDeviceGetClockInfo(void *device, unsigned int kind, unsigned int *mhz);
MOCK_API int nvmlDeviceGetMaxClockInfo(void *device, unsigned int kind, unsigned int *mhz);
MOCK_API int nvmlDeviceGetDefaultApplicationsClock(void *device, unsigned int kind,
                                                   unsigned int *mhz);
MOCK_API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);
MOCK_API int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending);
MOCK_API int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
                                                     process_row *rows);
MOCK_API int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned int *count,
                                                        process_row *rows);

MOCK_API int nvmlInit_v2(void)
{
    return 0;
}

MOCK_API int nvmlShutdown(void)
{
    return 0;
}

MOCK_API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    *device = &card;
    return strcmp(uuid, "GPU-mock") == 0 ? 0 : NOT_FOUND;
}

MOCK_API int nvmlSystemGetDriverVersion(char *text, unsigned int size)
{
    snprintf(text, size, "580.0");
    return 0;
}

MOCK_API int nvmlDeviceGetClockInfo(void *device, unsigned int kind, unsigned int *mhz)
{
    (void)device;
    *mhz = kind == 1 ? 1755 : 2619;
    return 0;
}

MOCK_API int nvmlDeviceGetMaxClockInfo(void *device, unsigned int kind, unsigned int *mhz)
{
    (void)device;
    *mhz = kind == 1 ? 1980 : 3201;
    return 0;
}

MOCK_API int nvmlDeviceGetDefaultApplicationsClock(void *device, unsigned int kind,
                                                   unsigned int *mhz)
{
    (void)device;
    (void)kind;
    (void)mhz;
    return NOT_SUPPORTED;
}

MOCK_API int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
    (void)device;
    *bits = 0x4;
    return 0;
}

MOCK_API int nvmlDeviceGetMigMode(void *device, unsigned int *current, unsigned int *pending)
{
    (void)device;
    *current = 0;
    *pending = 1;
    return 0;
}

MOCK_API int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *count,
                                                     process_row *rows)
{
    (void)device;
    rows[0] = (process_row){.pid = (unsigned int)getpid()};
    rows[1] = (process_row){.pid = 1};
    *count = 2;
    return 0;
}

MOCK_API int nvmlDeviceGetMPSComputeRunningProcesses_v3(void *device, unsigned int *count,
                                                        process_row *rows)
{
    (void)device;
    (void)rows;
    *count = 0;
    return 0;
}
