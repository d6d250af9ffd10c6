# SPDX-License-Identifier: MIT
"""A compiler cache goes into one bounded tar file and comes back as it was."""

import io
import os
import random
import tarfile
import tempfile
import unittest

import support  # noqa: F401
import pack


class Pack(unittest.TestCase):
    def setUp(self):
        self.base = tempfile.TemporaryDirectory()
        self.addCleanup(self.base.cleanup)
        self.folder = os.path.join(self.base.name, "cache")
        self.tar = os.path.join(self.base.name, "cache.tar")

    def put(self, name, data, mode=0o600):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, mode)

    def read(self, folder):
        found = {}
        for name in pack.files_of(folder):
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def test_what_was_saved_comes_back(self):
        self.put("a/b.py", b"text")
        self.put("triton/x/k.so", b"\x7fELF", 0o700)
        self.put("fxgraph/e", b"")
        os.makedirs(os.path.join(self.folder, "empty"))
        self.put("locks/l", b"no")
        self.put("a/b.lock", b"no")
        self.assertTrue(pack.save(self.folder, self.tar))
        back = os.path.join(self.base.name, "back")
        self.put("../back/old", b"of another key")
        pack.restore(self.tar, back)
        self.assertEqual(self.read(back),
                         {"a/b.py": b"text", "triton/x/k.so": b"\x7fELF", "fxgraph/e": b""})
        self.assertTrue(os.access(os.path.join(back, "triton/x/k.so"), os.X_OK))

    def test_equal_folders_give_equal_bytes(self):
        self.put("b", b"2")
        self.put("a", b"1")
        self.assertTrue(pack.save(self.folder, self.tar))
        with open(self.tar, "rb") as file:
            first = file.read()
        os.utime(os.path.join(self.folder, "a"), (1, 1))
        self.assertTrue(pack.save(self.folder, self.tar))
        with open(self.tar, "rb") as file:
            self.assertEqual(file.read(), first)

    def test_a_cache_that_does_not_fit_is_not_saved(self):
        self.put("noise", random.Random(1).randbytes(pack.PACKED_MAX + 1024))
        self.assertFalse(pack.save(self.folder, self.tar))
        self.assertFalse(os.path.exists(self.tar))

    def test_large_but_compressible_is_saved(self):
        self.put("zeros", bytes(4 * pack.PACKED_MAX))
        self.assertTrue(pack.save(self.folder, self.tar))

    def test_only_what_is_wanted_is_saved_and_counts(self):
        self.put("noise", random.Random(1).randbytes(pack.PACKED_MAX + 1024))
        self.put("fxgraph/e", b"x")
        self.assertTrue(pack.save(self.folder, self.tar, lambda name: name != "noise"))
        pack.restore(self.tar, self.folder)
        self.assertEqual(self.read(self.folder), {"fxgraph/e": b"x"})

    def test_nothing_is_written_outside_the_folder(self):
        for name, kind in (("../evil", tarfile.REGTYPE), ("/tmp/evil", tarfile.REGTYPE),
                           ("link", tarfile.SYMTYPE), ("a/../../evil", tarfile.REGTYPE),
                           ("dev", tarfile.CHRTYPE)):
            with tarfile.open(self.tar, "w") as archive:
                row = tarfile.TarInfo(name)
                row.type = kind
                row.linkname = "/etc/passwd"
                archive.addfile(row, io.BytesIO(b""))
            with self.assertRaises(ValueError):
                pack.restore(self.tar, self.folder)


if __name__ == "__main__":
    unittest.main()
