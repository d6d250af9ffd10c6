/* doctor - see doctor.h.
 *
 * Each check fills `where` and, when something is to be done, `advice`; the table says its name and whether
 * a run can do without. Children get a deadline: a driver that hangs is a finding, too.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/file.h"
#include "common/json.h"
#include "common/python.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"
#include "suites/suite.h"

enum { ASK_MS = 120 * 1000, SAID_MAX = 256 * 1024, CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38 };

static const double disk_gib_wanted = 2.0;

/* What the checks share. */
typedef struct examination {
    const doctor_request *request;
    json *devices;  /* of ce-runner --probe; NULL: it did not answer, see devices_why */
    json *compiler; /* of ce-compiler --probe */
    json *profiler; /* of ce-runner --profiler */
    err devices_why, compiler_why, profiler_why;
} examination;

typedef bool check_fn(const examination *x, doctor_finding *out);

typedef struct check_row {
    const char *name;
    check_fn *run;
    bool required;
} check_row;

/* ---- asking ---- */

/* run_program gives what the program printed; argv[0] without a '/' is looked for on PATH. */
static char *run_program(const char *const *argv, err *e)
{
    SCOPED(python_env_free) char **env = python_env();
    subproc_options options = {.argv = argv, .env = (const char *const *)env};
    SCOPED(buf_fini) buf out;
    SCOPED(buf_fini) buf errors;
    int status = 0;
    buf_init(&out, SAID_MAX);
    buf_init(&errors, SAID_MAX);
    if (subproc_run(&options, ASK_MS, &out, &errors, &status, e))
        return NULL;
    if (status) {
        char how[64];
        subproc_status_text(status, how, sizeof how);
        err_set(e, ERR_UNAVAILABLE, "%s %s", argv[0], how);
        return NULL;
    }
    return buf_take(&out);
}

static json *ask(const char *const *argv, err *e)
{
    SCOPED(scoped_free) char *said = run_program(argv, e);
    return said ? json_parse_tree(said, strlen(said), argv[0], e) : NULL;
}

static json *ask_runner(const examination *x, const char *flag, err *e)
{
    SCOPED(scoped_free) char *path = file_join(x->request->programs, "ce-runner");
    const char *const argv[] = {path, flag, NULL};
    return ask(argv, e);
}

static bool missing(doctor_finding *out, const char *where, const char *advice)
{
    out->where = xstrdup(where);
    out->advice = xstrdup(advice);
    return false;
}

/* A compiler newer than the driver would make code that does not load: it is not looked for. */
static json *ask_compiler(const examination *x, err *e)
{
    const json *first = json_at(json_get(x->devices, "devices"), 0);
    char flag[64];
    int major = (int)(json_int(json_get(first, "driver"), 0) / 1000);
    snprintf(flag, sizeof flag, "--max-major=%d", major);
    SCOPED(scoped_free) char *path = file_join(x->request->programs, "ce-compiler");
    const char *const argv[] = {path, "--probe", flag, NULL};
    return ask(argv, e);
}

/* ---- checks, in the order of the table ---- */

static bool check_driver(const examination *x, doctor_finding *out)
{
    const json *devices = json_get(x->devices, "devices");
    size_t count = json_size(devices);
    if (!count)
        return missing(
            out,
            x->devices ? json_str(json_get(x->devices, "reason"), "no device")
                       : x->devices_why.text,
            "install NVIDIA's driver for a GPU; without one kernels run on the emulator: "
            "checked, not timed");
    SCOPED(buf_fini) buf text;
    buf_init(&text, SAID_MAX);
    for (size_t i = 0; i < count; i++) {
        const json *d = json_at(devices, i);
        int64_t driver = json_int(json_get(d, "driver"), 0);
        buf_printf(&text, "%s%s %s (%s, driver's CUDA %lld.%lld)", i ? ", " : "",
                   json_str(json_get(d, "device"), "?"), json_str(json_get(d, "name"), "?"),
                   json_str(json_get(d, "arch"), "?"), (long long)(driver / 1000),
                   (long long)(driver % 1000 / 10));
    }
    out->where = buf_take(&text);
    return true;
}

static bool check_nvrtc(const examination *x, doctor_finding *out)
{
    const char *version = json_str(json_get(x->compiler, "nvrtc"), NULL);
    const char *headers = json_str(json_get(x->compiler, "headers"), NULL);
    if (!version || !headers)
        return missing(
            out,
            x->compiler ? json_str(json_get(x->compiler, "reason"), "no headers")
                        : x->compiler_why.text,
            "install the CUDA toolkit (12 or 13), or let scripts/deps run take NVRTC from "
            "PyPI into /opt/ce-cuda");
    out->where = xasprintf("%s, %s; headers: %s", version,
                           json_str(json_get(x->compiler, "library"), "?"), headers);
    return true;
}

