# SPDX-License-Identifier: MIT
"""Namespaces of a test's own: mounts and links that nobody else sees, and that end with it."""
import ctypes
import os
import subprocess

from ce import Skip

CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000


def enter(flags):
    """This process, and what it starts from now on, is in namespaces of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        raise Skip(f"no namespace of its own may be made here: {os.strerror(ctypes.get_errno())}")


def command(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise Skip(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
