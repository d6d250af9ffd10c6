# SPDX-License-Identifier: MIT
"""Frames that are wrong in every way, by strangers on the encrypted port and by a peer inside this host: refused, counted,
and nothing else is disturbed. The decoder itself is fuzzed in tests/fuzz."""
import json
import os
import random
import re
import socket
import struct
import threading

from ce import SRC, expect, main
from chaos import free_port, keys
from node_killed import check_nothing_twice
from serve import ask, serve

PROTOCOL = int(re.search(r"MESSAGE_PROTOCOL = (\d+)", (SRC / "wire/message.h").read_text())[1])
CORPUS = sorted(p.read_bytes() for p in (SRC / "tests/fuzz/corpus/message").iterdir())


class Zmtp:
    """A peer that speaks ZMTP 3.0 without a mechanism, by hand."""

    def __init__(self, path):
        self.end = socket.socket(socket.AF_UNIX)
        self.end.settimeout(20)
        self.end.connect(path)
        self.end.sendall(b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31))
        self.read(64)
        ready = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER\x08Identity" + struct.pack(">I", 0)
        self.end.sendall(bytes([4, len(ready)]) + ready)
        self.frame()

    def read(self, size):
        data = b""
        while len(data) < size:
            piece = self.end.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def frame(self):
        flags = self.read(1)[0]
        size = struct.unpack(">Q", self.read(8))[0] if flags & 2 else self.read(1)[0]
        return self.read(size)

    def send(self, body):
        self.end.sendall(b"\x02" + struct.pack(">Q", len(body)) + body)

    def answer(self, body):
        """What the coordinator says to one frame; None when it hangs up."""
        try:
            self.send(body)
            return self.frame()
        except (EOFError, ConnectionError):
            return None


def begin(place):
    """A coordinator with both doors, a good node, and a run under way."""
    keys(place)
    port = free_port()
    coordinator = serve(place, "--bind", f"curve://127.0.0.1:{port}", "--keys", place.dir / "keys")
    place.node(f"curve://127.0.0.1:{port}", "--device", "fake", "--name", "pool.a", "--key", "pool.key", "--slots", 2)
    run = place.start("eval", "--coordinator", f"ipc://{place.db}.sock", "--suite", "internal", "--model-id",
                      place.mock([{"gold": True, "latency_ms": 400}]), "--only", "silu_fp16", "--samples", 4)
    place.wait("work has begun", lambda: place.count("model_call"))
    return coordinator, run, port


def end(place, coordinator, run):
    expect(run.wait(180) == 0, run.log.read_text())
    expect(coordinator.poll() is None, coordinator.log.read_text())
    expect(place.count("lease", "ending <> 'done'") == 0, "no lease was disturbed", place.rows("SELECT * FROM lease"))
    check_nothing_twice(place, set(), 5)


def head(number, seq=1, version=PROTOCOL):
    return b"ce" + struct.pack(">BHQ", version, number, seq)


def number_of(name):
    return int(re.search(rf"MSG\({name}, \w+, (\d+)", (SRC / "wire/messages.def").read_text())[1])


def test_wrong_frames_are_answered_or_hung_up_on(place):
    coordinator, run, _ = begin(place)
    path = f"{place.db}.sock"
    hello = next(body for body in CORPUS if body[3:5] == struct.pack(">H", number_of("hello")))
    wrong = {"nothing": b"", "a short head": b"ce\4", "no magic": b"xx" + bytes(20), "no map": head(5), "no message": head(9999),
             "another version": head(5, version=PROTOCOL + 1) + b"\x80", "no keys": head(1) + b"\x80",
             "a huge map": head(5) + b"\xdf\xff\xff\xff\xff", "a truncated hello": hello[:-3], "more than a message": hello + b"\xc0"}
    for what, body in wrong.items():
        said = Zmtp(path).answer(body)
        expect(said is not None and said[3:5] == struct.pack(">H", number_of("refused")), f"{what}: {said}")
    expect(Zmtp(path).answer(b"x" * (3 * 1024 * 1024)) is None, "an oversized frame ends the connection")
    liar = Zmtp(path)
    liar.end.sendall(b"\x02" + struct.pack(">Q", 1 << 40))
    try:
        expect(liar.end.recv(1) == b"", "a frame that says it has a terabyte ends the connection")
    except ConnectionError:
        pass
    end(place, coordinator, run)


def test_replayed_and_random_frames_change_nothing(place):
    coordinator, run, _ = begin(place)
    random.seed(5)
    peer = Zmtp(f"{place.db}.sock")
    threading.Thread(target=drain, args=(peer,), daemon=True).start()
    node = [body for body in CORPUS if body[3:5] != struct.pack(">H", number_of("hello"))]
    for i in range(3000):
        body = bytearray(random.choice(node))
        body[2] = PROTOCOL
        for _ in range(i % 4):  # every fourth as it is: a replay
            body[random.randrange(3, len(body))] = random.randrange(256)
        peer.send(bytes(body))
    end(place, coordinator, run)


def drain(peer):
    try:
        while peer.frame() is not None:
            pass
    except (OSError, EOFError):
        pass


def test_strangers_on_the_encrypted_port_are_refused_and_counted(place):
    coordinator, run, port = begin(place)
    recorded = record(place, port)
    expect(len(recorded) > 500, "a whole handshake and more was overheard")
    rubbish = [os.urandom(300), b"GET / HTTP/1.1\r\n\r\n", recorded, recorded[:200], recorded[64:],
               b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31)]
    for piece in rubbish * 3:
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.sendall(piece)
            stranger.settimeout(1)
            try:
                while stranger.recv(4096):
                    pass
            except OSError:
                pass
    place.wait("they are counted", lambda: json.loads(ask(place, "nodes", "--json").stdout)["refused"] >= 3)
    names = [row[0] for row in place.rows("SELECT name FROM node")]
    expect(sorted(names) == ["pool.a", "pool.b"], f"nobody joined by a replay: {names}")
    end(place, coordinator, run)


def record(place, port):
    """What a node with a key says on the wire, from its first byte."""
    heard = bytearray()
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=relay, args=(listener, port, heard), daemon=True).start()
    near = listener.getsockname()[1]
    node = place.node(f"curve://127.0.0.1:{near}", "--device", "fake", "--name", "pool.b", "--key", "pool.key")
    place.wait("the second node joined", lambda: place.count("node", "name = 'pool.b' AND state = 'up'"))
    node.terminate()
    expect(node.wait(60) == 0, node.log.read_text())
    return bytes(heard)


def relay(listener, port, heard):
    first = True
    while True:
        near, _ = listener.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for one, other, log in ((near, far, heard if first else None), (far, near, None)):
            threading.Thread(target=pump, args=(one, other, log), daemon=True).start()
        first = False


def pump(one, other, log):
    try:
        while data := one.recv(65536):
            if log is not None:
                log += data
            other.sendall(data)
    except OSError:
        pass
    other.close()


if __name__ == "__main__":
    main(globals())
