#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_lenet.sh <ferry> <compare_weights> <classify>: the program keeps no pointer too long and makes no copy that is not meant, and the
# guards that find such change nothing, also where training goes on from a snapshot.
set -eu
ferry=$1 compare=$2 classify=$3
from=$(cd "$(dirname "$0")/lenet" && pwd)
data=/usr/share/datasets/fashion-mnist
if [ ! -d "$data" ]; then echo 'Fashion-MNIST is not here' && exit 77; fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cp "$from"/train_test.prototxt "$from"/deploy.prototxt .
"$ferry" convert "$data/t10k-images-idx3-ubyte.gz" "$data/t10k-labels-idx1-ubyte.gz" test_lmdb
ln -s test_lmdb train_lmdb

solver() { # solver <prefix> <iterations>
  sed "s/^test_iter:.*/test_iter: 2/; s/^test_interval:.*/test_interval: 3/; s/^max_iter:.*/max_iter: $2/
    s/^display:.*/display: 1/; s/^snapshot_prefix:.*/snapshot_prefix: \"$1\"/" "$from/solver.prototxt" >"$1.prototxt"
}
score() { # score <weights>
  "$ferry" test --model train_test.prototxt --weights "$1" --iterations 2 --device sim
}
solver plain 6
"$ferry" train --solver plain.prototxt --device sim 2>/dev/null
export FERRY_GUARD=1 FERRY_TRANSFERS=throw
for format in BINARYPROTO HDF5; do
  end=
  [ $format = BINARYPROTO ] || end=.h5
  solver guarded 6
  echo "snapshot: 3 snapshot_format: $format" >>guarded.prototxt
  "$ferry" train --solver guarded.prototxt --device sim 2>/dev/null
  mv "guarded_iter_6.caffemodel$end" "whole.caffemodel$end"
  "$ferry" train --solver guarded.prototxt --snapshot "guarded_iter_3.solverstate$end" --device sim 2>/dev/null
  [ "$(score "guarded_iter_6.caffemodel$end")" = "$(score "whole.caffemodel$end")" ]
done
"$compare" plain_iter_6.caffemodel whole.caffemodel 0
# One image at a time, the same net gets as many right as in batches, of the same images.
images=$data/t10k-images-idx3-ubyte.gz labels=$data/t10k-labels-idx1-ubyte.gz
right=$("$ferry" test --model train_test.prototxt --weights whole.caffemodel --iterations 2 | sed -n 's/^accuracy = //p')
alone=$(FERRY_DEVICE=sim "$classify" deploy.prototxt whole.caffemodel "$images" "$labels" 200)
echo "$right: $alone" | awk '{ exit !(int($1 * 200 + 0.5) == $2) }'
"$ferry" time --model train_test.prototxt --iterations 1 --device sim
