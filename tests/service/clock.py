# SPDX-License-Identifier: MIT
"""Wall clocks that jump (libfaketime, never the host's): nobody is lost, nothing is given away, the run ends."""
import glob
import os

from ce import Skip, expect, main
from node_killed import check_nothing_twice
from serve import local, serve, submit

SLOW = [{"gold": True, "latency_ms": 1000}]


def test_an_hour_to_and_fro_changes_nothing(place):
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Skip("libfaketime is not installed (scripts/deps)")
    clock = place.write("clock", "+0")
    faked = {"LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
             "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    os.environ.update(faked)
    try:
        serve(place, "--node-timeout", 4)
        place.node(local(place), "--device", "fake", "--name", "a", "--slots", 2)
    finally:
        for name in faked:
            del os.environ[name]
    run = submit(place, place.mock(SLOW), "--samples", 2, wait=False)[0]
    for step in ("+1h", "-1h", "+0"):
        before = place.count("model_call")
        clock.write_text(step)
        place.wait(f"work goes on at {step}", lambda: place.count("model_call") > before or run.poll() is not None)
    expect(run.wait(180) == 0, run.log.read_text())
    wild = place.rows("SELECT max(at_ms) - min(at_ms) FROM event")[0][0]
    expect(wild > 3600 * 1000, "the clock did jump", wild)
    expect(place.count("lease", "ending = 'lost'") == 0, "no lease was lost")
    expect(place.count("event", "kind = 'node_lost'") == 0, "no node was lost")
    check_nothing_twice(place, set(), 2 + 4)


if __name__ == "__main__":
    main(globals())
