#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_usage.sh <fashion_mnist>: what it says to a bad command line and to bad data, and that it reads plain files.
set -eu
program=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect <exit status> <words> [option...]: the words are part of what is printed.
expect() {
  status=$1 words=$2 && shift 2
  actual=0
  "$program" --save "$dir/weights" "$@" >"$dir/output" 2>&1 || actual=$?
  if [ "$actual" != "$status" ] || ! grep -qF -- "$words" "$dir/output"; then
    echo "fashion_mnist $*: exit status $actual, not $status with '$words':" && cat "$dir/output" && exit 1
  fi
}

# Three images of two pixels, and a label each.
data=$dir/data
mkdir "$data"
for part in train t10k; do
  printf '\0\0\010\003\0\0\0\003\0\0\0\001\0\0\0\002abcdef' >"$data/$part-images-idx3-ubyte"
  printf '\0\0\010\001\0\0\0\003\001\002\003' >"$data/$part-labels-idx1-ubyte"
done

expect 0 '--device NAME' --help
expect 2 'unknown option --epoch' --epoch 3
expect 2 '--epochs needs a value' --epochs
expect 2 "--epochs: '0' is not a number from 1 on" --epochs 0
expect 2 "--batch: '12x' is not a number" --batch 12x
expect 2 "--rate: 'nan' is not a number" --rate nan
expect 1 "$dir/none/train-images-idx3-ubyte: no such file" --data "$dir/none"
expect 1 'sim' --data "$data" --device toaster
expect 1 "$dir/none/weights" --data "$data" --save "$dir/none/weights"
expect 0 'test accuracy' --data "$data"
expect 0 'step 2' --data "$data" --batch 2 --trace --device sim

printf 'no images' >"$data/train-images-idx3-ubyte"
expect 1 "$data/train-images-idx3-ubyte, byte 0: not an IDX file" --data "$data"
printf '\0\0\010\003\0\0\0\003\0\0' >"$data/train-images-idx3-ubyte"
expect 1 'byte 10: the file ends within its header' --data "$data"
printf '\0\0\010\003\377\0\0\0\377\0\0\0\0\0\0\002abcdef' >"$data/train-images-idx3-ubyte"
expect 1 'byte 4: the dims promise more bytes than the 6 there are' --data "$data"
printf '\0\0\010\003\0\0\0\003\0\0\0\001\0\0\0\002abcdefgh' >"$data/train-images-idx3-ubyte"
expect 1 'byte 22: the file goes on behind its last element' --data "$data"
printf '\0\0\010\003\0\0\0\002\0\0\0\001\0\0\0\002abcd' >"$data/train-images-idx3-ubyte"
expect 1 '2 images with 3 labels' --data "$data"
printf '\0\0\010\003\0\0\0\003\0\0\0\001\0\0\0\002abcdef' >"$data/train-images-idx3-ubyte"
printf '\0\0\010\001\0\0\0\003\001\002\012' >"$data/train-labels-idx1-ubyte"
expect 1 'a label that is not below 10' --data "$data"
printf '\0\0\010\001\0\0\0\003\001\002\003' | gzip >"$dir/labels.gz"
head -c 20 "$dir/labels.gz" >"$data/train-labels-idx1-ubyte.gz"
expect 1 'train-labels-idx1-ubyte.gz, byte' --data "$data"
