# SPDX-License-Identifier: MIT
"""The main job on the fake device: every process real, every answer from gold or a script."""
import json

from ce import SHIPPED, exits, expect, main

PROBLEMS = "vector_add_fp32,softmax_lastdim_fp16"


def test_gold_passes_and_leaves_four_files(place):
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--samples", 2, "--only", PROBLEMS)
    exits(done, 0)
    expect("leaderboard.md" in done.stdout, done.stdout)
    for name in ("leaderboard.md", "results.json", "results.csv"):
        expect((place.out / name).stat().st_size > 0, name)
    results = place.results()
    expect(set(results) >= {"entrants", "ranking", "run", "tasks"}, sorted(results))
    expect(len(results["tasks"]) == 4, results["tasks"])
    expect(all(task["outcome"] == "ok" for task in results["tasks"]), results["tasks"])
    expect(place.count("run", "state = 'complete'") == 1)
    expect(place.count("task", "kind = 'contract' AND outcome = 'ok'") == 2)
    expect(place.count("ranked") == 0, "the fake device is never ranked")
    expect(place.rows("SELECT name, state FROM node") == [("local", "left")], place.rows("SELECT * FROM node"))


def test_json_goes_to_stdout_alone(place):
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32", "--json")
    exits(done, 0)
    expect(json.loads(done.stdout) == place.results())


def test_several_entrants_share_one_run(place):
    good = place.mock([{"gold": True}])
    bad = place.mock([{"text": "I would rather not."}], "bad.json")
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--model-id", good, "--model-id", bad,
                     "--only", PROBLEMS)
    exits(done, 0)
    outcomes = place.rows("SELECT e.name, t.outcome, count(*) FROM task t JOIN entrant e ON e.id = t.entrant "
                          "GROUP BY 1, 2 ORDER BY 1, 2")
    expect(dict((name, outcome) for name, outcome, _ in outcomes) ==
           {"gold": "ok", good: "ok", bad: "parse_failed"}, outcomes)
    expect(all(number == 2 for _, _, number in outcomes), outcomes)


def test_a_stage_may_have_another_model(place):
    polish = place.mock([{"gold": True}])
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--stage", f"polish={polish}", "--only",
                    "vector_add_fp32"), 0)
    expect({call["stage"] for call in place.served()} == {"polish"}, place.served())


def test_a_replay_serves_the_recorded_answers(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", place.mock([{"gold": True}]), "--only",
                    "vector_add_fp32"), 0)
    paid = len(place.served())
    expect(paid > 0)
    exits(place.run("eval", "--suite", "internal", "--model-id", "replay:latest", "--only", "vector_add_fp32"), 0)
    expect(len(place.served()) == paid, "a replay asked the model")
    expect(place.count("task", "kind = 'synthesize' AND outcome = 'ok'") == 2)
    refused = place.run("eval", "--suite", "internal", "--model-id", "replay:latest", "--only", "silu_fp16")
    exits(refused, 2)
    expect("no problem silu_fp16" in refused.stderr, refused.stderr)
    expect(place.count("run") == 2, "the refused run left rows")


def test_a_dry_run_starts_nothing(place):
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--dry-run", "--json")
    exits(done, 0)
    plan = json.loads(done.stdout)
    expect(plan["tasks"] == plan["contract_tasks"] == len(SHIPPED) and plan["paid_calls_max"] == 0, plan)
    expect(not place.db.exists() and not place.out.exists())


def test_scripted_outcomes_reach_the_board(place):
    fake = place.write("fake.json", {"problems": {
        "vector_add_fp32": {"check": {"outcome": "hung", "text": "did not end"}},
        "silu_fp16": {"compare": {"equal": False, "detail": "unwritten", "text": "element 7 was not written"}},
        "softmax_lastdim_fp16": {"load": {"outcome": "plan_invalid", "detail": "/kernels/0/grid/0",
                                          "text": "overflow"}}}})
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--fake", fake, "--only",
                     PROBLEMS + ",silu_fp16,argmax_fp32")
    exits(done, 0)
    got = dict(place.rows("SELECT problem, outcome FROM task WHERE kind = 'synthesize'"))
    expect(got == {"vector_add_fp32": "hung", "silu_fp16": "wrong", "softmax_lastdim_fp16": "plan_invalid",
                   "argmax_fp32": "ok"}, got)


def spans(agrees=True):
    return {"unavailable": None, "event_ms": 0.055, "span_ms": 0.05, "busy_ms": 0.05, "floor_event_ms": 0.006,
            "floor_span_ms": 0.001, "nodes": 1, "calls": 1, "agrees": agrees}


