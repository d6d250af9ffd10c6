/* settings - what a ce-node was started with
 *
 * Purpose:   one table parses, validates and prints the help (common/cli.h); read once in main, passed
 *            on as const.
 * Ownership: texts point into argv.
 * Threads:   constant after settings_parse.
 * Errors:    ERR_USAGE.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_SETTINGS_H
#define CE_AGENT_NODE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"

/* A task holds its device for 1.2 s (H200, baseline known) of the minute in which models answer: 51 keep it
 * busy when they come evenly, and as they come in waves it takes nearly twice as many. */
enum { SETTINGS_SLOTS = 96, SETTINGS_SLOTS_MAX = 1024 };

typedef struct settings {
    const char *coordinator; /* endpoint */
    const char *key;         /* key file; NULL: plain, inside this host */
    const char *device;      /* auto | cuda | emu | fake */
    const char *name;        /* NULL: host name and process id */
    int64_t slots;           /* tasks at once; 0: SETTINGS_SLOTS for each device */
    const char *python;      /* interpreter of the judge; NULL: search */
    const char *fake;        /* script of the fake device; NULL: its defaults */
    const char *spool;       /* folder of what is not acknowledged; NULL: memory only */
    const char *cache;       /* folder of the blob cache; NULL: memory only */
    const char *nvrtc;       /* library; NULL: search */
    const char *cupti;       /* library; NULL: search */
    const char *sanitizer;   /* compute-sanitizer; NULL: search where there is a GPU */
    int64_t compilers;       /* compiler children */
    bool local;              /* started by ce-coord: end with it */
    bool unsafe_compile;     /* compile without a sandbox */
    bool verbose;
} settings;

/* settings_parse: *help is set when help was printed instead. */
int settings_parse(int argc, char **argv, settings *out, bool *help, err *e);

#endif
