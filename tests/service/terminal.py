# SPDX-License-Identifier: MIT
"""What people see on a terminal: the line of eval, and status --watch."""
import os
import re
import signal
import subprocess

import ce
from ce import BIN, expect, main
from screen import Tty
from serve import local, serve, submit

SLOW = [{"gold": True, "latency_ms": 200}]


def evaluate(place, width=80, env=None):
    tty = Tty(place, place.command("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only",
                                   "vector_add_fp32,silu_fp16", "--slots", 1), width, env=env)
    return tty


def test_eval_redraws_one_line(place):
    tty = evaluate(place)
    tty.ends(0)
    drawn = re.findall(rb"\r\x1b\[K([^\r\n]*)", tty.written)
    expect(len(drawn) > 2 and all(len(line) < 80 for line in drawn), drawn)
    expect(any(re.match(rb"\[\.{20}\] 0/2 done", line) for line in drawn), drawn)
    left = [line for line in tty.screen.lines() if "/2 done" in line]
    expect(len(left) == 1 and "2/2 done, 2 correct" in left[0], tty.text())
    tty.restored()


def test_eval_fits_thirty_columns_without_colour_in_ascii(place):
    tty = evaluate(place, 30, env={"NO_COLOR": "1", "LC_ALL": "C"})
    tty.ends(0)
    drawn = re.findall(rb"\r\x1b\[K([^\r\n]*)", tty.written)
    expect(drawn and all(len(line) < 30 for line in drawn), drawn)
    expect(any(line.startswith(b"2/2 done, 2 correct") for line in drawn), drawn)
    shown = tty.written[:tty.written.index(b"leaderboard.md")]  # after it comes data
    expect(shown.isascii() and not re.search(rb"\x1b\[[0-9;]*m", shown), shown)


def test_eval_on_a_dumb_terminal_writes_plain_lines(place):
    tty = evaluate(place, env={"TERM": "dumb"})
    tty.ends(0)
    expect(b"\x1b" not in tty.written, tty.written)
    expect(re.search(rb"^\[#{20}\] 2/2 done, 2 correct", tty.written, re.MULTILINE), tty.written)


def watch(place, *words, **how):
    return Tty(place, [str(BIN / "ce-coord"), "status", *words, "--db", str(place.db)], **how)


STORED = []  # a database is made once


def stored(place):
    """A run that nobody works on."""
    if not STORED:
        done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32")
        expect(done.returncode == 0, done.stderr)
        STORED.append(place.db.read_bytes())
    place.db.write_bytes(STORED[0])
    return place.rows("SELECT id FROM run")[0][0]


def test_watch_follows_a_run_through_a_new_size_and_a_dead_coordinator(place):
    coordinator = serve(place)
    _, run = submit(place, place.mock([{"gold": True, "latency_ms": 700}]), "--samples", 20, wait=False)
    tty = watch(place, "--watch=0.1", width=100, height=30)
    tty.wait("there is no node", lambda text: "waiting for a node: none is up" in text and "for a node" in text)
    place.node(local(place), "--device", "fake", "--name", "box", "--slots", 2)
    tty.wait("the node", lambda text: re.search(r"^box +up \d+ s +fake", text, re.MULTILINE))
    text = tty.wait("tasks run and wait", lambda text: re.search(
        r"^running: 2\n.*on box.*\n(.*\n)*nodes: 1 up(.*\n)*waiting: \d+\n.*for a free place", text, re.MULTILINE)
        and text)
    expect(text.startswith(f"run {run} running, internal"), text)
    expect(tty.screen.alternate and not tty.screen.cursor, "it has a screen of its own")
    tty.wait("progress", lambda text: re.search(r"^\[#+\.+\] [1-9]\d?/40 done, .*[1-9]\d? correct", text, re.MULTILINE))
    expect(tty.written.count(b"\x1b[2J") == 1, "it is drawn in place, not anew")
    tty.size(40, 12)
    tty.wait("a small screen", lambda text: re.search(r"^\d+/40 done", text, re.MULTILINE)
             and len(text.split("\n")) <= 12 and all(len(line) <= 40 for line in text.split("\n")))
    tty.size(100, 30)
    coordinator.send_signal(signal.SIGKILL)
    coordinator.wait()
    tty.wait("it is missed", lambda text: "waiting for the coordinator: none has this database open" in text
             and re.search(r"^box +away", text, re.MULTILINE))
    serve(place)
    tty.wait("it is back", lambda text: "waiting for the coordinator" not in text and f"run {run} running" in text
             and re.search(r"^box +up", text, re.MULTILINE))
    expect(tty.screen.overrun == 0, "a line was wider than the terminal")
    tty.key("q")
    tty.ends(0)
    tty.restored()


