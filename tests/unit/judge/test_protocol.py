# SPDX-License-Identifier: MIT
"""The process as its peer sees it: one line in, one line out; it ends with its peer."""

import json
import os
import socket
import subprocess
import sys
import time
import unittest

import support

SCRIPT = os.path.join(support.ROOT, "agent-node", "judge", "judge.py")
CASE = {"label": "n=40", "sizes": {"x": [40], "y": [40]}, "reduction": 1}


class Protocol(unittest.TestCase):
    def setUp(self):
        self.ours, theirs = socket.socketpair()
        # fd 3 in the child: a shell moves the descriptor there.
        self.child = subprocess.Popen(
            ["/bin/sh", "-c", 'exec "$0" -B "$1" cpu none /tmp 3<&%d' % theirs.fileno(),
             sys.executable, SCRIPT], pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL)
        theirs.close()
        self.lines = self.ours.makefile("rb")
        self.addCleanup(self.end)

    def end(self):
        self.lines.close()
        self.ours.close()
        try:
            self.child.wait(timeout=30)  # it removes its shared memory first
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise

    def ask(self, op, **fields):
        self.ours.sendall(json.dumps(dict(fields, id=5, op=op)).encode() + b"\n")
        reply = json.loads(self.lines.readline())
        self.assertEqual(reply["id"], 5)
        return reply

    def open(self, reference):
        return self.ask("open", contract=support.contract([("x", "f32")], [("y", "f32")]),
                        reference=reference, reference_file="r.py")

    def test_a_problem_is_opened_drawn_and_judged(self):
        self.assertTrue(self.ask("facts")["ok"])
        self.assertTrue(self.open("def reference(x):\n    return x")["ok"])
        reply = self.ask("draw", case=CASE, seed=1, family="normal", slots=2)
        self.assertTrue(reply["ok"], reply)
        self.assertTrue(os.path.exists("/dev/shm" + reply["staging"]["shm"]))
        reply = self.ask("compare", slot=0, salt=1)
        self.assertEqual((reply["ok"], reply["equal"], reply["detail"]), (True, False, "class"))

    def test_a_mistake_is_an_answer_and_the_next_question_works(self):
        reply = self.ask("dance")
        self.assertEqual((reply["ok"], reply["code"]), (False, "internal"))
        self.assertEqual(self.ask("compare", slot=0, salt=0)["ok"], False)
        self.assertEqual(self.open("def f(x): pass")["code"], "config")
        self.assertTrue(self.open("def reference(x):\n    return x")["ok"])

    def test_printing_does_not_disturb_the_protocol(self):
        self.assertTrue(self.open("print('hello')\ndef reference(x):\n    print(x)\n    return x")["ok"])
        self.assertTrue(self.ask("contract", cases=[CASE])["ok"])

    def test_running_out_of_memory_asks_for_a_restart(self):
        self.open("import torch\ndef reference(x):\n    return torch.ones(1 << 62, dtype=torch.uint8)")
        reply = self.ask("contract", cases=[CASE])
        self.assertEqual((reply["ok"], reply["code"], reply["restart"]), (False, "gpu", True))
        self.assertTrue(reply["text"].startswith("out of memory: "), reply["text"])

    def test_it_ends_in_the_middle_of_a_request_when_its_peer_is_gone(self):
        self.open("import time\ndef reference(x):\n    time.sleep(600)\n    return x")
        name = self.ask("draw", case=CASE, seed=1, family="normal", slots=1)["staging"]["shm"]
        self.ours.sendall(b'{"id": 6, "op": "compare", "slot": 0, "salt": 0}\n')
        self.lines.close()
        self.ours.close()
        self.child.wait(timeout=30)
        deadline = time.monotonic() + 30
        while os.path.exists("/dev/shm" + name) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(os.path.exists("/dev/shm" + name))


if __name__ == "__main__":
    unittest.main()
