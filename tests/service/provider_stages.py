# SPDX-License-Identifier: MIT
"""All five stages on the emulator against every provider: each with one stage on another provider, a repair of what is
wrong, and one of what is wasteful."""
import json
import os

from ce import SRC, exits, expect, main
from fake_server import Server

KEY = "canary-91c2f7"
PROBLEM = "vector_add_fp32"
for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "CE_COMPAT_API_KEY"):
    os.environ[name] = KEY
USAGE = {"in": 3000, "out": 800, "cache_read": 2000}
SPEC = {"name": PROBLEM, "semantics": "a + b", "inputs": [], "outputs": [], "hazards": [],
        "plan_of_attack": "one thread an element"}
# Who answers most stages, its base, who polishes, its base.
CASES = [("openai:gpt-4o", "/v1", "claude-haiku-5-5", ""),
         ("claude-opus-5-5", "", "openai:gpt-6.1-sol", "/v1"),
         ("gemini:gemini-4-neon", "/v1beta", "compat:llama-3", "/v1"),
         ("compat:llama-3", "/v1", "gemini:gemini-4-neon", "/v1beta")]
# USD per million tokens in, read, out.
PRICES = {"openai:gpt-4o": (2.5, 1.25, 10), "claude-opus-5-5": (4, 0.2, 20), "claude-haiku-5-5": (0.1, 0.01, 0.5),
          "openai:gpt-6.1-sol": (2, 0.1, 10), "gemini:gemini-4-neon": (3, 0.15, 15), "compat:llama-3": None}
CALLS = {"interview": 2, "codegen": 2, "correctness": 1, "performance": 1, "polish": 1}
# Right, but a thread owns eight neighbours: every request of a warp touches 32 sectors.
WASTEFUL = """extern "C" __global__ void vector_add(const float *a, const float *b, float *y, long long n)
{
    long long first = (blockIdx.x * 256LL + threadIdx.x) * 8;
    for (long long i = first; i < first + 8 && i < n; i++)
        y[i] = a[i] + b[i];
}"""


def fence(word, text):
    return f"```{word}\n{text}\n```\n"


def script():
    folder = SRC / "suites/internal" / PROBLEM
    gold, plan = (folder / "gold.cu").read_text(), (folder / "gold.json").read_text()
    wrong = gold.replace("p.x + q.x", "p.x - q.x")
    expect(wrong != gold, "the kernel could not be spoilt")
    kernel = fence("cuda", gold) + fence("json", plan)
    spoilt = fence("cuda", wrong) + fence("json", plan)
    wasteful = fence("cuda", WASTEFUL) + fence("json", plan)
    return {"rules": [
        {"contains": "You are asked what a CUDA kernel must do", "steps": [{"text": "well", "usage": USAGE},
                                                                           {"text": fence("json", json.dumps(SPEC)),
                                                                            "usage": USAGE}]},
        {"contains": "Make it pleasant to read", "steps": [{"text": kernel, "usage": USAGE}]},
        {"contains": "an emulator counted what it does", "steps": [{"text": kernel, "usage": USAGE}]},
        {"contains": "## Finding", "steps": [{"text": wasteful, "usage": USAGE}]},
        {"steps": [{"text": "```cuda\nnonsense\n```\n" + fence("json", plan), "usage": USAGE},
                   {"text": spoilt, "usage": USAGE}]}]}


def named(model):
    return model.split(":")[0] if ":" in model else "anthropic"


def cost_of(model):
    usd = PRICES[model]
    return usd and sum(tokens * each for tokens, each in zip((3000, 2000, 800), usd)) / 1e6


def near(told, wanted):
    return told is wanted if wanted is None else told is not None and abs(told - wanted) < 1e-12


def calls(place):
    return place.rows("SELECT stage, provider, tokens_in, tokens_out, tokens_cache_read, cost_usd, latency_ms "
                      "FROM model_call ORDER BY instr('interview codegen correctness performance polish', stage), "
                      "number")


def run(place, case):
    model, suffix, polisher, other = case
    server = Server(place, script(), KEY)
    done = place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{model}@{server.base}{suffix}",
                     "--stage", f"polish={polisher}@{server.base}{other}", "--yes", device="emu", timeout=240)
    exits(done, 0)
    expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("ok",)], done.stderr)
    rows = calls(place)
    expect([(row[0], row[1]) for row in rows] ==
           [(stage, named(polisher if stage == "polish" else model)) for stage, count in CALLS.items()
            for _ in range(count)], rows)
    expect(len(server.log()) == len(rows), "calls that are not recorded")
    for row in rows:
        expect(row[2] == USAGE["in"] and row[3] == USAGE["out"] and row[4] == USAGE["cache_read"] and row[6] > 0, row)
        expect(near(row[5], cost_of(polisher if row[0] == "polish" else model)), row)
    return server


def one(place, number):
    model, _, polisher, _ = CASES[number]
    server = run(place, CASES[number])
    prompts = [request["prompt"] for request in server.log()]
    expect(any("The specification could not be read: the answer has 0 ```json blocks" in text for text in prompts))
    expect(any("The source does not compile" in text for text in prompts))
    expect(any("## Finding" in text for text in prompts))
    bound = {request["route"]: json.dumps(request["body"]) for request in server.log()}
    for route, word in (("chat", "json_schema"), ("anthropic", "output_config"), ("responses", "json_schema"),
                        ("gemini", "responseJsonSchema")):
        asked_openly = "llama-3" in bound.get(route, "")
        expect(route not in bound or (word in bound[route]) != asked_openly, route, bound)
    board = place.results()
    task = board["tasks"][0]
    expect(task["tokens_in"] > 0 and task["calls"] == 7, task)
    expect(task["speedup"] is None and task["candidate_ms"] is None and task["reason"] == "not measured on emu", task)
    spent = {(row["stage"], row["provider"]): row for row in board["run"]["spend"]}
    expect(len(spent) == len(CALLS), spent)
    page = (place.out / "leaderboard.md").read_text()
    for stage, count in CALLS.items():
        who = polisher if stage == "polish" else model
        row, cost = spent[stage, named(who)], cost_of(who)
        expect((row["calls"], row["tokens_in"], row["tokens_cache_read"], row["tokens_out"]) ==
               (count, 3000 * count, 2000 * count, 800 * count) and row["latency_ms"] > 0, row)
        expect(row["cost_unknown_calls"] == (count if cost is None else 0), row)
        expect(abs(row["cost_usd"] - count * (cost or 0)) < 1e-12, row)
        line = next((one for one in page.splitlines() if f"| {stage} | {named(who)} | {count} | " in one), None)
        expect(line is not None and line.endswith(" s |"), stage, page)
        expect("(" in line and ("unknown" in line) == (cost is None), line)
    stages = dict(place.rows("SELECT stage, status FROM stage_result"))
    expect(stages["performance"] == "passed", stages)
    kept = place.rows("SELECT notes FROM stage_result WHERE stage = 'performance'")[0][0]
    expect(kept.endswith("after: kept"), kept)


def test_openai_polished_by_claude(place):
    one(place, 0)


def test_claude_polished_by_openai(place):
    one(place, 1)


def test_gemini_polished_by_a_compatible_server(place):
    one(place, 2)


def test_a_compatible_server_polished_by_gemini(place):
    one(place, 3)


main(globals())
