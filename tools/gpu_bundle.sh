#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpu_bundle.sh <build folder> <archive.tar.xz>: packs what tests Ferry on a machine with an NVIDIA GPU and no network: the GPU
# tests of a build for cuda, or for hip on NVIDIA, its benchmarks and the example, with their data and libraries. There:
# tar -xf <archive>; sh ferry-gpu/run.sh
set -eu
build=$1 archive=$2
here=$(dirname "$0")
data=${FERRY_DATA:-/usr/share/datasets/fashion-mnist}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bundle=$dir/ferry-gpu
backend=$(sed -n 's/^FERRY_BACKEND:[^=]*=//p' "$build/CMakeCache.txt")
mkdir -p "$bundle/bin" "$bundle/lib"

# put <file>: without what a debugger needs
put() {
  strip -o "$bundle/bin/$(basename "$1")" "$1"
}
for program in tools/ferry-info tests/unit/kernels_kokkos_process docs/examples/fashion_mnist docs/examples/compare_blobs; do
  put "$build/$program"
done
for folder in "$build/tests/$backend" "$build/bench/$backend"; do
  [ ! -d "$folder" ] || find "$folder" -maxdepth 1 -type f ! -name '*.so' -perm -u+x | while read -r program; do put "$program"; done
done

# The CUDA toolkit and the C library are the machine's.
ldd "$bundle"/bin/* | awk '/=> \// { print $3 }' | sort -u |
  grep -vE '/(libc|libm|libdl|librt|libpthread|ld-linux[^/]*|libcu[^/]*|libnv[^/]*)\.so' |
  while read -r library; do strip -o "$bundle/lib/$(basename "$library")" "$library"; done

if [ -d "$data" ]; then cp -rL "$data" "$bundle/data"; fi
caffe=$(sed -n 's/^FERRY_CAFFE_DATA:[^=]*=//p' "$build/CMakeCache.txt")
if [ -d "$caffe/layers" ]; then
  mkdir "$bundle/caffe" && cp -r "$caffe/layers" "$bundle/caffe"
  find "$caffe" -maxdepth 1 -name '*.*' -type f -exec cp {} "$bundle/caffe" \;
else
  echo "Without $caffe/layers: the test of layers trains a net, and compares nothing with Caffe"
fi
cp "$here/gpu_run.sh" "$bundle/run.sh"
cp "$here/gpu_sanitize.sh" "$here/../docs/examples/test_gpu_training.sh" "$bundle"
{
  echo "backend $backend"
  kokkos=$(sed -n 's/^Kokkos_DIR:[^=]*=//p' "$build/CMakeCache.txt")
  sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/Kokkos \1/p' "$kokkos/KokkosConfigVersion.cmake"
  sed -n 's/^set(Kokkos_\(DEVICES\|ARCH\) "*\([^"]*\)"*)/Kokkos for \2/p' "$kokkos"/KokkosConfig*.cmake
  ldd "$bundle/bin/fashion_mnist" | awk '/libcu.*=>/ { print "built for " $1 }'
  git -C "$here" describe --always --dirty 2>/dev/null | sed 's/^/Ferry /' || true
} >"$bundle/made-of.txt"
tar -C "$dir" -caf "$archive" ferry-gpu
echo "$archive: $(du -m "$archive" | cut -f1) MiB"