static bool check_sandbox(const examination *x, doctor_finding *out)
{
    const char *kind = json_str(json_get(x->compiler, "sandbox"), NULL);
    if (!kind)
        return missing(
            out, x->compiler ? "neither Landlock nor user namespaces" : x->compiler_why.text,
            "boot a kernel with Landlock (5.13 or later, lsm=…,landlock), or accept that "
            "a kernel's source may name any file: ce-node --unsafe-compile");
    out->where = xstrdup(kind);
    if (strcmp(kind, "landlock") != 0)
        out->advice = xstrdup("a kernel with Landlock (5.13 or later) needs no namespaces");
    return true;
}

static bool check_cupti(const examination *x, doctor_finding *out)
{
    const char *library = json_str(json_get(x->profiler, "library"), NULL);
    if (!library)
        return missing(out,
                       x->profiler ? json_str(json_get(x->profiler, "reason"), "not found")
                                   : x->profiler_why.text,
                       "install the toolkit's CUPTI, or let scripts/deps run take it from PyPI: "
                       "without it rows do not say what bounds a kernel");
    out->where = xasprintf(
        "%s%s", library, json_bool(json_get(x->profiler, "counters"), false) ? "" : "; spans only");
    return true;
}

/* has_capability reads CapEff: bits by their numbers, for libcap would be a dependency of one line. */
static bool has_capability(int bit)
{
    static const char label[] = "CapEff:";
    SCOPED(buf_fini) buf text;
    buf_init(&text, SAID_MAX);
    if (file_read("/proc/self/status", &text, NULL))
        return false;
    const char *at = strstr(buf_text(&text), label);
    return at && strtoull(at + strlen(label), NULL, 16) >> bit & 1;
}

static bool check_counters(const examination *x, doctor_finding *out)
{
    const char *path =
        x->request->driver_params ? x->request->driver_params : "/proc/driver/nvidia/params";
    SCOPED(buf_fini) buf text;
    err e = {0};
    buf_init(&text, SAID_MAX);
    if (file_read(path, &text, &e))
        return missing(out, e.text, "nothing, where there is no GPU");
    bool restricted = !strstr(buf_text(&text), "RmProfilingAdminOnly: 0");
    bool allowed = has_capability(CAP_SYS_ADMIN_BIT) || has_capability(CAP_PERFMON_BIT);
    if (restricted && !allowed)
        return missing(out, "the driver gives performance counters to the administrator only",
                       "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
                       "/etc/modprobe.d/ and reboot, or give ce-node CAP_PERFMON");
    out->where = xstrdup(restricted ? "by a capability of this user" : "for every user");
    return true;
}

static bool check_judge(const examination *x, doctor_finding *out)
{
    static const char *const script = "import torch; print(torch.__version__, torch.version.cuda)";
    err e = {0};
    SCOPED(scoped_free) char *python = python_find(x->request->python, &e);
    const char *const argv[] = {python, "-c", script, NULL};
    SCOPED(scoped_free) char *said = python ? run_program(argv, &e) : NULL;
    if (!said)
        return missing(out, e.text,
                       "install PyTorch for that python3 (apt: python3-torch, or pip), or name the "
                       "interpreter that has it: --python, CE_PYTHON");
    str line = str_trim(str_of(said));
    bool cpu = str_ends(said, "None\n");
    out->where = xasprintf("%s: PyTorch and its CUDA %.*s", python, (int)line.size, line.data);
    if (cpu && json_size(json_get(x->devices, "devices")))
        out->advice = xstrdup("this PyTorch has no CUDA: for the GPU install one that has");
    return true;
}

static bool check_suites(const examination *x, doctor_finding *out)
{
    err e = {0};
    SCOPED(scoped_free) char *folder = suite_root(x->request->suites, &e);
    SCOPED(scoped_free) char *file = folder ? file_join(folder, "internal/suite.yaml") : NULL;
    if (!file || !file_exists(file))
        return missing(
            out, folder ? folder : e.text,
            "unpack the whole archive, or name the folder that holds the suites: --suites");
    out->where = TAKE(folder);
    return true;
}

static bool check_gnuplot(const examination *x, doctor_finding *out)
{
    (void)x;
    static const char *const argv[] = {"gnuplot", "--version", NULL};
    err e = {0};
    SCOPED(scoped_free) char *said = run_program(argv, &e);
    if (!said)
        return missing(out, e.text, "apt-get install gnuplot-nox: without it boards have no plots");
    str line = str_trim(str_of(said));
    out->where = xstrndup(line.data, line.size);
    return true;
}

/* nearest_folder is the first parent that exists: the database's own may not be there yet. */
static char *nearest_folder(const char *path)
{
    char *folder = xstrdup(path);
    while (!file_exists(folder)) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) {
            free(folder);
            return xstrdup(slash ? "/" : ".");
        }
        *slash = '\0';
    }
    return folder;
}

