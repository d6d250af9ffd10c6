#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cupti_check - what CUPTI says of kernels whose bound is known, and of some of the suite's own.

  cupti_check.py --bin bundle/bin --out DIR [--part known|gold] [--only a,b]

`known` (the default) evaluates tests/gpu/profiled on cuda, a kernel a class; `gold` four problems of the internal
suite. Writes DIR/PART.json (every profile) and prints a line a kernel. Exit 0 when every kernel has spans of both
sides, counters, and its class; 3 otherwise, 77 without a GPU. What CUPTI refuses is printed with the name of the
function and its words: DIR/PART.json, "reason" and "unavailable"."""

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KNOWN = {"strided_copy": "memory", "one_block_copy": "latency", "fma_chain": "compute", "short_chain": "launch",
         "long_tail": "tail"}
GOLD = ("vector_add_fp32", "silu_fp16", "rms_norm_fp16", "sum_reduction_fp32")
QUERY = """SELECT t.problem, c.verdict, c.reason, c.timing_mode, c.slots, c.candidate_ms, c.baseline_ms, c.profile,
                  s.device_ms
           FROM comparison c JOIN task t ON t.id = c.task
           JOIN stage_result s ON s.task = c.task AND s.stage = c.stage ORDER BY c.id"""
FIELDS = ("problem", "verdict", "reason", "timing_mode", "slots", "candidate_ms", "baseline_ms", "profile", "device_ms")


def evaluate(arguments, scratch, database, part):
    command = [os.path.join(arguments.bin, "ce-coord"), "eval", "--model-id", "gold", "--device", "cuda",
               "--samples", "1", "--db", database, "--yes", "--out", os.path.join(scratch, "report")]
    if part == "known":
        command += ["--suites", HERE, "--suite", "profiled"]
    else:
        command += ["--suite", "internal"]
    only = arguments.only or (",".join(GOLD) if part == "gold" else None)
    return subprocess.run(command + (["--only", only] if only else [])).returncode


def side(spans):
    """One side's two clocks, in µs of a sample."""
    if not spans or spans.get("unavailable") or spans.get("span_ms") is None:
        return "no spans: %s" % (spans or {}).get("unavailable")
    event, span = 1e3 * spans["event_ms"], 1e3 * spans["span_ms"]
    floor = 1e3 * (spans["floor_event_ms"] - spans["floor_span_ms"])
    return "event %.2f floor %.2f span %.2f busy %.2f off %+.2f us (%+.1f %%) calls %s %s" % (
        event, floor, span, 1e3 * spans["busy_ms"], event - floor - span, 100 * (event - floor - span) / span,
        spans["calls"], "agree" if spans["agrees"] else "DISAGREE")


def faults(row, expected):
    profile = row["profile"]
    found = []
    if profile.get("status") != "measured":
        return ["no profile: %s" % profile.get("reason")]
    for name in ("candidate", "baseline", "counters"):
        if (profile.get(name) or {}).get("unavailable", "absent") is not None:
            found.append("%s: %s" % (name, (profile.get(name) or {}).get("unavailable", "absent")))
    for name in ("candidate", "baseline"):
        if not (profile.get(name) or {}).get("agrees"):
            found.append("%s: the clocks disagree" % name)
    if expected is not None and profile.get("bound") != expected:
        found.append("bound is %s, not %s" % (profile.get("bound"), expected))
    return found


def show(row, expected):
    profile = row["profile"]
    values = (profile.get("counters") or {}).get("values") or {}
    print("%s: %s %s, %s K=%s, bound %s%s, %.1f s of device" % (
        row["problem"], row["verdict"], row["reason"] or "", row["timing_mode"], row["slots"], profile.get("bound"),
        " (expected %s)" % expected if expected else "", row["device_ms"] / 1e3))
    for name in ("candidate", "baseline"):
        print("  %-9s %s" % (name, side(profile.get(name))))
    print("  counters  passes %s, %s" % ((profile.get("counters") or {}).get("passes"), " ".join(
        "%s=%s" % (key, "none" if value is None else "%.4g" % value) for key, value in sorted(values.items()))))
    print("  derived   %s" % json.dumps(profile.get("derived")))
    for kernel in profile.get("kernels") or []:
        print("  kernel    %s" % json.dumps(kernel))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--part", choices=("known", "gold"), default="known")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        database = os.path.join(scratch, "check.db")
        if evaluate(arguments, scratch, database, arguments.part) == 5:
            print("no GPU, or not every task was scored")
            return 77
        rows = [dict(zip(FIELDS, row)) for row in sqlite3.connect(database).execute(QUERY)]
    bad = {}
    for row in rows:
        row["profile"] = json.loads(row["profile"] or "{}")
        expected = KNOWN.get(row["problem"])
        show(row, expected)
        wrong = faults(row, expected)
        if wrong:
            bad[row["problem"]] = wrong
    with open(os.path.join(arguments.out, arguments.part + ".json"), "w") as file:
        json.dump({"rows": rows, "bad": bad, "seconds": time.monotonic() - started}, file, indent=1)
    print(json.dumps({"kernels": len(rows), "bad": bad, "seconds": round(time.monotonic() - started, 1)}))
    wanted = arguments.only.split(",") if arguments.only else KNOWN if arguments.part == "known" else GOLD
    return 3 if bad or len(rows) < len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main())
