# SPDX-License-Identifier: MIT
"""The targets of the design, beside what this host measures.

    tests/bench/table.py [--note TEXT] [--keep] [--plot FILE.svg] [--only NAME …]

Runs the benchmarks (bench_compile, bench_emulator, bench_coord, bench_store: CE_BUILD names the build, default
build/ci), prints a table of target, measured and ratio, where 1 or more means that the target is met. A row that did
not run says so and why. --keep adds the numbers to docs/evidence/bench-history.jsonl; --plot draws that file.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CE_BUILD", SRC / "build/ci")).resolve()
HISTORY = SRC / "docs/evidence/bench-history.jsonl"

# name, what, target, unit, more is better, command (None: this script has none for it), pattern, or why not
ROWS = (
    ("compile", "NVRTC compile, warm child, typical kernel, p50", 60, "ms", False,
     ["tests/bench_compile", "100"], r"in NVRTC +p50 +([\d.]+) ms", None),
    ("candidate", "one candidate to its verdict, baseline known", 8, "s of device lane", False, None, None,
     "needs a GPU: tests/gpu/timing_check.py"),
    ("lane", "device lane busy while models take 20 s", 90, "%", True, None, None, "needs a GPU"),
    ("results", "durable results a second, 256 nodes, CURVE", 10000, "a second", True,
     ["tests/bench_coord", "256", "20000"], r"([\d.]+) results/s", None),
    ("lost", "a lost node is noticed", 15, "s", False, None, None, "a promise, tested by service.node_killed"),
    ("back", "coordinator back with 1 M tasks", 5, "s", False, None, None, "no benchmark of it here"),
    ("emulator", "emulator, thread instructions a second a core", 100, "M", True,
     ["tests/bench_emulator"], r"([\d.]+) M/s a core", None),
    ("gold", "gold internal suite on emu", 120, "s", False,
     ["bin/ce-coord", "eval", "--suite", "internal", "--model-id", "gold", "--device", "emu", "--yes"], None, None),
    ("reports", "leaderboard, report and plots of 1 M results", 30, "s", False, None, None,
     "long: tests/bench/bench_report.py 1000000"),
)


def measure(row, folder):
    """(value, why not)"""
    command, pattern, why = row[5:]
    if command is None:
        return None, why
    if not (BUILD / command[0]).exists():
        return None, f"{command[0]} is not built in {BUILD}"
    words = [str(BUILD / command[0]), *command[1:]]
    if pattern is None:
        words += ["--db", str(folder / "ce.db"), "--out", str(folder / "out")]
    began = time.monotonic()
    done = subprocess.run(words, cwd=SRC, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    seconds = time.monotonic() - began
    if done.returncode != 0:
        return None, f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-120:]}"
    if pattern is None:
        return round(seconds, 1), None
    found = re.search(pattern, done.stdout)
    if not found:
        return None, f"{command[0]} printed no such number"
    return float(next(g for g in found.groups() if g)), None


def ratio(row, value):
    return value / row[2] if row[4] else row[2] / value


def table(results):
    lines = ["| what | target | measured | ratio |", "|---|--:|--:|--:|"]
    for row, (value, why) in results:
        bound = f"{'≥' if row[4] else '≤'} {row[2]} {row[3]}"
        told = f"{value:g} {row[3]} | {ratio(row, value):.2f}" if value else f"not run: {why} | –"
        lines.append(f"| {row[1]} | {bound} | {told} |")
    return "\n".join(lines)


def commit():
    return subprocess.run(["git", "-C", str(SRC), "rev-parse", "--short", "HEAD"], capture_output=True,
                          text=True).stdout.strip() or None


def keep(results, note):
    entry = {"at": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": commit(),
             "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "note": note,
             "ratios": {row[0]: round(ratio(row, value), 3) for row, (value, _) in results if value},
             "measured": {row[0]: value for row, (value, _) in results if value}}
    with HISTORY.open("a") as out:
        out.write(json.dumps(entry) + "\n")


def plot(picture):
    entries = [json.loads(line) for line in HISTORY.read_text().splitlines()] if HISTORY.exists() else []
    if not entries:
        sys.exit("no history: run with --keep first")
    if not shutil.which("gnuplot"):
        sys.exit("no gnuplot: apt-get install gnuplot-nox")
    names = sorted({name for entry in entries for name in entry["ratios"]})
    script = [f"set terminal svg size 720,360 background 'white'; set output '{picture}'",
              "set logscale y; set grid y; set key outside; set xlabel 'entry of the history'",
              f"set xrange [0.5:{len(entries) + 0.5}]; set xtics 1",
              "set ylabel 'measured against target (1 or more: met)'; set datafile missing 'NaN'"]
    for name in names:
        points = "\n".join(f"{i} {entry['ratios'].get(name, 'NaN')}" for i, entry in enumerate(entries, 1))
        script.append(f"${name} << EOD\n{points}\nEOD")
    curves = ", ".join(f"${name} with linespoints title '{name}'" for name in names)
    script.append(f"plot {curves}, 1 with lines dashtype 2 linecolor 'black' title 'target'")
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--note")
    parser.add_argument("--keep", action="store_true", help="add to the history")
    parser.add_argument("--plot", help="draw the history")
    parser.add_argument("--only", nargs="+", choices=[row[0] for row in ROWS], help="run only these")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ce-bench-") as folder:
        results = [(row, measure(row, pathlib.Path(folder)) if not wanted.only or row[0] in wanted.only
                    else (None, "not asked for")) for row in ROWS]
    print(table(results))
    print(f"\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, commit {commit()}")
    if wanted.keep:
        keep(results, wanted.note)
    if wanted.plot:
        plot(wanted.plot)
    failed = [why for row, (value, why) in results if value is None and row[5] and "ended with" in (why or "")]
    sys.exit(1 if failed else 0)


main()
