/* slurm - the batch script that starts pilot nodes in an allocation
 *
 * Purpose:   one ce-node a host, started by srun; the walltime's warning (SIGTERM to every step, minutes
 *            before the end) drains them, so that their tasks go back and a later allocation takes them.
 * Ownership: slurm_script gives fresh text.
 * Threads:   any.
 * Errors:    ERR_USAGE for a text that would not be one word of the script.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_SLURM_H
#define CE_COORDINATOR_SLURM_H

#include <stdint.h>

#include "common/err.h"

typedef struct slurm_request {
    const char *coordinator; /* URI that the hosts reach */
    const char *key;         /* the nodes' key file, on a shared file system */
    const char *key_name;    /* nodes are named key_name.HOST-JOB; NULL: HOST-JOB */
    const char *binary;      /* ce-node, on every host */
    const char *partition;   /* NULL: the default one */
    const char *device;      /* of ce-node; NULL: its default */
    int64_t hosts, gpus;     /* gpus a host; 0: none is asked for */
    int64_t minutes;         /* walltime */
    int64_t warning_s;       /* draining begins so long before its end */
    int64_t slots;           /* of ce-node; 0: its default */
} slurm_request;

/* slurm_script is the whole script; caller frees. */
char *slurm_script(const slurm_request *request, err *e);

#endif
