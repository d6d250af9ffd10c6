import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(4, 8, 3)
        self.norm = nn.GroupNorm(4, 8)

    def forward(self, x):
        return torch.clamp(self.norm(self.conv(x)), min=-1)


def get_inputs():
    return [torch.rand(2, 4, 6, 6, 6)]


def get_init_inputs():
    return []
