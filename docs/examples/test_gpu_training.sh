#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_gpu_training.sh <fashion_mnist> <compare_blobs> <ferry-info> <backend> [<data>]: the training on each GPU of a backend
# gives the host's weights to 1e-4.
set -eu
program=$1 compare=$2 info=$3 backend=$4 data=${5:-/usr/share/datasets/fashion-mnist}
gpus=$("$info" | sed -n "s/^\($backend:[0-9]*\)  .*/\1/p")
if [ -z "$gpus" ]; then "$info" && echo "There is no GPU for $backend here" && exit 77; fi
if [ ! -d "$data" ]; then echo 'Fashion-MNIST is not here' && exit 77; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for device in host $gpus; do "$program" --data "$data" --device "$device" --save "$dir/$device"; done
for gpu in $gpus; do "$compare" "$dir/host" "$dir/$gpu" 1e-4; done
