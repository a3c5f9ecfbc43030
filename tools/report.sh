#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# report.sh <preset> <build>: writes <build>/results.md, what the tests there gave, on what, to keep or to send.
set -eu
preset=$1 build=$2
backend=${preset%-nvidia}
log=$build/ctest.log
[ -e "$log" ] || exit 0
data=/usr/share/datasets/fashion-mnist

fence=$(printf '\140\140\140')
fenced() {
  printf '\n%stext\n%s\n%s\n' "$fence" "$("$@" 2>&1)" "$fence"
}
tests() {
  sed -n '/tests passed/,$p' "$log"
}
train() {
  for device in host "$backend"; do
    "$build/docs/examples/fashion_mnist" --device "$device" --save "$build/$device.blobproto" | tail -n 12
  done
  "$build/docs/examples/compare_blobs" "$build/host.blobproto" "$build/$backend.blobproto" 1e-4 &&
    echo 'the weights agree to 1e-4'
}

{
  printf '# Ferry with the backend %s\n\n' "$preset"
  printf -- '- date: %s\n- machine: %s\n' "$(date -u +%Y-%m-%d)" "$(uname -srm)"
  printf -- '- Ferry: %s\n' "$(git describe --always --dirty 2>/dev/null || echo 'no git here')"
  for tool in hipconfig nvcc; do
    if command -v $tool >/dev/null; then printf -- '- %s: %s\n' $tool "$($tool --version | tail -n 1)"; fi
  done
  sed -n 's/^\(Kokkos\|hip\|CUDAToolkit\)_DIR:[^=]*=\(.*\)/- \1: \2/p' "$build/CMakeCache.txt"
  fenced "$build/tools/ferry-info"
  fenced tests
  if "$build/tools/ferry-info" | grep -q "^$backend:[0-9]" && [ -d "$data" ]; then fenced train; fi
} >"$build/results.md"
echo "$build/results.md says what ran here"
