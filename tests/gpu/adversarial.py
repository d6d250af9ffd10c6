#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Candidates that must be refused, each with its own outcome, through the real main job; gold passes
between them. What was said of each becomes one table, the kill matrix.

usage: adversarial.py [--mutants] [--device cuda|emu] BIN_DIR OUT.md [PROBLEM…]

Without --mutants: suites/adversarial, and gold after each candidate. With it: the mutants of suite
internal, and gold once a problem. Exit 0: all as expected; 1: not; 77: no GPU.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

SUITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites")
SUITE = "internal"
GOLD = {"name": "gold", "expect": ["ok"], "detail": None, "text": None}


class Bench:
    """The programs under test, and a scratch folder."""

    def __init__(self, binary, device, scratch):
        self.coord = os.path.join(binary, "ce-coord")
        self.device = device
        self.scratch = scratch
        self.db = os.path.join(scratch, "ce.db")

    def show(self, name):
        return json.loads(subprocess.check_output([self.coord, "suite", "show", name, "--json"]))

    def problems(self):
        return [row["id"] for row in self.show(SUITE)["problems"]]

    def eval(self, script, problems, samples):
        """ce-coord's exit status and the seconds it took."""
        command = [self.coord, "eval", "--suite", SUITE, "--only", ",".join(problems), "--model-id",
                   "mock:" + script, "--samples", str(samples), "--device", self.device, "--db", self.db,
                   "--out", os.path.join(self.scratch, "out"), "--yes"]
        start = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        sys.stderr.write(done.stderr[-2000:])
        return done.returncode, time.monotonic() - start

    def tasks(self):
        """(problem, sample): the finished task's row."""
        rows = sqlite3.connect(self.db).execute(
            "SELECT problem, sample, outcome, coalesce(detail, ''), coalesce(text, '') FROM task"
            " WHERE kind = 'synthesize' AND state = 'done'")
        return {(row[0], row[1]): row[2:] for row in rows}

    def run_facts(self):
        """What the run was made with."""
        database = sqlite3.connect(self.db)
        seed, suite_hash, protocol, version = database.execute(
            "SELECT seed, suite_hash, correct_protocol, version FROM run").fetchone()
        device, driver = database.execute(
            "SELECT device, driver FROM task WHERE device IS NOT NULL").fetchone() or ("none", "none")
        return ("On %s, driver %s; suite %s hash %s; %s, seed %d; ce %s"
                % (device, driver, SUITE, suite_hash, protocol, seed, version))


# ---- what must be refused: (problem, cases in the order of samples) ----

def between(cases):
    """Gold after each."""
    return [row for case in cases for row in (case, GOLD)]


def adversarial(wanted):
    root = os.path.join(SUITES, "adversarial")
    for problem in sorted(os.listdir(root)):
        folder = os.path.join(root, problem)
        if not os.path.isdir(folder) or (wanted and problem not in wanted):
            continue
        cases = []
        with open(os.path.join(folder, "expected.json")) as file:
            expected = json.load(file)
        for row in expected:
            with open(os.path.join(folder, row["answer"])) as file:
                cases.append({"name": row["answer"][:-len(".md")], "expect": [row["outcome"]],
                              "detail": row.get("detail"), "text": file.read()})
        yield problem, between(cases)


def mutants(bench, wanted):
    for problem in bench.problems():
        if wanted and problem not in wanted:
            continue
        cases = []
        for row in bench.show(problem)["mutants"]:
            blind = bench.device == "emu" and not row["emu"]
            cases.append({"name": row["name"], "expect": ["ok"] if blind else row["expect"],
                          "detail": None if blind else row["detail"],
                          "text": "```cuda\n%s```\n\n```json\n%s```\n" % (row["source"], row["plan"])})
        middle = len(cases) // 2
        yield problem, cases[:middle] + [GOLD] + cases[middle:]


# ---- the run ----

def write_script(scratch, plan):
    """A mock whose sample i is case i of its problem: gold in every stage, or codegen from a file."""
    rules = []
    for problem, cases in plan:
        for sample, case in enumerate(cases):
            rule = {"problem": problem, "sample": sample}
            if case["text"] is None:
                rules.append(dict(rule, gold=True))
                continue
            name = "%s.%d.md" % (problem, sample)
            with open(os.path.join(scratch, name), "w") as file:
                file.write(case["text"])
            rules.append(dict(rule, stage="codegen", index=0, file=name))
            rules.append(dict(rule, stage="interview", gold=True))
    path = os.path.join(scratch, "mock.json")
    with open(path, "w") as file:
        json.dump({"rules": rules}, file)
    return path


def matrix(plan, tasks):
    """Lines of the table, and how many are as expected."""
    lines, good = [], 0
    for problem, cases in plan:
        for sample, case in enumerate(cases):
            outcome, detail, text = tasks.get((problem, sample), ("not finished", "", ""))
            fits = outcome in case["expect"] and case["detail"] in (None, detail)
            good += fits
            must = " or ".join(case["expect"]) + ("(%s)" % case["detail"] if case["detail"] else "")
            was = outcome + ("(%s)" % detail if detail else "")
            said = " ".join(text.split()).replace("|", "\\|")
            lines.append("| %s / %s | %s | %s | %s | %s |" % (problem, case["name"], must, was,
                                                            "yes" if fits else "**NO**", said))
    return lines, good


def report(arguments, facts, ran):
    lines, good, code, seconds = ran
    with open(arguments.report, "w") as file:
        file.write("# %s\n\n" % ("The kill matrix of the mutants" if arguments.mutants
                                 else "Candidates that must be refused"))
        file.write("%s.\n\n" % facts)
        file.write("**%d of %d as expected.** `ce-coord eval` exited with %d after %d s. `gold` is the suite's "
                   "own kernel: it must pass, whatever ran before it. Rows are in the order in which one device "
                   "takes the samples of a problem.\n\n" % (good, len(lines), code, seconds))
        file.write("| mutant | must be | was | as expected | what was said |\n|---|---|---|---|---|\n")
        file.write("\n".join(lines) + "\n")
    with open(arguments.report) as file:
        print(file.read())


def has_gpu(binary):
    probe = json.loads(subprocess.check_output([os.path.join(binary, "ce-runner"), "--probe"]))
    if not probe["devices"]:
        print("skipped: " + probe["reason"])
    return bool(probe["devices"])


def read_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].splitlines()[0])
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--device", default="cuda", choices=("cuda", "emu"))
    parser.add_argument("binary", metavar="BIN_DIR")
    parser.add_argument("report", metavar="OUT.md")
    parser.add_argument("problems", metavar="PROBLEM", nargs="*")
    return parser.parse_args()


def main():
    arguments = read_arguments()
    if arguments.device == "cuda" and not has_gpu(arguments.binary):
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments.binary, arguments.device, scratch)
        plan = list(mutants(bench, arguments.problems) if arguments.mutants
                    else adversarial(arguments.problems))
        if not plan:
            sys.exit("no candidates for %s" % " ".join(arguments.problems))
        samples = max(len(cases) for _, cases in plan)
        code, seconds = bench.eval(write_script(scratch, plan), [problem for problem, _ in plan], samples)
        lines, good = matrix(plan, bench.tasks())
        report(arguments, bench.run_facts(), (lines, good, code, seconds))
    return 0 if good == len(lines) and code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
