# SPDX-License-Identifier: MIT
"""What a person got wrong: one clear sentence with file and pointer, exit 2, nothing half-written."""
import os
import re
import sqlite3
import subprocess

from ce import Skip, exits, expect, main

EVAL = ("eval", "--suite", "internal", "--model-id", "gold")


def refuses(place, words, *texts, **how):
    """The command exits with 2 and says one sentence that contains every text; no run stays."""
    done = place.run(*words, **how)
    exits(done, 2)
    said = [line for line in done.stderr.splitlines()
            if not re.match(r"run \w+$|checking contracts|waiting for a node|\[[#.]", line)]
    expect(len(said) == 1 and said[0].startswith("ce-coord eval: "), "one sentence", done.stderr)
    for text in texts:
        expect(text in said[0], f"missing: {text}", said[0])
    expect(done.stdout == "", done.stdout)
    expect(place.count("run") == 0 and place.count("task") == 0, "a run was left behind")
    expect(not place.out.exists(), "an output folder was left behind")


def test_the_command_line(place):
    rows = [
        (("eval", "--suite", "internol", "--model-id", "gold"), ("internol", "internal")),
        (("eval", "--suite", "internal", "--model-id", "gtp:5"), ("gtp:5", "gold", "mock:FILE", "replay:RUN")),
        (("eval", "--suite", "internal", "--model-id", "mock:nowhere.json"), ("nowhere.json",)),
        (("eval", "--suite", "internal"), ("--model-id",)),
        (("eval", "--model-id", "gold"), ("--suite",)),
        (EVAL + ("--only", "silu_pf16"), ("silu_pf16", "did you mean silu_fp16")),
        (EVAL + ("--stage", "cooking=gold"), ("cooking", "codegen")),
        (EVAL + ("--samples", "0"), ("--samples",)),
        (EVAL + ("--sampels", "3"), ("--sampels", "did you mean --samples")),
        (EVAL + ("--bind", "tcp://nowhere"), ("tcp://nowhere", "expected")),
        (EVAL + ("--fake", "nowhere.json"), ("nowhere.json",)),
        (EVAL + ("--coordinator", "ipc:///nowhere/s"), ("/nowhere/s", "ce-coord serve")),
    ]
    for words, texts in rows:
        refuses(place, words, *texts)


