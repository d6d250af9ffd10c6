# SPDX-License-Identifier: MIT
"""A checkout in KernelBench's format, ours: listed, admitted, and evaluated on the emulator with gold kernels."""
import json
import shutil

from ce import SRC, Skip, exits, expect, main

ROOT = SRC / "tests/data/kernelbench"
SUITES = ROOT / "suites"
GOLDS = len(list((SUITES / "kernelbench/gold").iterdir()))


def checked(place, *words, code=0):
    done = place.run(*words, out=False)
    if "imports torch" in done.stderr:
        raise Skip("no PyTorch")
    exits(done, code)
    return done


def listed(place, *words):
    return json.loads(checked(place, "suite", *words, "--json").stdout)


def test_list_names_every_file_with_what_it_needs_or_why_not(place):
    told = listed(place, "list", "kernelbench", "--root", ROOT, "--suites", SUITES)
    rows = {row["id"]: row for row in told["problems"]}
    files = list((ROOT / "KernelBench").glob("level*/*.py"))
    expect(len(rows) == len(files) >= 24 and told["layout"] == "problems", told)
    expect(rows["l1_1"]["status"] == "supported" and rows["l1_1"]["check_bytes"] > 0, rows["l1_1"])
    expect(rows["l2_9"]["reason"] == "needs a_module_that_nobody_has", rows["l2_9"])
    expect(sum(row["gold"] for row in rows.values()) == GOLDS, "every gold kernel belongs to a file", GOLDS)


def test_import_admits_once_and_names_what_proves_little(place):
    told = listed(place, "import", "kernelbench", ROOT, "--only", "1/1,1/7,2/11")
    found = {row["id"]: (row["status"], row["reason"]) for row in told["problems"]}
    expect(found == {"l1_1": ("degenerate", "copy"), "l1_7": ("admitted", None),
                     "l2_11": ("degenerate", "other parameters")}, found)
    kept = sorted((place.dir / "kernelbench").iterdir())
    stamps = [path.stat().st_mtime_ns for path in kept]
    expect(len(kept) == 3, kept)
    listed(place, "import", "kernelbench", ROOT, "--only", "1/1,1/7,2/11")
    expect(stamps == [path.stat().st_mtime_ns for path in kept], "admitted again")
    again = listed(place, "list", "kernelbench", "--root", ROOT)
    expect([row["status"] for row in again["problems"]].count("degenerate") == 2, again)


def test_gold_kernels_are_right_on_the_emulator(place):
    rows = listed(place, "list", "kernelbench", "--root", ROOT, "--suites", SUITES)["problems"]
    mine = [row["id"] for row in rows if row["gold"]]
    done = place.run("eval", "--suite", "kernelbench", "--root", ROOT, "--suites", SUITES, "--model-id", "gold",
                     "--only", ",".join(mine), device="emu")
    exits(done, 0)
    results = json.loads((place.out / "results.json").read_text())
    wrong = [(t["problem"], t["outcome"], t.get("text")) for t in results["tasks"] if t["outcome"] != "ok"]
    expect(not wrong and len(results["tasks"]) == GOLDS, wrong)


def test_a_copy_of_the_input_is_refused(place):
    source = ('extern "C" __global__ void copy(const float *x, float *y, int n)\n{\n'
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        y[i] = x[i];\n}\n")
    plan = {"kernels": [{"entry": "copy", "grid": ["ceil_div(64 * 257, 256)"], "block": [256],
                         "args": ["x", "y", {"i32": "64 * 257"}]}]}
    suites = place.dir / "suites"
    shutil.copytree(SUITES, suites)
    for folder in (suites / "kernelbench/gold").iterdir():
        if "level 1: Rectifier" in (folder / "gold.cu").read_text():
            (folder / "gold.cu").write_text(source)
            (folder / "gold.json").write_text(json.dumps(plan))
    place.run("eval", "--suite", "kernelbench", "--root", ROOT, "--suites", suites, "--model-id", "gold", "--only",
              "1/1", device="emu")
    task = json.loads((place.out / "results.json").read_text())["tasks"][0]
    expect(task["outcome"] == "wrong", task)


def test_export_is_what_kernelbench_reads(place):
    done = place.run("eval", "--suite", "kernelbench", "--root", ROOT, "--suites", SUITES, "--model-id", "gold",
                     "--only", "1/1,1/7,2/1", device="fake")
    exits(done, 0)
    exported = place.dir / "export"
    exits(place.run("export", "latest", "--kernelbench", exported, out=False), 0)
    folders = {path.name.rsplit("_", 1)[1]: path for path in (exported / "runs").iterdir()}
    expect(sorted(folders) == ["level1", "level2"], folders)
    rows = json.loads((folders["level1"] / "eval_results.json").read_text())
    expect(list(rows) == ["1", "7"] and all(len(row) == 1 for row in rows.values()), rows)
    timing, = (exported / "results/timing").iterdir()
    base = json.loads((timing / "baseline_time_ce_fastest.json").read_text())
    expect(list(base["level1"]) == ["1_Rectifier.py", "7_Row_softmax.py"], base)
    # KernelBench's definition: of the problems with a baseline, those right and more than p times faster.
    factors = [base["level1"][name]["mean"] / rows[name.split("_")[0]][0]["runtime"] for name in base["level1"]]
    told = json.loads((folders["level1"] / "analysis.json").read_text())
    for p, share in told["fast_p"].items():
        expect(share == sum(f > float(p) for f in factors) / len(factors), told, factors)
    kernel = (folders["level1"] / "level_1_problem_1_sample_0_kernel.py").read_text()
    values = {}
    exec(kernel, values)  # data only
    expect("__global__" in values["SOURCE"] and json.loads(values["PLAN"])["kernels"], kernel)


def test_what_is_missing_is_said(place):
    done = checked(place, "suite", "list", "kernelbench", "--root", place.dir, code=2)
    expect("there is neither level1 nor KernelBench/level1" in done.stderr, done.stderr)
    done = place.run("eval", "--suite", "kernelbench", "--model-id", "gold", device="emu")
    exits(done, 2)
    expect("needs --root DIR" in done.stderr, done.stderr)
    done = place.run("eval", "--suite", "kernelbench", "--root", ROOT, "--only", "7/7", "--model-id", "gold",
                     device="emu")
    exits(done, 2)
    expect("--only l7_7: there is no such problem" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
