# SPDX-License-Identifier: MIT
"""Models behind HTTP: real processes, the fake device, answers from tests/support/fake_provider.py."""
import json
import os
import shutil
import signal
import subprocess

from ce import SRC, Skip, exits, expect, local_node_of, main
from fake_server import Server

KEY = "canary-91c2f7"
PROBLEM = "silu_fp16"
for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "CE_COMPAT_API_KEY"):
    os.environ[name] = KEY
INTERVIEW = "You are asked what a CUDA kernel must do"
SPEC = {"name": PROBLEM, "semantics": "x * sigmoid(x)", "inputs": [], "outputs": [], "hazards": [],
        "plan_of_attack": "one thread an element"}
USAGE = {"in": 3000, "out": 800, "cache_read": 2000, "cache_write": 0}


def fence(word, text):
    return f"```{word}\n{text}\n```\n"


def gold(*before, **how):
    """A script that answers as a good model would, after the steps `before` of each stage."""
    folder = SRC / "suites/internal" / PROBLEM
    kernel = fence("cuda", (folder / "gold.cu").read_text()) + fence("json", (folder / "gold.json").read_text())
    last = {"usage": USAGE, **how}
    return {"rules": [{"contains": INTERVIEW, "steps": [*before, {"text": fence("json", json.dumps(SPEC)), **last}]},
                      {"steps": [*before, {"text": "Here it is.\n" + kernel, **last}]}]}


def evaluate(place, model, *words, **how):
    return place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", model, "--yes", *words, **how)


def calls(place):
    return place.rows("SELECT stage, provider, model, stop, tokens_in, tokens_out, tokens_cache_read, cost_usd, "
                      "latency_ms FROM model_call ORDER BY "
                      "instr('interview codegen correctness performance polish', stage), number")


def no_key(place, *texts):
    for text in texts:
        expect(KEY not in text, "a key is shown")
    for path in place.dir.rglob("*"):
        if path.is_file() and not path.is_symlink():
            expect(KEY.encode() not in path.read_bytes(), f"a key is in {path}")
    shown = place.run("inspect", "latest", out=False)
    expect(KEY not in shown.stdout + shown.stderr, "inspect shows a key")


PROVIDERS = [("compat:llama-3", "/v1", None), ("openai:gpt-4o", "/v1", 3000 * 2.5 + 2000 * 1.25 + 800 * 10),
             ("openai:gpt-6.1-sol", "/v1", 3000 * 2 + 2000 * 0.1 + 800 * 10),
             ("gemini:gemini-4-neon", "/v1beta", 3000 * 3 + 2000 * 0.15 + 800 * 15),
             ("claude-opus-5-5", "", 3000 * 4 + 2000 * 0.2 + 800 * 20)]


def test_every_provider_runs_the_stages_and_is_accounted_for(place):
    for number, (model, suffix, price) in enumerate(PROVIDERS):
        server = Server(place, gold(), KEY)
        place.db, place.out = place.dir / f"{number}.db", place.dir / f"out{number}"
        done = evaluate(place, f"{model}@{server.base}{suffix}")
        exits(done, 0)
        rows = calls(place)
        expect([row[0] for row in rows] == ["interview", "codegen", "polish"], model, rows)
        expect(len(server.log()) == 3, "calls that are not recorded", rows)
        expect(not model.startswith("compat") or all("response_format" not in r["body"] for r in server.log()))
        for _, provider, named, stop, tokens_in, out, cached, cost, latency in rows:
            expect(provider == (model.split(":")[0] if ":" in model else "anthropic"), provider)
            expect(server.base in named, named)
            expect((stop, tokens_in, out, cached) == ("ok", 3000, 800, 2000), rows)
            expect(cost is None if price is None else abs(cost - price / 1e6) < 1e-12, model, cost)
            expect(latency > 0)
        expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("ok",)])
        no_key(place, done.stdout, done.stderr)


def test_a_cost_that_the_server_tells_is_on_the_board(place):
    server = Server(place, gold(cost=0.5), KEY)
    exits(evaluate(place, f"compat:llama-3@{server.base}/v1"), 0)
    expect([row[7] for row in calls(place)] == [0.5, 0.5, 0.5], calls(place))


