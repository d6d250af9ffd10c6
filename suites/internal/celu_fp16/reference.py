# SPDX-License-Identifier: MIT
import torch


def reference(x, alpha):
    return torch.nn.functional.celu(x, alpha)
