# SPDX-License-Identifier: MIT
import torch


def reference(x, ids, base):
    if x.shape[0] == 0:
        return base.clone()
    marks = torch.arange(base.shape[0] + 1, dtype=ids.dtype, device=ids.device)
    lengths = torch.searchsorted(ids, marks).diff()
    return base + torch.segment_reduce(x, "sum", lengths=lengths, unsafe=True)
