#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""slices - the measurements behind docs/evidence, by name, in slices of limited time on a GPU host.

  slices.py --list
  slices.py --bin BIN --out OUT [--seconds N] [--checkout DIR] SLICE[=SECONDS] …

Runs the named slices in order. One that is not done after its seconds is interrupted, and goes on where it was when
the same command is given again with the same OUT (bring OUT along to the next machine). A slice begins only when a
quarter of its time is left of --seconds (default 540), and then gets what is left. Each writes into OUT/SLICE, what
it printed into OUT/SLICE/log.txt; OUT/slices.md has a row a try: command, seconds, how it ended. OUT/host.txt says
what the host is.

BIN is `bin` of a build or of a bundle. --checkout: KernelBench's repository, for the slices that start with kb and side.
Exit: 0: every slice came to its good end; 3: not every one; 77: no GPU; 2: the command line."""

import argparse
import datetime
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SUITES = HERE.parents[1] / "suites" / "internal"
GRACE_S = 30
NO_GPU = 77
PYTHON = shlex.quote(sys.executable)
# name: (seconds, the command in a shell's words, what it shows). {left} is the time that it has.
SLICES = {
    "doctor": (30, "{bin}/ce-coord doctor", "what this host has and lacks"),
    "runner": (120, "{bin}/../tests/gpu_runner_test --out {out}/runner.md", "the runner's own cases on this card"),
    "sanitize": (300, PYTHON + " {here}/sanitize_check.py {bin} {out}", "planted defects found by compute-sanitizer"),
    "queue": (200, PYTHON + " {here}/bad_company.py --device cuda {bin}", "a hang, a fault and a trap among 20"),
    "selftest": (300, "{bin}/ce-node selftest", "A/A, planted slowdowns, the calibration rows"),
    "cupti-known": (200, PYTHON + " {here}/cupti_check.py --bin {bin} --out {out} --part known", "five bounds, classed"),
    "cupti-gold": (200, PYTHON + " {here}/cupti_check.py --bin {bin} --out {out} --part gold", "profiles of golds"),
    "gold": (540, PYTHON + " {here}/gold_timing.py --bin {bin} --out {out} --session first --limit-s {left}",
             "48 golds with verdicts, first session"),
    "gold-again": (450, PYTHON + " {here}/gold_timing.py --bin {bin} --out {out}/../gold --session second"
                   " --against {out}/../gold/first.json --limit-s {left}", "second session: intervals overlap"),
    "naive": (130, PYTHON + " {here}/naive_timing.py --bin {bin} --suites {suites} --out {out}"
              " --gold {out}/../gold/first.json", "false speedups of event timing"),
    "mutants": (540, PYTHON + " {here}/validate.py {bin} {out}", "48 problems admitted, 389 mutants"),
    "adversarial": (300, PYTHON + " {here}/validate.py {bin} {out} --adversarial", "cheats refused, honest accepted"),
    "kb-admit": (500, PYTHON + " {here}/kernelbench.py {bin} {checkout} {out}/../kb admit {left}",
                 "KernelBench: admission of 250"),
    "kb-gold": (400, PYTHON + " {here}/kernelbench.py {bin} {checkout} {out}/../kb gold {left}",
                "KernelBench: our golds with verdicts"),
    "side": (560, PYTHON + " {here}/side_by_side.py {bin} {checkout} {out} --seconds {left}",
             "KernelBench's evaluation beside ours"),
}


def list_slices():
    for name, (seconds, _, shows) in SLICES.items():
        print("%-12s %4d s  %s" % (name, seconds, shows))


def parse(text):
    """SLICE[=SECONDS] as (name, seconds)."""
    name, _, seconds = text.partition("=")
    if name not in SLICES:
        raise argparse.ArgumentTypeError("no slice is called %s: --list shows all" % name)
    if seconds and (not seconds.isdigit() or int(seconds) == 0):
        raise argparse.ArgumentTypeError("%s: the seconds are a whole number above 0" % text)
    return name, int(seconds) if seconds else SLICES[name][0]


def command_of(name, arguments, left):
    fields = {"here": HERE, "bin": arguments.bin, "out": arguments.out / name, "suites": SUITES,
              "checkout": arguments.checkout, "left": int(left)}
    return [word.format(**fields) for word in shlex.split(SLICES[name][1])]


def needs_checkout(name):
    return "{checkout}" in SLICES[name][1]


def tell(process, which):
    try:
        os.killpg(process.pid, which)
    except ProcessLookupError:
        pass


def run(command, seconds, log):
    """How it ended: an exit code, or `interrupted`. Its whole process group is told and in the end killed."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        return "exit %d" % process.wait(seconds)
    except subprocess.TimeoutExpired:
        tell(process, signal.SIGINT)
    try:
        process.wait(GRACE_S)
        return "interrupted after its time"
    except subprocess.TimeoutExpired:
        return "killed %d s after the interrupt" % GRACE_S
    finally:
        tell(process, signal.SIGKILL)
        process.wait()


