/* cuda_api - see cuda_api.h.
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/runner/timing/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct symbol_row {
    const char *name;
    size_t offset; /* of the pointer in cuda_api */
    bool required;
} symbol_row;

#define REQUIRED true
#define OPTIONAL false
static const symbol_row symbols[] = {
#define GPU_SYM(need, member, symbol, args) {#symbol, offsetof(cuda_api, member), need},
#include "agent-node/runner/gpu_syms.def"
#undef GPU_SYM
};

static bool bind(cuda_api *self, char *why, size_t size)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(self->library, symbols[i].name);
        if (address == NULL && symbols[i].required) {
            snprintf(why, size, "the NVIDIA driver is too old: libcuda.so.1 has no %s",
                     symbols[i].name);
            return false;
        }
        memcpy((char *)self + symbols[i].offset, &address, sizeof address);
    }
    return true;
}

bool cuda_api_open(cuda_api *self, char *why, size_t size)
{
    memset(self, 0, sizeof *self);
    /* NODELETE: once initialised the driver has threads of its own, which must keep their code. */
    self->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (self->library == NULL) {
        const char *reason = dlerror();
        snprintf(why, size, "no NVIDIA driver: %s",
                 reason != NULL ? reason : "libcuda.so.1 not found");
        return false;
    }
    if (bind(self, why, size))
        return true;
    cuda_api_close(self);
    return false;
}

void cuda_api_close(cuda_api *self)
{
    if (self->library != NULL)
        dlclose(self->library);
    memset(self, 0, sizeof *self);
}

void cuda_api_explain(const cuda_api *self, CUresult code, char *out, size_t size)
{
    const char *name = NULL;
    const char *text = NULL;
    if (self->error_name(code, &name) != CUDA_SUCCESS || name == NULL)
        name = "unknown CUDA error";
    if (self->error_string(code, &text) != CUDA_SUCCESS || text == NULL)
        text = "no description";
    snprintf(out, size, "%s (%d): %s", name, (int)code, text);
}
