# SPDX-License-Identifier: MIT
"""Budgets, calls cut in flight, limits over all nodes: real processes, answers from tests/support/fake_provider.py."""
import json
import os
import signal

from ce import exits, expect, local_node_of, main
from fake_server import Server
from providers import INTERVIEW, KEY, PROBLEM, USAGE, calls, evaluate, gold, no_key

PRICE = 3000 * 4e-6 + 2000 * 0.2e-6 + 800 * 20e-6  # of one answer of claude-opus-5-5 (providers.USAGE)
MODEL = "claude-opus-5-5"


def charges(place):
    return place.rows("SELECT state, worst_usd, known_usd, unknown_usd, unknown_bills FROM charge "
                      "ORDER BY sent_ms, token")


def charged(place):
    return place.rows("SELECT total(known_usd) + total(unknown_usd) FROM charge")[0][0]


def worst_call(place):
    return 2 * max(row[1] for row in charges(place))


def asked(server):
    """Questions that reached the server, by their text: how often each."""
    counts = {}
    for request in server.log():
        counts[request["prompt"]] = counts.get(request["prompt"], 0) + 1
    return counts


def test_a_dry_run_says_what_it_may_cost(place):
    words = ("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", "gold", "--model-id", MODEL, "--dry-run")
    text = place.run(*words)
    exits(text, 0)
    for part in ("USD low ", "expected ", "high ", "worst case ", f"entrant {MODEL}", "assumed:", "billed twice"):
        expect(part in text.stdout, part, text.stdout)
    plan = json.loads(place.run(*words, "--json").stdout)
    usd = plan["usd"]
    expect(0 < usd["low"] < usd["expected"] < usd["high"] < usd["worst_case"], plan)
    expect([one["paid_calls_max"] for one in plan["entrants"]] == [0, 12], plan)
    expect(plan["entrants"][0]["usd"]["worst_case"] == 0, plan)
    unknown = place.run(*words, "--model-id", "compat:own@http://127.0.0.1:9/v1")
    exits(unknown, 0)
    expect("USD unknown: no price for compat:own" in unknown.stdout, unknown.stdout)
    plan = json.loads(place.run(*words, "--model-id", "compat:own@http://127.0.0.1:9/v1", "--json").stdout)
    expect(plan["usd"] is None and plan["unpriced"].startswith("compat:own"), plan)
    expect(not place.db.exists(), "a dry run makes a database")


def test_a_budget_needs_prices(place):
    server = Server(place, gold(), KEY)
    refused = evaluate(place, f"compat:own@{server.base}/v1", "--budget-usd", 5)
    exits(refused, 2)
    expect("no price is known for compat:own" in refused.stderr, refused.stderr)
    expect(not server.log())
    exits(evaluate(place, MODEL, "--budget-usd", 0), 2)


def test_a_reached_budget_stops_cleanly_and_a_larger_one_goes_on(place):
    server = Server(place, gold(), KEY)
    exits(evaluate(place, f"{MODEL}@{server.base}"), 0)  # to learn what a call may cost
    worst = worst_call(place)
    place.db.unlink()
    server.ask("/_script", gold())
    budget = worst + 1.5 * PRICE
    stopped = evaluate(place, f"{MODEL}@{server.base}", "--budget-usd", budget, "--samples", 2, "--slots", 1)
    exits(stopped, 4)
    expect(" is reached" in stopped.stderr and "resume with: " in stopped.stderr and "--budget-usd" in stopped.stderr,
           stopped.stderr)
    expect(0 < charged(place) <= budget, charges(place), budget)
    expect(place.rows("SELECT state, budget_usd FROM run") == [("incomplete", budget)])
    expect(place.count("event", "kind = 'failed'") == 0, "a budget is no failure of a task")
    paid = len(server.log())
    expect(paid == len(calls(place)) == 2, calls(place))
    again = place.run("eval", "--resume", "latest")
    exits(again, 4)
    expect(len(server.log()) == paid, "a reached budget pays further calls")
    exits(place.run("eval", "--resume", "latest", "--budget-usd", budget + 10), 0)
    expect(len(server.log()) == len(calls(place)) == 6, calls(place))
    expect(all(n <= 2 for n in asked(server).values()))  # two samples ask alike; no third time
    expect(abs(charged(place) - 6 * PRICE) < 1e-9, charges(place))
    status = json.loads(place.run("status", "latest", "--json", out=False).stdout)
    expect(abs(status["run"]["charged_usd"] - 6 * PRICE) < 1e-9, status)


