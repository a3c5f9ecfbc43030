#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# demo.sh <ferry> <compare_weights> <classify> <folder>: LeNet from a prototxt and a data set to trained weights, in that folder. At the
# end its accuracy is 0.90 or more, and a run on the simulated GPU has given the weights of one on the host.
set -eu
ferry=$1 compare=$2 classify=$3
data=${datasets:-/usr/share/datasets}/fashion-mnist
from=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$4"
cd "$4"
cp "$from"/*.prototxt .

for part in train test; do
  files=$part
  [ $part = train ] || files=t10k
  rm -rf ${part}_lmdb
  "$ferry" convert "$data/$files-images-idx3-ubyte.gz" "$data/$files-labels-idx1-ubyte.gz" ${part}_lmdb
done

for device in host sim; do
  sed "s/^max_iter: .*/max_iter: 100/; s/^snapshot_prefix: .*/snapshot_prefix: \"short_$device\"/" solver.prototxt >short.prototxt
  "$ferry" train --solver short.prototxt --device $device 2>/dev/null
done
"$compare" short_host_iter_100.caffemodel short_sim_iter_100.caffemodel 1e-4

"$ferry" train --solver solver.prototxt --device host --csv loss.csv --plot loss.svg
"$ferry" test --model train_test.prototxt --weights lenet_iter_4000.caffemodel --iterations 100 --device host | tee test.txt
awk '/^accuracy/ { exit !($3 >= 0.90) }' test.txt
"$classify" deploy.prototxt lenet_iter_4000.caffemodel "$data/t10k-images-idx3-ubyte.gz" "$data/t10k-labels-idx1-ubyte.gz" 1000
