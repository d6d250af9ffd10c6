# SPDX-License-Identifier: MIT
"""Everything at once: nodes and coordinator are killed and stopped, links are cut, delayed and corrupted, strangers
knock. In the end every task has one result, no recorded answer was asked for again, and the board is that of an
undisturbed run.

CE_CHAOS_SECONDS of disturbance (default 45), CE_CHAOS_SAMPLES of each problem (default 20), CE_CHAOS_LATENCY_MS of an
answer, CE_CHAOS_SEED. The long form: CE_CHAOS_PROBLEMS (default 2) and CE_CHAOS_GOLD: so many samples of one problem have an
answer that is compiled and run (default all); the undisturbed run then has a coordinator of its own and goes on beside.
"""
import collections
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

from ce import BIN, SHIPPED, Place, expect, main
from node_killed import served

SECONDS = float(os.environ.get("CE_CHAOS_SECONDS", "45"))
SAMPLES = int(os.environ.get("CE_CHAOS_SAMPLES", "20"))
SEED = int(os.environ.get("CE_CHAOS_SEED", "7"))
GOLD = int(os.environ.get("CE_CHAOS_GOLD", SAMPLES))
LATENCY_MS = int(os.environ.get("CE_CHAOS_LATENCY_MS", "200"))
PROBLEMS = ["silu_fp16", "vector_add_fp32"]
PROBLEMS += [p for p in SHIPPED if p not in PROBLEMS][:int(os.environ.get("CE_CHAOS_PROBLEMS", "2")) - 2]
NODES = 8
ENDS = 900 + 2 * SECONDS  # seconds in which a disturbed run must be over; a deadline for hangs


class Link:
    """A TCP proxy in front of the coordinator: what passes can be held back, delayed, spoilt or cut."""

    def __init__(self, port):
        self.to = port
        self.delay = 0.0
        self.held = threading.Event()
        self.held.set()
        self.spoil = 0  # bytes to spoil, one a piece
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                if self.listener.fileno() < 0:
                    return
                near.close()
                continue
            self.pairs.append((near, far))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(one, other), daemon=True).start()

    def pump(self, one, other):
        try:
            while data := one.recv(65536):
                self.held.wait()
                time.sleep(self.delay)
                if self.spoil > 0:
                    self.spoil -= 1
                    place = random.randrange(len(data))
                    data = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1:]
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def close(self):
        self.listener.close()
        self.held.set()
        self.cut()


class Fleet:
    def __init__(self, place):
        self.place = place
        self.port = free_port()
        self.nodes = {}
        self.links = {}
        self.resent_at_most = 0
        self.asked = {}  # recorded answer → how often it had been asked for by the newest kill
        self.say = collections.Counter()
        self.run = ""
        self.serve()

    def serve(self):
        self.coordinator = self.place.start(
            "serve", "--out", self.place.dir / "runs", "--bind", f"curve://127.0.0.1:{self.port}", "--keys",
            self.place.dir / "keys", "--node-timeout", 4)

    def start(self, number):
        name = f"n{number}"
        link = self.links.setdefault(name, Link(self.port))
        self.nodes[name] = self.place.node(f"curve://127.0.0.1:{link.port}", "--device", "fake", "--name", f"pool.{name}",
                                           "--key", "pool.key", "--slots", 4, "--compilers", 1, "--spool", self.place.dir / "spool")

    def note_kill(self, where):
        """Before a kill: how many calls may be cut. After it: what is recorded must not be asked for again."""
        self.resent_at_most += self.place.count("lease", f"ending IS NULL AND {where}")

    def note_killed(self):
        times = served(self.place)
        for answer in self.place.rows("SELECT t.problem, t.sample, c.stage, c.number FROM model_call c "
                                      "JOIN task t ON t.id = c.task WHERE t.run = ?", self.run):
            self.asked.setdefault(answer, times[answer])

    def kill_node(self, name):
        child = self.nodes[name]
        self.note_kill(f"node = 'pool.{name}'")
        child.kill()
        child.wait()
        self.note_killed()
        self.start(int(name[1:]))

    def kill_coordinator(self):
        self.coordinator.kill()
        self.coordinator.wait()
        time.sleep(random.random())
        self.serve()

    def stop_node(self, name):
        """Longer than a silence that is forgiven: its leases are lost, and what it says later is fenced."""
        self.note_kill(f"node = 'pool.{name}'")
        self.nodes[name].send_signal(signal.SIGSTOP)
        time.sleep(6)
        self.nodes[name].send_signal(signal.SIGCONT)

    def partition(self, name, seconds):
        if seconds > 3:
            self.note_kill(f"node = 'pool.{name}'")
        self.links[name].held.clear()
        time.sleep(seconds)
        self.links[name].held.set()

    def knock(self):
        """Garbage, a plain ZeroMQ greeting, a hundred half-open connections."""
        for piece in (os.urandom(200), b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL" + bytes(48), b"GET / HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", self.port)) as end:
                end.sendall(piece)
        ends = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(100)]
        for end in ends:
            end.close()

    def disturb(self):
        name = random.choice(list(self.nodes))
        link = self.links[name]
        what = random.choice(["kill node", "kill node", "kill node", "kill coordinator", "stop", "short partition",
                              "long partition", "cut", "spoil", "slow", "knock"])
        self.say[what] += 1
        if what == "kill node":
            self.kill_node(name)
        elif what == "kill coordinator":
            self.kill_coordinator()
        elif what == "stop":
            self.stop_node(name)
        elif what == "short partition":
            self.partition(name, 1)
        elif what == "long partition":
            self.partition(name, 7)
        elif what == "cut":
            link.cut()
        elif what == "spoil":
            link.spoil += 3
        elif what == "slow":
            link.delay = 0.05 if not link.delay else 0.0
        else:
            try:
                self.knock()
            except OSError:
                pass  # the coordinator is being restarted


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def keys(place):
    for words in (("pool",), ("me", "--operator")):
        subprocess.run([str(BIN / "ce-coord"), "keys", "new", *words, "--keys", str(place.dir / "keys")], cwd=place.dir,
                       check=True, capture_output=True)


