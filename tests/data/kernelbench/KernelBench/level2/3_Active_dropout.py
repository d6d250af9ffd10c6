import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        return torch.relu(self.dropout(self.linear(x)))


def get_inputs():
    return [torch.rand(32, 64)]


def get_init_inputs():
    return []
