#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gold_timing - what ce-timing-1 says of the suite's own kernels on this card, in sessions.

  gold_timing.py --bin BIN --out DIR --session NAME [--against DIR/OTHER.json] [--only a,b] [--limit-s 500]

A session is one evaluation of gold on cuda, one sample a problem, in DIR/gold.db. It can be made in slices: after
--limit-s seconds it is interrupted, and the same command goes on with it. Baselines that an earlier session found
are known to the next. DIR/NAME.json and DIR/NAME.md say, for every problem, verdict, interval, pairs and the device
time of its check and its timing; with --against also whether the intervals of the two sessions overlap.

Exit 0: every problem has a comparison; 3: some have none; 77: no GPU; 130: interrupted, run it again."""

import argparse
import json
import math
import os
import signal
import sqlite3
import statistics
import subprocess
import sys

HALF_WIDTH = 0.015
BEHIND = 0.95
QUERY = """SELECT t.problem AS problem, t.outcome AS outcome, t.state AS state, c.verdict AS verdict,
                  c.reason AS reason, c.speedup AS speedup, c.ci_low AS ci_low, c.ci_high AS ci_high,
                  c.pairs AS pairs, c.processes AS processes, c.voids AS voids, c.timing_mode AS timing_mode,
                  c.slots AS slots, c.serial AS serial, c.between_p AS between_p, c.margin AS margin,
                  c.calibrated AS calibrated, c.candidate_ms AS candidate_ms, c.baseline_ms AS baseline_ms,
                  c.floor_ms AS floor_ms, c.baseline_mode AS baseline_mode, t.device_uuid AS device_uuid,
                  p.device_ms AS timing_device_ms, k.device_ms AS check_device_ms, p.notes AS notes
           FROM task t
           LEFT JOIN comparison c ON c.task = t.id AND c.purpose = 'published'
           LEFT JOIN stage_result p ON p.task = t.id AND p.stage = 'performance'
           LEFT JOIN stage_result k ON k.task = t.id AND k.stage = 'correctness'
           WHERE t.run = ? AND t.kind = 'synthesize' ORDER BY t.problem, c.id"""


def newest_run(database):
    if not os.path.exists(database):
        return None
    row = sqlite3.connect(database).execute("SELECT id FROM run ORDER BY created_ms DESC, id DESC LIMIT 1").fetchone()
    return row[0] if row else None


def evaluate(arguments, database, mark):
    """Starts or goes on with the session's run; the exit status of ce-coord."""
    command = [os.path.join(arguments.bin, "ce-coord"), "eval", "--db", database,
               "--out", os.path.join(arguments.out, arguments.session), "--yes"]
    if os.path.exists(mark):
        with open(mark) as file:
            command += ["--resume", file.read().strip()]
    else:
        command += ["--suite", "internal", "--model-id", "gold", "--device", arguments.device]
        command += ["--only", arguments.only] if arguments.only else []
    before = newest_run(database)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        status = process.wait(arguments.limit_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        status = process.wait(60)
    after = newest_run(database)
    if not os.path.exists(mark) and after not in (None, before):
        with open(mark, "w") as file:
            file.write(after + "\n")
    return status


def rows_of(database, run):
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    return [dict(row) for row in connection.execute(QUERY, (run,))]


def half_width(row):
    if row["ci_low"] is None or row["ci_high"] is None:
        return None
    return math.log(row["ci_high"] / row["ci_low"]) / 2


def device_s(row):
    if row["timing_device_ms"] is None or row["check_device_ms"] is None:
        return None
    return (row["timing_device_ms"] + row["check_device_ms"]) / 1e3


def is_known(row):
    return row["notes"] is not None and "nothing compiled" in row["notes"]


def overlap(one, other):
    if one is None or other is None or half_width(one) is None or half_width(other) is None:
        return None
    return one["ci_low"] <= other["ci_high"] and other["ci_low"] <= one["ci_high"]


def cell(value, form):
    return "–" if value is None else form % value


def table(rows, earlier):
    head = "| problem | mode, K | baseline | candidate ms | baseline ms | floor ms | speedup | 95 % interval | ± % | verdict | pairs | voids | device s (check + timing) | baseline |"
    lines = [head + (" overlaps |" if earlier else ""), "|---|---|---|--:|--:|--:|--:|---|--:|---|--:|--:|--:|---|" + ("---|" if earlier else "")]
    for row in rows:
        width = half_width(row)
        verdict = "%s%s" % (row["verdict"] or row["outcome"] or row["state"], "(%s)" % row["reason"] if row["reason"] else "")
        line = "| %s | %s, %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (
            row["problem"], row["timing_mode"] or "–", cell(row["slots"], "%d"), row["baseline_mode"] or "–",
            cell(row["candidate_ms"], "%.4f"), cell(row["baseline_ms"], "%.4f"), cell(row["floor_ms"], "%.4f"),
            cell(row["speedup"], "%.3f"), "–" if width is None else "%.3f … %.3f" % (row["ci_low"], row["ci_high"]),
            cell(None if width is None else 100 * width, "%.2f"), verdict, cell(row["pairs"], "%d"),
            cell(row["voids"], "%d"), cell(device_s(row), "%.1f"), "known" if is_known(row) else "found")
        if earlier:
            agrees = overlap(row, earlier.get(row["problem"]))
            line += " %s |" % {None: "–", True: "yes", False: "**no**"}[agrees]
        lines.append(line)
    return lines