def test_what_bounds_a_kernel_reaches_its_repair_and_the_board(place):
    profile = {"spans": spans(), "baseline": spans(), "library": None, "kernels": [],
               "counters": {"unavailable": None, "chip": "GH100", "passes": 14,
                            "values": {"memory_pct": 81.5, "dram_pct": 40, "sm_pct": 12, "sm_cycles": 5,
                                       "sm_cycles_active_max": 5, "load_sectors": 3200,
                                       "load_requests": 100}}}
    fake = place.write("fake.json", {"default": {"candidate_ms": [0.05], "baselines": {"eager": [0.02]},
                                                 "profile": profile}})
    model = place.mock([{"gold": True}])
    exits(place.run("eval", "--suite", "internal", "--model-id", model, "--fake", fake, "--only", "silu_fp16"), 0)
    task = place.results()["tasks"][0]
    expect(task["profile"]["bound"] == "memory" and task["profile"]["status"] == "measured", task)
    expect(task["lineage"][0]["kept"] and task["lineage"][0]["bound"] == "memory", task["lineage"])
    shown = place.run("inspect", task["task"], "--json", device=None, out=False)
    exits(shown, 0)
    told = json.loads(shown.stdout)
    expect(told["result"]["profile"]["derived"]["sectors_a_load"] == 32, told["result"])
    prompt = next(call["prompt"] for call in told["calls"] if call["stage"] == "performance")
    pack = place.dir / "pack"
    exits(place.run("evidence", "pack", task["run"], "--out", pack, device=None, out=False), 0)
    text = (pack / "blobs" / prompt).read_text()
    expect("it is bound by memory: move fewer bytes" in text and "loads 32.0" in text, text)


def test_clocks_that_disagree_leave_no_verdict(place):
    profile = {"spans": spans(False), "baseline": spans(), "library": None, "kernels": [],
               "counters": {"unavailable": "not asked for", "values": {}}}
    fake = place.write("fake.json", {"default": {"candidate_ms": [0.01], "profile": profile}})
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--fake", fake, "--only", "silu_fp16"), 0)
    rows = place.rows("SELECT verdict, verdict_reason FROM task WHERE kind = 'synthesize'")
    expect(rows == [("inconclusive", "timing_suspect")], rows)


def test_a_runner_that_really_crashes_costs_one_candidate(place):
    fake = place.write("fake.json", {"problems": {"vector_add_fp32": {"crash": True}}})
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--fake", fake, "--only", PROBLEMS), 0)
    got = dict(place.rows("SELECT problem, outcome FROM task WHERE kind = 'synthesize'"))
    expect(got == {"vector_add_fp32": "crashed", "softmax_lastdim_fp16": "ok"}, got)


def answer(plan, source='extern "C" __global__ void k(const float *a, const float *b, float *y) {}'):
    return f"```cuda\n{source}\n```\n```json\n{json.dumps(plan)}\n```\n"


def test_an_overflow_in_a_plan_is_an_outcome_and_the_run_goes_on(place):
    """The expression is sound and fits the contract's names; evaluating it at a shape overflows."""
    plan = {"kernels": [{"entry": "k", "grid": ["(n + 1) * 4611686018427387904 * 4"], "block": [32],
                         "args": ["a", "b", "y"]}]}
    model = place.mock([{"problem": "vector_add_fp32", "text": answer(plan)}, {"gold": True}])
    exits(place.run("eval", "--suite", "internal", "--model-id", model, "--only", PROBLEMS), 0)
    rows = place.rows("SELECT problem, outcome, detail FROM task WHERE kind = 'synthesize' ORDER BY problem")
    expect([(problem, outcome) for problem, outcome, _ in rows] ==
           [("softmax_lastdim_fp16", "ok"), ("vector_add_fp32", "plan_invalid")], rows)
    expect("/kernels/0/grid" in (rows[1][2] or ""), rows)


def test_a_board_is_written_again_byte_for_byte(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", PROBLEMS), 0)
    first = {path.name: path.read_bytes() for path in place.out.iterdir()}
    again = place.dir / "again"
    exits(place.run("leaderboard", "latest", "--out", again), 0)
    second = {path.name: path.read_bytes() for path in again.iterdir()}
    expect(first.keys() == second.keys(), sorted(first), sorted(second))
    for name in first:
        expect(first[name] == second[name], f"{name} differs")


main(globals())
