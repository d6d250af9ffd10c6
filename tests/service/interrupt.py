# SPDX-License-Identifier: MIT
"""Ctrl-C: a resumable run, exit 130, and the exact command that resumes it."""
import re
import shlex
import signal
import subprocess

from ce import PATIENCE, expect, main
from node_killed import SLOW, check_nothing_twice, recorded

PROBLEMS = "vector_add_fp32,silu_fp16"


def start(place, rules):
    run = place.start("eval", "--suite", "internal", "--model-id", place.mock(rules), "--only", PROBLEMS, "--slots", 1)
    place.wait("an answer is recorded", lambda: place.count("model_call") >= 1)
    return run


def resume_command(run):
    found = re.search(r"^resume with: (.*)$", run.log.read_text(), re.M)
    expect(found, run.log.read_text())
    return shlex.split(found.group(1))


def test_an_interrupted_run_says_how_to_go_on_and_does(place):
    run = start(place, SLOW)
    run.send_signal(signal.SIGINT)
    expect(run.wait(20) == 130, run.returncode, run.log.read_text())
    before = recorded(place)
    expect(place.count("run", "state = 'interrupted'") == 1)
    expect(place.count("task", "state = 'leased'") == 0)
    expect(not (place.out / "leaderboard.md").exists(), "an interrupted run has no board")
    again = subprocess.run(resume_command(run), cwd=place.dir, capture_output=True, text=True, timeout=PATIENCE,
                           stdin=subprocess.DEVNULL)
    expect(again.returncode == 0, again.stderr)
    check_nothing_twice(place, before, 4)
    expect((place.out / "leaderboard.md").exists())


def test_a_second_signal_ends_it_at_once(place):
    run = start(place, [{"gold": True, "latency_ms": 20000, "stage": "codegen"}, {"gold": True}])
    run.send_signal(signal.SIGINT)
    run.send_signal(signal.SIGTERM)
    expect(run.wait(5) == 130, run.returncode, run.log.read_text())
    expect(resume_command(run))


main(globals())
