#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""timing_check - what ce-timing-1 says of the suite's own kernels on this card.

  timing_check.py --bin build/dev/bin --out DIR [--only a,b] [--samples 3]

Evaluates gold on cuda and writes DIR/timing.json and DIR/timing.md: verdict, interval, pairs, processes, voids and
device time of each comparison, and whether the intervals of a problem's samples overlap. Exit 0 when every problem
has a verdict with an interval of at most 1.5 % on each side and all its intervals overlap, 3 otherwise, 77 without a
GPU. Samples of one problem are one kernel: where they disagree, the interval is too narrow."""

import argparse
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys

HALF_WIDTH = 0.015
FIELDS = ("problem", "sample", "verdict", "reason", "speedup", "ci_low", "ci_high", "pairs", "processes", "voids",
          "timing_mode", "slots", "serial", "between_p", "candidate_ms", "baseline_ms", "floor_ms", "baseline_mode",
          "purpose", "device_ms", "device_uuid")
QUERY = """SELECT t.problem, t.sample, c.verdict, c.reason, c.speedup, c.ci_low, c.ci_high, c.pairs, c.processes,
                  c.voids, c.timing_mode, c.slots, c.serial, c.between_p, c.candidate_ms, c.baseline_ms, c.floor_ms,
                  c.baseline_mode, c.purpose, s.device_ms, t.device_uuid
           FROM comparison c JOIN task t ON t.id = c.task
           JOIN stage_result s ON s.task = c.task AND s.stage = c.stage ORDER BY t.problem, t.sample, c.id"""


def evaluate(arguments, database):
    command = [os.path.join(arguments.bin, "ce-coord"), "eval", "--suite", "internal", "--model-id", "gold",
               "--device", "cuda", "--samples", str(arguments.samples), "--db", database, "--yes",
               "--out", os.path.join(arguments.out, "run")]
    if arguments.only:
        command += ["--only", arguments.only]
    return subprocess.run(command).returncode


def half_width(row):
    if row["ci_low"] is None:
        return None
    return math.log(row["ci_high"] / row["ci_low"]) / 2


def judge(rows):
    """What is wrong with the comparisons of one problem, or None."""
    for row in rows:
        if row["verdict"] == "inconclusive" or row["speedup"] is None:
            return "%s(%s)" % (row["verdict"], row["reason"])
        if half_width(row) > HALF_WIDTH:
            return "half-width %.2f %%" % (100 * half_width(row))
    if max(row["ci_low"] for row in rows) > min(row["ci_high"] for row in rows):
        return "intervals of the same kernel do not overlap"
    return None


def table(problems):
    lines = ["| problem | mode, K | baseline | speedups | verdicts | half-width % | pairs | voids | device s | |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for name, rows in problems.items():
        widths = [half_width(row) for row in rows]
        lines.append("| %s | %s, %d | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            name, rows[0]["timing_mode"], rows[0]["slots"], rows[0]["baseline_mode"],
            ", ".join("%.3f" % r["speedup"] if r["speedup"] else "–" for r in rows),
            ", ".join(r["verdict"] for r in rows),
            ", ".join("%.2f" % (100 * w) if w is not None else "–" for w in widths),
            ", ".join(str(r["pairs"]) for r in rows), ", ".join(str(r["voids"]) for r in rows),
            ", ".join("%.1f" % (r["device_ms"] / 1e3) for r in rows), judge(rows) or "good"))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only")
    parser.add_argument("--samples", type=int, default=3)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    database = os.path.join(arguments.out, "timing.db")
    if evaluate(arguments, database) == 5:
        print("no GPU, or not every task was scored")
        return 77
    rows = [dict(zip(FIELDS, row)) for row in sqlite3.connect(database).execute(QUERY)]
    problems = {}
    for row in rows:
        problems.setdefault(row["problem"], []).append(row)
    bad = [name for name, some in problems.items() if judge(some)]
    times = [row["device_ms"] / 1e3 for row in rows]
    lines = table(problems) + ["", "%d of %d problems good; median device time of the stage %.1f s; card %s" % (
        len(problems) - len(bad), len(problems), statistics.median(times) if times else math.nan,
        rows[0]["device_uuid"] if rows else "none")]
    with open(os.path.join(arguments.out, "timing.json"), "w") as file:
        json.dump({"rows": rows, "bad": bad}, file, indent=1)
    with open(os.path.join(arguments.out, "timing.md"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 3 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
