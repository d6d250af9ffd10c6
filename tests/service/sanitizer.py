# SPDX-License-Identifier: MIT
"""compute-sanitizer in a run: found, clean, refused, absent; in the store, on the board, in every reader."""
import contextlib
import json
import os
import shutil

from ce import SRC, exits, expect, main

GOOD, BAD = "silu_fp16", "vector_add_fp32"
FAST = {"default": {"candidate_ms": [0.01] * 20, "baselines": {"eager": [0.02] * 20}}}
RACE = {"problem": BAD, "text": "Error: Race reported between Write access at k+0x90 in kernel.cu:41\n"
                                "    and Read access at k+0x100 in kernel.cu:51 [508 hazards]"}


@contextlib.contextmanager
def tool(place, says):
    """A program that stands for compute-sanitizer, and says so."""
    path = place.dir / "compute-sanitizer"
    shutil.copy(SRC / "tests/support/fake_sanitizer.py", path)
    place.write("SANITIZER.json", says)
    os.environ["CE_SANITIZER"] = str(path)
    try:
        yield lambda: [json.loads(line) for line in (place.dir / "SANITIZER.log").read_text().splitlines()]
    finally:
        del os.environ["CE_SANITIZER"]


def evaluate(place, *words):
    return place.run("eval", "--suite", "internal", "--only", f"{GOOD},{BAD}", "--model-id", "gold", "--fake",
                     place.write("fake.json", FAST), *words)


def stored(place):
    return dict((problem, rest) for problem, *rest in place.rows(
        "SELECT problem, outcome, detail, speedup, sanitizer FROM task WHERE kind = 'synthesize'"))


def board(place):
    page = (place.out / "leaderboard.md").read_text()
    return next(line for line in page.splitlines() if line.startswith("| compute-sanitizer |"))


def test_a_finding_replaces_the_outcome(place):
    with tool(place, {"racecheck": RACE}) as calls:
        exits(evaluate(place), 0)
        planted = [call["tool"] for call in calls() if any(word.startswith("planted_") for word in call["program"])]
        seen = [(call["tool"], GOOD in call["program"]) for call in calls()
                if GOOD in call["program"] or BAD in call["program"]]
    expect(planted == ["memcheck", "initcheck", "racecheck", "synccheck"], "what each can see is tried once", planted)
    expect(sorted(seen) == sorted([(name, True) for name in ("memcheck", "initcheck", "racecheck", "synccheck")]
                                  + [(name, False) for name in ("memcheck", "initcheck", "racecheck")]), seen)
    rows = stored(place)
    expect(rows[GOOD][0] == "ok" and rows[GOOD][2] > 1 and rows[GOOD][3] == "clean", rows)
    expect(rows[BAD][:3] == ["race", "shared", None], rows)
    expect(rows[BAD][3].startswith("racecheck: Error: Race reported"), rows)
    tasks = {task["problem"]: task for task in place.results()["tasks"]}
    expect(tasks[GOOD]["sanitizer"] == "clean" and tasks[BAD]["sanitizer"] == rows[BAD][3], tasks)
    expect(tasks[BAD]["verdict"] is None and tasks[BAD]["speedup"] is None, tasks[BAD])
    expect("kernel.cu:51" in tasks[BAD]["text"], tasks[BAD])
    expect(board(place) == "| compute-sanitizer | 1 clean, 1 with a finding |", board(place))
    task = place.rows("SELECT id FROM task WHERE kind = 'synthesize' AND problem = ?", GOOD)[0][0]
    shown = place.run("inspect", task, "--json", out=False)
    expect(json.loads(shown.stdout)["result"]["sanitizer"] == "clean", shown.stdout)


def test_the_silence_of_a_blind_tool_is_not_clean(place):
    with tool(place, {"blind": ["racecheck"]}):
        exits(evaluate(place), 0)
    rows = stored(place)
    for problem in (GOOD, BAD):
        expect(rows[problem][0] == "ok" and rows[problem][2] > 1, "the rank is kept", rows)
        expect(rows[problem][3].startswith("not run (racecheck found nothing, and nothing in a kernel that"), rows)


def test_what_did_not_look_never_reads_as_clean(place):
    with tool(place, {"memcheck": "refuse"}):
        exits(evaluate(place), 0)
    rows = stored(place)
    for problem in (GOOD, BAD):
        expect(rows[problem][0] == "ok" and rows[problem][2] > 1, "the rank is kept", rows)
        expect(rows[problem][3].startswith("not run (memcheck: Error: Device not supported"), rows)
    expect("| 2 not run (memcheck: Error: Device not supported" in board(place), board(place))


def test_without_the_tool_it_is_not_run(place):
    os.environ.pop("CE_SANITIZER", None)
    exits(evaluate(place), 0)
    rows = stored(place)
    expect({row[3] for row in rows.values()} == {"not run (no compute-sanitizer on this node)"}, rows)
    expect("| 2 not run (no compute-sanitizer on this node)" in board(place), board(place))


if __name__ == "__main__":
    main(globals())
