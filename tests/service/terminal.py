# SPDX-License-Identifier: MIT
"""What people see on a terminal: the line of eval."""
import re

from ce import expect, main
from screen import Tty

SLOW = [{"gold": True, "latency_ms": 200}]


def evaluate(place, width=80, env=None):
    tty = Tty(place, place.command("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only",
                                   "vector_add_fp32,silu_fp16", "--slots", 1), width, env=env)
    return tty


def test_eval_redraws_one_line(place):
    tty = evaluate(place)
    tty.wait("a bar", lambda text: re.search(r"^\[[#.]{20}\] [01]/2 done", text, re.MULTILINE))
    tty.ends(0)
    drawn = re.findall(rb"\r\x1b\[K([^\r\n]*)", tty.written)
    expect(len(drawn) > 2 and all(len(line) < 80 for line in drawn), drawn)
    left = [line for line in tty.screen.lines() if "/2 done" in line]
    expect(len(left) == 1 and "2/2 done, 2 correct" in left[0], tty.text())
    tty.restored()


def test_eval_fits_thirty_columns(place):
    tty = evaluate(place, 30)
    tty.ends(0)
    drawn = re.findall(rb"\r\x1b\[K([^\r\n]*)", tty.written)
    expect(drawn and all(len(line) < 30 for line in drawn), drawn)
    expect(any(line.startswith(b"2/2 done, 2 correct") for line in drawn), drawn)


def test_eval_without_colour_and_in_ascii(place):
    tty = evaluate(place, env={"NO_COLOR": "1", "LC_ALL": "C"})
    tty.ends(0)
    shown = tty.written[:tty.written.index(b"leaderboard.md")]  # after it comes data
    expect(b"\x1b[0m" not in shown and not re.search(rb"\x1b\[[0-9;]*m", shown), shown)
    expect(shown.isascii(), shown)


def test_eval_on_a_dumb_terminal_writes_plain_lines(place):
    tty = evaluate(place, env={"TERM": "dumb"})
    tty.ends(0)
    expect(b"\x1b" not in tty.written, tty.written)
    expect(re.search(rb"^\[#{20}\] 2/2 done, 2 correct", tty.written, re.MULTILINE), tty.written)


if __name__ == "__main__":
    main(globals())
