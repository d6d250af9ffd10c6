import torch
import torch.nn as nn
import a_module_that_nobody_has


class Model(nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.rand(4)]


def get_init_inputs():
    return []
