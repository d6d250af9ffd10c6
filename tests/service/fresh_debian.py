# SPDX-License-Identifier: MIT
"""A clean clone works on a fresh Debian 12 with nothing preinstalled: scripts/demo, and scripts/test.

    tests/service/fresh_debian.py [demo|deps|test]     default: demo and test

Needs root, debootstrap and a network; skipped without. The system is made by debootstrap in CE_FRESH (kept,
and begun with when it is there), else in a folder that is removed in the end. `deps` installs what the
tests need and configures and builds them, without running them.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(__file__).resolve().parents[2]
MIRROR = os.environ.get("CE_FRESH_MIRROR", "http://deb.debian.org/debian")
DEMO_SECONDS = 300
# What this host needs to reach the network, a fresh one on the same network needs too.
NETWORK = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
           "PIP_INDEX_URL", "PIP_DEFAULT_TIMEOUT")
COMMANDS = {
    "demo": "scripts/demo",
    "deps": "scripts/deps && cmake --preset ci && cmake --build --preset ci",
    "test": "scripts/test",
}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def debootstrap(root):
    if (root / "var/lib/dpkg/status").exists():
        return
    subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(root), MIRROR], check=True,
                   stdout=subprocess.DEVNULL)


def prepare(root):
    """A system with a clone of what is committed here, and this host's way to the network."""
    debootstrap(root)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    home = root / "root/ce"
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(SRC), str(home)], check=True)
    authorities = os.environ.get("PIP_CERT")
    if authorities:
        shutil.copy(authorities, root / "root/authorities.crt")


def inside(root, command):
    """Runs a command line in the clone: own mounts and processes, a bare environment."""
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                   "HOME": "/root", "LC_ALL": "C.UTF-8"}
    environment.update((name, os.environ[name]) for name in NETWORK if name in os.environ)
    if (root / "root/authorities.crt").exists():
        environment.update(PIP_CERT="/root/authorities.crt", SSL_CERT_FILE="/root/authorities.crt")
    script = (f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && mount --rbind /sys {root}/sys"
              f" && exec chroot {root} /bin/sh -c 'cd /root/ce && exec \"$@\"' sh /bin/sh -c '{command}'")
    began = time.monotonic()
    status = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script],
                            env=environment, stdin=subprocess.DEVNULL).returncode
    seconds = time.monotonic() - began
    print(f"== {command}: status {status}, {seconds:.0f} s", flush=True)
    return status, seconds


def check_demo(root, status, seconds):
    complaints = [] if status == 0 else [f"scripts/demo: status {status}"]
    boards = sorted(root.glob("root/ce/ce-runs/demo-*/leaderboard.md"))
    if not boards or not re.search(r"\bok\b", boards[-1].read_text()):
        complaints.append("scripts/demo left no board with a result")
    if seconds > DEMO_SECONDS:
        complaints.append(f"scripts/demo took {seconds:.0f} s, the limit is {DEMO_SECONDS} s")
    return complaints


def main():
    if os.geteuid() != 0:
        skip("needs root")
    if not shutil.which("debootstrap") or not shutil.which("unshare"):
        skip("needs debootstrap and unshare (scripts/deps)")
    wanted = sys.argv[1:] or ["demo", "test"]
    kept = os.environ.get("CE_FRESH")
    root = pathlib.Path(kept) if kept else pathlib.Path(tempfile.mkdtemp(prefix="ce-fresh-"))
    complaints = []
    try:
        prepare(root)
        for name in wanted:
            status, seconds = inside(root, COMMANDS[name])
            if name == "demo":
                complaints += check_demo(root, status, seconds)
            elif status != 0:
                complaints.append(f"{COMMANDS[name]}: status {status}")
    finally:
        if not kept:
            shutil.rmtree(root)
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


main()
