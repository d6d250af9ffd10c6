# SPDX-License-Identifier: MIT
"""pack - a compiler cache folder as one tar file, bounded in size."""

import io
import os
import shutil
import tarfile
import zlib

PACKED_MAX = 256 * 1024      # JUDGE_CACHE_MAX: what the client stores, compressed
UNPACKED_MAX = 64 << 20


def files_of(folder):
    """Regular files below folder, sorted, relative. Locks and logs are no cache."""
    found = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "locks")
        for name in names:
            path = os.path.join(base, name)
            if os.path.isfile(path) and not os.path.islink(path) and not name.endswith(".lock"):
                found.append(os.path.relpath(path, folder))
    return sorted(found)


def save(folder, path, wanted=lambda name: True):
    """Writes the wanted files to the tar file; False (and no file) when they would not fit
    compressed. Equal folders give equal bytes."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in filter(wanted, files_of(folder)):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            row = tarfile.TarInfo(name)
            row.size = len(data)
            row.mode = 0o700 if os.access(os.path.join(folder, name), os.X_OK) else 0o600
            archive.addfile(row, io.BytesIO(data))
            if memory.tell() > UNPACKED_MAX:
                return False
    data = memory.getvalue()
    if len(zlib.compress(data, 6)) > PACKED_MAX:
        return False
    with open(path, "wb") as file:
        file.write(data)
    return True


def restore(path, folder):
    """Replaces folder by what is in the tar file. Only plain files below folder are made."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(path, "r:") as archive:
        for row in archive:
            parts = row.name.split("/")
            if not row.isreg() or row.name.startswith("/") or ".." in parts:
                raise ValueError("a packed cache may hold plain files only, not %r" % row.name)
            target = os.path.join(folder, *parts)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                shutil.copyfileobj(archive.extractfile(row), file)
            os.chmod(target, row.mode & 0o700)
