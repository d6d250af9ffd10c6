# SPDX-License-Identifier: MIT
"""ce-coord suite validate: on the fake device how it is run, on the emulator what it finds."""
import json
import signal
import time

from ce import Skip, exits, expect, main


def validate(place, *words, device="fake", **how):
    return place.run("suite", "validate", *words, *(() if device is None else ("--device", device)), "--out",
                     place.out, **how)


def needs_torch(done):
    if "imports torch" in done.stderr:
        raise Skip("no PyTorch here")


def mutants(place, problem):
    shown = place.run("suite", "show", problem, "--json", db=False)
    return len(json.loads(shown.stdout)["mutants"])


def found(place):
    return json.loads((place.out / "validation.json").read_text())


def test_a_mutant_that_passes_is_exit_3(place):
    """On the fake device everything passes, the mutants too."""
    done = validate(place, "silu_fp16")
    exits(done, 3)
    expect("sigmoid_only must be wrong(element) and is ok" in done.stdout, done.stdout)
    expect("0 of 1 problems admitted" in done.stdout, done.stdout)
    report = found(place)
    expect(not report["passed"] and len(report["problems"][0]["kernels"]) == 1 + mutants(place, "silu_fp16"), report)
    expect("| silu_fp16 | gold | ok | ok | yes |" in (place.out / "validation.md").read_text())
    expect(place.rows("SELECT kind, state FROM run") == [("validate", "complete")], place.rows("SELECT * FROM run"))


def test_json_goes_to_stdout_alone(place):
    done = validate(place, "silu_fp16", "--json")
    exits(done, 3)
    expect(json.loads(done.stdout) == found(place))


def test_a_validation_never_competes(place):
    exits(validate(place, "silu_fp16"), 3)
    refused = place.run("compare-providers")
    expect(refused.returncode == 2 and "no complete run" in refused.stderr, refused.stderr)
    expect(place.count("ranked") == 0)


def test_an_interrupted_validation_goes_on(place):
    fake = place.write("fake.json", {"default": {"delay_ms": 20}})
    run = place.start("suite", "validate", "silu_fp16", "argmax_fp32", "--device", "fake", "--fake", fake, "--slots",
                      1, "--out", place.out)
    deadline = time.monotonic() + 60
    while place.count("task", "kind = 'synthesize' AND state = 'done'") < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    expect(run.wait(30) == 130, run.log.read_text())
    expect("suite validate --resume" in run.log.read_text(), run.log.read_text())
    done_before = place.rows("SELECT id, finished_ms FROM task WHERE state = 'done'")
    other = place.run("eval", "--resume", "latest")
    expect(other.returncode == 2 and "is a validation" in other.stderr, other.stderr)
    quick = place.write("quick.json", {"default": {"delay_ms": 0}})
    exits(validate(place, "--resume", "latest", "--fake", quick, device=None), 3)
    expect(place.count("task", "state = 'done'") == 4 + mutants(place, "silu_fp16") + mutants(place, "argmax_fp32"), place.rows("SELECT state FROM task"))
    for name, finished in done_before:
        expect(place.count("task", f"id = '{name}' AND finished_ms = {finished}") == 1, "a task ran twice")


def test_wrong_words_have_their_own_messages(place):
    for words, text in ((("nosuch",), "no problem nosuch"), (("--suite", "nosuch"), "nosuch"),
                        (("--device", "tpu"), "--device tpu"), (("silu_fp16", "--resume", "latest"), "PROBLEM"),
                        (("--resume", "latest", "--seed", "1"), "--seed")):
        done = place.run("suite", "validate", *words)
        exits(done, 2)
        expect(text in done.stderr, done.stderr)
    done = place.run("suite", "valdate", db=False)
    exits(done, 2)
    expect("want one of list, show, diff, validate, new" in done.stderr, done.stderr)


