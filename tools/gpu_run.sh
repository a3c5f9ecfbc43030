#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs all of a bundle (see gpu_bundle.sh) on this machine's GPUs, and writes results.md beside itself: what ran, on
# what, and with which result. Fails if anything failed, and where there is no GPU.
set -u
cd "$(dirname "$0")" || exit 2
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH="$PWD/lib:$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PATH="$PATH:$cuda/bin"
mkdir -p log
failed=0

# check <name> <command...>: one line of the report.
check() {
  name=$1 && shift
  "$@" >"log/$name" 2>&1
  case $? in
    0) result=passed ;;
    4) result=skipped ;;
    *) result=FAILED && failed=1 ;;
  esac
  echo "| $name | $result |"
}

table() {
  printf '\n| %s | result |\n| --- | --- |\n' "$1"
}

# fenced <command...>: its output as it is.
fence=$(printf '\140\140\140')
fenced() {
  printf '\n%stext\n%s\n%s\n' "$fence" "$("$@" 2>&1)" "$fence"
}

{
  printf '# Ferry on hardware\n\n- date: %s\n- machine: %s\n' "$(date -u +%Y-%m-%d)" "$(uname -srm)"
  printf -- '- GPU: %s\n' "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1 | paste -sd';')"
  printf -- '- toolkit: %s\n' "$(nvcc --version 2>&1 | tail -n 2 | head -n 1)"
  sed 's/^/- /' made-of.txt
  fenced bin/ferry-info

  table test
  for test in contract device failed_kernel walk per_stream runtime; do check "cuda_$test" "bin/cuda_$test"; done
  check cuda_mathematics bin/cuda_mathematics '~[no-gpu]'
  if [ -e bin/cuda_own_streams ]; then check cuda_own_streams bin/cuda_own_streams; fi # made where there is an nvcc
  check cuda_at_exit bin/cuda_at_exit
  CUDA_VISIBLE_DEVICES='' check cuda_no_device bin/cuda_no_device

  if command -v compute-sanitizer >/dev/null; then
    table 'compute-sanitizer'
    export FERRY_TEST_SCALE=0.02
    for tool in memcheck initcheck synccheck racecheck; do
      for test in contract device walk; do
        check "${tool}_$test" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 "bin/cuda_$test"
      done
    done
    unset FERRY_TEST_SCALE
  fi

  if [ -d data ]; then
    table 'training on Fashion-MNIST'
    check train_host bin/fashion_mnist --data data --device host --save log/host.blobproto
    check train_cuda bin/fashion_mnist --data data --device cuda:0 --save log/cuda.blobproto
    check same_weights bin/compare_blobs log/host.blobproto log/cuda.blobproto 1e-4
    fenced tail -n 12 log/train_cuda
  fi

  table benchmark
  check bench bin/bench_cuda_device --benchmark_min_time=0.2
  fenced cat log/bench
} >results.md
if ! bin/ferry-info | grep -q '^cuda:'; then echo 'There is no GPU here' >&2 && failed=1; fi
cat results.md
exit $failed
