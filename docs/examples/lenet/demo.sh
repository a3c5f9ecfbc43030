#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# demo.sh <ferry> <compare_weights> <classify> <folder>: LeNet from a prototxt and a data set to trained weights, in that folder. At the
# end its accuracy is 0.90 or more, and a run on the simulated GPU, beside that on the host, has given the same weights.
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

export OPENBLAS_NUM_THREADS=1 # the matrices are too small for several, and there are two runs
sed 's/^snapshot_prefix: .*/snapshot_prefix: "sim"/' solver.prototxt >sim.prototxt
"$ferry" train --solver sim.prototxt --device sim >sim.log 2>&1 &
sim=$!
trap 'kill $sim 2>/dev/null || true' EXIT
trap 'exit 1' HUP INT TERM
"$ferry" train --solver solver.prototxt --device host --csv loss.csv --plot loss.svg
echo 'The same on the simulated GPU ...'
wait $sim || { cat sim.log >&2 && exit 1; }
trap - EXIT
"$compare" lenet_iter_3000.caffemodel sim_iter_3000.caffemodel 1e-4
"$ferry" test --model train_test.prototxt --weights lenet_iter_3000.caffemodel --iterations 100 --device host | tee test.txt
awk '/^accuracy/ { exit !($3 >= 0.90) }' test.txt
"$classify" deploy.prototxt lenet_iter_3000.caffemodel "$data/t10k-images-idx3-ubyte.gz" "$data/t10k-labels-idx1-ubyte.gz" 1000