def test_files_of_a_suite(place):
    """Each row spoils one file of a fresh copy of the suite."""
    rows = [
        ("problem.yaml", lambda t: t + "colour: red\n", ("vector_add_fp32/problem.yaml:", "colour")),
        ("problem.yaml", lambda t: re.sub(r"shapes:.*?benchmark:", "shapes: 7\nbenchmark:", t, flags=re.S),
         ("vector_add_fp32/problem.yaml:", "/shapes")),
        ("problem.yaml", lambda t: "title: [\n" + t, ("vector_add_fp32/problem.yaml:",)),
        ("gold.json", lambda t: t[:len(t) // 2], ("vector_add_fp32/gold.json",)),
        ("gold.json", lambda t: t.replace('"a"', '"nobody"', 1) if '"a"' in t else t.replace('"x"', '"nobody"', 1),
         ("vector_add_fp32/gold.json", "nobody", "/kernels/0/args")),
    ]
    root = place.suites()
    folder = root / "internal/vector_add_fp32"
    for name, spoil, texts in rows:
        whole = (folder / name).read_text()
        (folder / name).write_text(spoil(whole))
        expect((folder / name).read_text() != whole, f"{name} was not spoilt")
        refuses(place, EVAL + ("--suites", root), *texts)
        (folder / name).write_text(whole)
    (folder / "reference.py").unlink()
    refuses(place, EVAL + ("--suites", root), "vector_add_fp32/reference.py")


def test_a_reference_that_raises_is_found_before_any_model_call(place):
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode:
        raise Skip("no PyTorch here")
    root = place.suites()
    reference = root / "internal/silu_fp16/reference.py"
    text = reference.read_text()
    at = re.search(r"^def reference\(.*\):\n", text, re.M)
    expect(at, text)
    line = text[:at.end()].count("\n") + 1
    reference.write_text(text[:at.end()] + '    raise ValueError("no such luck")\n' + text[at.end():])
    model = place.mock([{"gold": True}])
    done = place.run("eval", "--suite", "internal", "--model-id", model, "--suites", root, device="cuda", timeout=120)
    exits(done, 2)
    last = done.stderr.splitlines()[-1]
    expect(f"silu_fp16/reference.py:{line}:" in last and "no such luck" in last, done.stderr)
    expect(place.served() == [], "a model was asked")
    expect(place.count("run") == 0 and not place.out.exists(), "something was left behind")


def test_a_harness_that_cannot_work_says_why_and_scores_nothing(place):
    """An interpreter without PyTorch is no fault of a candidate: exit 1, the reason, a way to go on."""
    python = place.write("python", "#!/bin/sh\nexit 7\n")
    python.chmod(0o755)
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "silu_fp16", "--python", python,
                     device="cuda", timeout=120)
    exits(done, 1)
    expect("contract of silu_fp16: the harness failed: " in done.stderr, done.stderr)
    expect("resume with: " in done.stderr, done.stderr)
    expect(place.count("task", "outcome IS NOT NULL") == 0, place.rows("SELECT kind, outcome, text FROM task"))
    expect(place.count("run", "state = 'failed'") == 1)


def test_a_database_that_cannot_be_written(place):
    """Root may write anything, so root tries as somebody else."""
    who = {"user": "nobody", "group": "nogroup"} if os.getuid() == 0 else {}
    place.dir.chmod(0o755)
    exits(place.run(*EVAL, "--only", "silu_fp16"), 0)
    place.db.chmod(0o444)
    place.dir.chmod(0o555)
    before = place.db.read_bytes()
    done = place.run(*EVAL, out=False, **who)
    exits(done, 2)
    expect(str(place.db) in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    expect(place.db.read_bytes() == before)
    (place.dir / "empty").mkdir(mode=0o555) if os.getuid() == 0 else None
    done = place.run(*EVAL, "--db", place.dir / "empty/ce.db", db=False, out=False, **who)
    exits(done, 2)
    expect("ce.db" in done.stderr or "empty" in done.stderr, done.stderr)


def test_a_database_in_a_place_that_is_none(place):
    refuses(place, EVAL + ("--db", "/proc/ce.db"), "/proc/ce.db", db=False)
    (place.dir / "file").write_text("")
    refuses(place, EVAL + ("--db", place.dir / "file/ce.db"), str(place.dir / "file"), db=False)
    place.db.write_text("this is no database, and long enough to be taken for one " * 20)
    refuses(place, EVAL, "ce.db")


def test_a_database_in_use(place):
    endpoint = f"ipc://{place.dir}/join"
    slow = place.mock([{"gold": True, "latency_ms": 20000}])
    owner = place.start("eval", "--suite", "internal", "--model-id", slow, "--only", "silu_fp16", "--bind", endpoint)
    place.wait("the first run is under way", lambda: place.count("run"))
    done = place.run(*EVAL, out=False)
    exits(done, 2)
    expect(f"owned by PID {owner.pid}" in done.stderr and str(place.db) in done.stderr, done.stderr)
    expect(len(done.stderr.splitlines()) == 1, done.stderr)
    expect(place.count("run") == 1)


def test_a_database_of_a_newer_version(place):
    exits(place.run(*EVAL, "--only", "silu_fp16"), 0)
    link = sqlite3.connect(place.db)
    link.execute("PRAGMA user_version = 9999")
    link.commit()
    link.close()
    before = place.db.read_bytes()
    done = place.run(*EVAL, out=False)
    exits(done, 2)
    expect("newer" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    expect(place.db.read_bytes() == before, "the database was changed")


def test_a_run_that_is_not_there(place):
    refuses(place, ("eval", "--resume", "latest"), "ce.db")
    exits(place.run(*EVAL, "--only", "silu_fp16"), 0)
    done = place.run("eval", "--resume", "zzz", out=False)
    exits(done, 2)
    expect("zzz" in done.stderr, done.stderr)


main(globals())
