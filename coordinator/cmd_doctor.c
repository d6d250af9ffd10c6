/* cmd_doctor - ce-coord doctor: what this host has of what a run needs
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "common/file.h"
#include "common/json.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/doctor.h"

typedef struct options {
    const char *db, *suites, *python;
    bool json;
} options;

static const cli_option table[] = {
    {.name = "json",
     .type = CLI_FLAG,
     .offset = offsetof(options, json),
     .help = "print an object with `well` and `checks`"},
    {.name = "python",
     .type = CLI_STR,
     .offset = offsetof(options, python),
     .value = "FILE",
     .help = "interpreter of the judge (default $CE_PYTHON, else the first that imports torch)"},
    CMD_OPTION_SUITES(options),
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "doctor",
    .summary = "say what this host has of what a run needs, and what to do about the rest",
    .arguments = "",
    .examples = "ce-coord doctor\nce-coord doctor --json\n",
    .options = table};

static void print_text(const doctor_report *r)
{
    for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
        const doctor_finding *f = &r->findings[i];
        printf("%-12s %-8s %s\n", f->name, f->found ? "found" : "missing", f->where);
        if (f->advice)
            printf("%-12s %-8s %s\n", "",
                   f->required && !f->found ? "needed:" : "to do:", f->advice);
    }
    puts(doctor_well(r) ? "A run can start here."
                        : "No run can start here until what is needed is there.");
}

static int run_doctor(const cmd_call *call, err *e)
{
    const options *o = call->options;
    doctor_report report SCOPED(doctor_fini) = {0};
    SCOPED(scoped_free) char *here = file_self_dir(e);
    if (!here)
        return -1;
    SCOPED(scoped_free) char *data = xstrdup(call->db);
    char *slash = strrchr(data, '/');
    if (slash)
        *slash = '\0';
    const doctor_request request = {.programs = here,
                                    .data = slash ? data : ".",
                                    .suites = o->suites,
                                    .python = o->python,
                                    .environment = call->program->environment};
    doctor_examine(&request, &report);
    if (o->json) {
        SCOPED(json_destroy) json *document = doctor_json(&report);
        cmd_print_json(document);
    } else {
        print_text(&report);
    }
    return doctor_well(&report) ? CMD_EXIT_COMPLETE : CMD_EXIT_NO;
}

const cmd_entry cmd_doctor = {.cli = &command,
                              .options_size = sizeof(options),
                              .db_offset = offsetof(options, db),
                              .flags = CMD_DB,
                              .run = run_doctor};
