# SPDX-License-Identifier: MIT
"""kill -9 of ce-coord at several moments: --resume completes, no recorded answer is asked for again."""
import resource
import signal
import subprocess

from ce import PATIENCE, exits, expect, local_node_of, main
from node_killed import SLOW, check_nothing_twice, recorded, served

PROBLEMS = "vector_add_fp32,silu_fp16"


def kill(place, run):
    """Kills the coordinator; its node must go with it. Gives what was recorded by then."""
    node = local_node_of(run)
    run.send_signal(signal.SIGKILL)
    run.wait()
    place.wait("the local node ends with its coordinator", lambda: node is None or local_node_of_pid_gone(node))
    return recorded(place)


def local_node_of_pid_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def start(place):
    return place.start("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only", PROBLEMS,
                       "--slots", 2)


def test_a_killed_run_is_resumed_from_its_id_alone(place):
    run = start(place)
    place.wait("some answers are recorded", lambda: place.count("model_call") >= 3)
    before = kill(place, run)
    expect(place.count("run", "state = 'running'") == 1)
    exits(place.run("eval", "--resume", "latest"), 0)
    check_nothing_twice(place, before, 4)
    expect(place.count("run") == 1 and place.count("run", "state = 'complete'") == 1)
    expect(len(place.results()["tasks"]) == 2)


def test_every_moment_is_a_good_moment_to_die(place):
    run = start(place)
    moments = [lambda: place.count("lease") >= 1,                      # a contract task is out
               lambda: place.count("model_call") >= 1,
               lambda: place.count("stage_result", "stage = 'codegen'") >= 1,
               lambda: place.count("stage_result", "stage = 'correctness'") >= 1]
    before = {}
    for number, moment in enumerate(moments):
        place.wait(f"moment {number}", lambda: run.poll() is not None or moment())
        if run.poll() is not None:
            break
        for answer in kill(place, run):
            before.setdefault(answer, served(place)[answer])
        run = place.start("eval", "--resume", "latest")
    expect(run.wait(60) == 0, run.log.read_text())
    check_nothing_twice(place, before, 4)


def test_resuming_a_complete_run_only_reports(place):
    exits(place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "vector_add_fp32"), 0)
    finished = place.rows("SELECT finished_ms FROM run")
    board = (place.out / "leaderboard.md").read_bytes()
    (place.out / "leaderboard.md").unlink()
    exits(place.run("eval", "--resume", "latest"), 0)
    expect(place.rows("SELECT finished_ms FROM run") == finished)
    expect((place.out / "leaderboard.md").read_bytes() == board)


def limit_files():
    """Files end at 600 KiB, room for plan and contracts, not for 40 tasks: what a full disk does to a database."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600 * 1024, 600 * 1024))


def test_a_full_disk_stops_the_run_cleanly(place):
    model = place.mock([{"gold": True}])
    done = subprocess.run(place.command("eval", "--suite", "internal", "--model-id", model, "--samples", 20, "--only",
                                        PROBLEMS), cwd=place.dir, capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, preexec_fn=limit_files)
    exits(done, 1)
    expect("ce-coord eval: " in done.stderr and "resume with: " in done.stderr, done.stderr[-2000:])
    before = recorded(place)
    exits(place.run("eval", "--resume", "latest", timeout=200), 0)
    check_nothing_twice(place, before, 2 + 40)


if __name__ == "__main__":
    main(globals())
