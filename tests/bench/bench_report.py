# SPDX-License-Identifier: MIT
"""How long all reports of a run with a million results take, how much memory, and how that compares with the
floor: reading the rows of its tasks, calls and attempts from SQLite and doing nothing with them.

    bench_report.py [RESULTS] [KEEP.db]

A small run is made in earnest, then its rows are multiplied in the database: 250 problems, 4 entrants, as many
samples as it takes; 3 recorded calls and 2 attempts a task. `ce-coord report`, done twice, must give the same
bytes. The memory is at least that of the small run. The target is 30 s on 2 cores and 512 MiB. What counts is
processor time (user and system): the host may be busy with other work.
"""
import hashlib
import pathlib
import resource
import shutil
import sqlite3
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "service"))
from ce import Place, exits  # noqa: E402

PROBLEMS, ENTRANTS = 250, 4

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {}) "


def columns(link, table, change):
    """An INSERT … SELECT list that copies a row of a table but for what `change` says."""
    names = [row[1] for row in link.execute(f"PRAGMA table_info({table})")]
    return ", ".join(names), ", ".join(change.get(name, f"o.{name}") for name in names)


def fill(link, results):
    samples = results // (PROBLEMS * ENTRANTS)
    run = link.execute("SELECT id FROM run").fetchone()[0]
    link.execute("PRAGMA synchronous = OFF")
    link.execute("UPDATE run SET samples = ?", (samples,))
    into, what = columns(link, "problem", {"id": "printf('problem_%03d', i)", "position": "i + 1"})
    link.execute(f"INSERT INTO problem ({into}) " + NUMBERS.format(PROBLEMS) +
                 f"SELECT {what} FROM n, problem o")
    link.execute("INSERT INTO entrant (run, name, models) " + NUMBERS.format(ENTRANTS) +
                 "SELECT run, 'openai:model-' || i, models FROM n, entrant")
    model = "(SELECT rowid AS r, * FROM task WHERE kind = 'synthesize')"
    into, what = columns(link, "task", {
        "id": "printf('t%03d-%d-%06d', p.position, e.id, i)", "problem": "p.id", "entrant": "e.id", "sample": "i",
        "outcome": "iif(i % 5 = 0, 'wrong', 'ok')", "detail": "iif(i % 5 = 0, 'precision', NULL)",
        "text": "iif(i % 5 = 0, 'it is wrong at 17 of 4096 elements', NULL)",
        "speedup": "iif(i % 5 = 0, NULL, 0.5 + (i % 97) / 53.0)", "reason": "iif(i % 5 = 0, 'not correct', NULL)",
        "candidate_ms": "iif(i % 5 = 0, NULL, 0.01 + (i % 89) / 710.0)", "baseline_ms": "iif(i % 5 = 0, NULL, 0.015)",
        "device_kind": "'cuda'", "device": "'NVIDIA H200'",
        # what differs from task to task in a real run differs here: kernels, times, profiles, lineages
        "source": "lower(hex(randomblob(32)))", "plan": "lower(hex(randomblob(32)))",
        "wall_ms": "o.wall_ms + random() / 1e18", "device_ms": "o.device_ms + random() / 1e19",
        "profile": "json_set(o.profile, '$.took_ms', 6 + random() / 1e19)",
        "lineage": "json_set(o.lineage, '$[0].candidate_ms', 0.01 + abs(random() / 1e21))"})
    link.execute(f"INSERT INTO task ({into}) " + NUMBERS.format(samples) +
                 f"SELECT {what} FROM problem p, entrant e, n, {model} o WHERE p.id LIKE 'problem%' "
                 "AND e.name LIKE 'openai%'")
    into, what = columns(link, "model_call", {"task": "t.id", "cost_usd": "0.0125", "tokens_in": "3000",
                                              "tokens_out": "800"})
    link.execute(f"INSERT INTO model_call ({into}) SELECT {what} FROM task t, model_call o WHERE t.id LIKE 't%-%'")
    # a kernel that compiles, and the one that is kept: two tries, so that lineages are read
    into, what = columns(link, "attempt", {"task": "t.id", "number": "i", "source": "iif(i = 1, t.source, o.source)",
                                           "plan": "iif(i = 1, t.plan, o.plan)"})
    link.execute(f"INSERT INTO attempt ({into}) " + NUMBERS.format(2) +
                 f"SELECT {what} FROM task t, n, (SELECT * FROM attempt LIMIT 1) o WHERE t.id LIKE 't%-%'")
    link.execute("DELETE FROM task WHERE kind = 'synthesize' AND id NOT LIKE 't%-%'")
    link.execute("DELETE FROM entrant WHERE name NOT LIKE 'openai%'")
    link.execute("DELETE FROM task WHERE problem NOT LIKE 'problem%'")
    link.execute("DELETE FROM problem WHERE id NOT LIKE 'problem%'")
    link.commit()
    link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return run


def floor(path):
    """Processor time to read every row that the reports read."""
    link = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    began, rows = time.process_time(), 0
    for table in ("task", "model_call", "attempt"):
        # the work is SQLite's: one row comes out, and every column of every row was read for it
        names = [row[1] for row in link.execute(f"PRAGMA table_info({table})")]
        rows += link.execute("SELECT count(*), " + ", ".join(f"max(length({n}))" for n in names) +
                             f" FROM {table}").fetchone()[0]
    link.close()
    return time.process_time() - began, rows


def digest(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def used(before, after):
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    results = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    place = Place()
    try:
        exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32"), 0)
        began = time.monotonic()
        link = sqlite3.connect(place.db)
        run = fill(link, results)
        tasks, calls = (link.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("task", "model_call"))
        link.close()
        filled = time.monotonic() - began
        if len(sys.argv) > 2:
            shutil.copy(place.db, sys.argv[2])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        exits(place.run("report", run, "--out", place.out, timeout=1000), 0)
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        first = digest(place.out)
        exits(place.run("report", run, "--out", place.out, timeout=1000), 0)
        same = digest(place.out) == first
        least, rows = floor(place.db)
        size = sum(path.stat().st_size for path in place.out.iterdir())
    finally:
        place.close()
    cpu = used(before, after)
    print(f"{tasks} results, {calls} calls: all reports in {wall:.1f} s wall, {cpu:.1f} s of CPU, "
          f"at most {after.ru_maxrss / 1024:.0f} MiB ({size / 1e6:.0f} MB written; filling took {filled:.0f} s)")
    print(f"{rows} rows: {1e9 * cpu / rows:.0f} ns of CPU a row, {cpu / least:.1f} times the floor of "
          f"{1e9 * least / rows:.0f} ns; again: {'the same bytes' if same else 'OTHER BYTES'}")
    if not same:
        sys.exit(1)


main()
