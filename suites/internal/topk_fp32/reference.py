# SPDX-License-Identifier: MIT
import torch


def reference(x, k):
    values, indices = torch.sort(x, dim=-1, descending=True, stable=True)
    return values[..., :k].contiguous(), indices[..., :k].contiguous()
