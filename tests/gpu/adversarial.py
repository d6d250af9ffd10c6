#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Candidates that must be refused, each with its own outcome, on a GPU; gold passes between them.

usage: adversarial.py BIN_DIR OUT.md      (exit 0 all as expected, 1 not, 77 no GPU)
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROBLEM = "vector_add_fp32"


def rules(folder, expected):
    """One mock rule a sample: interview and polish as gold does them, codegen from the file."""
    out = []
    for sample, row in enumerate(expected):
        out.append({"stage": "codegen", "sample": sample, "index": 0,
                    "file": os.path.join(folder, row["answer"])})
    out.append({"stage": "interview", "gold": True})
    return {"rules": out}


def run(binary, script, samples, db, out):
    command = [os.path.join(binary, "ce-coord"), "eval", "--suite", "internal", "--only", PROBLEM,
               "--model-id", "mock:" + script, "--model-id", "gold", "--samples", str(samples),
               "--device", "cuda", "--db", db, "--out", out, "--yes"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    sys.stderr.write(result.stderr[-2000:])
    return result.returncode


def judge_rows(db, expected):
    """(line, is_good) for every task."""
    rows = sqlite3.connect(db).execute(
        "SELECT e.name, t.sample, t.outcome, coalesce(t.detail, ''), coalesce(t.text, '')"
        " FROM task t JOIN entrant e ON e.id = t.entrant WHERE t.kind = 'synthesize'"
        " ORDER BY t.finished_ms, t.id").fetchall()
    lines, good = [], len(rows) == 2 * len(expected)
    for name, sample, outcome, detail, text in rows:
        want = {"answer": "gold", "outcome": "ok"} if name == "gold" else expected[sample]
        fits = outcome == want["outcome"] and want.get("detail", detail) == detail
        good = good and fits
        wanted = want["outcome"] + ("(%s)" % want["detail"] if "detail" in want else "")
        got = outcome + ("(%s)" % detail if detail else "")
        lines.append("| %s | %s | %s | %s | %s |" % (want["answer"], wanted, got,
                                                    "yes" if fits else "**NO**",
                                                    text.replace("|", "\\|")))
    return lines, good


def main():
    binary, report = sys.argv[1], sys.argv[2]
    probe = json.loads(subprocess.check_output([os.path.join(binary, "ce-runner"), "--probe"]))
    if not probe["devices"]:
        print("skipped: " + probe["reason"])
        return 77
    folder = os.path.join(SOURCE, "suites", "adversarial", PROBLEM)
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    with tempfile.TemporaryDirectory() as scratch:
        script = os.path.join(scratch, "mock.json")
        with open(script, "w") as file:
            json.dump(rules(folder, expected), file)
        db = os.path.join(scratch, "ce.db")
        code = run(binary, script, len(expected), db, os.path.join(scratch, "out"))
        lines, good = judge_rows(db, expected)
    with open(report, "w") as file:
        file.write("# Candidates that must be refused, on %s\n\n" % probe["devices"][0]["name"])
        file.write("`tests/gpu/adversarial.py BIN_DIR OUT.md`; rows in the order they finished on one "
                   "device; `gold` is the suite's own kernel between them. `ce-coord eval` exited with "
                   "%d.\n\n" % code)
        file.write("| candidate | must be | was | as expected | what was said |\n"
                   "|---|---|---|---|---|\n" + "\n".join(lines) + "\n")
    print(open(report).read())
    return 0 if good and code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
