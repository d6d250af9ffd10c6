# SPDX-License-Identifier: MIT
"""Staging on a CPU: shared memory that another process can open, laid out as the contract says."""

import mmap
import os
import unittest

import support
import torch
from staging import ALIGN, GRANULE, Staging


def two_inputs():
    return support.problem("def reference(a, b):\n    return a, b > 0",
                           [("a", "f16"), ("b", "bf16")], [("y", "f16"), ("z", "bool")])


def shape(rows, cols):
    return support.case({"a": (rows, cols), "b": (cols,), "y": (rows, cols), "z": (cols,)})


class Layout(unittest.TestCase):
    def setUp(self):
        self.staging = Staging(torch.device("cpu"))
        self.addCleanup(self.staging.close)

    def test_spans_are_aligned_and_do_not_overlap(self):
        for rows, cols in ((1, 1), (3, 129), (0, 7), (5, 0), (1000, 3)):
            self.staging.arrange(two_inputs(), shape(rows, cols), 5)
            row = self.staging.row()
            spans = row["inputs"] + row["outputs"]
            self.assertEqual(len(spans), 5 * 2 + 2)
            end = 0
            for offset, size in spans:
                self.assertEqual(offset % ALIGN, 0)
                self.assertGreaterEqual(offset, end)
                end = offset + size
            self.assertLessEqual(end, row["total"])
            self.assertEqual(row["total"] % GRANULE, 0)

    def test_tensors_have_the_contracts_form_and_lie_in_the_block(self):
        self.staging.arrange(two_inputs(), shape(3, 129), 2)
        a, b = self.staging.inputs[1]
        self.assertEqual((a.dtype, tuple(a.shape)), (torch.float16, (3, 129)))
        self.assertEqual((b.dtype, tuple(b.shape)), (torch.bfloat16, (129,)))
        y, z = self.staging.outputs
        self.assertEqual((z.dtype, tuple(z.shape)), (torch.bool, (129,)))
        y.fill_(1.5)
        offset = self.staging.layout.outputs[0].offset
        raw = self.staging.block.bytes[offset:offset + 2].view(torch.float16)
        self.assertEqual(float(raw[0]), 1.5)

    def test_another_process_sees_the_memory_by_its_name(self):
        self.staging.arrange(two_inputs(), shape(3, 129), 1)
        self.staging.inputs[0][0].fill_(2.0)
        row = self.staging.row()
        fd = os.open("/dev/shm" + row["shm"], os.O_RDONLY)
        try:
            with mmap.mmap(fd, row["total"], prot=mmap.PROT_READ) as memory:
                offset, size = row["inputs"][0]
                self.assertEqual(memory[offset:offset + size], b"\x00\x40" * (size // 2))
        finally:
            os.close(fd)

    def test_the_block_is_kept_while_it_fits_and_replaced_when_not(self):
        self.staging.arrange(two_inputs(), shape(300, 129), 1)
        name = self.staging.row()["shm"]
        self.staging.arrange(two_inputs(), shape(3, 129), 1)
        self.assertEqual(self.staging.row()["shm"], name)
        self.staging.arrange(two_inputs(), shape(3000, 1290), 1)
        self.assertNotEqual(self.staging.row()["shm"], name)
        self.assertFalse(os.path.exists("/dev/shm" + name))

    def test_nothing_of_an_earlier_answer_is_left(self):
        self.staging.arrange(two_inputs(), shape(3, 129), 1)
        self.staging.outputs[0].fill_(1.0)
        self.staging.wipe()
        self.assertTrue(bool(torch.isnan(self.staging.outputs[0]).all()))

    def test_closing_removes_the_file_and_may_be_repeated(self):
        self.staging.arrange(two_inputs(), shape(3, 129), 1)
        path = self.staging.block.path
        self.assertTrue(os.path.exists(path))
        self.staging.close()
        self.assertFalse(os.path.exists(path))
        self.staging.close()


if __name__ == "__main__":
    unittest.main()
