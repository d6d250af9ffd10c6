# SPDX-License-Identifier: MIT
"""Results of other programs: kept as claims once, shown apart, refused where they are wrong."""
import json
import os

from ce import SRC, exits, expect, main

DATA = SRC / "tests/data/claims"


def test_files_are_imported_once_and_shown_apart(place):
    done = place.run("import", DATA / "results.csv", DATA / "some-model", out=False)
    exits(done, 0)
    expect(done.stdout == "11 claims are stored, 0 were there before\n", done.stdout)
    again = place.run("import", DATA / "results.csv", out=False)
    exits(again, 0)
    expect(again.stdout == "0 claims are stored, 7 were there before\n", again.stdout)
    shown = place.run("compare-providers", "--json", out=False)
    exits(shown, 0)
    entrants = {row["entrant"]: row for row in json.loads(shown.stdout)["claimed"]}
    expect(entrants["anthropic:model-a"]["correct"] == 3 and entrants["some-model"]["format"] == "kernelbench", entrants)
    expect(place.count("ranked") == 0 and place.count("task") == 0, "a claim became a result")


def test_files_are_compared_without_a_database(place):
    done = place.run("compare-providers", DATA / "results.csv", DATA / "hotkernel", out=False)
    exits(done, 0)
    expect("| hotkernel | somebody |" in done.stdout and "Claimed, not re-run here" in done.stdout, done.stdout)
    expect(not place.db.exists(), "looking made a database")


def test_claims_stand_below_what_was_measured(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32"), 0)
    exits(place.run("import", DATA / "some-model", "--entrant", "<b>model</b>", out=False), 0)
    board = place.run("leaderboard", out=False).stdout
    measured, claimed = board.split("\n## Claimed\n")
    expect("| gold |" in measured and "model" not in measured.split("## Models")[0].replace("model time", "")
           .replace("ce-coord", ""), measured)
    expect("\\<b\\>model\\</b\\>" in claimed, claimed)
    page = place.run("leaderboard", "--format", "html", out=False).stdout
    expect("<b>" not in page and "&lt;b&gt;model" in page, page)


def test_what_is_wrong_leaves_nothing_behind(place):
    good, bad = DATA / "results.csv", place.write("eval_results.json", {"1": [{"compiled": True}]})
    done = place.run("import", good, bad, out=False)
    exits(done, 2)
    expect(f"{bad}" in done.stderr and "/1/0" in done.stderr and "correctness" in done.stderr, done.stderr)
    expect(not os.path.exists(place.db) or place.count("claim") == 0, "half of an import was kept")


main(globals())