def median(values):
    return statistics.median(values) if values else None


def sum_up(rows, earlier):
    tight = [row for row in rows if row["verdict"] not in (None, "inconclusive") and half_width(row) is not None
             and half_width(row) <= HALF_WIDTH]
    narrow = [row for row in rows if half_width(row) is not None and half_width(row) <= HALF_WIDTH]
    times = [device_s(row) for row in rows if device_s(row) is not None]
    known = [device_s(row) for row in rows if device_s(row) is not None and is_known(row)]
    result = {"problems": len(rows), "compared": sum(half_width(row) is not None for row in rows),
              "interval_within_1.5": len(narrow), "verdict_and_interval": len(tight),
              "device_s_median": median(times), "device_s_median_baseline_known": median(known),
              "device_s_sum": sum(times), "baselines_known": len(known),
              "cards": sorted({row["device_uuid"] for row in rows if row["device_uuid"]}),
              "inconclusive": sorted("%s(%s)" % (row["problem"], row["reason"]) for row in rows
                                     if row["verdict"] == "inconclusive"),
              "behind": sorted((row["problem"], round(row["speedup"], 3)) for row in rows
                               if row["speedup"] is not None and row["speedup"] < BEHIND)}
    if earlier:
        agree = [overlap(row, earlier.get(row["problem"])) for row in rows]
        result["overlap"] = sum(a is True for a in agree)
        result["overlap_of"] = sum(a is not None for a in agree)
        result["earlier_cards"] = sorted({row["device_uuid"] for row in earlier.values() if row["device_uuid"]})
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--session", required=True)
    parser.add_argument("--against")
    parser.add_argument("--only")
    parser.add_argument("--device", default="cuda", choices=("cuda", "fake"))
    parser.add_argument("--limit-s", type=float, default=500)
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    database = os.path.join(arguments.out, "gold.db")
    mark = os.path.join(arguments.out, arguments.session + ".run")
    status = evaluate(arguments, database, mark)
    if not os.path.exists(mark):
        print("no run was started (ce-coord ended with %d)" % status)
        return status or 1
    with open(mark) as file:
        rows = rows_of(database, file.read().strip())
    if status == 5 and not any(row["verdict"] for row in rows):
        print("no GPU")
        return 77
    earlier = {}
    if arguments.against:
        with open(arguments.against) as file:
            earlier = {row["problem"]: row for row in json.load(file)["rows"]}
    summary = sum_up(rows, earlier)
    lines = table(rows, earlier) + ["", "```json", json.dumps(summary, indent=1), "```"]
    base = os.path.join(arguments.out, arguments.session)
    with open(base + ".json", "w") as file:
        json.dump({"summary": summary, "rows": rows}, file, indent=1)
    with open(base + ".md", "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(lines))
    if status == 130:
        return 130
    return 0 if summary["compared"] == len(rows) and rows else 3


if __name__ == "__main__":
    sys.exit(main())
