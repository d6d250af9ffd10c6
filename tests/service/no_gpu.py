# SPDX-License-Identifier: MIT
"""A host without a GPU. --device cuda: candidates are really compiled, tasks end not_run, exit 5; --device auto: the
emulator finishes the board without one number of speed."""
import json
import subprocess

from ce import BIN, SHIPPED, Skip, exits, expect, main


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


def test_auto_without_a_gpu_finishes_the_board_on_the_emulator(place):
    no_gpu()
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", device=None, timeout=300)
    exits(done, 0)
    tasks = place.rows("SELECT outcome, device_kind, correct_protocol, speedup, candidate_ms, baseline_ms, reason"
                       " FROM task WHERE kind = 'synthesize'")
    expect(len(tasks) == len(SHIPPED), tasks)
    for task in tasks:
        expect(task == ("ok", "emu", "ce-correct-1/emu", None, None, None, "not measured on emu"), task)
    expect(place.count("measurement") == 0, "a timing number of an emu run")
    expect(place.count("run", "state = 'complete'") == 1)
    expect(place.count("ranked") == 0, "an emu row was ranked")
    expect("not measured on emu" in (place.out / "leaderboard.md").read_text())


def test_the_emulator_says_what_is_wrong_and_where(place):
    source = ("extern \"C\" __global__ void k(const float *a, const float *b, float *y, long long n)\n{\n"
              "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i <= n)\n        y[i] = a[i] + b[i];\n}\n")
    plan = json.dumps({"kernels": [{"entry": "k", "grid": ["ceil_div(n + 1, 128)"], "block": [128],
                                    "args": ["a", "b", "y", {"i64": "n"}]}]})
    answer = f"```cuda\n{source}```\n```json\n{plan}\n```\n"
    done = place.run("eval", "--suite", "internal", "--model-id", place.mock([{"text": answer}]), "--only",
                     "vector_add_fp32", device="emu", timeout=200)
    exits(done, 0)
    (outcome, detail, text), = place.rows("SELECT outcome, detail, text FROM task WHERE kind = 'synthesize'")
    expect((outcome, detail) == ("out_of_bounds", "read"), outcome, detail, text)
    expect("kernel.cu:5" in text and "past its end" in text, text)


def test_a_source_that_does_not_compile_is_scored_even_here(place):
    no_gpu()
    plan = json.dumps({"kernels": [{"entry": "k", "grid": ["1"], "block": [32], "args": []}]})
    bad = f"```cuda\nextern \"C\" __global__ void k() {{ this is no C }}\n```\n```json\n{plan}\n```\n"
    done = place.run("eval", "--suite", "internal", "--model-id", place.mock([{"text": bad}]), "--only",
                     "vector_add_fp32", device="cuda", timeout=200)
    exits(done, 0)
    expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("compile_failed",)])


main(globals())
