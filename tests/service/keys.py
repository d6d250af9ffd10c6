# SPDX-License-Identifier: MIT
"""Nodes of other hosts: keys, refusals that both sides tell, revocation while a task is in flight."""
import json
import os
import re
import signal
import subprocess

from ce import BIN, expect, main

SLOW = [{"gold": True, "latency_ms": 400}]


def keys(place, *words):
    return subprocess.run([str(BIN / "ce-coord"), "keys", *words], cwd=place.dir, capture_output=True, text=True,
                          env=dict(os.environ, CE_HOME=str(place.dir)), timeout=60)


def begin(place, *words):
    """A run that waits for nodes with keys; gives the process and the endpoint."""
    run = place.start("eval", "--suite", "internal", "--model-id", place.mock(SLOW), "--only",
                      "vector_add_fp32,silu_fp16", "--samples", 2, "--bind", "curve://127.0.0.1:*", "--keys",
                      str(place.dir / "keys"), "--slots", 1, *words)
    endpoint = place.wait("the endpoint is told", lambda: re.search(r"--coordinator (curve\S+)", run.log.read_text()))
    return run, endpoint[1]


def joined(place, name):
    return place.count("node", f"name = '{name}' AND state = 'up'")


def ends(place, node, seconds=30):
    expect(node.wait(seconds) == 1, node.log.read_text())
    place.children.remove(node)
    return node.log.read_text()


def test_keys_are_made_listed_and_revoked(place):
    made = keys(place, "new", "a100-1")
    expect(made.returncode == 0 and made.stdout == "a100-1.key\n", made)
    expect((place.dir / "a100-1.key").stat().st_mode & 0o777 == 0o600)
    expect(keys(place, "new", "me", "--operator", "--out", "me.key").returncode == 0)
    listed = json.loads(keys(place, "list", "--json").stdout)["keys"]
    expect([(k["name"], k["role"]) for k in listed] == [("a100-1", "node"), ("me", "operator")], listed)
    secret = json.loads((place.dir / "a100-1.key").read_text())["secret"]
    for root, _, files in os.walk(place.dir / "keys"):
        for name in files:
            expect(secret not in open(os.path.join(root, name)).read(), "a node's secret stays with the node")
    again = keys(place, "new", "a100-1", "--out", "b.key")
    expect(again.returncode == 2 and "revoke it first" in again.stderr, again)
    expect(keys(place, "revoke", "a100-1").returncode == 0)
    expect(keys(place, "revoke", "a100-1").returncode == 2)
    expect("a100-1" not in keys(place, "list").stdout)


def test_a_node_with_a_key_works_and_one_without_is_told(place):
    keys(place, "new", "a100-1")
    run, endpoint = begin(place)
    good = place.node(endpoint, "--device", "fake", "--name", "a100-1", "--key", "a100-1.key")
    place.wait("it joined", lambda: joined(place, "a100-1"))
    plain = place.node(endpoint.replace("curve", "tcp"), "--device", "fake", "--name", "plain")
    expect("wants a key" in ends(place, plain), "the node says what is missing")
    place.wait("the coordinator says it too", lambda: "a node without a key" in run.log.read_text())
    expect(run.wait(120) == 0, run.log.read_text())
    expect(place.count("lease", "node = 'a100-1' AND ending = 'done'") > 0)
    expect(good.wait(30) == 0, good.log.read_text())


def test_a_wrong_key_is_refused_on_both_sides(place):
    keys(place, "new", "a100-1")
    keys(place, "revoke", "a100-1")
    run, endpoint = begin(place)
    stranger = place.node(endpoint, "--device", "fake", "--key", "a100-1.key")
    text = ends(place, stranger, 15)
    expect("does not allow key a100-1" in text and "ce-coord keys new" in text, text)
    place.wait("the coordinator says it too", lambda: "is not allowed" in run.log.read_text(), 15)
    key = json.loads((place.dir / "a100-1.key").read_text())
    expect(key["public"][:12] in run.log.read_text() and "127.0.0.1" in run.log.read_text())
    key["coordinator"] = key["public"]
    os.chmod(place.write("other.key", key), 0o600)
    lost = place.node(endpoint, "--device", "fake", "--key", "other.key")
    place.wait("the node says whose key it may be", lambda: "of another coordinator" in lost.log.read_text())
    lost.kill()
    expect(run.wait(120) == 0, run.log.read_text())


def test_a_revoked_node_loses_its_task_within_seconds(place):
    keys(place, "new", "a100-1")
    run, endpoint = begin(place)
    node = place.node(endpoint, "--device", "fake", "--name", "a100-1", "--key", "a100-1.key", "--slots", 1)
    place.wait("it holds a task", lambda: place.count("lease", "node = 'a100-1' AND ending IS NULL"))
    keys(place, "revoke", "a100-1")
    text = ends(place, node, 20)
    expect("revoked" in text, text)
    expect(run.wait(120) == 0, run.log.read_text())
    expect(place.count("task", "state = 'done'") == place.count("task"))
    expect("its key was revoked" in run.log.read_text(), run.log.read_text())


def test_a_node_may_not_take_another_name_or_a_readable_key(place):
    keys(place, "new", "a100-1")
    run, endpoint = begin(place)
    liar = place.node(endpoint, "--device", "fake", "--name", "b200", "--key", "a100-1.key")
    expect("may register a100-1" in ends(place, liar))
    os.chmod(place.dir / "a100-1.key", 0o644)
    careless = place.node(endpoint, "--device", "fake", "--key", "a100-1.key")
    expect("chmod 600" in ends(place, careless))
    run.send_signal(signal.SIGINT)
    expect(run.wait(60) == 130, run.log.read_text())
    place.children.remove(run)


if __name__ == "__main__":
    main(globals())
