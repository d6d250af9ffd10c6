# SPDX-License-Identifier: MIT
def reference(x):
    return x.var(dim=-1, unbiased=False)
