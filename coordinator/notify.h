/* notify - tells systemd that the process is ready, alive, or stopping
 *
 * Purpose:   the notification protocol of Type=notify and WatchdogSec: a datagram to the socket that
 *            NOTIFY_SOCKET names. Without systemd everything here does nothing.
 * Ownership: none.
 * Threads:   any.
 * Errors:    none: a manager that does not listen loses nothing of ours.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_COORDINATOR_NOTIFY_H
#define CE_COORDINATOR_NOTIFY_H

#include <stdint.h>

void notify_ready(void);
void notify_alive(void);
void notify_stopping(void);
/* notify_every_ms: half the watchdog's patience; 0: there is no watchdog. */
int64_t notify_every_ms(void);

#endif
