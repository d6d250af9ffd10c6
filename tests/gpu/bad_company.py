#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A queue of 20 candidates, three of which hang, fault and poison their context: the other 17 are judged,
nothing waits past its deadline, and the device is well afterwards.

usage: bad_company.py --device cuda|emu BIN_DIR

Exit 0: so it is; 1: not; 77: no GPU.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites", "adversarial", "kernels")
PROBLEM = "vector_add_fp32"
SAMPLES = 20
# sample: (kernel, outcomes that it may get)
BAD = {3: ("hang_all", ("hung",)), 8: ("write_far_away", ("out_of_bounds",)), 13: ("trap", ("crashed",))}
PLAN = {"kernels": [{"entry": "vector_add", "grid": ["max(1, ceil_div(n, 256))"], "block": [256],
                     "args": ["a", "b", "y", {"i64": "n"}]}]}
# What one trial may hold the device for beyond its deadline: a process that dies and one that starts.
DEADLINE_MS = 10000
SLACK_MS = 10000


def script(folder):
    rules = []
    for sample in range(SAMPLES):
        if sample not in BAD:
            rules.append({"sample": sample, "gold": True})
            continue
        with open(os.path.join(KERNELS, BAD[sample][0] + ".cu")) as file:
            text = "```cuda\n%s```\n\n```json\n%s\n```\n" % (file.read(), json.dumps(PLAN))
        rules.append({"sample": sample, "stage": "codegen", "index": 0, "text": text})
        rules.append({"sample": sample, "stage": "interview", "gold": True})
    path = os.path.join(folder, "queue.json")
    with open(path, "w") as file:
        json.dump({"rules": rules}, file)
    return "mock:" + path


def evaluate(coord, folder, device, model, samples):
    done = subprocess.run([coord, "eval", "--suite", "internal", "--only", PROBLEM, "--model-id", model, "--samples",
                           str(samples), "--device", device, "--db", os.path.join(folder, "ce.db"), "--out",
                           os.path.join(folder, "out"), "--yes"], stdin=subprocess.DEVNULL)
    return done.returncode


def tasks(folder):
    rows = sqlite3.connect(os.path.join(folder, "ce.db")).execute(
        "SELECT e.name, t.sample, t.outcome, coalesce(t.detail, ''), t.device_ms, t.leases FROM task t"
        " JOIN entrant e ON e.id = t.entrant ORDER BY e.name, t.sample")
    return rows.fetchall()


def complaints(rows):
    for name, sample, outcome, detail, device_ms, leases in rows:
        bad = BAD.get(sample) if name != "gold" else None
        wanted = bad[1] if bad else ("ok",)
        print("%-8s %2d  %-16s %-10s %8.0f ms on the device" % (name[:8], sample, outcome, detail, device_ms or 0))
        if outcome not in wanted:
            yield "sample %d must be %s and is %s" % (sample, " or ".join(wanted), outcome)
        if bad and not device_ms < DEADLINE_MS + SLACK_MS:
            yield "sample %d held the device for %.0f ms" % (sample, device_ms)
        if leases != 1:
            yield "sample %d was handed out %d times" % (sample, leases)


def has_gpu(binary):
    probe = json.loads(subprocess.check_output([os.path.join(binary, "ce-runner"), "--probe"]))
    if not probe["devices"]:
        print("skipped: " + probe["reason"])
    return bool(probe["devices"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", required=True, choices=("cuda", "emu"))
    parser.add_argument("binary", metavar="BIN_DIR")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not has_gpu(arguments.binary):
        return 77
    coord = os.path.join(arguments.binary, "ce-coord")
    with tempfile.TemporaryDirectory() as folder:
        codes = [evaluate(coord, folder, arguments.device, script(folder), SAMPLES),
                 evaluate(coord, folder, arguments.device, "gold", 1)]
        rows = tasks(folder)
        found = list(complaints(rows))
    if codes != [0, 0] or len(rows) != SAMPLES + 1:
        found.append("exit codes %s, %d tasks" % (codes, len(rows)))
    print("\n".join(found) or "all %d as they must be" % len(rows))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
