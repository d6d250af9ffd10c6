# SPDX-License-Identifier: MIT
"""kill -9 of a node in the middle of a task: another one finishes it, nothing is repeated or doubled."""
import collections
import os
import signal

from ce import expect, local_node_of, main

PROBLEMS = "vector_add_fp32,silu_fp16"
SLOW = [{"gold": True, "latency_ms": 300}]


def recorded(place):
    """Answers that are in the database: (problem, sample, stage, number)."""
    return set(place.rows("SELECT t.problem, t.sample, c.stage, c.number FROM model_call c "
                          "JOIN task t ON t.id = c.task"))


def served(place):
    return collections.Counter((call["problem"], call["sample"], call["stage"], call["index"])
                               for call in place.served())


def check_nothing_twice(place, before, tasks):
    """`before`: answers recorded when the process died; a dict tells how often each had been asked for by
    then (an answer in flight at an earlier death is lost and asked for again), else it was once."""
    asked = before if isinstance(before, dict) else dict.fromkeys(before, 1)
    times = served(place)
    for answer, wanted in asked.items():
        expect(times[answer] == wanted,
               f"{answer} was asked for {times[answer]} times, {wanted} until it was recorded")
    expect(place.count("task", "state = 'done' AND outcome = 'ok'") == tasks, place.rows("SELECT * FROM task"))
    expect(place.count("event", "kind = 'done'") == tasks, "one recorded result a task")
    doubled = place.rows("SELECT task, stage, count(*) FROM stage_result GROUP BY 1, 2 HAVING count(*) > 1")
    expect(not doubled, doubled)


def half_done(place, node):
    """Tasks that `node` holds after at least one finished stage."""
    return place.rows("SELECT t.id FROM task t JOIN stage_result s ON s.task = t.id WHERE t.state = 'leased' "
                      "AND t.kind = 'synthesize' AND t.node = ?", node)


def test_a_joined_node_dies_and_its_task_ends_elsewhere(place):
    endpoint = f"ipc://{place.dir}/join"
    run = place.start("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only", PROBLEMS,
                      "--slots", 1, "--bind", endpoint, "--node-timeout", 1.5)
    second = place.node(endpoint, "--device", "fake", "--name", "second", "--slots", 1)
    place.wait("the second node is in the middle of a task", lambda: half_done(place, "second"))
    before = recorded(place)
    second.send_signal(signal.SIGKILL)
    second.wait()
    task = place.rows("SELECT task FROM lease WHERE node = 'second' AND ending IS NULL")
    expect(len(task) == 1, task)
    expect(run.wait(60) == 0, run.log.read_text())
    check_nothing_twice(place, before, 4)
    ends = dict(place.rows("SELECT node, ending FROM lease WHERE task = ? ORDER BY token", task[0][0]))
    expect(ends == {"second": "lost", "local": "done"}, ends)
    expect(place.rows("SELECT state FROM node WHERE name = 'second'") == [("lost",)])


def test_the_local_node_dies_and_is_started_again(place):
    run = place.start("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only", PROBLEMS,
                      "--slots", 1)
    place.wait("the local node is in the middle of a task", lambda: half_done(place, "local"))
    before = recorded(place)
    os.kill(local_node_of(run), signal.SIGKILL)
    expect(run.wait(60) == 0, run.log.read_text())
    check_nothing_twice(place, before, 4)
    expect("was killed by SIGKILL; it is started again" in run.log.read_text(), run.log.read_text())
    expect(place.count("lease", "ending = 'lost'") == 1)


def test_a_stopped_node_is_lost_and_its_late_word_refused(place):
    endpoint = f"ipc://{place.dir}/join"
    run = place.start("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only", PROBLEMS,
                      "--slots", 1, "--bind", endpoint, "--node-timeout", 1)
    second = place.node(endpoint, "--device", "fake", "--name", "second", "--slots", 1)
    place.wait("the second node is in the middle of a task", lambda: half_done(place, "second"))
    second.send_signal(signal.SIGSTOP)
    place.wait("it is lost", lambda: place.count("lease", "node = 'second' AND ending = 'lost'"))
    second.send_signal(signal.SIGCONT)
    expect(run.wait(60) == 0, run.log.read_text())
    check_nothing_twice(place, set(), 4)


if __name__ == "__main__":
    main(globals())