def describe_host(out, binary):
    with open(out / "host.txt", "w", encoding="utf-8") as file:
        for words in (["date", "-u", "+%Y-%m-%dT%H:%M:%SZ"], ["uname", "-srm"], ["nproc"],
                      ["nvidia-smi", "-L"], ["nvidia-smi"], [binary / "ce-coord", "--version"],
                      [binary / "ce-runner", "--probe"]):
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
                file.write(done.stdout + done.stderr)
            except (OSError, subprocess.TimeoutExpired) as problem:
                file.write("%s: %s\n" % (words[0], problem))


def note(out, name, command, seconds, ended):
    path = out / "slices.md"
    if not path.exists():
        path.write_text("| when (UTC) | slice | seconds | ended | command |\n|---|---|--:|---|---|\n")
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
    with open(path, "a", encoding="utf-8") as file:
        file.write("| %s | %s | %.0f | %s | `%s` |\n" % (when, name, seconds, ended, shlex.join(command)))


def make(name, wanted, deadline, arguments):
    left = deadline - time.monotonic() - GRACE_S
    if left < wanted / 4:
        note(arguments.out, name, [name], 0, "not begun: %.0f s are left of the whole" % max(left, 0))
        return "not begun"
    seconds = min(wanted, left)
    (arguments.out / name).mkdir(exist_ok=True)
    command = command_of(name, arguments, seconds - GRACE_S if seconds > 2 * GRACE_S else seconds)
    began = time.monotonic()
    with open(arguments.out / name / "log.txt", "ab") as log:
        ended = run(command, seconds, log)
    note(arguments.out, name, command, time.monotonic() - began, ended)
    print("%s: %s, %.0f s" % (name, ended, time.monotonic() - began), flush=True)
    return ended


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--bin", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--out", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--seconds", type=int, default=540)
    parser.add_argument("--checkout", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("slices", nargs="*", type=parse)
    arguments = parser.parse_args()
    if arguments.list:
        list_slices()
        return 0
    if not arguments.bin or not arguments.out or not arguments.slices:
        parser.error("it takes --bin, --out and at least one slice; --list shows all")
    if not arguments.checkout and any(needs_checkout(name) for name, _ in arguments.slices):
        parser.error("--checkout DIR: KernelBench's repository is needed")
    if not (arguments.bin / "ce-coord").exists():
        parser.error("%s has no ce-coord" % arguments.bin)
    deadline = time.monotonic() + arguments.seconds
    arguments.out.mkdir(parents=True, exist_ok=True)
    describe_host(arguments.out, arguments.bin)
    ended = {make(name, seconds, deadline, arguments) for name, seconds in arguments.slices}
    return 0 if ended == {"exit 0"} else NO_GPU if ended == {"exit %d" % NO_GPU} else 3


if __name__ == "__main__":
    sys.exit(main())
