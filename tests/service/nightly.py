# SPDX-License-Identifier: MIT
"""Nights with real processes: good, worse, a dead canary, killed, measured again, pruned, overdue, accepted."""
import json
import pathlib
import signal
import sqlite3
import subprocess

from ce import BIN, PATIENCE, SRC, exits, expect, main
from coordinator_killed import kill
from node_killed import SLOW, served

GOLD = [{"gold": True}]
REFUSES = [{"text": "I would rather not."}]
PROBLEMS = ["vector_add_fp32", "silu_fp16", "mish_fp16"]
FIELDS = "verdict", "run", "again", "reason"


def write(place, name="nightly.yaml", **more):
    """A nightly.yaml, which may be JSON; a value of None leaves the key out."""
    place.write("lenient.yaml", "pass_alpha: 1\n")
    hook = place.write("told.sh", '#!/bin/sh\n{ echo "$CE_EVENT|$CE_MESSAGE"; env; cat; } > told-"$CE_EVENT"\n')
    hook.chmod(0o755)
    wanted = {"name": "trial", "out": "nights", "db": "ce.db", "suites": ["internal"], "only": PROBLEMS,
              "models": [f"mock:{place.dir / 'mock.json'}"], "device": "fake", "selftest": False,
              "gate": {"rules": "lenient.yaml"}, "evidence": {"pack": False}, "notify": [str(hook)]}
    wanted.update(more)
    return place.write(name, {key: value for key, value in wanted.items() if value is not None})


def command(place, *words):
    return [str(BIN / "ce-coord"), "nightly", "--config", str(place.dir / "nightly.yaml"), *map(str, words)]


def nightly(place, *words, env=None):
    return subprocess.run(command(place, *words), cwd=place.dir, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=5 * PATIENCE, env=env)


def nights(place):
    return [dict(zip(("id", "folder") + FIELDS, row))
            for row in place.rows(f"SELECT id, folder, {', '.join(FIELDS)} FROM night ORDER BY id")]


def change(place, sql):
    link = sqlite3.connect(place.db, timeout=30)
    with link:
        link.executescript(sql)
    link.close()


def told(place, event):
    """What the hook was told: its first line, its environment, its document."""
    lines = (place.dir / f"told-{event}").read_text().splitlines()
    return lines[0], lines[1:-1], json.loads(lines[-1])


def document(place, name):
    return json.loads((place.dir / "nights" / name).read_text())


def test_a_good_night_a_worse_one_and_a_good_one(place):
    write(place, evidence={"pack": True})
    place.mock(GOLD)
    exits(nightly(place), 0)
    first = nights(place)[0]
    folder = pathlib.Path(first["folder"])
    expect(first["verdict"] == "good" and folder.parent == place.dir / "nights", first)
    for name in ("report.md", "leaderboard.md", "gate.md", "night.json", "evidence/manifest.json"):
        expect((folder / name).exists(), name)
    expect("3 of 3 of the suite's own kernels are correct" in (folder / "gate.md").read_text())
    exits(subprocess.run([BIN / "ce-coord", "evidence", "verify", folder / "evidence"], capture_output=True, text=True,
                         timeout=PATIENCE), 0)
    success = document(place, "last-success.json")
    expect(success["night"] == 1 and success["run"] == first["run"] and success["exit"] == 0, success)
    expect(told(place, "good")[2] == success)

    place.mock(REFUSES)
    done = nightly(place)
    exits(done, 3)
    second = nights(place)[1]
    expect(second["verdict"] == "worse" and "of 2 entrants" in second["reason"], second)
    line, environment, heard = told(place, "worse")
    expect(line.startswith("worse|night 2 of trial: worse: regression") and heard["exit"] == 3, line, heard)
    expect(heard["against"] == first["run"] and heard["looked_back"] == 1, heard)
    expect(document(place, "last-success.json") == success, "a worse night is no success")
    expect(document(place, "last-night.json") == heard)
    prom = document_text(place, "ce-nightly.prom")
    expect('verdict="worse"' in prom and "last_success_timestamp_seconds{series=\"trial\"} 1" in prom, prom)

    place.mock(GOLD)
    exits(nightly(place), 0)
    third = document(place, "last-success.json")
    expect(third["night"] == 3 and third["against"] == first["run"], "held against the last good night", third)
    listed = nightly(place, "--list").stdout.splitlines()
    expect([line.split()[2] for line in listed[1:]] == ["good", "worse", "good"], listed)


def document_text(place, name):
    return (place.dir / "nights" / name).read_text()


