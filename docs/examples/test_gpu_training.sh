#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_gpu_training.sh <fashion_mnist> <compare_blobs> <ferry-info> <backend>: the training on each GPU of a backend gives
# the host's weights to 1e-4.
set -eu
program=$1 compare=$2 info=$3 backend=$4
gpus=$("$info" | sed -n "s/^\($backend:[0-9]*\)  .*/\1/p")
if [ -z "$gpus" ]; then "$info" && exit 77; fi
if [ ! -d /usr/share/datasets/fashion-mnist ]; then echo 'Fashion-MNIST is not here' && exit 77; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

for device in host $gpus; do "$program" --device "$device" --save "$dir/$device"; done
for gpu in $gpus; do "$compare" "$dir/host" "$dir/$gpu" 1e-4; done
