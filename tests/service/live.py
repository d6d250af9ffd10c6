# SPDX-License-Identifier: MIT
"""The live page beside a real run: what it serves, to whom, and what a reader misses (nothing)."""
import http.client
import json
import os
import re
import signal
import socket
import urllib.error
import urllib.request

import ce
from ce import expect

TOKEN = "0123456789abcdef0123456789abcdef"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path, **headers):
    """Status and text."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def wait_for_page(place, port):
    def is_there():
        try:
            return get(port, "/readyz")[0] == 200
        except OSError:
            return False
    place.wait("the page", is_there)


class Stream:
    """A reader of /events."""

    def __init__(self, port, last=None):
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        request = urllib.request.Request(f"http://127.0.0.1:{port}/events", headers=headers)
        self.answer = urllib.request.urlopen(request, timeout=60)
        self.last = last

    def events(self):
        """(name, data) until the server ends it."""
        name, data, identity = None, None, None
        while True:
            try:
                line = self.answer.readline().decode()
            except (OSError, http.client.HTTPException):
                return
            if not line:
                return
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                data = json.loads(value)
            elif field == "id":
                identity = int(value)
            elif not field and name:
                self.last = identity if identity is not None else self.last
                yield name, data
                name, data, identity = None, None, None


def model(place, name="mock.json", latency_ms=150):
    """Answers that take a while and are no kernel: a task ends soon after its calls."""
    return place.mock([{"text": "I cannot do this.", "latency_ms": latency_ms}], name)


def told_results(port):
    text = get(port, "/metrics")[1]
    return {m[1]: int(m[2]) for m in re.finditer(r'^ce_results_total\{suite="internal",outcome="(\w+)"\} (\d+)$',
                                                 text, re.MULTILINE)}


def stored_results(place):
    return dict(place.rows("SELECT outcome, count(*) FROM task WHERE kind = 'synthesize' AND state = 'done' GROUP BY 1"))


def test_counters_come_to_equal_the_database(place):
    port = free_port()
    child = place.start("eval", "--suite", "internal", "--model-id", model(place), "--model-id",
                        model(place, "slow.json", 30000), "--limit", 3, "--http", port)
    wait_for_page(place, port)
    seen = set()
    for name, data in Stream(port).events():
        if name == "change" and data["kind"] == "done" and data.get("entrant"):
            seen.add(data["problem"])
            if len(seen) == 3:
                break
    expect(sum(stored_results(place).values()) == 3, stored_results(place))
    place.wait("equal counters", lambda: told_results(port) == stored_results(place))
    board = json.loads(get(port, "/api/board")[1])
    expect(sum(t["state"] == "done" for t in board["tasks"]) == 3, board["tasks"])
    child.send_signal(signal.SIGINT)
    expect(child.wait(ce.PATIENCE) == 130, child.log.read_text())


def test_who_comes_back_after_a_kill_misses_nothing(place):
    port = free_port()
    child = place.start("eval", "--suite", "internal", "--model-id", model(place), "--limit", 8, "--slots", 1,
                        "--http", port)
    wait_for_page(place, port)
    stream, heard = Stream(port), []
    for name, data in stream.events():
        heard += [data["id"]] if name == "change" else []
        if len(heard) >= 3:
            break
    child.kill()
    child.wait()
    again = place.start("eval", "--resume", "latest", "--http", port, out=False)
    wait_for_page(place, port)
    for name, data in Stream(port, stream.last).events():
        expect(name != "many", "events were dropped")
        heard += [data["id"]] if name == "change" else []
    again.wait(ce.PATIENCE)
    stored = place.rows("SELECT id FROM event WHERE id BETWEEN ? AND ? ORDER BY id", heard[0], heard[-1])
    expect(heard == [row[0] for row in stored], f"heard {heard}", f"stored {stored}")
    expect(len(heard) > 12, f"heard only {heard}")


def test_off_loopback_only_with_the_token(place):
    refused = place.run("eval", "--suite", "internal", "--model-id", "gold", "--limit", 1, "--http", "0.0.0.0:0")
    ce.exits(refused, 2)
    expect("CE_HTTP_TOKEN" in refused.stderr, refused.stderr)
    expect(place.count("run") == 0, "the refused run left a row")
    port = free_port()
    os.environ["CE_HTTP_TOKEN"] = TOKEN
    try:
        child = place.start("eval", "--suite", "internal", "--model-id", model(place, latency_ms=2000), "--limit", 2,
                            "--http", f"0.0.0.0:{port}")
    finally:
        del os.environ["CE_HTTP_TOKEN"]
    wait_for_page(place, port)
    for path in ("/", "/events", "/metrics", "/api/runs"):
        expect(get(port, path)[0] == 401, f"{path} without a token")
    expect(get(port, "/metrics", Authorization=f"Bearer {TOKEN}")[0] == 200, "with the token")
    expect(get(port, "/api/runs", Cookie=f"ce_token={TOKEN}")[0] == 200, "with the cookie")
    expect(TOKEN not in child.log.read_text(), "the token is in the log")
    node = place.wait("the local node", lambda: ce.local_node_of(child))
    with open(f"/proc/{node}/environ", "rb") as f:
        expect(TOKEN.encode() not in f.read(), "the node knows the token")
    child.send_signal(signal.SIGINT)
    child.wait(ce.PATIENCE)


def test_stalled_readers_hold_nobody_up(place):
    port = free_port()
    child = place.start("eval", "--suite", "internal", "--model-id", model(place), "--limit", 6, "--http", port)
    wait_for_page(place, port)
    stalled = []
    for _ in range(20):  # half a request, and a stream that is never read
        for text in (b"GET /metr", b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            s = socket.create_connection(("127.0.0.1", port))
            s.send(text)
            stalled.append(s)
    expect(get(port, "/healthz")[0] == 200, "others are not answered")
    expect(child.wait(ce.PATIENCE) in (0, 5), child.log.read_text())
    expect(place.count("task", "kind = 'synthesize' AND state = 'done'") == 6, "not all tasks are done")
    for s in stalled:
        s.close()


def test_a_page_of_a_coordinator_that_stays_goes_from_run_to_run(place):
    port = free_port()
    heard = place.dir / "heard"
    place.start("serve", "--out", place.dir / "runs", "--http", port, "--hook", f"cat >> {heard}")
    wait_for_page(place, port)
    place.wait("it serves", lambda: (place.dir / "ce.db.sock").exists())
    uri = f"ipc://{place.db}.sock"
    place.node(uri, "--device", "fake", "--name", "a")
    line = ["eval", "--coordinator", uri, "--suite", "internal", "--model-id", "gold", "--limit", 1, "--yes"]
    runs = []
    told = Stream(port).events()
    for _ in range(2):
        child = place.start(*line)
        expect(child.wait(ce.PATIENCE) == 0, child.log.read_text())
        runs.append(re.search(r"^run (\w+)$", child.log.read_text(), re.MULTILINE)[1])
    seen = []
    for name, data in told:
        if name == "now" and data["run"] not in seen:
            seen.append(data["run"])
        if name == "change" and data["kind"] == "done" and data["run"] not in seen:
            seen.append(data["run"])
        if set(runs) <= set(seen):
            break
    listed = [r["id"] for r in json.loads(get(port, "/api/runs")[1])["runs"]]
    expect(listed == runs[::-1], listed, runs)
    expect(listed[1:] == [r["id"] for r in json.loads(get(port, f"/api/runs?before={listed[0]}")[1])["runs"]])
    trend = json.loads(get(port, f"/api/trend?run={runs[1]}")[1])["trend"]
    expect([p["correct"] for p in trend] == [1], trend)
    place.wait("the hook heard of both", lambda: heard.exists() and heard.read_text().count("\n") == 2)
    words = [json.loads(text) for text in heard.read_text().splitlines()]
    expect([(w["event"], w["run"], w["state"], w["code"]) for w in words] ==
           [("finish", run, "complete", 0) for run in runs], words)


def test_a_silent_service_is_told_of(place):
    heard = place.dir / "heard"
    place.start("serve", "--out", place.dir / "runs", "--dead-man", "0.0003", "--hook", f"echo $CE_EVENT >> {heard}")
    place.wait("the dead man's word", lambda: heard.exists() and heard.read_text() == "dead_man\n")
    refused = place.run("serve", "--dead-man", "1")
    ce.exits(refused, 2)


def test_a_hook_that_fails_or_hangs_changes_nothing(place):
    heard = place.dir / "heard"
    done = place.run("eval", "--suite", "internal", "--model-id", "gold", "--limit", 1,
                     "--hook", f"echo $CE_EVENT $CE_STATE $CE_CODE >> {heard}; exit 9")
    ce.exits(done, 0)
    expect(heard.read_text() == "finish complete 0\n", heard.read_text())
    expect("exited with 9" in done.stderr, done.stderr)


def raw(port, data):
    """What the server says to these bytes; b'' when it only hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as s:
        said = b""
        try:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while piece := s.recv(65536):
                said += piece
        except OSError:
            pass  # it hung up before all was said
        return said