def submit(place, fleet, model):
    child = place.start("eval", "--coordinator", f"curve://127.0.0.1:{fleet.port}", "--key", "me.key", "--suite", "internal",
                        "--model-id", model, "--only", ",".join(PROBLEMS), "--samples", SAMPLES, "--seed", 11)
    run = place.wait("it is submitted", lambda: re.search(r"^run (\w+)$", child.log.read_text(), re.MULTILINE), 120)
    return child, run[1]


def script(place, latency_ms):
    rules = [{"problem": "silu_fp16", "gold": True, "latency_ms": latency_ms}] if GOLD == SAMPLES else \
        [{"problem": "silu_fp16", "sample": i, "gold": True, "latency_ms": latency_ms} for i in range(GOLD)]
    return place.mock(rules + [{"text": "I would rather not.", "latency_ms": latency_ms}])


def board(place, run):
    done = place.run("leaderboard", run, "--stable", timeout=120)
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def until(what, condition):
    end = time.monotonic() + ENDS
    while not condition():
        expect(time.monotonic() < end, f"waited in vain: {what}")
        time.sleep(0.2)


def begin(place):
    keys(place)
    fleet = Fleet(place)
    place.wait("it serves", lambda: (place.dir / "ce.db.sock").exists())
    for number in range(NODES):
        fleet.start(number)
    return fleet


class Calm:
    """The undisturbed run: before the other one, or beside it on a coordinator of its own."""

    def __init__(self, place):
        self.beside = GOLD < SAMPLES
        self.place = Place() if self.beside else place
        self.model = script(self.place, 5 if self.beside else LATENCY_MS)
        self.fleet = begin(self.place)
        self.child, self.run = submit(self.place, self.fleet, self.model)
        if not self.beside:
            self.end()

    def end(self):
        until("the undisturbed run", lambda: self.child.poll() is not None)
        expect(self.child.returncode in (0, 5), self.child.log.read_text())
        self.board = board(self.place, self.run).replace(str(self.place.dir), "")
        if self.beside:
            self.place.close()


def test_nothing_is_lost_and_nothing_counted_twice(place):
    random.seed(SEED)
    calm = Calm(place)
    fleet = begin(place) if calm.beside else calm.fleet
    model = script(place, LATENCY_MS)
    if not calm.beside:
        (place.dir / "mock.json.served").unlink()
    hard, second = submit(place, fleet, model)
    fleet.run = second
    began = time.monotonic()
    ends = began + SECONDS
    while time.monotonic() < ends and hard.poll() is None:
        time.sleep(random.uniform(0.2, 1.5))
        fleet.disturb()
    for link in fleet.links.values():
        link.delay = 0.0
    until("the disturbed run", lambda: hard.poll() is not None)
    print(f"  {dict(fleet.say)}", flush=True)
    print(f"  {time.monotonic() - began:.0f} s from its submission to its end", flush=True)
    if calm.beside:
        calm.end()
    expect(hard.returncode == calm.child.returncode, hard.log.read_text())
    check(place, fleet, second)
    found = board(place, second).replace(str(place.dir), "")
    expect(found == calm.board, "the board is another one", calm.board, found)
    for link in fleet.links.values():
        link.close()


def check(place, fleet, run):
    tasks = place.rows("SELECT id FROM task WHERE run = ?", run)
    done = place.rows("SELECT id FROM task WHERE run = ? AND state = 'done'", run)
    expect(len(tasks) == len(done) == len(PROBLEMS) * (1 + SAMPLES), f"{len(done)} of {len(tasks)} tasks are done")
    doubled = place.rows("SELECT task, count(*) FROM event WHERE run = ? AND kind = 'done' GROUP BY 1 HAVING count(*) <> 1",
                         run)
    expect(not doubled, f"recorded twice: {doubled}")
    times = served(place)
    again = {a: (times[a], n) for a, n in fleet.asked.items() if times[a] > n}
    expect(not again, f"recorded answers were asked for again: {again}")
    resent = sum(n - 1 for n in times.values())
    print(f"  {len(tasks)} tasks, {sum(times.values())} calls, {resent} sent again, at most {fleet.resent_at_most} were cut, "
          f"{place.count('event', 'kind = ' + chr(39) + 'reclaimed' + chr(39))} leases went on, "
          f"{place.count('event', 'kind = ' + chr(39) + 'late' + chr(39))} late words refused, "
          f"{place.count('late')} late records kept", flush=True)
    expect(resent <= fleet.resent_at_most, f"{resent} calls were sent again, {fleet.resent_at_most} may have been cut")


if __name__ == "__main__":
    main(globals())