def test_the_hook_gets_no_key_and_its_failure_changes_nothing(place):
    write(place, only=PROBLEMS[:1], models=["gold"])
    exits(nightly(place, env={"PATH": "/usr/bin:/bin", "OPENAI_API_KEY": "sk-planted", "SLACK": "x"}), 0)
    _, environment, _ = told(place, "good")
    expect("SLACK=x" in environment and not any("sk-planted" in line for line in environment), environment)
    write(place, only=PROBLEMS[:1], models=["gold"], notify=["/bin/false"])
    done = nightly(place)
    exits(done, 0)
    expect("nobody was told: the hook /bin/false: it exited with 1" in done.stderr, done.stderr)


def test_a_dead_canary_is_no_verdict_about_models(place):
    suites = place.suites(PROBLEMS)
    (suites / "internal" / PROBLEMS[0] / "gold.cu").write_text("this is no CUDA\n")
    write(place, suites_dir=str(suites), models=["gold"], device="emu")
    exits(nightly(place), 3)
    row = nights(place)[0]
    expect(row["verdict"] == "canary" and PROBLEMS[0] in row["reason"] and "1 of 3" in row["reason"], row)


def test_a_card_that_fails_its_self_test_is_a_dead_canary(place):
    write(place, only=PROBLEMS[:1], models=["gold"], selftest=None)  # an unscripted fake card fails it
    exits(nightly(place), 3)
    row = nights(place)[0]
    expect(row["verdict"] == "canary" and "self-test of a card failed: fake" in row["reason"], row)


