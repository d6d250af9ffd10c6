# SPDX-License-Identifier: MIT
"""A server that others wrote: LiteLLM's proxy speaks Chat Completions, its models answer from its config.

CE_LITELLM names its program (pip install 'litellm[proxy]': some minutes and 750 MB, so it is no part of CI).
"""
import json
import os
import socket
import subprocess
import urllib.request

from ce import SRC, Skip, exits, expect, main

PROGRAM = os.environ.get("CE_LITELLM", "")
KEY = "sk-canary-91c2f7"
PROBLEM = "silu_fp16"


def fence(word, text):
    return f"```{word}\n{text}\n```\n"


def answers():
    folder = SRC / "suites/internal" / PROBLEM
    spec = {"name": PROBLEM, "semantics": "x * sigmoid(x)", "inputs": [], "outputs": [], "hazards": [],
            "plan_of_attack": "one thread an element"}
    kernel = fence("cuda", (folder / "gold.cu").read_text()) + fence("json", (folder / "gold.json").read_text())
    return {"spec": fence("json", json.dumps(spec)), "kernel": kernel, "limited": "litellm.RateLimitError"}


def proxy(place):
    if not os.path.exists(PROGRAM):
        raise Skip("CE_LITELLM names no program")
    models = [{"model_name": name, "litellm_params": {"model": f"openai/{name}", "api_key": "none",
                                                      "mock_response": text}}
              for name, text in answers().items()]
    config = place.write("litellm.yaml", {"model_list": models, "general_settings": {"master_key": KEY},
                                          "litellm_settings": {"telemetry": False, "num_retries": 0}})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = open(place.dir / "litellm.log", "w+")
    child = subprocess.Popen([PROGRAM, "--config", config, "--host", "127.0.0.1", "--port", str(port)],
                             stdout=log, stderr=log, cwd=place.dir)
    child.log = place.dir / "litellm.log"
    place.children.append(child)
    base = f"http://127.0.0.1:{port}"

    def alive():
        try:
            with urllib.request.urlopen(base + "/health/liveliness", timeout=2) as reply:
                return reply.status == 200
        except OSError:
            return False
    place.wait("the proxy", alive, 180)
    os.environ["CE_COMPAT_API_KEY"] = KEY
    return base + "/v1"


def evaluate(place, model, *words):
    return place.run("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", model, "--yes", *words)


def calls(place):
    return place.rows("SELECT stage, stop, tokens_in, tokens_out, model FROM model_call ORDER BY recorded_ms, number")


def test_the_stages_run(place):
    base = proxy(place)
    exits(evaluate(place, f"compat:kernel@{base}", "--stage", f"interview=compat:spec@{base}", "--effort", "low",
                   "--temperature", "0.5"), 0)
    rows = calls(place)
    print(json.dumps(rows))
    expect([row[0] for row in rows] == ["interview", "codegen", "polish"], rows)
    expect(all(row[1] == "ok" and row[2] > 0 and row[3] > 0 for row in rows), rows)
    expect(place.rows("SELECT outcome FROM task WHERE kind = 'synthesize'") == [("ok",)])


def test_its_faults_are_told(place):
    base = proxy(place)
    for model, word, code in (("nobody", "nobody", 1), ("limited", "429", 5)):
        place.db = place.dir / f"{model}.db"
        done = evaluate(place, f"compat:{model}@{base}", "--on-rate-limit", "fail")
        exits(done, code)
        shown = done.stdout + done.stderr
        print(model, "|", shown[-400:].replace("\n", " "))
        expect(word in shown, shown)
        expect(KEY not in shown, "a key is shown")
    os.environ["CE_COMPAT_API_KEY"] = "sk-wrong"
    place.db = place.dir / "key.db"
    done = evaluate(place, f"compat:kernel@{base}")
    exits(done, 1)
    expect("HTTP 400: No connected db." in done.stderr, done.stderr)  # its word for a wrong key without a database


main(globals())
