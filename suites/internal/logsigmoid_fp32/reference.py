# SPDX-License-Identifier: MIT
import torch


def reference(x):
    return torch.nn.functional.logsigmoid(x)