def test_a_slow_kernel_is_repaired_by_another_provider(place):
    server = Server(place, gold(), KEY)
    slow = place.write("fake.json", {"default": {"candidate_ms": [0.05] * 20, "baselines": {"eager": [0.02] * 20}}})
    done = evaluate(place, f"openai:gpt-4o@{server.base}/v1", "--stage",
                    f"performance=anthropic:claude-opus-5-5@{server.base}", "--fake", slow)
    exits(done, 0)
    by = {(row[0], row[1]) for row in calls(place)}
    expect(by == {("interview", "openai"), ("codegen", "openai"), ("performance", "anthropic"), ("polish", "openai")},
           by)
    expect({request["route"] for request in server.log()} == {"chat", "anthropic"})


def test_a_storm_passes(place):
    storm = [{"error": "rate_limit", "headers": {"retry-after-ms": "20"}}, {"error": "overloaded"},
             {"status": 502, "body": "<html>Bad Gateway</html>"}, {"text": "lost", "mode": "cut", "at": 50}]
    server = Server(place, gold(*storm), KEY)
    exits(evaluate(place, f"claude-opus-5-5@{server.base}"), 0)
    expect([row[0] for row in calls(place)] == ["interview", "codegen", "polish"], calls(place))


def test_a_used_up_quota_leaves_the_run_resumable(place):
    script = gold()
    server = Server(place, script, KEY)
    model = f"openai:gpt-4o@{server.base}/v1"
    server.ask("/_script", {"rules": [script["rules"][0], {"steps": [{"error": "quota"}]}]})
    done = evaluate(place, model)
    exits(done, 5)  # its tasks wait
    expect("quota" in done.stdout + done.stderr, done.stdout, done.stderr)
    expect(len(server.log()) == 2, "the door was not closed", server.log())
    no_key(place, done.stdout, done.stderr)
    server.ask("/_script", script)
    again = place.run("eval", "--resume", "latest")
    exits(again, 0)
    expect(all(INTERVIEW not in request["prompt"] for request in server.log()), "an answer was paid twice")
    expect([row[0] for row in calls(place)] == ["interview", "codegen", "polish"], calls(place))


def test_a_missing_key_is_told(place):
    kept = os.environ.pop("OPENAI_API_KEY")
    try:
        done = evaluate(place, "openai:gpt-4o@http://127.0.0.1:9/v1")
    finally:
        os.environ["OPENAI_API_KEY"] = kept
    exits(done, 1)
    expect("OPENAI_API_KEY" in done.stdout + done.stderr, done.stderr)


def test_paid_calls_need_a_yes(place):
    refused = place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", "claude-opus-5-5")
    exits(refused, 2)
    expect("--yes" in refused.stderr, refused.stderr)
    for model in ("gpt:x", "compat:x", "openai:", "openai:x@ftp://h", "openai:x@http://elsewhere.example/v1"):
        exits(place.run("eval", "--suite", "internal", "--model-id", model, "--yes"), 2)


def test_a_file_names_entrants_and_servers(place):
    server = Server(place, gold(), KEY)
    os.environ["CE_LAB_API_KEY"] = KEY
    entrants = place.write("entrants.yaml", f"""
endpoints:
  lab: {{url: "{server.base}/v1", key: LAB}}
entrants:
  - name: lab, cold
    model: lab:qwen
    api: chat+schema
    sampling: {{temperature: 0.25, top_p: 0.5}}
    effort: low
    stages:
      polish: claude-opus-5-5@{server.base}
  - name: terra, off
    model: openai:gpt-6.1-terra@{server.base}/v1
    effort: none
    sampling: {{temperature: 0.5}}
    budgets: {{interview: 1, polish: 0}}
""")
    kept = os.environ.pop("CE_COMPAT_API_KEY")
    try:
        done = place.run("eval", "--suite", "internal", "--only", PROBLEM, "--entrants", entrants, "--yes")
    finally:
        os.environ["CE_COMPAT_API_KEY"] = kept
    exits(done, 0)
    expect({row[0] for row in place.rows("SELECT name FROM entrant")} == {"lab, cold", "terra, off"})
    bodies = {(request["route"], request["model"]): request["body"] for request in server.log()}
    lab, terra = bodies["chat", "qwen"], bodies["responses", "gpt-6.1-terra"]
    expect((lab["temperature"], lab["top_p"], lab["reasoning_effort"]) == (0.25, 0.5, "low"), lab)
    expect((terra["temperature"], terra["reasoning"]) == (0.5, {"effort": "none"}), terra)
    bound = [request["body"].get("response_format", {}).get("type") for request in server.log()
             if request["model"] == "qwen"]
    expect("json_schema" in bound, bound)
    claude = bodies["anthropic", "claude-opus-5-5"]
    expect("temperature" not in claude and "effort" not in claude.get("output_config", {}), claude)
    polished = place.rows("SELECT count(*) FROM model_call WHERE stage = 'polish'")
    expect(polished == [(1,)], polished)
    no_key(place, done.stdout, done.stderr)


