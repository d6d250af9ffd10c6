/* nvrtc - NVIDIA's run-time compiler, opened when needed
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/compiler/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/scoped.h"
#include "common/xalloc.h"

/* Every function used, by its name in the library. */
#define NVRTC_FUNCTIONS(X)    \
    X(nvrtcVersion)           \
    X(nvrtcGetErrorString)    \
    X(nvrtcCreateProgram)     \
    X(nvrtcDestroyProgram)    \
    X(nvrtcCompileProgram)    \
    X(nvrtcGetProgramLogSize) \
    X(nvrtcGetProgramLog)     \
    X(nvrtcGetPTXSize)        \
    X(nvrtcGetPTX)            \
    X(nvrtcGetCUBINSize)      \
    X(nvrtcGetCUBIN)

struct nvrtc {
    void *library;
    char path[PATH_MAX];
    char version[32];
#define FUNCTION_FIELD(name) __typeof__(name) *name;
    NVRTC_FUNCTIONS(FUNCTION_FIELD)
#undef FUNCTION_FIELD
};

typedef struct function_row {
    const char *name;
    size_t offset;
} function_row;

static const function_row functions[] = {
#define FUNCTION_ROW(name) {#name, offsetof(nvrtc, name)},
    NVRTC_FUNCTIONS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static const char *const usual_folders[] = {"", "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                                            "/opt/ce-cuda/lib"};

/* ---- finding ---- */

static bool bind(nvrtc *self)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(self->library, functions[i].name);
        if (symbol == NULL)
            return false;
        memcpy((char *)self + functions[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

static bool learn(nvrtc *self, const nvrtc_options *options)
{
    int major = 0;
    int minor = 0;
    if (!bind(self) || self->nvrtcVersion(&major, &minor) != NVRTC_SUCCESS ||
        major < NVRTC_MAJOR_MIN || major > NVRTC_MAJOR_MAX ||
        (options->max_major != 0 && major > options->max_major))
        return false;
    Dl_info info;
    __typeof__(nvrtcVersion) *function = self->nvrtcVersion;
    void *address = NULL;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &info) == 0 || realpath(info.dli_fname, self->path) == NULL)
        return false;
    snprintf(self->version, sizeof self->version, "%d.%d", major, minor);
    return true;
}

static bool try_file(nvrtc *self, const char *file, const nvrtc_options *options)
{
    self->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (self->library == NULL)
        return false;
    if (learn(self, options))
        return true;
    dlclose(self->library);
    self->library = NULL;
    return false;
}

static bool try_folder(nvrtc *self, const char *folder, const nvrtc_options *options)
{
    static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char file[PATH_MAX];
        int size =
            snprintf(file, sizeof file, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", names[i]);
        if (size > 0 && (size_t)size < sizeof file && try_file(self, file, options))
            return true;
    }
    return false;
}

static bool search(nvrtc *self, const nvrtc_options *options)
{
    for (size_t i = 0; i < sizeof usual_folders / sizeof usual_folders[0]; i++)
        if (try_folder(self, usual_folders[i], options))
            return true;
    for (size_t i = 0; i < options->folder_count; i++)
        if (try_folder(self, options->folders[i], options))
            return true;
    return false;
}

static int not_found(const nvrtc_options *options, err *e)
{
    char limit[64] = "";
    if (options->max_major != 0)
        snprintf(limit, sizeof limit, " (major at most %d, as the driver)", options->max_major);
    if (options->path != NULL) {
        const char *why = dlerror();
        return err_set(e, ERR_UNAVAILABLE, "%s cannot be used as NVRTC%s%s%s", options->path, limit,
                       why != NULL ? ": " : "", why != NULL ? why : "");
    }
    return err_set(e, ERR_UNAVAILABLE,
                   "no NVRTC 12 or 13 found%s: install the CUDA toolkit, or run scripts/deps, or "
                   "name the library with CE_NVRTC",
                   limit);
}

/* NVRTC opens its builtins by bare name, and a library of PyPI has no run path to find them beside
 * itself: opened here first, they are found by that name. Where this fails NVRTC searches on its own. */
static void open_builtins(const nvrtc *self)
{
    char file[PATH_MAX];
    int folder = (int)(strrchr(self->path, '/') - self->path);
    int size = snprintf(file, sizeof file, "%.*s/libnvrtc-builtins.so.%s", folder, self->path,
                        self->version);
    if (size > 0 && (size_t)size < sizeof file)
        (void)dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

nvrtc *nvrtc_open(const nvrtc_options *options, err *e)
{
    SCOPED(nvrtc_close) nvrtc *self = xcalloc(1, sizeof *self);
    bool found =
        options->path != NULL ? try_file(self, options->path, options) : search(self, options);
    if (!found) {
        not_found(options, e);
        return NULL;
    }
    open_builtins(self);
    return TAKE(self);
}

void nvrtc_close(nvrtc **self)
{
    free(*self);
    *self = NULL;
}

const char *nvrtc_path(const nvrtc *self)
{
    return self->path;
}

const char *nvrtc_version(const nvrtc *self)
{
    return self->version;
}

/* ---- compiling ---- */

void nvrtc_output_fini(nvrtc_output *self)
{
    free(self->log);
    free(self->ptx);
    free(self->cubin);
    *self = (nvrtc_output){0};
}

static int failed(const nvrtc *self, nvrtcResult result, const char *what, err *e)
{
    return err_native(e, ERR_INTERNAL, ERR_DOMAIN_NVRTC, (int64_t)result, "NVRTC %s: %s: %s",
                      self->version, what, self->nvrtcGetErrorString(result));
}

static int fetch_log(const nvrtc *self, nvrtcProgram program, size_t max, nvrtc_output *out, err *e)
{
    size_t size = 0;
    nvrtcResult rc = self->nvrtcGetProgramLogSize(program, &size);
    if (rc != NVRTC_SUCCESS)
        return failed(self, rc, "log size", e);
    out->log = xcalloc(1, size + 1);
    rc = self->nvrtcGetProgramLog(program, out->log);
    if (rc != NVRTC_SUCCESS)
        return failed(self, rc, "log", e);
    size_t length = strlen(out->log);
    while (length > 0 && strchr(" \n", out->log[length - 1]) != NULL)
        out->log[--length] = '\0';
    out->log_cut = length > max;
    if (out->log_cut)
        out->log[max] = '\0';
    return 0;
}

static void fetch_ptx(const nvrtc *self, nvrtcProgram program, nvrtc_output *out)
{
    size_t size = 0;
    if (self->nvrtcGetPTXSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return;
    char *ptx = xcalloc(1, size + 1);
    if (self->nvrtcGetPTX(program, ptx) != NVRTC_SUCCESS) {
        free(ptx);
        return;
    }
    out->ptx = ptx;
    out->ptx_size = strlen(ptx);
}

static void fetch_cubin(const nvrtc *self, nvrtcProgram program, nvrtc_output *out)
{
    size_t size = 0;
    if (self->nvrtcGetCUBINSize(program, &size) != NVRTC_SUCCESS || size == 0)
        return;
    uint8_t *cubin = xcalloc(1, size);
    if (self->nvrtcGetCUBIN(program, (char *)cubin) != NVRTC_SUCCESS) {
        free(cubin);
        return;
    }
    out->cubin = cubin;
    out->cubin_size = size;
}

/* state_of tells the source's faults from the library's. */
static int state_of(const nvrtc *self, nvrtcResult result, nvrtc_state *out, err *e)
{
    if (result == NVRTC_SUCCESS)
        *out = NVRTC_DONE;
    else if (result == NVRTC_ERROR_COMPILATION)
        *out = NVRTC_REFUSED;
    else if (result == NVRTC_ERROR_OUT_OF_MEMORY || result == NVRTC_ERROR_INTERNAL_ERROR)
        *out = NVRTC_EXHAUSTED;
    else if (result == NVRTC_ERROR_INVALID_OPTION)
        return err_native(e, ERR_UNAVAILABLE, ERR_DOMAIN_NVRTC, (int64_t)result,
                          "NVRTC %s does not know this target", self->version);
    else
        return failed(self, result, "compile", e);
    return 0;
}

static int run(const nvrtc *self, nvrtcProgram program, const nvrtc_job *job, nvrtc_output *out,
               err *e)
{
    int64_t from = clock_mono_us();
    nvrtcResult rc = self->nvrtcCompileProgram(program, (int)job->option_count, job->options);
    out->micros = clock_mono_us() - from;
    return state_of(self, rc, &out->state, e);
}

int nvrtc_compile(nvrtc *self, const nvrtc_job *job, nvrtc_output *out, err *e)
{
    *out = (nvrtc_output){0};
    nvrtcProgram program = NULL;
    nvrtcResult rc =
        self->nvrtcCreateProgram(&program, job->source, "kernel.cu", (int)job->header_count,
                                 job->header_texts, job->header_names);
    if (rc != NVRTC_SUCCESS)
        return failed(self, rc, "create", e);
    int result = run(self, program, job, out, e);
    if (result == 0)
        result = fetch_log(self, program, job->log_max, out, e);
    if (result == 0 && out->state != NVRTC_EXHAUSTED) {
        fetch_ptx(self, program, out);
        fetch_cubin(self, program, out);
    }
    self->nvrtcDestroyProgram(&program);
    if (result != 0)
        nvrtc_output_fini(out);
    return result;
}
