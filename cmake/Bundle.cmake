# SPDX-License-Identifier: MIT
# Installation layout of the relocatable folder (scripts/bundle): bin/ lib/ share/ce/.
