# SPDX-License-Identifier: MIT
import torch


def reference(x):
    wide = torch.promote_types(x.dtype, torch.float32)
    return x.to(wide).mean(dim=-1).to(x.dtype)
