# SPDX-License-Identifier: MIT
"""Self-tests of a node: alone, told to a coordinator, and before the first task of a run."""
import json
import subprocess

from ce import BIN, PATIENCE, expect, main

CHEATS = {"selftest_noop": "wrong", "selftest_sleeper": "hung", "selftest_cached": "uninitialised",
          "selftest_beyond": "out_of_bounds"}


def script(slower=0.1546, noop="wrong"):
    problems = {name: {"check": {"outcome": outcome}} for name, outcome in CHEATS.items()}
    problems["selftest_noop"] = {"check": {"outcome": noop}}
    problems["selftest_launch"] = {"warm_ms": 0.01}
    problems["selftest_slower_3"] = {"candidate_ms": [slower]}
    problems["selftest_slower_10"] = {"candidate_ms": [0.165]}
    return {"default": {"candidate_ms": [0.150], "warm_ms": 0.09, "baselines": {"eager": [0.150], "default": [0.2]}},
            "problems": problems}


def selftest(place, fake, *words):
    return subprocess.run([str(BIN / "ce-node"), "selftest", "--device", "fake", "--fake", str(fake), *words], capture_output=True,
                          text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)


def test_alone_it_prints_every_check(place):
    done = selftest(place, place.write("well.json", script()))
    expect(done.returncode == 0, done.stderr)
    told = json.loads(done.stdout)
    (device,) = told["devices"]
    names = [check["name"] for check in device["checks"]]
    expect(told["passed"] and device["passed"], done.stderr)
    expect(names.count("aa") == 40 and names.count("slower_3") == 10 and names.count("refused") == 5, names)
    expect(device["protocol"] == "ce-timing-1" and device["device_uuid"] == "GPU-fake", device)


def test_a_check_that_says_no_is_exit_3(place):
    done = selftest(place, place.write("bad.json", script(noop="ok")), "--quick")
    expect(done.returncode == 3, done.stderr)
    no = [check for check in json.loads(done.stdout)["devices"][0]["checks"] if not check["passed"]]
    expect([(check["name"], check["label"]) for check in no] == [("refused", "selftest_noop")], no)
    expect("NO   refused" in done.stderr, done.stderr)


def evaluate(place, fake, *words):
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--only", "silu_fp16", "--fake", fake, *words)
    expect(done.returncode == 0, done.stderr)


def test_a_run_tests_its_nodes_first_and_does_not_time_on_a_card_that_fails(place):
    evaluate(place, place.write("well.json", script()), "--selftest")
    expect(place.rows("SELECT passed FROM selftest") == [(1,)])
    expect(place.rows("SELECT verdict FROM task WHERE kind = 'synthesize'") == [("same",)])
    evaluate(place, place.write("bad.json", script(slower=0.1501)), "--selftest")
    expect(place.count("selftest", "passed = 0 AND failure LIKE 'slower_3%'") == 1)
    expect(place.count("task", "verdict IS NULL AND speedup IS NULL AND reason LIKE 'not timed:%self-test%'") == 1)
    expect(place.count("comparison") == 1, "only the first run timed")


def test_ten_runs_calibrate_a_card(place):
    well = place.write("well.json", script())
    join = f"ipc://{place.dir}/join"
    busy = place.mock([{"gold": True, "latency_ms": 60000, "stage": "interview"}, {"gold": True}])
    run = place.start("eval", "--suite", "internal", "--only", "silu_fp16", "--bind", join, "--model-id", busy)
    place.wait("the run waits for its model", lambda: place.count("task", "kind = 'contract' AND state = 'done'"))
    done = selftest(place, well, "--coordinator", join)
    expect(done.returncode == 0, done.stderr)
    expect(place.count("calibration", "name = 'aa' AND duration = 'middle'") == 40)
    expect(place.count("calibration", "name = 'aa' AND raw IS NOT NULL") == 40, "samples are kept")
    run.kill()
    run.wait()
    evaluate(place, well)
    expect(place.rows("SELECT margin, calibrated FROM comparison") == [(0.01, 1)])
    expect(place.count("task", "marks LIKE '%uncalibrated%'") == 0)


main(globals())
