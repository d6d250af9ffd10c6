# SPDX-License-Identifier: MIT
"""A coordinator that stays: runs are submitted, followed, cancelled; nodes are drained; it is killed and goes on."""
import json
import os
import re
import signal
import subprocess

from ce import BIN, expect, main
from node_killed import served

SLOW = [{"gold": True, "latency_ms": 300}]
PROBLEMS = "vector_add_fp32,silu_fp16"


def serve(place, *words):
    child = place.start("serve", "--out", place.dir / "runs", *words)
    place.wait("it serves", lambda: (place.dir / "ce.db.sock").exists())
    return child


def local(place):
    return f"ipc://{place.db}.sock"


def ask(place, *words):
    return subprocess.run([str(BIN / "ce-coord"), *map(str, words), "--db", str(place.db)], cwd=place.dir,
                          capture_output=True, text=True, timeout=120)


def submit(place, *words, wait=True, uri=None):
    model = words[0] if words else "gold"
    line = ["eval", "--coordinator", uri or local(place), "--suite", "internal", "--model-id", model, "--only", PROBLEMS,
            *words[1:]]
    child = place.start(*line)
    if not wait:
        run = place.wait("it is submitted", lambda: re.search(r"^run (\w+)$", child.log.read_text(), re.MULTILINE))
        return child, run[1]
    out, _ = child.communicate(timeout=180)
    return child, out


def test_a_run_is_submitted_and_followed_to_its_board(place):
    serve(place)
    place.node(local(place), "--device", "fake", "--name", "a")
    child, out = submit(place)
    expect(child.returncode == 0, child.log.read_text())
    expect("| gold |" in out and (place.out / "results.json").exists(), out)
    run = json.loads((place.out / "results.json").read_text())["run"]["id"]
    expect((place.dir / "runs" / run / "leaderboard.md").read_text() == (place.out / "leaderboard.md").read_text())
    expect(place.rows("SELECT state FROM run") == [("complete",)])


def test_runs_wait_for_one_another_and_can_be_cancelled(place):
    serve(place)
    place.node(local(place), "--device", "fake", "--name", "a", "--slots", 1)
    first, one = submit(place, place.mock(SLOW), "--samples", 4, wait=False)
    second, two = submit(place, "gold", wait=False)
    third, three = submit(place, "gold", wait=False)
    view = json.loads(ask(place, "nodes", "--json").stdout)
    expect([n["name"] for n in view["nodes"]] == ["a"], view)
    expect([(r["run"], r["state"]) for r in view["runs"]] ==
           [(one, "running"), (two, "waiting"), (three, "waiting")], view)
    expect(ask(place, "cancel", two).returncode == 0)
    expect(second.wait(60) == 130, second.log.read_text())
    expect(ask(place, "cancel", one).returncode == 0)
    expect(first.wait(60) == 130, first.log.read_text())
    expect(third.wait(120) == 0, third.log.read_text())
    states = dict(place.rows("SELECT id, state FROM run"))
    expect(states == {one: "interrupted", two: "interrupted", three: "complete"}, states)
    expect(ask(place, "cancel", one).returncode == 2, "nothing is left to cancel")
    place.children.remove(first)
    place.children.remove(second)


def test_a_killed_coordinator_goes_on_with_its_runs(place):
    coordinator = serve(place)
    place.node(local(place), "--device", "fake", "--name", "a")
    child, _ = submit(place, place.mock(SLOW), "--samples", 2, wait=False)
    place.wait("a stage is recorded", lambda: place.count("stage_result", "stage = 'interview'"))
    coordinator.send_signal(signal.SIGKILL)
    coordinator.wait()
    serve(place)
    expect(child.wait(180) == 0, child.log.read_text())
    expect(place.count("task", "state = 'done'") == place.count("task"))
    expect(place.count("event", "kind = 'done'") == place.count("task"))


def test_a_node_keeps_its_tasks_while_the_coordinator_is_gone(place):
    coordinator = serve(place)
    place.node(local(place), "--device", "fake", "--name", "a", "--slots", 4)
    child, _ = submit(place, place.mock([{"gold": True, "latency_ms": 1500}]), "--samples", 2, wait=False)
    place.wait("calls are in flight", lambda: place.count("charge", "state = 'open'") or
               place.count("lease", "ending IS NULL") == 4)
    coordinator.send_signal(signal.SIGKILL)
    coordinator.wait()
    serve(place)
    expect(child.wait(180) == 0, child.log.read_text())
    expect(place.count("event", "kind = 'reclaimed'") > 0, "leases go on")
    twice = [call for call, times in served(place).items() if times > 1]
    expect(not twice, f"asked again, though the node was there all the time: {twice}")
    expect(place.count("lease") == place.count("task"), "no task was handed out twice")


