import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(10, 12, bidirectional=True)

    def forward(self, x, h0):
        return self.gru(x, h0)[0]


def get_inputs():
    return [torch.rand(7, 2, 10), torch.rand(2, 2, 12)]


def get_init_inputs():
    return []