def test_a_killed_night_goes_on_and_pays_nothing_twice(place):
    write(place, slots=2)
    place.mock(SLOW)
    log = open(place.dir / "night.log", "w+")
    child = subprocess.Popen(command(place), cwd=place.dir, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    child.log = place.dir / "night.log"
    place.children.append(child)
    place.wait("some answers are recorded", lambda: place.count("model_call", "provider = 'mock'") >= 3)
    refused = nightly(place)
    exits(refused, 2)
    expect(f"a night of trial is at work (PID {child.pid})" in refused.stderr, refused.stderr)
    before = {answer for answer in kill(place, child) if served(place)[answer]}
    times = served(place)
    open_night = nights(place)
    expect(len(open_night) == 1 and open_night[0]["verdict"] == "open" and open_night[0]["run"], open_night)
    expect("would go on with night 1" in nightly(place, "--dry-run").stdout)
    exits(nightly(place), 0)
    after = nights(place)
    expect(len(after) == 1 and after[0]["run"] == open_night[0]["run"] and after[0]["verdict"] == "good", after)
    expect(place.count("run") == 1)
    expect(before and all(served(place)[answer] == times[answer] for answer in before), before, served(place))


def test_a_night_too_old_to_go_on_with_is_abandoned(place):
    write(place, only=PROBLEMS[:1], models=["gold"])
    exits(nightly(place), 0)
    change(place, "UPDATE night SET verdict = 'open', ended_ms = NULL, began_ms = began_ms - 21 * 3600000")
    exits(nightly(place), 0)
    expect([row["verdict"] for row in nights(place)] == ["abandoned", "good"], nights(place))


def card(place, run, ms):
    """As if a run of the fake device had been timed on a card."""
    change(place, f"UPDATE task SET device_kind = 'cuda', candidate_ms = {ms} WHERE run = '{run}'")


def test_what_became_slower_is_measured_again_from_the_same_answers(place):
    write(place, only=PROBLEMS[:1])
    place.mock(GOLD)
    exits(nightly(place), 0)
    exits(nightly(place), 0)
    first, second = nights(place)
    card(place, first["run"], 1.0)
    card(place, second["run"], 2.0)
    calls = len(place.served())
    # As if it had been killed after its last task.
    change(place, "UPDATE night SET verdict = 'open', ended_ms = NULL, reason = NULL WHERE id = 2")
    done = nightly(place)
    exits(done, 5)  # one more run, of the fake device: another kind of device cannot confirm
    second = nights(place)[1]
    expect("measuring 1 problems a second time" in done.stderr and second["again"], done.stderr, second)
    models = place.rows("SELECT name, models FROM entrant WHERE run = ?", second["again"])
    expect(len(models) == 2 and f"replay:{second['run']}" in dict(models)[f"mock:{place.dir / 'mock.json'}"], models)
    expect(len(place.served()) == calls, "nothing is asked again")
    expect(place.count("task", f"run = '{second['again']}' AND outcome = 'ok'") == 3, "contract, gold, replay")


def test_old_nights_go_and_the_good_the_published_and_your_own_runs_stay(place):
    one = PROBLEMS[:1]
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", one[0]), 0)
    own = place.rows("SELECT id FROM run")[0][0]
    write(place, only=one, gate={"window": 1, "rules": "lenient.yaml"}, keep={"nights": 2, "packs": 1},
          evidence={"pack": True})
    place.mock([{"text": "I will not (1)."}])
    exits(nightly(place), 0)
    (pathlib.Path(nights(place)[0]["folder"]) / "published").write_text("a paper\n")
    for number in (2, 3, 4):
        place.mock([{"text": f"I will not ({number})."}])
        exits(nightly(place), 0)
    rows = nights(place)
    expect([row["run"] is not None for row in rows] == [True, False, True, True], rows)
    folders = [pathlib.Path(row["folder"]) for row in rows]
    expect([folder.exists() for folder in folders] == [True, False, True, True], folders)
    expect([(folder / "evidence").exists() for folder in folders] == [True, False, False, True], folders)
    expect(place.count("run", f"id = '{own}'") == 1, "a run of a person is no night's")
    kept = {row[0] for row in place.rows("SELECT DISTINCT answer FROM model_call WHERE provider = 'mock'")}
    texts = {row[0] for row in place.rows("SELECT hash FROM artifact")}
    expect(len(kept) == 3 and kept <= texts, "answers of runs that stay")
    exits(subprocess.run([BIN / "ce-coord", "evidence", "pack", rows[2]["run"], "--db", place.db, "--out",
                          place.dir / "again"], capture_output=True, text=True, timeout=PATIENCE), 0)
    # The database may be small: all go that may.
    write(place, only=one, gate={"window": 1, "rules": "lenient.yaml"}, keep={"db_mib": 1})
    change(place, "CREATE TABLE ballast (b BLOB); INSERT INTO ballast VALUES (zeroblob(2000000))")
    done = nightly(place)
    exits(done, 0)
    expect("nothing more may be removed" in done.stderr, done.stderr)
    expect([row["run"] is not None for row in nights(place)] == [True, False, False, False, True], nights(place))


def test_a_dead_man_is_noticed_and_a_new_normal_accepted(place):
    write(place, only=PROBLEMS)
    place.mock(GOLD)
    exits(nightly(place, "--overdue"), 3)
    expect("(the last: never)" in told(place, "overdue")[0])
    exits(nightly(place), 0)
    exits(nightly(place, "--overdue"), 0)
    change(place, "UPDATE night SET began_ms = began_ms - 27 * 3600000, ended_ms = ended_ms - 27 * 3600000")
    exits(nightly(place, "--overdue"), 3)
    expect(told(place, "overdue")[2]["last_good"], told(place, "overdue"))
    place.mock(REFUSES)
    exits(nightly(place), 3)
    exits(nightly(place), 3)
    exits(nightly(place, "--accept", "latest"), 0)
    exits(nightly(place), 0)
    expect(document(place, "last-success.json")["against"] == nights(place)[2]["run"], nights(place))
    exits(nightly(place, "--accept", "77"), 2)
    exits(nightly(place, "--accept", "soon"), 2)


def test_a_file_that_is_wrong_is_told_with_its_place(place):
    good = "name: t\nout: n\nsuites: [internal]\n"
    for text, words in ((good + "colour: red\n", ("nightly.yaml:4:", "colour")),
                        (good + "device: tpu\n", ("nightly.yaml:4: /device:", "cuda")),
                        (good + "samples: 0\n", ("nightly.yaml:4: /samples:",)),
                        (good + "keep:\n  nights: 30\n  weeks: 2\n", ("nightly.yaml:6:", "weeks")),
                        (good + "models: [openai:gpt-6.2-sol]\n", ("openai:gpt-6.2-sol costs money", "budget_usd")),
                        (good + "models: [nobody]\nbudget_usd: -1\n", ("nightly.yaml:5: /budget_usd:",)),
                        (good + "models: ['']\n", ("nightly.yaml:4: /models/0:",)),
                        (good + "entrants: none.yaml\n", ("nightly.yaml:4: /entrants: there is no /",)),
                        (good + "gate: {rules: lenient.yaml, window: 99}\n", ("nightly.yaml:4: /gate/window:",)),
                        ("name: T\nout: n\nsuites: [internal]\n", ("nightly.yaml:1: /name:", "small letters")),
                        ("name: t\nsuites: [internal]\n", ("`out` is missing",)),
                        ("name: t\nout: n\n", ("`suites` is missing",)),
                        ("name: [\n", ("nightly.yaml:",))):
        place.write("lenient.yaml", "pass_alpha: 1\n")
        place.write("nightly.yaml", text)
        done = nightly(place, "--dry-run")
        exits(done, 2)
        expect(all(word in done.stderr for word in words), words, done.stderr)
    place.write("nightly.yaml", good.replace("internal", "infernal") + "db: ce.db\n")
    exits(nightly(place), 2)


def test_the_shipped_example_is_a_night(place):
    text = (SRC / "deploy/nightly.yaml").read_text()
    place.write("nightly.yaml", text.replace("/var/lib/ce-nightly", str(place.dir)))
    done = nightly(place, "--dry-run")
    exits(done, 0)
    expect("problems: 48" in done.stdout and "of them paid: 0" in done.stdout, done.stdout)


if __name__ == "__main__":
    main(globals())