def test_a_problem_that_cannot_judge_is_not_admitted(place):
    """Each row spoils a reference in a way that only running it shows."""
    root = place.suites(("vector_add_fp32",))
    reference = root / "internal/vector_add_fp32/reference.py"
    for text, words in (("    return a + a\n", "no output depends on input b"),
                        ("    import torch\n    return torch.ones_like(a)\n", "the same whatever the inputs"),
                        ("    return a +\n", "reference.py"),
                        ("    return (a.half() + b.half()).float()\n", "fails its own check")):
        reference.write_text("def reference(a, b):\n" + text)
        done = validate(place, "--suites", root, "--seed", 1, device="emu", timeout=240)
        needs_torch(done)
        exits(done, 3)
        expect(words in done.stdout, done.stdout)
        expect("0 of 1 problems admitted" in done.stdout, done.stdout)


def test_a_shipped_problem_is_admitted(place):
    done = validate(place, "silu_fp16", device="emu", timeout=240)
    needs_torch(done)
    exits(done, 0)
    count = mutants(place, "silu_fp16")
    expect(f"1 of 1 problems admitted; mutants as stated: {count} of {count}" in done.stdout, done.stdout)
    checks = {check["name"]: check["ok"] for check in found(place)["problems"][0]["checks"]}
    expect(checks == dict.fromkeys(("contract", "stable", "inputs", "varied", "families", "floor"), True), checks)


OPS = """import torch


def scale_rows(x, weight, alpha=2.0):
    return x * weight * alpha
"""


def new(place, root, *words):
    place.write("ops.py", OPS)
    return place.run("suite", "new", "scale_rows", *words, "--suites", root, db=False)


def test_a_new_problem_loads_and_says_what_is_missing(place):
    root = place.suites(("vector_add_fp32",))
    done = new(place, root, "--from", "ops.py:scale_rows", "--dtype", "f16", "--shape", "x=rows:2048,cols:4096",
               "--shape", "weight=cols")
    needs_torch(done)
    exits(done, 0)
    folder = root / "internal/scale_rows"
    expect(sorted(file.name for file in folder.iterdir()) == ["problem.yaml", "prompt.md", "reference.py"])
    shown = place.run("suite", "show", "scale_rows", "--json", "--suites", root, db=False)
    contract = json.loads(shown.stdout)["contract"]
    expect([dim["name"] for dim in contract["dims"]] == ["rows", "cols"], contract)
    expect(contract["outputs"][0]["dtype"] == "f16" and contract["outputs"][0]["shape"] == ["rows", "cols"], contract)
    expect(contract["scalars"][0]["name"] == "alpha", contract)
    checked = validate(place, "scale_rows", "--suites", root, device="emu", timeout=240)
    exits(checked, 3)
    for words in ("reference ok", "there is no gold kernel", "0 mutants, at least 5 are wanted"):
        expect(words in checked.stdout, checked.stdout)


def test_a_problem_that_cannot_be_made_leaves_nothing(place):
    root = place.suites(("vector_add_fp32",))
    before = (root / "internal/suite.yaml").read_text()
    good = ("--shape", "x=rows:2048,cols:4096", "--shape", "weight=cols")
    for words, text in ((("--from", "ops.py:nosuch", "--dtype", "f16", *good), "there is no nosuch in ops.py"),
                        (("--from", "ops.py:OPS", "--dtype", "f16", *good), "there is no OPS"),
                        (("--from", "ops.py:torch", "--dtype", "f16", *good), "torch is a module, not a function"),
                        (("--from", "ops.py:scale_rows", "--dtype", "f16", *good[:2]), "weight has neither"),
                        (("--from", "ops.py:scale_rows", "--dtype", "f16", *good, "--shape", "z=3"), "no parameter z"),
                        (("--from", "ops.py:scale_rows", "--dtype", "f16", "--shape", "x=a:64,b:64", "--shape",
                          "weight=a"), "scale_rows raised RuntimeError in line 5 with x[5, 7], weight[5]"),
                        (("--from", "nowhere:f", "--dtype", "f16", *good), "loading raised ModuleNotFoundError"),
                        (("--from", "ops.py:scale_rows", "--dtype", "f16", *good, "--suite", "none"), "no suite 'none'")):
        done = new(place, root, *words)
        needs_torch(done)
        exits(done, 2)
        expect(text in done.stderr, done.stderr)
        expect(not (root / "internal/scale_rows").exists() and (root / "internal/suite.yaml").read_text() == before)


main(globals())
