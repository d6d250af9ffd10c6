# SPDX-License-Identifier: MIT
import torch


def reference(x):
    wide = torch.promote_types(x.dtype, torch.float32)
    gate = torch.clamp(x.to(wide) + 3.0, 0.0, 6.0) / 6.0
    return (x.to(wide) * gate).to(x.dtype)
