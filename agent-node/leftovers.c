/* leftovers - what an earlier process of this node could not tell its coordinator
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent-node/spool.h"
#include "common/file.h"
#include "common/log.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { FILES_MAX = 4096 };

struct leftovers {
    char *paths[FILES_MAX];
    size_t count;
};

static bool has_record(const spool_rest *rest)
{
    for (size_t i = 0; i < rest->count; i++) {
        if (rest->messages[i].type != MSG_BLOB_PUT) {
            return true;
        }
    }
    return false;
}

static void look_at(leftovers *self, char *path)
{
    spool_rest rest SCOPED(spool_rest_fini) = {.count = 0};
    err e = {0};
    if (spool_read(path, &rest, &e) != 0) {
        log_err(LOG_WARN, "spool", &e, "left where it is");
    } else if (!has_record(&rest)) {
        unlink(path);
    } else {
        self->paths[self->count++] = path;
        return;
    }
    free(path);
}

leftovers *leftovers_find(const char *folder, err *e)
{
    if (file_mkdirs(folder, e) != 0) {
        return NULL;
    }
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        err_errno(e, errno, "open %s", folder);
        return NULL;
    }
    leftovers *self = xcalloc(1, sizeof(*self));
    for (const struct dirent *d; self->count < FILES_MAX && (d = readdir(dir)) != NULL;) {
        if (d->d_name[0] != '.') {
            look_at(self, file_join(folder, d->d_name));
        }
    }
    closedir(dir);
    return self;
}

void leftovers_destroy(leftovers **self_p)
{
    leftovers *self = *self_p;
    if (self == NULL) {
        return;
    }
    for (size_t i = 0; i < self->count; i++) {
        free(self->paths[i]);
    }
    free(self);
    *self_p = NULL;
}

size_t leftovers_count(const leftovers *self)
{
    return self->count;
}

/* ---- telling ---- */

static int claim(session *to, const spool_rest *rest, err *e)
{
    message m;
    message_init(&m, MSG_CLAIM);
    message_set_str(&m.body.claim.task, rest->task);
    m.body.claim.token = rest->token;
    return session_post(to, &m, e);
}

/* Sends a message and waits for its answer. A refusal is an answer, too: the coordinator has decided. */
static int tell(session *to, message *m, err *e)
{
    SCOPED(message_fini) message reply = {0};
    message_type type = m->type;
    if (session_call(to, m, &reply, e) == 0) {
        return 0;
    }
    if (e->code == ERR_UNAVAILABLE) {
        return -1;
    }
    log_err(LOG_INFO, "spool", e, "%s of an earlier process was refused", message_name(type));
    return 0;
}

/* The task goes on anywhere: its worker is gone, and that was no fault of the task. */
static int give_back(session *to, const spool_rest *rest, err *e)
{
    message m;
    message_init(&m, MSG_GIVE_BACK);
    message_set_str(&m.body.give_back.task, rest->task);
    m.body.give_back.token = rest->token;
    m.body.give_back.code = ERR_UNAVAILABLE;
    m.body.give_back.retry = true;
    m.body.give_back.leaving = true;
    message_set_str(&m.body.give_back.text, "the node was started again");
    return tell(to, &m, e);
}

static int tell_rest(session *to, spool_rest *rest, err *e)
{
    bool over = false;
    if (claim(to, rest, e) != 0) {
        return -1;
    }
    for (size_t i = 0; i < rest->count; i++) {
        message *m = &rest->messages[i];
        bool blob = m->type == MSG_BLOB_PUT;
        over |= m->type == MSG_RESULT || m->type == MSG_GIVE_BACK;
        if ((blob ? session_post(to, m, e) : tell(to, m, e)) != 0) {
            return -1;
        }
    }
    return over ? 0 : give_back(to, rest, e);
}

static int tell_file(session *to, const char *path, err *e)
{
    spool_rest rest SCOPED(spool_rest_fini) = {.count = 0};
    if (spool_read(path, &rest, e) != 0 || tell_rest(to, &rest, e) != 0) {
        return -1;
    }
    log_line(LOG_INFO, "spool", "what an earlier process knew of task %s is told", rest.task);
    unlink(path);
    return 0;
}

void leftovers_tell(leftovers *self, session *to)
{
    for (size_t i = 0; i < self->count; i++) {
        err e = {0};
        if (tell_file(to, self->paths[i], &e) != 0) {
            log_err(LOG_WARN, "spool", &e, "%s is kept for later", self->paths[i]);
            return;
        }
    }
}
