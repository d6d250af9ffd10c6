/* hook - a command of the user's, called when something happened
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/scoped.h"
#include "common/str.h"
#include "common/subproc.h"
#include "common/xalloc.h"

enum { OWN_VARIABLES = 2, FACTS_MAX = OWN_VARIABLES + HOOK_MORE_MAX, STATUS_TEXT = 64 };

/* A key pays for models: no notification needs it. */
static bool is_secret(const char *variable)
{
    const char *equals = strchr(variable, '=');
    SCOPED(scoped_free)
    char *name = equals ? xstrndup(variable, (size_t)(equals - variable)) : xstrdup(variable);
    return str_ends(name, "_API_KEY") || strcmp(name, "CE_CREDENTIALS") == 0;
}

/* How many variables say what happened. */
static size_t list_facts(const hook_event *event, char *const own[OWN_VARIABLES],
                         const char *out[FACTS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < OWN_VARIABLES; i++)
        out[count++] = own[i];
    for (size_t i = 0; event->more != NULL && event->more[i] != NULL && i < HOOK_MORE_MAX; i++)
        out[count++] = event->more[i];
    return count;
}

static bool is_set(const char *const *facts, size_t count, const char *variable)
{
    const size_t name = strcspn(variable, "=") + 1;
    for (size_t i = 0; i < count; i++)
        if (strncmp(facts[i], variable, name) == 0)
            return true;
    return false;
}

/* Borrows the variables; the array is the caller's. */
static const char **environment_of(const char *const *ours, const hook_event *event,
                                   char *const own[OWN_VARIABLES])
{
    const char *facts[FACTS_MAX];
    const size_t added = list_facts(event, own, facts);
    size_t count = 0, kept = 0;
    while (ours != NULL && ours[count] != NULL)
        count++;
    const char **out = xcalloc(count + added + 1, sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (!is_secret(ours[i]) && !is_set(facts, added, ours[i]))
            out[kept++] = ours[i];
    for (size_t i = 0; i < added; i++)
        out[kept++] = facts[i];
    return out;
}

/* A file in memory that holds the document as a line, at its beginning; -1. */
static int document_fd(const json *document, err *e)
{
    SCOPED(scoped_free) char *line = json_dump(document);
    SCOPED(scoped_free) char *text = xasprintf("%s\n", line);
    SCOPED(scoped_close) int fd = memfd_create("ce-hook", MFD_CLOEXEC);
    const size_t size = strlen(text);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        return err_errno(e, errno, "hand over the document");
    const int out = fd;
    fd = -1;
    return out;
}

static int judge(int status, err *e)
{
    char how[STATUS_TEXT];
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    subproc_status_text(status, how, sizeof how);
    return err_native(e, ERR_UNAVAILABLE, ERR_DOMAIN_CHILD, status, "it %s", how);
}

int hook_call(const char *const *argv, const char *const *environment, const hook_event *event,
              err *e)
{
    SCOPED(scoped_close) int document = document_fd(event->document, e);
    if (document < 0)
        return -1;
    SCOPED(scoped_free) char *name = xasprintf("CE_EVENT=%s", event->name);
    SCOPED(scoped_free) char *message = xasprintf("CE_MESSAGE=%s", event->message);
    char *const own[OWN_VARIABLES] = {name, message};
    SCOPED(scoped_free) const char **variables = environment_of(environment, event, own);
    const subproc_fd fds[] = {{.parent = document, .child = STDIN_FILENO},
                              {.parent = STDERR_FILENO, .child = STDOUT_FILENO}};
    const subproc_options options = {
        .argv = argv, .env = variables, .fds = fds, .fd_count = sizeof fds / sizeof fds[0]};
    int status = 0;
    if (subproc_run(&options, HOOK_TIMEOUT_MS, NULL, NULL, &status, e) || judge(status, e))
        return err_wrap(e, "the hook %s", argv[0]);
    return 0;
}
