# SPDX-License-Identifier: MIT
"""--device cuda on a host without a GPU: candidates are really compiled, tasks end not_run, exit 5."""
import json
import subprocess

from ce import BIN, Skip, exits, expect, main


def no_gpu():
    probe = subprocess.run([str(BIN / "ce-runner"), "--probe"], capture_output=True, text=True, timeout=60)
    if json.loads(probe.stdout)["devices"]:
        raise Skip("this host has a GPU")


def check(place, done, problems):
    exits(done, 5)
    tasks = place.rows("SELECT outcome, text, reason, speedup, candidate_ms FROM task WHERE kind = 'synthesize'")
    expect(len(tasks) == problems and all(task[0] == "not_run" for task in tasks), tasks)
    expect(all(task[1] or task[2] for task in tasks), "a reason for people", tasks)
    expect(all(task[3] is None and task[4] is None for task in tasks), "a number was invented", tasks)
    compiled = place.count("attempt", "outcome = 'ok' AND compile_ms > 0 OR compile_ms > 0")
    expect(compiled >= problems, place.rows("SELECT outcome, detail, text, compile_ms FROM attempt"))
    expect(place.count("run", "state = 'incomplete'") == 1)
    expect(place.count("ranked") == 0)
    expect((place.out / "leaderboard.md").exists())


def test_cuda_without_a_gpu_compiles_and_says_not_run(place):
    no_gpu()
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32,argmax_fp32",
                     device="cuda", timeout=200)
    check(place, done, 2)


def test_auto_without_a_gpu_is_no_different_yet(place):
    no_gpu()
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32", device=None,
                     timeout=200)
    check(place, done, 1)


def test_a_source_that_does_not_compile_is_scored_even_here(place):
    no_gpu()
    plan = json.dumps({"kernels": [{"entry": "k", "grid": ["1"], "block": [32], "args": []}]})
    bad = f"```cuda\nextern \"C\" __global__ void k() {{ this is no C }}\n```\n```json\n{plan}\n```\n"
    done = place.run("eval", "--suite", "internal", "--model-id", place.mock([{"text": bad}]), "--only",
                     "vector_add_fp32", device="cuda", timeout=200)
    exits(done, 0)
    expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("compile_failed",)])


main(globals())
