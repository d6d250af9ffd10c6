/* nvrtc - NVIDIA's run-time compiler, opened when needed
 *
 * Purpose:   finds and opens libnvrtc (major 13 or 12), compiles one source to PTX and machine code.
 *            The only file that includes <nvrtc.h>.
 * Ownership: nvrtc_close frees the handle; the library stays loaded (it does not survive unloading).
 * Threads:   one owner.
 * Errors:    nvrtc_open: ERR_UNAVAILABLE with what to install. nvrtc_compile: an err means that the
 *            library itself failed; a source that does not compile is a result.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COMPILER_NVRTC_H
#define CE_COMPILER_NVRTC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum { NVRTC_MAJOR_MIN = 12, NVRTC_MAJOR_MAX = 13 };

typedef struct nvrtc nvrtc;

typedef struct nvrtc_options {
    const char *path;           /* a library file; NULL: search */
    const char *const *folders; /* tried after the usual ones (PyTorch's nvidia/cu13/lib, …) */
    size_t folder_count;
    int max_major; /* the driver's CUDA major: nothing newer is opened; 0: no limit */
} nvrtc_options;

/* nvrtc_open searches: options->path alone when given; else the loader's own path, /usr/local/cuda/lib64
 * and lib, /opt/ce-cuda/lib, then the folders; in each libnvrtc.so.13, .so.12, .so. */
nvrtc *nvrtc_open(const nvrtc_options *options, err *e);
void nvrtc_close(nvrtc **self);

const char *nvrtc_path(const nvrtc *self);    /* of the opened file, links resolved */
const char *nvrtc_version(const nvrtc *self); /* "13.0" */

typedef enum nvrtc_state {
    NVRTC_DONE,     /* ptx, and cubin unless the target is compute_NN */
    NVRTC_REFUSED,  /* the source does not compile; ptx may still be there (assembler error) */
    NVRTC_EXHAUSTED /* memory ran out, or the compiler broke down over this source */
} nvrtc_state;

typedef struct nvrtc_output {
    nvrtc_state state;
    char *log; /* terminated; at most log_max bytes, log_cut says that there was more */
    bool log_cut;
    char *ptx;
    size_t ptx_size; /* without a final NUL */
    uint8_t *cubin;
    size_t cubin_size;
    int64_t micros; /* in the compiler */
} nvrtc_output;

void nvrtc_output_fini(nvrtc_output *self);

typedef struct nvrtc_job {
    const char *source; /* called "kernel.cu" in messages and line information */
    const char *const *options;
    size_t option_count;
    const char *const *header_names; /* headers given as text: they need no file */
    const char *const *header_texts;
    size_t header_count;
    size_t log_max;
} nvrtc_job;

int nvrtc_compile(nvrtc *self, const nvrtc_job *job, nvrtc_output *out, err *e);

#endif