def test_watch_leaves_the_terminal_as_it_was_for_every_signal(place):
    stored(place)
    for how in ("\x03", signal.SIGTERM, signal.SIGHUP):
        tty = watch(place, "--watch")
        tty.wait("it is drawn", lambda text: "q: quit" in text)
        tty.key(how) if isinstance(how, str) else tty.child.send_signal(how)
        tty.ends(130)
        tty.restored()
        place.children.remove(tty.child)


def test_watch_is_stopped_and_goes_on(place):
    stored(place)
    tty = watch(place, "--watch")
    tty.wait("it is drawn", lambda text: "q: quit" in text)
    tty.key("\x1a")
    pid, status = os.waitpid(tty.child.pid, os.WUNTRACED)
    expect(pid == tty.child.pid and os.WIFSTOPPED(status), status)
    place.wait("the terminal is given back", lambda: not tty.screen.alternate)
    tty.restored()
    tty.child.send_signal(signal.SIGCONT)
    tty.wait("it is drawn again", lambda text: tty.screen.alternate and "q: quit" in text)
    tty.key("q")
    tty.ends(0)
    tty.restored()


def test_watch_ends_with_the_run_it_was_given(place):
    run = stored(place)
    tty = watch(place, run, "--watch", env={"NO_COLOR": "1"})
    tty.ends(0)
    tty.restored()
    expect(tty.screen.text().startswith(f"{run} complete: 1/1 done, 1 correct"), tty.screen.text())


def test_watch_without_colour_in_ascii(place):
    stored(place)
    tty = watch(place, "--watch", env={"NO_COLOR": "1", "LC_ALL": "C"}, width=30, height=10)
    tty.wait("it is drawn", lambda text: re.search(r"^1/1 done, 1 correct", text, re.MULTILINE))
    tty.key("q")
    tty.ends(0)
    expect(tty.written.isascii() and not re.search(rb"\x1b\[[0-9;]*m", tty.written), tty.written)
    expect(tty.screen.overrun == 0, tty.text())


def check_plain(run, lines):
    expect(all(line.isprintable() and line.isascii() for line in lines), lines)
    expect(all(line.startswith(run) for line in lines) and len(lines) == len(set(lines)) > 1, lines)
    expect(lines[-1].startswith(f"{run} complete: 2/2 done, 2 correct, 0 running, 0 waiting"), lines)


def test_watch_into_a_pipe_and_on_a_dumb_terminal_is_plain_lines(place):
    slow = place.mock([{"gold": True, "latency_ms": 1000}])
    place.start("eval", "--suite", "internal", "--model-id", slow, "--only", "vector_add_fp32,silu_fp16", "--slots", 1)
    run = place.wait("it runs", lambda: place.rows("SELECT run FROM event WHERE kind = 'granted'"))[0][0]
    dumb = watch(place, run, "--watch=0.1", env={"TERM": "dumb"})
    pipe = subprocess.run([BIN / "ce-coord", "status", run, "--watch=0.1", "--db", place.db], stdout=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, timeout=ce.PATIENCE, check=True)
    check_plain(run, pipe.stdout.splitlines())
    dumb.ends(0)
    check_plain(run, dumb.written.decode().splitlines())


if __name__ == "__main__":
    main(globals())
