#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_training.sh <fashion_mnist> <compare_blobs>: what the whole training must reach on each device, that it gives the
# same weights to the bit when it is repeated, how many copies it makes, and that the tutorial shows what is printed.
set -eu
program=$1 compare=$2
tutorial=$(dirname "$0")/../tutorial/7-a-training-run.md
if [ ! -d /usr/share/datasets/fashion-mnist ]; then echo 'Fashion-MNIST is not here' && exit 77; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# copies <device> <direction>: the count in the table that the run on the device printed.
copies() {
  sed -n "s/^ *$2  *\([0-9]*\) .*/\1/p" "$dir/$1.output"
}

for device in host sim; do
  for run in '' .again; do
    "$program" --device $device --trace --save "$dir/$device$run" | tee "$dir/$device.output"
  done
  cmp "$dir/$device" "$dir/$device.again" || fail "$device: two runs gave different weights"
  sed -n 's/^test accuracy //p' "$dir/$device.output" | awk '{ exit !($1 >= 0.83) }' || fail "$device: too low"
done
for seed in 1 2; do
  "$program" --images 1000 --epochs 1 --seed $seed --save "$dir/seed$seed" >/dev/null
done
if cmp -s "$dir/seed1" "$dir/seed2"; then fail 'the seed changes nothing'; fi
FERRY_GUARD=1 FERRY_TRANSFERS=throw "$program" --device sim --images 1000 --epochs 1 --seed 1 --save "$dir/guarded" >/dev/null
"$program" --device sim --images 1000 --epochs 1 --seed 1 --save "$dir/unguarded" >/dev/null
cmp "$dir/guarded" "$dir/unguarded" || fail 'the guards change the weights'
# Sums in another order, as on other devices.
OPENBLAS_CORETYPE=Prescott "$program" --save "$dir/reordered" >/dev/null
if cmp -s "$dir/host" "$dir/reordered"; then echo 'This BLAS adds in one order: nothing is seen of another one'; fi
"$compare" "$dir/host" "$dir/reordered" 1e-4 || fail 'the training multiplies rounding errors'
FERRY_GUARD=1 FERRY_TRANSFERS=throw "$compare" "$dir/host" "$dir/sim" 1e-4 || fail 'host and sim are too far from each other'

# 5 epochs of 469 steps and 79 test steps, each with pixels and labels; then the weights come back to be saved.
[ "$(copies sim 'host to device')" = $((2 * (5 * 469 + 79))) ] || fail 'sim: another number of copies to the device'
[ "$(copies sim 'device to host')" = 1 ] || fail 'sim: another number of copies to the host'
[ "$(copies host 'host to device')$(copies host 'device to host')" = 00 ] || fail 'host: there are copies'

awk '/^```/ { shown = /text$/; next } shown' "$tutorial" >"$dir/shown"
grep -q 'step 2' "$dir/shown" || fail 'the tutorial shows nothing'
if grep -vxFf "$dir/sim.output" "$dir/shown"; then fail 'the tutorial shows lines that are not printed'; fi
