/* browser - raw HTTP over a socket, so that a test may also send what no browser would
 *
 * Purpose:   a request as bytes, the answer as text.
 * Ownership: answers are fresh memory.
 * Threads:   one.
 * Errors:    a connection that cannot be made, or a silence of 20 s, fails the test.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_TESTS_UNIT_DASHBOARDS_BROWSER_H
#define CE_TESTS_UNIT_DASHBOARDS_BROWSER_H

/* browser_open connects to "http://127.0.0.1:PORT/…" and sends bytes; the descriptor stays open. */
int browser_open(const char *url, const char *bytes);
/* browser_read reads until the text has `until` in it, or (NULL) until the server closes. */
char *browser_read(int fd, const char *until);
/* browser_get asks for a path with further header lines ("" or "Name: value\r\n…") and closes. */
char *browser_get(const char *url, const char *path, const char *lines);

#endif
