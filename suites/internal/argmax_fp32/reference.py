# SPDX-License-Identifier: MIT
def reference(x):
    return x.argmax(dim=-1)
