# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, A, s):
        return A * s


def get_inputs():
    return [torch.rand(31, 33), 2.5]


def get_init_inputs():
    return []