def status_of(said):
    return int(said.split()[1]) if said.startswith(b"HTTP/1.") else 0


def test_hostile_requests_are_refused_and_others_are_served(place):
    port = free_port()
    child = place.start("eval", "--suite", "internal", "--model-id", model(place, latency_ms=3000), "--limit", 2,
                        "--http", port)
    wait_for_page(place, port)
    host = b"Host: localhost\r\nConnection: close\r\n"
    paths = [b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"/..%2f..%2fetc/passwd", b"//etc/passwd",
             b"/page.js/../../ce.db", b"/page.js%00.html", b"/ce.db", b"/\\..\\..\\ce.db", b"http://localhost/ce.db"]
    for path in paths:
        said = raw(port, b"GET " + path + b" HTTP/1.1\r\n" + host + b"\r\n")
        expect(status_of(said) in (0, 400, 404), path, said[:200])
        expect(b"root:" not in said and b"SQLite" not in said, path, said[:200])
    for query in (b"run=..%2f..%2fetc", b"run=%27%20OR%201=1--", b"run=" + b"a" * 5000, b"run=%00"):
        said = raw(port, b"GET /api/run?" + query + b" HTTP/1.1\r\n" + host + b"\r\n")
        expect(status_of(said) == 400, query[:40], said[:200])
    large = [b"GET /healthz HTTP/1.1\r\n" + host + b"X: " + b"a" * 100000 + b"\r\n\r\n",
             b"GET /healthz HTTP/1.1\r\n" + host + b"X: y\r\n" * 20000 + b"\r\n",
             b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + host + b"\r\n"]
    for request in large:
        said = raw(port, request)
        expect(status_of(said) in (0, 413, 414, 431, 400), request[:60], said[:200])
    for request in (b"POST /api/runs HTTP/1.1\r\n" + host + b"Content-Length: 999999999\r\n\r\n",
                    b"DELETE / HTTP/1.1\r\n" + host + b"\r\n"):
        said = raw(port, request)
        expect(status_of(said) in (0, 405), request[:60], said[:200])
    expect(get(port, "/healthz")[0] == 200, "others are not answered")
    expect(child.poll() is None, "the run ended")
    child.send_signal(signal.SIGINT)
    child.wait(ce.PATIENCE)


def test_slow_requests_end_and_take_nobodys_place(place):
    port = free_port()
    child = place.start("eval", "--suite", "internal", "--model-id", model(place, latency_ms=60000), "--limit", 1,
                        "--http", port)
    wait_for_page(place, port)
    slow = []
    for _ in range(200):
        s = socket.create_connection(("127.0.0.1", port), timeout=120)
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        slow.append(s)
    expect(get(port, "/api/run")[0] == 200, "others are not answered beside 200 half requests")
    for s in slow:
        try:
            said = s.recv(4096)  # the server hangs up after SERVER_IDLE_S, or says why
            expect(said == b"" or status_of(said) >= 400, said)
        except ConnectionResetError:
            pass
        s.close()
    expect(get(port, "/healthz")[0] == 200, "nobody is answered afterwards")
    child.send_signal(signal.SIGINT)
    child.wait(ce.PATIENCE)


if __name__ == "__main__":
    ce.main(globals())
