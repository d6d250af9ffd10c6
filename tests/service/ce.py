# SPDX-License-Identifier: MIT
"""Helpers of the service tests: a place of its own, real processes, the database read from outside.

Every test script is a list of functions named test_*; main(globals()) runs them (or those named on
the command line), prints one line each, and exits with 1 when one failed, 77 when all were skipped.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback

BIN = pathlib.Path(os.environ["CE_BIN"]).resolve()  # ctest sets both; by hand: build/dev/bin
SRC = pathlib.Path(os.environ["CE_SRC"]).resolve()
SHIPPED = re.findall(r"^  - (\w+)$", (SRC / "suites/internal/suite.yaml").read_text(), re.MULTILINE)
PATIENCE = float(os.environ.get("CE_PATIENCE", "60"))


class Skip(Exception):
    """The test needs something that is not here."""


class Place:
    """A folder with a database, an output folder and scripts; processes die with it."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ce-service-"))
        self.db = self.dir / "ce.db"
        self.out = self.dir / "out"
        self.children = []

    def close(self):
        for child in self.children:
            if child.poll() is None:
                child.kill()
            child.wait()
        # a read-only folder of a test must not stay
        for root, _, _ in os.walk(self.dir):
            os.chmod(root, 0o700)
        shutil.rmtree(self.dir)

    # ---- files ----
    def write(self, name, value):
        path = self.dir / name
        text = value if isinstance(value, str) else json.dumps(value)
        path.write_text(text)
        return path

    def suites(self, only=("vector_add_fp32", "silu_fp16")):
        """A copy of suite internal with some of its problems, to be spoilt."""
        root = self.dir / "suites"
        suite = root / "internal"
        suite.mkdir(parents=True)
        for problem in only:
            shutil.copytree(SRC / "suites/internal" / problem, suite / problem)
        (suite / "suite.yaml").write_text(
            'id: internal\nversion: "0.1"\ntitle: copied\nproblems:\n' + "".join(f"  - {p}\n" for p in only))
        return root

    def mock(self, rules, name="mock.json"):
        """A mock provider that records every served call; gives its model id."""
        self.write(name, {"record": name + ".served", "rules": rules})
        return f"mock:{self.dir / name}"

    def served(self, name="mock.json"):
        path = self.dir / (name + ".served")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    # ---- processes ----
    def command(self, *words, device="fake", db=True, out=True):
        line = [str(BIN / "ce-coord"), *map(str, words)]
        if words and words[0] == "eval" and "--resume" not in words and device:
            line += ["--device", device]
        if db:
            line += ["--db", str(self.db)]
        if out and words and words[0] == "eval":
            line += ["--out", str(self.out)]
        return line

    def run(self, *words, timeout=None, user=None, group=None, **how):
        return subprocess.run(self.command(*words, **how), cwd=self.dir, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout or PATIENCE, user=user, group=group)

    def start(self, *words, **how):
        log = open(self.dir / f"log{len(self.children)}", "w+")
        child = subprocess.Popen(self.command(*words, **how), cwd=self.dir, stdout=subprocess.PIPE,
                                 stderr=log, text=True, stdin=subprocess.DEVNULL)
        child.log = pathlib.Path(log.name)
        self.children.append(child)
        return child

    def node(self, endpoint, *words):
        log = open(self.dir / f"log{len(self.children)}", "w+")
        child = subprocess.Popen([str(BIN / "ce-node"), "--coordinator", endpoint, *map(str, words)],
                                 cwd=self.dir, stdout=subprocess.DEVNULL, stderr=log,
                                 stdin=subprocess.DEVNULL)
        child.log = pathlib.Path(log.name)
        self.children.append(child)
        return child

    # ---- the database, read from outside ----
    def rows(self, sql, *values):
        if not self.db.exists():
            return []
        link = sqlite3.connect(f"file:{self.db}?mode=ro", uri=True, timeout=10)
        try:
            return link.execute(sql, values).fetchall()
        except sqlite3.DatabaseError:
            return []  # the schema is not there yet, or it is no database
        finally:
            link.close()

    def count(self, table, where="1"):
        rows = self.rows(f"SELECT count(*) FROM {table} WHERE {where}")
        return rows[0][0] if rows else 0

    def wait(self, what, condition, timeout=None):
        """Waits until condition() is true and gives its value."""
        until = time.monotonic() + (timeout or PATIENCE)
        while time.monotonic() < until:
            value = condition()
            if value:
                return value
            for child in self.children:
                if child.poll() not in (None, 0, -signal.SIGKILL):
                    raise AssertionError(f"{what}: a process ended with {child.returncode}: "
                                         f"{child.log.read_text()}")
            time.sleep(0.02)
        logs = "\n".join(f"--- {c.log}\n{c.log.read_text()}" for c in self.children)
        raise AssertionError(f"waited in vain: {what}\n{logs}")

    def results(self):
        return json.loads((self.out / "results.json").read_text())


def local_node_of(coordinator):
    """The pid of the ce-node that a ce-coord has started."""
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if not entry.name.isdigit():
                continue
            stat = (entry / "stat").read_text()
            parent = int(stat.rsplit(")", 1)[1].split()[1])
            if parent == coordinator.pid and "(ce-node)" in stat:
                return int(entry.name)
        except (OSError, IndexError, ValueError):
            continue
    return None


def expect(condition, *facts):
    if not condition:
        raise AssertionError("\n".join(str(fact) for fact in facts))


def exits(result, code):
    returncode = result.returncode
    expect(returncode == code, f"exit {returncode}, wanted {code}", result.stdout[-500:], result.stderr[-2000:])


def main(namespace):
    chosen = sys.argv[1:]
    failed = skipped = ran = 0
    for name, test in list(namespace.items()):
        if not name.startswith("test_") or (chosen and name not in chosen):
            continue
        place = Place()
        began = time.monotonic()
        try:
            test(place)
            verdict = "ok"
        except Skip as reason:
            skipped += 1
            verdict = f"skipped: {reason}"
        except Exception:  # a test failed; the others still run
            failed += 1
            verdict = "FAILED\n" + traceback.format_exc()
        finally:
            place.close()
        ran += 1
        print(f"{re.sub('^test_', '', name).replace('_', ' ')}: {verdict} "
              f"({time.monotonic() - began:.1f} s)", flush=True)
    sys.exit(1 if failed else 77 if ran and ran == skipped else 0)