static bool check_disk(const examination *x, doctor_finding *out)
{
    SCOPED(scoped_free) char *folder = nearest_folder(x->request->data);
    struct statvfs room;
    if (statvfs(folder, &room))
        return missing(out, folder, "name another database: --db");
    double gib = (double)room.f_bavail * (double)room.f_frsize / (1 << 30);
    if (gib < disk_gib_wanted || access(folder, W_OK)) {
        SCOPED(scoped_free)
        char *where = xasprintf("%s: %.1f GiB free%s", folder, gib,
                                access(folder, W_OK) ? ", not writable" : "");
        return missing(out, where, "make room (2 GiB), or name a database elsewhere: --db");
    }
    out->where = xasprintf("%s: %.1f GiB free", folder, gib);
    return true;
}

static bool check_clock(const examination *x, doctor_finding *out)
{
    (void)x;
    struct timex kernel = {0};
    if (adjtimex(&kernel) == TIME_ERROR || kernel.status & STA_UNSYNC)
        return missing(
            out, "the kernel says that nothing keeps it to time",
            "run a time service (systemd-timesyncd, chrony): dates and prices by date go "
            "by this clock. In a container the host's counts");
    out->where = xstrdup("kept to time");
    return true;
}

/* is_key: the name ends in _API_KEY and there is a value. */
static bool is_key(const char *entry)
{
    static const char suffix[] = "_API_KEY=";
    const char *at = strstr(entry, suffix);
    const char *equals = strchr(entry, '=');
    return at && equals == at + strlen(suffix) - 1 && equals[1];
}

static void list_file_keys(const char *folder, buf *names)
{
    static const char *const known[] = {"ANTHROPIC_API_KEY",  "OPENAI_API_KEY",   "GEMINI_API_KEY",
                                        "OPENROUTER_API_KEY", "TOGETHER_API_KEY", "GROQ_API_KEY",
                                        "CE_COMPAT_API_KEY"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        SCOPED(scoped_free) char *path = file_join(folder, known[i]);
        if (file_exists(path))
            buf_printf(names, "%s%s (file)", names->size ? ", " : "", known[i]);
    }
}

static bool check_keys(const examination *x, doctor_finding *out)
{
    static const char folder[] = "CE_CREDENTIALS=";
    SCOPED(buf_fini) buf names;
    buf_init(&names, SAID_MAX);
    for (const char *const *at = x->request->environment; at && *at; at++) {
        if (is_key(*at))
            buf_printf(&names, "%s%.*s", names.size ? ", " : "", (int)strcspn(*at, "="), *at);
        if (str_starts(*at, folder))
            list_file_keys(*at + strlen(folder), &names);
    }
    if (!names.size)
        return missing(out, "no variable or file ends in _API_KEY",
                       "export the provider's key (docs/privacy.md has the names); gold, mock and "
                       "replay need none");
    out->where = buf_take(&names);
    return true;
}

static const check_row checks[DOCTOR_CHECKS] = {
    {"driver", check_driver, false},     {"nvrtc", check_nvrtc, true},
    {"sandbox", check_sandbox, true},    {"cupti", check_cupti, false},
    {"counters", check_counters, false}, {"judge", check_judge, true},
    {"suites", check_suites, true},      {"gnuplot", check_gnuplot, false},
    {"disk", check_disk, true},          {"clock", check_clock, false},
    {"credentials", check_keys, false},
};

void doctor_examine(const doctor_request *request, doctor_report *out)
{
    examination x = {.request = request};
    x.devices = ask_runner(&x, "--probe", &x.devices_why);
    x.profiler = ask_runner(&x, "--profiler", &x.profiler_why);
    x.compiler = ask_compiler(&x, &x.compiler_why);
    for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
        doctor_finding *f = &out->findings[i];
        *f = (doctor_finding){.name = checks[i].name, .required = checks[i].required};
        f->found = checks[i].run(&x, f);
    }
    json_destroy(&x.devices);
    json_destroy(&x.profiler);
    json_destroy(&x.compiler);
}

void doctor_fini(doctor_report *self)
{
    for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
        scoped_free(&self->findings[i].where);
        scoped_free(&self->findings[i].advice);
    }
}

bool doctor_well(const doctor_report *self)
{
    for (size_t i = 0; i < DOCTOR_CHECKS; i++)
        if (self->findings[i].required && !self->findings[i].found)
            return false;
    return true;
}

json *doctor_json(const doctor_report *self)
{
    json *root = json_new_object();
    json *list = json_new_array();
    for (size_t i = 0; i < DOCTOR_CHECKS; i++) {
        const doctor_finding *f = &self->findings[i];
        json *row = json_new_object();
        json_set_str(row, "name", f->name);
        json_set_bool(row, "found", f->found);
        json_set_bool(row, "required", f->required);
        json_set_str(row, "where", f->where);
        json_set_str(row, "advice", f->advice);
        json_append(list, &row);
    }
    json_set_bool(root, "well", doctor_well(self));
    json_set(root, "checks", &list);
    return root;
}