def test_many_nodes_do_not_pass_a_budget(place):
    """Three nodes with six tasks each, and answers that cost as much as they can."""
    server = Server(place, gold(), KEY)
    exits(evaluate(place, f"{MODEL}@{server.base}"), 0)
    worst = worst_call(place)
    place.db.unlink()
    dear = {"in": 0, "out": 32000, "cache_read": 0, "cache_write": 0}
    script = gold()
    for rule in script["rules"]:
        rule["steps"] = [{**step, "usage": dear, "mode": "slow", "ms": 200} for step in rule["steps"]]
    server.ask("/_script", script)
    endpoint = f"ipc://{place.dir}/join"
    budget = 3.3 * worst
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{MODEL}@{server.base}",
                      "--yes", "--samples", 18, "--slots", 6, "--bind", endpoint, "--budget-usd", budget)
    for name in ("second", "third"):
        place.node(endpoint, "--device", "fake", "--name", name, "--slots", 6)
    expect(run.wait(60) == 4, run.returncode, run.log.read_text())
    expect(charged(place) <= budget, charged(place), budget)
    bill = len(server.log()) * 32000 * 20e-6
    expect(bill <= budget, "the provider's bill passes the budget", bill, budget)
    expect(charged(place) >= budget - worst, "room was left", charged(place), budget)
    expect(place.count("charge", "state = 'open'") == 0)


def test_a_stream_that_was_begun_may_be_on_the_bill(place):
    """Status 200 and an error before any text: asked twice, and both count until the budget is used up."""
    server = Server(place, gold(), KEY)
    exits(evaluate(place, f"{MODEL}@{server.base}"), 0)
    first = min(row[1] for row in charges(place))  # the interview's
    place.db.unlink()
    server.ask("/_script", {"rules": [{"steps": [{"error": "overloaded", "inside": True}]}]})
    budget = 3 * first
    done = evaluate(place, f"{MODEL}@{server.base}", "--budget-usd", budget)
    exits(done, 4)
    expect(len(server.log()) == 2, "a stream that was begun is tried again for free", len(server.log()))
    expect([row[0] for row in charges(place)] == ["failed"], charges(place))
    _, worst, known, unknown, bills = charges(place)[0]
    expect(known is None and bills == 2 and abs(unknown - 2 * worst) < 1e-12, charges(place))


def test_an_answer_of_another_model_that_costs_more_ends_a_budget(place):
    """The one thing that a reservation cannot bound: the provider answers with a model that was not asked."""
    full = {"in": 0, "out": 32000, "cache_read": 0, "cache_write": 0}
    for number, model in enumerate(("claude-fable-5-1", "claude-unheard-of")):
        server = Server(place, gold(model=model, usage=full), KEY)
        place.db, place.out = place.dir / f"{number}.db", place.dir / f"out{number}"
        done = evaluate(place, f"{MODEL}@{server.base}", "--budget-usd", 100, "--samples", 3, "--slots", 1)
        exits(done, 4)
        expect("the budget cannot be kept" in done.stderr, done.stderr)
        expect(len(server.log()) == len(calls(place)) == 1, "it was asked again", calls(place))
        worst = max(row[1] for row in charges(place))
        booked = 32000 * 50e-6 if number == 0 else worst
        expect(abs(charged(place) - booked) < 1e-9, charges(place))
        expect(number == 1 or booked > worst)


def kill(place, run):
    node = local_node_of(run)
    os.kill(run.pid, signal.SIGKILL)
    if node is not None:
        os.kill(node, signal.SIGKILL)
    run.wait()


def test_calls_cut_in_flight_are_accounted_for(place):
    """kill -9 with four calls in flight: at most four repeated, all of them charged."""
    script = gold()
    for rule in script["rules"]:
        rule["steps"] = [*[{"mode": "slow", "ms": 30000, **rule["steps"][0]}] * 4, *rule["steps"]]
    server = Server(place, script, KEY)
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{MODEL}@{server.base}",
                      "--yes", "--samples", 4, "--slots", 4)
    place.wait("four calls at the server", lambda: len(server.log()) == 4)
    expect(place.count("charge", "state = 'open'") == 4, "a call was sent before it was registered", charges(place))
    kill(place, run)
    expect(not calls(place))
    server.ask("/_script", gold())
    exits(place.run("eval", "--resume", "latest"), 0)
    expect(place.count("charge", "state = 'unknown'") == 4, charges(place))
    expect(len(server.log()) == len(calls(place)) == 12, "more than the lost calls were repeated", len(server.log()))
    lost = [row for row in charges(place) if row[0] == "unknown"]
    expect(all(row[3] == 2 * row[1] for row in lost), lost)
    expect(abs(charged(place) - 12 * PRICE - sum(row[3] for row in lost)) < 1e-9, charges(place))
    results = place.results()
    expect(results["tasks"] and sum(task["unknown_calls"] for task in results["tasks"]) == 4, results["tasks"])
    board = (place.out / "leaderboard.md").read_text()
    expect("cut in flight" in board, board)
    no_key(place)