def test_a_task_that_fits_no_node_waits_says_why_and_goes_where_it_fits(place):
    suites = place.suites()
    with open(suites / "internal/silu_fp16/problem.yaml", "a") as terms:
        terms.write(f"memory: {60 << 30}\ncapability: 90\n")
    serve(place, "--suites", suites)
    small = place.write("small.json", {"default": {"memory_bytes": 40 << 30}})
    place.node(local(place), "--device", "fake", "--fake", small, "--name", "small")
    child, run = submit(place, "gold", "--samples", 2, wait=False)
    place.wait("what fits is done", lambda: place.count("task", "state = 'done'") == 3)
    told = json.loads(ask(place, "status", run, "--json").stdout)["waits"]
    why = "needs 60.0 GiB of device memory; the largest device has 40.0 GiB"
    expect(told == [{"problem": "silu_fp16", "tasks": 3, "reason": why}], told)
    expect(f"waits       silu_fp16, 3 tasks: {why}" in ask(place, "status", run).stdout)
    place.node(local(place), "--device", "fake", "--name", "large")
    expect(child.wait(120) == 0, child.log.read_text())
    where = place.rows("SELECT DISTINCT l.node FROM lease l JOIN task t ON t.id = l.task WHERE t.problem = 'silu_fp16'")
    expect(where == [("large",)], where)
    expect(json.loads(ask(place, "status", run, "--json").stdout)["waits"] == [])


def drains(place, how, ending):
    serve(place)
    run, _ = submit(place, place.mock(SLOW), "--samples", 2, wait=False)
    old = place.node(local(place), "--device", "fake", "--name", "old", "--slots", 2)
    place.wait("it is in the middle of a task", lambda: place.rows(
        "SELECT 1 FROM lease l JOIN task t ON t.id = l.task JOIN stage_result s ON s.task = t.id "
        "WHERE l.node = 'old' AND l.ending IS NULL AND t.kind = 'synthesize'"))
    expect(ask(place, "drain", "old", *how).returncode == 0)
    expect(old.wait(60) == 0, old.log.read_text())
    before = place.count("lease", "node = 'old'")
    place.node(local(place), "--device", "fake", "--name", "new")
    expect(run.wait(180) == 0, run.log.read_text())
    expect(place.count("lease", "node = 'old'") == before, "a drained node gets nothing more")
    ends = {row[0] for row in place.rows("SELECT ending FROM lease JOIN task ON id = task WHERE kind = 'synthesize' "
                                         "AND lease.node = 'old'")}
    expect(ending in ends and "lost" not in ends, ends)
    expect(place.count("task", "state = 'failed'") == 0)
    expect(ask(place, "drain", "old").returncode == 2, "nobody of that name is there")


def test_a_graceful_drain_ends_the_tasks(place):
    drains(place, [], "done")


def test_a_quick_drain_ends_the_stages(place):
    drains(place, ["--quick"], "returned")


def test_a_drain_at_once_gives_everything_back(place):
    drains(place, ["--now"], "returned")


def test_a_terminated_node_drains(place):
    serve(place)
    run, _ = submit(place, place.mock(SLOW), "--samples", 2, wait=False)
    old = place.node(local(place), "--device", "fake", "--name", "old", "--slots", 1)
    place.wait("it holds a task", lambda: place.count("lease", "node = 'old' AND ending IS NULL"))
    old.send_signal(signal.SIGTERM)
    expect(old.wait(60) == 0, old.log.read_text())
    expect(not place.count("lease", "node = 'old' AND ending <> 'done'"))
    place.node(local(place), "--device", "fake", "--name", "new")
    expect(run.wait(180) == 0, run.log.read_text())


def test_operators_of_other_hosts_need_a_key_of_their_own(place):
    home = dict(os.environ, CE_HOME=str(place.dir))
    for words in (("a100-1",), ("me", "--operator")):
        subprocess.run([str(BIN / "ce-coord"), "keys", "new", *words], cwd=place.dir, env=home, check=True,
                       capture_output=True)
    child = serve(place, "--bind", "curve://127.0.0.1:*", "--keys", place.dir / "keys")
    child.stdout.readline()
    uri = re.search(r"curve\S+", child.stdout.readline())[0]
    place.node(uri, "--device", "fake", "--name", "a100-1", "--key", "a100-1.key")
    place.wait("it joined", lambda: place.count("node", "state = 'up'"))
    expect("a100-1" in ask(place, "nodes", "--coordinator", uri, "--key", "me.key").stdout)
    refused = ask(place, "drain", "a100-1", "--coordinator", uri, "--key", "a100-1.key")
    expect(refused.returncode == 2 and "operators" in refused.stderr, refused)
    keyless = ask(place, "nodes", "--coordinator", uri.replace("curve", "tcp"))
    expect(keyless.returncode == 2 and "key" in keyless.stderr, keyless)
    run, out = submit(place, "gold", "--key", "me.key", uri=uri)
    expect(run.returncode == 0 and "| gold |" in out, run.log.read_text())


def test_what_cannot_be_is_refused_by_the_coordinator(place):
    serve(place)
    second = ask(place, "serve")
    expect(second.returncode != 0 and "--coordinator" in second.stderr, second)
    nobody = ask(place, "nodes", "--coordinator", f"ipc://{place.dir}/nobody")
    expect(nobody.returncode == 2 and "ce-coord serve" in nobody.stderr, nobody)


if __name__ == "__main__":
    main(globals())
