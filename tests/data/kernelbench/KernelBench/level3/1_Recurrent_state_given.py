import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(10, 16, 2, batch_first=True)
        self.out = nn.Linear(16, 5)

    def forward(self, x, h0):
        return self.out(self.rnn(x, h0)[0][:, -1])


def get_inputs():
    return [torch.rand(4, 12, 10), torch.rand(2, 4, 16)]


def get_init_inputs():
    return []
