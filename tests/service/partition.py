# SPDX-License-Identifier: MIT
"""A node behind a real network link (its own namespace, veth) that goes down: shortly, and for longer than a lease."""
import os
import re
import subprocess
import time

from ce import BIN, Skip, expect, main
from node_killed import check_nothing_twice
from serve import serve
from spaces import CLONE_NEWNET, CLONE_NEWNS, command, enter

SLOW = [{"gold": True, "latency_ms": 1500}]


def far_host(place):
    """Two hosts on one link: this process is on the near one."""
    enter(CLONE_NEWNS | CLONE_NEWNET)
    command("mount", "--make-rprivate", "/")
    command("mount", "-t", "tmpfs", "none", "/run")
    command("ip", "link", "set", "lo", "up")
    command("ip", "netns", "add", "far")
    command("ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0", "netns", "far")
    for words in (("addr", "add", "10.77.0.1/24", "dev", "near0"), ("link", "set", "near0", "up")):
        command("ip", *words)
    for words in (("addr", "add", "10.77.0.2/24", "dev", "far0"), ("link", "set", "far0", "up"), ("link", "set", "lo", "up")):
        command("ip", "-n", "far", *words)
    if not os.path.exists("/run/netns/far"):
        raise Skip("ip netns makes no namespace here")


def far_node(place, endpoint):
    log = open(place.dir / f"log{len(place.children)}", "w+")
    child = subprocess.Popen(["ip", "netns", "exec", "far", str(BIN / "ce-node"), "--coordinator", endpoint, "--device",
                              "fake", "--name", "pool.far", "--key", "pool.key", "--slots", "1"], cwd=place.dir,
                             stdout=subprocess.DEVNULL, stderr=log, stdin=subprocess.DEVNULL)
    child.log = place.dir / os.path.basename(log.name)
    place.children.append(child)


def link(state):
    command("ip", "link", "set", "near0", state)


def begin(place):
    far_host(place)
    for words in (("pool",), ("me", "--operator")):
        subprocess.run([str(BIN / "ce-coord"), "keys", "new", *words, "--keys", str(place.dir / "keys")], cwd=place.dir,
                       check=True, capture_output=True)
    endpoint = "curve://10.77.0.1:7717"
    serve(place, "--bind", endpoint, "--keys", place.dir / "keys", "--node-timeout", 4)
    far_node(place, endpoint)
    place.wait("the far node joined", lambda: place.count("node", "name = 'pool.far' AND state = 'up'"))
    run = place.start("eval", "--coordinator", f"ipc://{place.db}.sock", "--suite", "internal", "--model-id",
                      place.mock(SLOW), "--only", "silu_fp16", "--samples", 2)
    place.wait("it is submitted", lambda: re.search(r"^run ", run.log.read_text(), re.MULTILINE))
    place.wait("the far node has a task", lambda: place.count("stage_result", "stage = 'interview'"))
    return run





def test_a_short_partition_loses_nothing(place):
    run = begin(place)
    link("down")
    time.sleep(1)  # less than a node may be silent
    link("up")
    expect(run.wait(180) == 0, run.log.read_text())
    expect(place.count("lease", "ending = 'lost'") == 0, place.rows("SELECT * FROM lease"))
    check_nothing_twice(place, set(), 3)


def test_a_long_partition_gives_the_task_away_and_the_node_comes_back(place):
    run = begin(place)
    link("down")
    place.wait("its lease is lost", lambda: place.count("lease", "node = 'pool.far' AND ending = 'lost'"))
    place.node(f"ipc://{place.db}.sock", "--device", "fake", "--name", "near", "--slots", 1)
    place.wait("another node has it", lambda: place.count("lease", "node = 'near'"))
    link("up")
    place.wait("the far node is back", lambda: place.count("node", "name = 'pool.far' AND state = 'up'"))
    expect(run.wait(180) == 0, run.log.read_text())
    expect(place.count("event", "kind = 'done'") == 3, "one recorded result a task")
    expect(place.count("task", "state = 'done' AND outcome = 'ok'") == 3)


if __name__ == "__main__":
    main(globals())