def test_an_answer_that_is_recorded_is_never_asked_for_again(place):
    """kill -9 between an answer's commit and its use, at each of the three answers."""
    server = Server(place, gold(), KEY)
    words = ("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{MODEL}@{server.base}", "--yes")
    for recorded in (1, 2, 3):
        run = place.start(*words)
        node = place.wait("the node", lambda: local_node_of(run))
        place.wait(f"answer {recorded} is recorded",
                   lambda: run.poll() is not None or place.count("model_call") >= recorded)
        if run.poll() is None:
            os.kill(node, signal.SIGKILL)
            run.send_signal(signal.SIGKILL)
        run.wait()
        words = ("eval", "--resume", "latest")
    done = place.run("eval", "--resume", "latest")
    exits(done, 0)
    lost = place.count("charge", "state = 'unknown'")
    # A call is registered before it is sent: one that was cut in between is `unknown` and never came.
    expect(len(calls(place)) <= len(server.log()) <= len(calls(place)) + lost, len(server.log()), charges(place))
    first = [n for text, n in asked(server).items() if INTERVIEW in text]
    expect(first == [1], "the first answer was recorded and asked for again", first)


def test_a_used_up_quota_stops_its_provider_and_no_other(place):
    bad = Server(place, {"rules": [{"steps": [{"error": "quota"}]}]}, KEY)
    good = Server(place, gold(), KEY)
    done = evaluate(place, f"openai:gpt-4o@{bad.base}/v1", "--model-id", f"{MODEL}@{good.base}", "--samples", 4,
                    "--slots", 2)
    exits(done, 5)
    expect("quota" in done.stderr and "resume with: " in done.stderr, done.stderr)
    no_key(place, done.stdout, done.stderr)
    expect(len(bad.log()) <= 2, "a closed provider was asked again", len(bad.log()))
    state = dict(place.rows("SELECT e.name, group_concat(DISTINCT t.state) FROM task t JOIN entrant e "
                            "ON e.id = t.entrant GROUP BY 1"))
    expect(sorted(state.values()) == ["done", "waiting"], state)
    bad.ask("/_script", gold())
    exits(place.run("eval", "--resume", "latest"), 0)


def test_fail_on_a_rate_limit_leaves_the_tasks(place):
    busy = {"rules": [{"steps": [{"error": "rate_limit", "headers": {"retry-after": "30"}}]}]}
    server = Server(place, busy, KEY)
    done = evaluate(place, f"{MODEL}@{server.base}", "--on-rate-limit", "fail", "--samples", 3, "--slots", 1)
    exits(done, 5)
    expect("rate_limit" in done.stderr, done.stderr)
    no_key(place, done.stdout, done.stderr)
    expect(len(server.log()) == 1, "fail means: no further try", len(server.log()))
    expect(place.count("task", "kind = 'synthesize' AND state = 'waiting'") == 3)
    expect(charged(place) == 0, charges(place))
    server.ask("/_script", gold())
    exits(place.run("eval", "--resume", "latest", "--on-rate-limit", "wait"), 0)


def test_an_entrant_that_must_wait_blocks_no_other(place):
    """One slot; the first entrant's provider wants no call for a while."""
    script = gold({"error": "rate_limit", "headers": {"retry-after": "70"}})
    busy = Server(place, script, KEY)
    good = Server(place, gold(), KEY)
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"openai:gpt-4o@{busy.base}/v1",
                      "--model-id", f"{MODEL}@{good.base}", "--yes", "--samples", 3, "--slots", 1)
    done = "SELECT count(*) FROM task t JOIN entrant e ON e.id = t.entrant WHERE t.state = 'done' AND e.name LIKE ?"
    place.wait("the other entrant is through", lambda: place.rows(done, MODEL + "%") == [(3,)])
    expect(len(busy.log()) <= 1, len(busy.log()))
    expect(run.poll() is None, "the run did not wait for the busy provider")
    run.send_signal(signal.SIGINT)
    expect(run.wait(20) == 130, run.log.read_text())
    place.children.remove(run)


def test_a_ceiling_holds_over_all_nodes(place):
    server = Server(place, gold(), KEY)
    endpoint = f"ipc://{place.dir}/join"
    run = place.start("eval", "--suite", "internal", "--only", PROBLEM, "--model-id", f"{MODEL}@{server.base}",
                      "--yes", "--samples", 4, "--slots", 2, "--bind", endpoint, "--rate-limit", "anthropic=120")
    place.node(endpoint, "--device", "fake", "--name", "second", "--slots", 2)
    expect(run.wait(60) == 0, run.log.read_text())
    moments = sorted(request["at"] for request in server.log())
    expect(len(moments) == 12, moments)
    expect(moments[-1] - moments[0] >= 4, "calls came faster than two a second", moments)
    bad = place.run("eval", "--suite", "internal", "--model-id", "gold", "--rate-limit", "anthropic")
    exits(bad, 2)
    expect("NAME=REQUESTS" in bad.stderr, bad.stderr)


if __name__ == "__main__":
    main(globals())
