# SPDX-License-Identifier: MIT
"""A program on a real pty, and a terminal's view of what it writes (the few ECMA-48 sequences that ce uses)."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import threading
import time
import unicodedata

import ce

SEQUENCE = re.compile(r"\x1b\[([?]?)([0-9;]*)([A-Za-z])")


class Screen:
    """Cells of both screens; strict: a sequence it does not know is an error."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        self.pages = {False: {}, True: {}}  # alternate? → {(row, column): text}
        self.alternate, self.cursor, self.wraps = False, True, True
        self.row = self.column = 0
        self.overrun = 0  # lines that ran into the right edge

    def put(self, c):
        wide = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if self.column + wide > self.width:
            self.overrun += 1
            if not self.wraps:
                return
            self.row, self.column = self.row + 1, 0
        self.pages[self.alternate][self.row, self.column] = c
        self.column += wide

    def erase(self, inside):
        page = self.pages[self.alternate]
        for at in [at for at in page if inside(at)]:
            del page[at]

    def sequence(self, private, numbers, letter):
        n = [int(x or 0) for x in numbers.split(";")]
        if letter == "H":
            self.row, self.column = (n + [1])[0] - 1 if n[0] else 0, (n[1] - 1 if len(n) > 1 else 0)
        elif letter == "K":
            self.erase(lambda at: at[0] == self.row and (n[0] == 2 or at[1] >= self.column))
        elif letter == "J" and n[0] == 2:
            self.erase(lambda at: True)
        elif private and letter in "hl":
            name = {1049: "alternate", 25: "cursor", 7: "wraps"}[n[0]]
            setattr(self, name, letter == "h")
            if n[0] == 1049 and letter == "h":
                self.erase(lambda at: True)
        elif letter != "m":
            raise AssertionError(f"a sequence that is not expected: {private}{numbers}{letter}")

    def feed(self, text):
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    return text[at:]  # the rest of it is still to come
                self.sequence(*found.groups())
                at = found.end()
                continue
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.row += 1
            elif ord(c) < 32:
                raise AssertionError(f"a control character that is not expected: {c!r}")
            else:
                self.put(c)
            at += 1
        return ""

    def lines(self):
        page = self.pages[self.alternate]
        rows = max((row for row, _ in page), default=-1) + 1
        return ["".join(page.get((row, column), " ") for column in range(self.width)).rstrip() for row in range(rows)]

    def text(self):
        return "\n".join(self.lines())


class Tty:
    """A command with a pty as its stdin, stdout and stderr."""

    def __init__(self, place, command, width=80, height=24, env=None, stdout=None):
        self.place = place
        self.near, self.far = None, None
        self.far, self.near = pty.openpty()
        self.screen = Screen(width, height)
        self.written, self.rest = b"", b""
        self.lock = threading.Lock()
        self.error = None
        self.size(width, height, tell=False)
        self.before = termios.tcgetattr(self.near)
        surroundings = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        surroundings.pop("NO_COLOR", None)
        surroundings.update(env or {})
        self.child = subprocess.Popen(command, stdin=self.near, stdout=stdout or self.near, stderr=self.near,
                                      cwd=place.dir, env=surroundings, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.child.log = place.dir / f"tty{len(place.children)}"
        self.child.log.write_text("")
        place.children.append(self.child)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        pending = ""
        decoder = __import__("codecs").getincrementaldecoder("utf-8")("strict")
        while True:
            if not select.select([self.far], [], [], 0.05)[0]:
                if self.child.poll() is not None:
                    return
                continue
            try:
                data = os.read(self.far, 65536)
            except OSError:
                return
            with self.lock:
                self.written += data
                self.child.log.write_bytes(self.written[-4000:])
                try:
                    pending = self.screen.feed(pending + decoder.decode(data))
                except (AssertionError, UnicodeDecodeError) as e:
                    self.error = e
                    return

    def size(self, width, height, tell=True):
        with self.lock:
            self.screen.width, self.screen.height = width, height
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def key(self, text):
        os.write(self.far, text.encode())

    def text(self):
        with self.lock:
            if self.error:
                raise AssertionError(f"{self.error}: {self.written[-500:]!r}")
            return self.screen.text()

    def wait(self, what, condition):
        """Waits until the screen's text satisfies the condition; gives its value."""
        until = time.monotonic() + ce.PATIENCE
        while time.monotonic() < until:
            value = condition(self.text())
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"waited in vain: {what}\n{self.text()}\n{self.written[-2000:]!r}")

    def ends(self, code):
        self.child.wait(ce.PATIENCE)
        self.reader.join(ce.PATIENCE)
        self.text()
        ce.expect(self.child.returncode == code, f"exit {self.child.returncode}, wanted {code}", self.text())

    def restored(self):
        """The terminal is as it was before."""
        ce.expect(termios.tcgetattr(self.near) == self.before, "the terminal's modes")
        ce.expect(self.screen.cursor and self.screen.wraps and not self.screen.alternate,
                  vars(self.screen))

    def close(self):
        for fd in (self.near, self.far):
            os.close(fd)
