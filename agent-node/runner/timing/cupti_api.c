/* cupti_api - see cupti_api.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/cupti_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct symbol_row {
    const char *name;
    size_t offset; /* of the pointer in cupti_api */
    bool required;
} symbol_row;

#define REQUIRED true
#define OPTIONAL false
static const symbol_row symbols[] = {
#define CUPTI_SYM(need, name) {#name, offsetof(cupti_api, name), need},
#include "agent-node/runner/timing/cupti_syms.def"
#undef CUPTI_SYM
};

static const char *const folders[] = {
    "", /* loaded already, or on the loader's path */
    "/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/",
    "/usr/local/cuda/targets/x86_64-linux/lib/", "/opt/ce-cuda/lib/"};

static bool bind(cupti_api *self, char *why, size_t size)
{
    self->has_counters = true;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(self->handle, symbols[i].name);
        if (address == NULL && symbols[i].required) {
            snprintf(why, size, "%.300s has no %s", self->library, symbols[i].name);
            return false;
        }
        self->has_counters &= address != NULL;
        memcpy((char *)self + symbols[i].offset, &address, sizeof address);
    }
    return true;
}

/* name_file replaces the name that was asked for by the file that was found. */
static void name_file(cupti_api *self)
{
    Dl_info info;
    void *address = NULL;
    memcpy(&address, &self->cuptiGetVersion, sizeof address);
    if (dladdr(address, &info) != 0 && info.dli_fname != NULL)
        snprintf(self->library, sizeof self->library, "%s", info.dli_fname);
}

/* try_file leaves in `why` what the loader said. */
static bool try_file(cupti_api *self, const char *file, char *why, size_t size)
{
    memset(self, 0, sizeof *self);
    snprintf(self->library, sizeof self->library, "%s", file);
    self->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (self->handle == NULL) {
        const char *reason = dlerror();
        snprintf(why, size, "%s", reason != NULL ? reason : file);
    } else if (bind(self, why, size)) {
        name_file(self);
        return true;
    }
    if (self->handle != NULL)
        dlclose(self->handle);
    memset(self, 0, sizeof *self);
    return false;
}

static bool search(cupti_api *self, int major, char *why, size_t size)
{
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char file[CUPTI_API_PATH_MAX];
        snprintf(file, sizeof file, "%slibcupti.so.%d", folders[i], major);
        if (try_file(self, file, why, size))
            return true;
    }
    return false;
}

bool cupti_api_open(cupti_api *self, const char *library, int driver, char *why, size_t size)
{
    enum { OLDEST = 12, NEWEST = 13 };
    if (library != NULL)
        return try_file(self, library, why, size);
    int major = driver / 1000 < NEWEST ? driver / 1000 : NEWEST;
    for (; major >= OLDEST; major--)
        if (search(self, major, why, size))
            return true;
    snprintf(why, size,
             "no libcupti.so.%d or older: install the toolkit's CUPTI, or name the library by "
             "--cupti",
             driver / 1000);
    return false;
}

bool cupti_api_ok(const cupti_api *self, CUptiResult code, const char *function, char *why,
                  size_t size)
{
    const char *text = NULL;
    if (code == CUPTI_SUCCESS)
        return true;
    if (self->cuptiGetResultString(code, &text) != CUPTI_SUCCESS || text == NULL)
        text = "unknown CUPTI error";
    snprintf(why, size, "%s: %s (%d)", function, text, (int)code);
    return false;
}
