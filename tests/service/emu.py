# SPDX-License-Identifier: MIT
"""ce-node emu: one kernel from files, on the emulator, compared with the reference where PyTorch is there."""
import json
import subprocess

from ce import BIN, SRC, Skip, exits, expect, main

GOLD = SRC / "suites/internal/softmax_lastdim_fp16"
ADD = ("extern \"C\" __global__ void k(const float *a, const float *b, float *y, long long n)\n{\n"
       "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
       "    if (i < n)\n        y[i] = a[i] %s b[i];\n}\n")
PLAN = {"kernels": [{"entry": "k", "grid": ["ceil_div(n, 128)"], "block": [128],
                     "args": ["a", "b", "y", {"i64": "n"}]}]}


def emu(*words):
    return subprocess.run([str(BIN / "ce-node"), "emu", *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=200)


def torch_is_here():
    done = emu(GOLD / "gold.cu", GOLD / "gold.json", "--problem", GOLD, "--dim", "rows=1", "--family", "normal")
    if done.returncode == 5 and "not compared" in done.stdout:
        raise Skip("no PyTorch")
    return done


def test_gold_agrees_with_the_reference_in_every_family(_place):
    torch_is_here()
    done = emu(GOLD / "gold.cu", GOLD / "gold.json", "--problem", "softmax_lastdim_fp16", "--dim", "rows=3", "--json")
    exits(done, 0)
    told = json.loads(done.stdout)
    expect(told["outcome"] == "ok" and told["compared"] and told["device"] == "emu", told)
    expect(told["shape"]["rows"] == 3, told["shape"])
    families = [case["family"] for case in told["cases"]]
    expect(len(families) == len(set(families)) > 3 and "normal" in families, families)
    expect(all(case["outcome"] == "ok" and case["comparison"] for case in told["cases"]), told["cases"])
    launch = told["modelled"]["launches"][0]
    expect(told["modelled"]["modelled"] is True and launch["registers"] > 0 and 0 < launch["occupancy"] <= 1, launch)
    expect(not any("ms" in key.split("_") for key in launch), "a time of an emulated run", launch)


def test_the_words_say_the_same(_place):
    done = torch_is_here()
    exits(done, 0)
    for words in ("softmax_lastdim_fp16 at rows=1", "ok, agrees with the reference", "nothing is measured", "occupancy"):
        expect(words in done.stdout, words, done.stdout)


def test_a_wrong_result_is_told_with_its_place(place):
    torch_is_here()
    done = emu(place.write("k.cu", ADD % "-"), place.write("k.json", PLAN), "--problem", "vector_add_fp32",
               "--family", "normal")
    exits(done, 3)
    expect("wrong(" in done.stdout and "elements outside" in done.stdout, done.stdout)


def test_without_pytorch_it_still_runs_and_says_so(place):
    done = emu(place.write("k.cu", ADD % "+"), place.write("k.json", PLAN), "--problem", "vector_add_fp32", "--python",
               "/bin/true")
    exits(done, 5)
    expect("nothing found; outputs were not compared" in done.stdout, done.stdout)


def test_mistakes_are_told_as_usage(place):
    source, plan = place.write("k.cu", ADD % "+"), place.write("k.json", PLAN)
    for words, says in ((("--problem", "nothing_like_it"), "no problem nothing_like_it"),
                        ((), "--problem NAME|DIR is required"),
                        (("--problem", "vector_add_fp32", "--dim", "rows=3"), "want NAME=N"),
                        (("--problem", "vector_add_fp32", "--family", "strange"), "the problem has")):
        done = emu(source, plan, *words)
        exits(done, 2)
        expect(says in done.stderr, done.stderr)
    exits(emu(place.dir / "missing.cu", plan, "--problem", "vector_add_fp32"), 2)


def test_the_page_shows_the_help(_place):
    done = emu("--help")
    exits(done, 0)
    expect(done.stdout.strip() in (SRC / "docs/emulator.md").read_text(), "docs/emulator.md is not current:", done.stdout)


main(globals())
