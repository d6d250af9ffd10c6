/* python - which interpreter runs the judge, and what it gets to see
 *
 * SPDX-License-Identifier: MIT */
#include "common/python.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { PROBE_MS = 120 * 1000, PROBE_TEXT_MAX = 64 * 1024, REASON_MAX = 120 };

/* Names that end in '*' are prefixes. */
static const char *const visible[] = {
    "PATH",       "HOME",    "USER",        "LOGNAME",         "LANG",         "LC_*",
    "TMPDIR",     "CC",      "CXX",         "LD_LIBRARY_PATH", "OMP_*",        "MKL_*",
    "PYTHONPATH", "PYENV_*", "VIRTUAL_ENV", "CONDA_*",         "CUDA_*",       "NVIDIA_*",
    "TRITON_*",   "TORCH_*", "NCCL_*",      "XDG_CACHE_HOME",  "ASAN_OPTIONS", NULL};

static bool is_visible(const char *entry)
{
    const char *end = strchr(entry, '=');
    if (end == NULL)
        return false;
    size_t size = (size_t)(end - entry);
    for (size_t i = 0; visible[i] != NULL; i++) {
        size_t length = strlen(visible[i]);
        bool prefix = visible[i][length - 1] == '*';
        if (prefix ? size >= length - 1 && strncmp(entry, visible[i], length - 1) == 0
                   : size == length && strncmp(entry, visible[i], length) == 0)
            return true;
    }
    return false;
}

char **python_env(void)
{
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    char **env = xcalloc(count + 2, sizeof *env);
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (is_visible(environ[i]))
            env[used++] = xstrdup(environ[i]);
    env[used] = xstrdup("PYTHONDONTWRITEBYTECODE=1");
    return env;
}

void python_env_free(char ***env)
{
    char **list = TAKE(*env);
    for (size_t i = 0; list != NULL && list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

/* last_line copies the last line of a traceback: the reason. */
static void last_line(const buf *text, char *out, size_t size)
{
    str rest = {text->data, text->size}, line, last = str_of("no output");
    while (text->size > 0 && str_line(&rest, &line))
        if (str_trim(line).size > 0)
            last = str_trim(line);
    size_t n = last.size < size - 1 ? last.size : size - 1;
    memcpy(out, last.data, n);
    out[n] = '\0';
}

/* imports_torch runs the interpreter once; on failure reason says why. */
static bool imports_torch(const char *python, char reason[REASON_MAX])
{
    SCOPED(python_env_free) char **env = python_env();
    const char *const argv[] = {python, "-c", "import torch", NULL};
    subproc_options options = {.argv = argv, .env = (const char *const *)env};
    SCOPED(buf_fini) buf out, errors;
    buf_init(&out, PROBE_TEXT_MAX);
    buf_init(&errors, PROBE_TEXT_MAX);
    int status = 0;
    err e = {0};
    if (subproc_run(&options, PROBE_MS, &out, &errors, &status, &e) < 0) {
        memcpy(reason, e.text, REASON_MAX - 1);
        reason[REASON_MAX - 1] = '\0';
        return false;
    }
    if (status == 0)
        return true;
    last_line(&errors, reason, REASON_MAX);
    return false;
}

/* try_one: fresh path when `python` imports torch; else its reason is appended to tried. */
static char *try_one(const char *python, buf *tried)
{
    char reason[REASON_MAX];
    if (access(python, X_OK) == 0 && imports_torch(python, reason))
        return xstrdup(python);
    if (access(python, X_OK) == 0)
        buf_printf(tried, "%s%s: %s", tried->size > 0 ? "; " : "", python, reason);
    return NULL;
}

static char *search(buf *tried)
{
    const char *path = getenv("PATH");
    str rest = str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
    for (str folder; str_split(&rest, ':', &folder);) {
        if (folder.size == 0)
            continue;
        SCOPED(scoped_free)
        char *python = xasprintf("%.*s/python3", (int)folder.size, folder.data);
        char *found = try_one(python, tried);
        if (found != NULL)
            return found;
    }
    return try_one("/usr/bin/python3", tried);
}

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static char *remembered;

char *python_find(const char *given, err *e)
{
    SCOPED(buf_fini) buf tried;
    buf_init(&tried, PROBE_TEXT_MAX);
    const char *set = getenv("CE_PYTHON");
    if (given == NULL && set != NULL && *set != '\0')
        given = set;
    if (given != NULL) {
        char *found = try_one(given, &tried);
        if (found == NULL)
            err_set(e, ERR_UNAVAILABLE, "judge: %s cannot import torch: %s", given,
                    tried.size > 0 ? buf_text(&tried) : "it is no program");
        return found;
    }
    pthread_mutex_lock(&memory_lock);
    if (remembered == NULL)
        remembered = search(&tried);
    char *found = remembered != NULL ? xstrdup(remembered) : NULL;
    pthread_mutex_unlock(&memory_lock);
    if (found == NULL)
        err_set(e, ERR_UNAVAILABLE, "judge: no python3 imports torch (say --python): %s",
                tried.size > 0 ? buf_text(&tried) : "there is no python3 on PATH");
    return found;
}
