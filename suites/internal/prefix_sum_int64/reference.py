# SPDX-License-Identifier: MIT
import torch


def reference(x):
    return torch.cumsum(x, dim=0) - x
