# SPDX-License-Identifier: MIT
import torch


def reference(x):
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    return (wide - torch.tanh(wide)).to(x.dtype)