def test_what_a_model_refuses_is_refused_before_a_call(place):
    server = Server(place, gold(), KEY)
    for model, words in (("openai:gpt-6.2-sol", ("--temperature", "0.5")), ("openai:gpt-4o", ("--effort", "high")),
                         ("openai:gpt-6.2-sol", ("--effort", "none")),
                         ("openai:gpt-6.2-sol", ("--stage", f"polish=claude-opus-5-5@{server.base}", "--effort",
                                                 "none"))):
        done = evaluate(place, f"{model}@{server.base}/v1", *words)
        exits(done, 2)
        expect("gpt-" in done.stderr, done.stderr)
    spoilt = place.write("spoilt.yaml", "entrants:\n  - name: a\n    model: openai:gpt-4o\n    effort: high\n")
    done = place.run("eval", "--suite", "internal", "--entrants", spoilt, "--yes")
    exits(done, 2)
    expect("spoilt.yaml:2: /entrants/0: openai:gpt-4o has no effort setting" in done.stderr, done.stderr)
    expect(server.log() == [] and not place.db.exists(), "something was begun")


def certificate(place):
    if shutil.which("openssl") is None:
        raise Skip("no openssl")
    files = place.dir / "cert.pem", place.dir / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out",
                    files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


def test_certificates_are_checked(place):
    files = certificate(place)
    server = Server(place, gold(), KEY, "--tls", *files)
    model = "compat:llama-3@" + server.base.replace("http://127.0.0.1", "https://localhost") + "/v1"
    refused = evaluate(place, model)
    exits(refused, 1)
    expect("certificate" in refused.stdout + refused.stderr, refused.stderr)
    os.environ["SSL_CERT_FILE"] = str(files[0])
    try:
        exits(place.run("eval", "--resume", "latest"), 0)
    finally:
        del os.environ["SSL_CERT_FILE"]
    expect(len(calls(place)) == 3, calls(place))


def test_a_proxy_is_not_asked_for_this_machine(place):
    server = Server(place, gold(), KEY)
    os.environ["http_proxy"] = "http://127.0.0.1:9"
    try:
        exits(evaluate(place, f"compat:llama-3@{server.base}/v1"), 0)
    finally:
        del os.environ["http_proxy"]


def test_a_kill_loses_the_call_in_flight_and_no_recorded_one(place):
    """kill -9 of coordinator and node while the last stage waits for its answer."""
    script = gold()
    polish = {"contains": "Make it pleasant to read", "steps": [{"mode": "slow", "ms": 20000},
                                                               *script["rules"][1]["steps"]]}
    server = Server(place, {"rules": [polish, *script["rules"]]}, KEY)
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id",
                      f"claude-opus-5-5@{server.base}", "--yes")
    place.wait("three calls at the server", lambda: len(server.log()) == 3)
    node = local_node_of(run)
    os.kill(run.pid, signal.SIGKILL)
    if node is not None:
        os.kill(node, signal.SIGKILL)
    run.wait()
    expect([row[0] for row in calls(place)] == ["interview", "codegen"], calls(place))
    exits(place.run("eval", "--resume", "latest"), 0)
    expect([row[0] for row in calls(place)] == ["interview", "codegen", "polish"], calls(place))
    asked = ["Make it pleasant" in request["prompt"] for request in server.log()]
    expect(asked == [False, False, True, True], asked)


def test_an_interrupt_does_not_wait_for_the_model(place):
    server = Server(place, {"rules": [{"steps": [{"mode": "slow", "ms": 60000}]}]}, KEY)
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id",
                      f"claude-opus-5-5@{server.base}", "--yes")
    place.wait("a call at the server", lambda: len(server.log()) == 1)
    run.send_signal(signal.SIGINT)
    expect(run.wait(timeout=20) == 130, run.returncode, run.log.read_text())
    place.children.remove(run)


if __name__ == "__main__":
    main(globals())
