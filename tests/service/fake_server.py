# SPDX-License-Identifier: MIT
"""The fake model server of tests/support as a process of a Place."""
import json
import subprocess
import sys
import urllib.request

from ce import SRC


class Server:
    def __init__(self, place, script, key, *words):
        path = place.write(f"script{len(place.children)}.json", script)
        command = [sys.executable, "-B", str(SRC / "tests/support/fake_provider.py"), "--script", str(path)]
        child = subprocess.Popen([*command, "--key", key, *map(str, words)], stdout=subprocess.PIPE, text=True)
        child.log = path
        place.children.append(child)
        self.base = "http://127.0.0.1:" + child.stdout.readline().split()[1]

    def ask(self, path, value):
        with urllib.request.urlopen(self.base + path, json.dumps(value).encode()) as reply:
            return json.load(reply)

    def log(self):
        return self.ask("/_log", {})["requests"]
