# SPDX-License-Identifier: MIT
"""The slices of a GPU host's measurements (tests/gpu/slices.py), where there is no GPU: nothing of them rots."""
import os
import re
import subprocess
import sys

from ce import BIN, PATIENCE, SRC, expect, main

SLICES = SRC / "tests/gpu/slices.py"


def slices(*words):
    return subprocess.run([sys.executable, "-B", SLICES, *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=5 * PATIENCE,
                          env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def test_a_wrong_command_line_is_told(place):
    for words, told in ((["--bin", BIN, "--out", place.dir, "nosuch"], "no slice is called nosuch"),
                        (["--bin", BIN, "--out", place.dir, "gold=0"], "a whole number above 0"),
                        (["--bin", BIN, "--out", place.dir, "side"], "--checkout DIR"),
                        (["--bin", place.dir, "--out", place.dir, "gold"], "has no ce-coord"), ([], "--list shows all")):
        done = slices(*words)
        expect(done.returncode == 2 and told in done.stderr, words, done.stderr)


def test_each_slice_is_a_program_of_ours(place):
    text = SLICES.read_text()
    names = [line.split()[0] for line in slices("--list").stdout.splitlines()]
    expect("gold" in names and "kb-admit" in names, names)
    for script in set(re.findall(r"\{here\}/(\w+\.py)", text)):
        expect((SLICES.parent / script).exists(), script)
        helped = subprocess.run([sys.executable, "-B", SLICES.parent / script], capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=PATIENCE)
        expect("Traceback" not in helped.stderr, script, helped.stderr)


def test_without_a_gpu_each_says_so_and_the_rows_stay(place):
    out = place.dir / "out"
    done = slices("--bin", BIN, "--out", out, "gold", "adversarial")
    expect(done.returncode == 77, done)
    done = slices("--bin", BIN, "--out", out, "--seconds", 31, "adversarial", "gold")
    expect(done.returncode == 3, done)
    rows = (out / "slices.md").read_text().splitlines()[2:]
    expect([row.split(" | ")[1] for row in rows] == ["gold", "adversarial", "adversarial", "gold"], rows)
    expect([row.split(" | ")[3].split(":")[0] for row in rows] == ["exit 77", "exit 77", "not begun", "not begun"], rows)
    expect("no GPU" in (out / "gold/log.txt").read_text() and (out / "host.txt").exists())


main(globals())
