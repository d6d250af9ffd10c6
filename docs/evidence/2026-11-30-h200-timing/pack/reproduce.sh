#!/bin/sh
# Checks this pack, then asks the same of the same entrants, with the same seed.
# Models behind HTTP are paid again: eval asks before it does. Options that follow are passed on.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
ce-coord evidence verify "$here"
# suite hash was 092a1361e86a43dd6355b01af78a7300cc879097713f3fb1317226cd04da2b44, ce was 0.1.0
exec ce-coord eval --suite internal --only silu_fp16,vector_add_fp32,softmax_lastdim_fp16 --entrants "$here/report/entrants.json" --samples 3 --seed 272824668717827 --device cuda "$@"
