# SPDX-License-Identifier: MIT
def reference(x):
    return x.amin(dim=-1)
