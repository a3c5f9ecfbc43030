#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpu_bundle.sh <build folder> <folder to make>: what is needed to test Ferry on a GPU machine that has a CUDA toolkit
# and no network: the GPU tests, the benchmarks, the example, their data and libraries. There, `sh <folder>/run.sh`.
set -eu
build=$1 bundle=$2
here=$(dirname "$0")
data=${FERRY_DATA:-/usr/share/datasets/fashion-mnist}
mkdir -p "$bundle/bin" "$bundle/lib"

for program in tools/ferry-info docs/examples/fashion_mnist docs/examples/compare_blobs bench/cuda/bench_cuda_device; do
  [ ! -e "$build/$program" ] || cp "$build/$program" "$bundle/bin"
done
find "$build/tests/cuda" -maxdepth 1 -type f -perm -u+x -exec cp {} "$bundle/bin" \;

# CUDA's own libraries are the toolkit's, and the C library is the machine's.
ldd "$bundle"/bin/* | awk '/=> \// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libcu[^/]*|libnv[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$bundle/lib"; done

if [ -d "$data" ]; then cp -rL "$data" "$bundle/data"; fi
cp "$here/gpu_run.sh" "$bundle/run.sh"
{
  sed -n 's/^Kokkos_DIR:[^=]*=/Kokkos /p' "$build/CMakeCache.txt"
  git -C "$here" log -1 --format='Ferry %H' 2>/dev/null || true
} >"$bundle/made-of.txt"
echo "$bundle: $(du -sh "$bundle" | cut -f1)"
