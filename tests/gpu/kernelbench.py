#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""KernelBench on a GPU, in slices: admission of a checkout, then our gold kernels with verdicts.

usage: kernelbench.py BIN_DIR CHECKOUT OUT_DIR admit [SECONDS [1/19,2/9,…]]
       kernelbench.py BIN_DIR CHECKOUT OUT_DIR gold  [SECONDS [1/19,2/9,…]]

admit: runs the reference of each problem, tries candidates that compute nothing, and keeps what it found
       in OUT_DIR/kernelbench; what is there already is not run again, so that the next slice goes on.
gold:  evaluates the gold kernels; OUT_DIR/gold.db is gone on with (new problems: name another OUT_DIR).
       OUT_DIR/golds.json then has a row a problem: outcome, verdict, times, seconds of the task.
Both end after SECONDS (default 500) by an interrupt. Exit: 0 done, 130 interrupted, 77 no GPU.
"""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time


def has_gpu(binary):
    probe = json.loads(subprocess.check_output([os.path.join(binary, "ce-runner"), "--probe"]))
    if not probe["devices"]:
        print("skipped: " + probe["reason"])
    return bool(probe["devices"])


def run(words, seconds, out):
    """The exit code; 130 when the time was up. The whole group is told, ce-node's Python too."""
    child = subprocess.Popen(words, stdout=out, start_new_session=True)
    try:
        return child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        print("not done after %.0f s, interrupting: %s" % (seconds, " ".join(words[:2])), flush=True)
        os.killpg(child.pid, signal.SIGINT)
        try:
            child.wait(timeout=60)
        except subprocess.TimeoutExpired:
            print("not gone 60 s after the interrupt: killed", flush=True)
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return 130


def admit(binary, checkout, out, seconds, only):
    words = [os.path.join(binary, "ce-node"), "checkout", checkout, "--admit", "--device", "cuda:0",
             "--cache", os.path.join(out, "kernelbench")] + (["--only", only] if only else [])
    started = time.monotonic()
    with open(os.path.join(out, "admit.jsonl"), "w", encoding="utf-8") as rows:
        code = run(words, seconds, rows)
    found = []
    for name in sorted(os.listdir(os.path.join(out, "kernelbench"))):
        if name.endswith(".json"):
            with open(os.path.join(out, "kernelbench", name), encoding="utf-8") as file:
                found.append(json.load(file))
    took = sorted(row["seconds"] for row in found)
    print("admitted %d, not admitted %d, degenerate %d; %.0f s now; a problem: median %.2f s, most %.2f s; "
          "peak memory %.1f GiB" % (
              sum(row["status"] == "admitted" for row in found), sum(row["status"] == "not admitted" for row in found),
              sum(bool(row["degenerate"]) for row in found), time.monotonic() - started,
              took[len(took) // 2] if took else 0, took[-1] if took else 0,
              max((row.get("peak_bytes") or 0 for row in found), default=0) / 2 ** 30))
    for row in found:
        if row["status"] != "admitted":
            print("  %s" % row["reason"])
    return code


def gold_ids(binary, checkout, database, seconds):
    print("listing the checkout, to know which problems have a gold kernel", flush=True)
    listed = json.loads(subprocess.check_output(
        [os.path.join(binary, "ce-coord"), "suite", "list", "kernelbench", "--root", checkout, "--db", database,
         "--json"], timeout=seconds))
    return ",".join(row["id"] for row in listed["problems"] if row["gold"])


def golds(binary, checkout, out, seconds, only):
    database = os.path.join(out, "gold.db")
    words = [os.path.join(binary, "ce-coord"), "eval", "--db", database, "--out", os.path.join(out, "report")]
    if os.path.exists(database):
        words += ["--resume", "latest"]
    else:
        words += ["--suite", "kernelbench", "--root", checkout, "--model-id", "gold", "--device", "cuda",
                  "--only", only or gold_ids(binary, checkout, database, seconds)]
    print("starting: " + " ".join(words), flush=True)
    code = run(words, seconds, sys.stdout)
    if not os.path.exists(database):
        print("no run was made in %.0f s: the problems were being read" % seconds)
        return code
    with sqlite3.connect(database) as db:
        db.row_factory = sqlite3.Row
        rows = [dict(row) for row in db.execute("SELECT * FROM task WHERE kind = 'synthesize' ORDER BY problem")]
    with open(os.path.join(out, "golds.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1, default=str)
    return code


def main():
    if len(sys.argv) < 5 or sys.argv[4] not in ("admit", "gold"):
        sys.exit(__doc__)
    binary, checkout, out, what = sys.argv[1:5]
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 500
    only = sys.argv[6] if len(sys.argv) > 6 else None
    if not has_gpu(binary):
        return 77
    os.makedirs(os.path.join(out, "kernelbench"), exist_ok=True)
    return (admit if what == "admit" else golds)(binary, checkout, out, seconds, only)


if __name__ == "__main__":
    sys.exit(main())
