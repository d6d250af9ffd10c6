import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return {"y": x}


def get_inputs():
    return [torch.rand(4)]


def get_init_inputs():
    return []
