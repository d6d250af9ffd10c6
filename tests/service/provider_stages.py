# SPDX-License-Identifier: MIT
"""The stages on the emulator against every provider: each with one stage on another provider, and with a repair."""
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
# Who answers most stages, its base, who polishes, its base, and USD per million tokens in, read, out.
CASES = [("openai:gpt-4o", "/v1", "claude-haiku-5-5", "", (2.5, 1.25, 10)),
         ("claude-opus-5-5", "", "openai:gpt-6.1-sol", "/v1", (4, 0.2, 20)),
         ("gemini:gemini-4-neon", "/v1beta", "compat:llama-3", "/v1", (3, 0.15, 15)),
         ("compat:llama-3", "/v1", "gemini:gemini-4-neon", "/v1beta", None)]


def fence(word, text):
    return f"```{word}\n{text}\n```\n"


def script():
    folder = SRC / "suites/internal" / PROBLEM
    gold, plan = (folder / "gold.cu").read_text(), (folder / "gold.json").read_text()
    wrong = gold.replace("p.x + q.x", "p.x - q.x")
    expect(wrong != gold, "the kernel could not be spoilt")
    kernel = fence("cuda", gold) + fence("json", plan)
    spoilt = fence("cuda", wrong) + fence("json", plan)
    return {"rules": [
        {"contains": "You are asked what a CUDA kernel must do", "steps": [{"text": "well", "usage": USAGE},
                                                                           {"text": fence("json", json.dumps(SPEC)),
                                                                            "usage": USAGE}]},
        {"contains": "Make it pleasant to read", "steps": [{"text": kernel, "usage": USAGE}]},
        {"contains": "## Finding", "steps": [{"text": kernel, "usage": USAGE}]},
        {"steps": [{"text": "```cuda\nnonsense\n```\n" + fence("json", plan), "usage": USAGE},
                   {"text": spoilt, "usage": USAGE}]}]}


def calls(place):
    return place.rows("SELECT stage, provider, tokens_in, tokens_out, tokens_cache_read, cost_usd, latency_ms "
                      "FROM model_call ORDER BY instr('interview codegen correctness performance polish', stage), "
                      "number")


def run(place, case):
    model, suffix, polisher, other, price = case
    server = Server(place, script(), KEY)
    done = place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{model}@{server.base}{suffix}",
                     "--stage", f"polish={polisher}@{server.base}{other}", "--yes", device="emu", timeout=240)
    exits(done, 0)
    expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("ok",)], done.stderr)
    rows = calls(place)
    here, there = (name.split(":")[0] if ":" in name else "anthropic" for name in (model, polisher))
    expect([(row[0], row[1]) for row in rows] == [
        ("interview", here), ("interview", here), ("codegen", here), ("codegen", here), ("correctness", here),
        ("polish", there)], rows)
    expect(len(server.log()) == len(rows), "calls that are not recorded")
    for row in rows[:-1]:
        expect(row[2] == USAGE["in"] and row[3] == USAGE["out"] and row[4] == USAGE["cache_read"] and row[6] > 0, row)
        if price:
            cost = sum(tokens * usd for tokens, usd in zip((3000, 2000, 800), price)) / 1e6
            expect(row[5] is not None and abs(row[5] - cost) < 1e-12, row, cost)
        else:
            expect(row[5] is None, row)
    return server, done


def one(place, number):
    server, _ = run(place, CASES[number])
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
    expect(task["tokens_in"] > 0 and task["calls"] == 6, task)
    spent = {(row["stage"], row["provider"]): row for row in board["run"]["spend"]}
    first = spent["interview", CASES[number][0].split(":")[0].replace("claude-opus-5-5", "anthropic")]
    expect((first["calls"], first["tokens_in"], first["tokens_cache_read"], first["tokens_out"]) ==
           (2, 6000, 4000, 1600) and first["latency_ms"] > 0, spent)
    expect(len(spent) == 4, spent)


def test_openai_polished_by_claude(place):
    one(place, 0)


def test_claude_polished_by_openai(place):
    one(place, 1)


def test_gemini_polished_by_a_compatible_server(place):
    one(place, 2)


def test_a_compatible_server_polished_by_gemini(place):
    one(place, 3)


main(globals())
