# SPDX-License-Identifier: MIT
"""Outages: what a node could not tell its coordinator outlives both, and no paid answer is asked for again."""
import os
import re
import signal

from ce import expect, main
from node_killed import served
from serve import local, serve, submit

SLOW = [{"gold": True, "latency_ms": 1500}]
ONE = ("--only", "silu_fp16")


def node(place, *words):
    return place.node(local(place), "--device", "fake", "--name", "n1", "--slots", 1, "--spool", place.dir / "spool", *words)


def asked(place):
    """The interview is over: the node waits for the next answer."""
    return place.count("stage_result", "stage = 'interview'")


def spooled(place):
    """Files of the spool."""
    folder = place.dir / "spool/n1"
    return list(folder.iterdir()) if folder.exists() else []


def answered(place):
    """The model has answered, and the answer is written down."""
    return any(re.search(rb'"stage": ?"codegen"', f.read_bytes()) for f in spooled(place))


def begin(place):
    coordinator = serve(place)
    first = node(place)
    run = submit(place, place.mock(SLOW), *ONE, wait=False)[0]
    place.wait("the model is asked", lambda: asked(place))
    return coordinator, first, run


def end(place, run, tasks=2):
    expect(run.wait(180) == 0, run.log.read_text())
    times = served(place)
    expect(set(times.values()) == {1}, f"asked for more than once: {times}")
    expect(place.count("task", "state = 'done'") == tasks)
    expect(place.count("event", "kind = 'done'") == tasks, "one recorded result a task")
    place.wait("the spool is empty", lambda: not spooled(place))


def killed(child):
    child.kill()
    child.wait()


def test_an_answer_outlives_coordinator_and_node(place):
    coordinator, first, run = begin(place)
    killed(coordinator)
    place.wait("the answer is written down", lambda: answered(place))
    expect(all(f.stat().st_mode & 0o777 == 0o600 for f in spooled(place)), "what a model said is for the node alone")
    killed(first)
    serve(place)
    node(place)
    end(place, run)
    expect(place.count("event", "kind = 'reclaimed'") >= 1, "the lease went on")


def test_a_node_that_is_started_again_comes_before_others(place):
    coordinator, first, run = begin(place)
    coordinator.send_signal(signal.SIGSTOP)
    place.wait("the answer is written down", lambda: answered(place))
    killed(first)
    place.node(local(place), "--device", "fake", "--name", "eager", "--slots", 4)
    node(place)
    coordinator.send_signal(signal.SIGCONT)
    end(place, run)
    expect(place.count("late") == 0, place.rows("SELECT * FROM late"))


def test_what_comes_too_late_is_kept_for_audit(place):
    coordinator, first, run = begin(place)
    coordinator.send_signal(signal.SIGSTOP)
    place.wait("the answer is written down", lambda: answered(place))
    killed(first)
    killed(coordinator)
    serve(place, "--node-timeout", 1)
    place.node(local(place), "--device", "fake", "--name", "heir", "--slots", 1)
    place.wait("another node has the task", lambda: place.count("lease", "node = 'heir' AND ending IS NULL") or
               run.poll() is not None)
    node(place)
    expect(run.wait(180) == 0, run.log.read_text())
    place.wait("it is in the audit", lambda: place.count("late", "kind = 'call' AND node = 'n1'"))
    task = place.rows("SELECT task FROM late")[0][0]
    shown = place.run("inspect", task, out=False).stdout
    expect(re.search(r"^late\n.*kind call, node n1", shown, re.MULTILINE), shown)
    expect(place.count("event", "kind = 'done'") == 2, "it was scored once")
    place.wait("the spool is empty", lambda: not spooled(place))


def test_nodes_that_died_idle_are_no_fault_of_a_task(place):
    serve(place)
    idle = [place.node(local(place), "--device", "fake", "--name", name, "--slots", 1) for name in ("a", "b", "c")]
    place.wait("they joined", lambda: place.count("node", "state = 'up'") == 3)
    for child in idle:
        killed(child)
    run = submit(place, "gold", *ONE, wait=False)[0]
    place.wait("they are found dead", lambda: place.count("node", "state = 'lost'") == 3)
    place.node(local(place), "--device", "fake", "--name", "d", "--slots", 1)
    expect(run.wait(120) == 0, run.log.read_text())
    expect(place.count("event", "detail LIKE 'quarantined%'") == 0, "a task was blamed")


def test_a_full_spool_costs_no_task(place):
    serve(place)
    folder = place.dir / "spool/n1"
    place.node(local(place), "--device", "fake", "--name", "n1", "--spool", place.dir / "spool")
    place.wait("it has its folder", folder.exists)
    os.rmdir(folder)  # nothing can be written there any more
    child, _ = submit(place, "gold", *ONE)
    expect(child.returncode == 0, child.log.read_text())


if __name__ == "__main__":
    main(globals())
