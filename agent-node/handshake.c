/* handshake - news of the transport into sentences
 *
 * SPDX-License-Identifier: MIT */
#include "agent-node/handshake.h"

#include "common/log.h"

static int refused(const handshake *self, err *e)
{
    char brief[CURVE_BRIEF];
    if (self->key == NULL) {
        return err_set(e, ERR_DENIED, "%s does not let this node in", self->coordinator);
    }
    curve_brief(&self->key->pair.open, brief);
    return err_set(e, ERR_DENIED,
                   "%s does not allow key %s (%s…): it was revoked, or never allowed there; "
                   "`ce-coord keys new NAME` on that host makes a key file, for --key",
                   self->coordinator, self->key->name, brief);
}

static int mismatch(const handshake *self, err *e)
{
    return err_set(
        e, ERR_DENIED,
        self->key == NULL
            ? "%s wants a key: `ce-coord keys new NAME` on its host makes a key file, for "
              "--key"
            : "%s takes no keys: it serves its own host only; leave --key out, or let it "
              "--bind curve://HOST:PORT",
        self->coordinator);
}

int handshake_judge(handshake *self, sock_news news, err *e)
{
    switch (news) {
    case SOCK_QUIET:
        return 0;
    case SOCK_UP:
        self->odd = 0;
        return 0;
    case SOCK_REFUSED:
        return refused(self, e);
    case SOCK_PLAIN:
        return mismatch(self, e);
    case SOCK_ODD:
        break;
    }
    if (++self->odd % HANDSHAKE_ODD_TOLD == 0) {
        log_line(
            LOG_ERROR, "session",
            "%d handshakes with %s failed: the key file is of another coordinator, or it is no "
            "coordinator; trying on",
            self->odd, self->coordinator);
    }
    return 0;
}

int handshake_read(handshake *self, sock *s, err *e)
{
    for (sock_news news; (news = sock_event(s)) != SOCK_QUIET;) {
        if (handshake_judge(self, news, e) != 0) {
            return -1;
        }
    }
    return 0;
}
