#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vendors.sh [<root>]: fails when code outside a vendor's folders and header uses one of its names.
set -eu
cd "${1:-$(dirname "$0")/../..}"
names='(^|[^a-zA-Z_])(cu(da|blas|dnn)?[A-Z][A-Za-z]+|(hip|hipblas|miopen|rocblas|nvtx|roctx)[A-Z][A-Za-z]+|CUDA_[A-Z]|CUDART_|(__CUDA|__HIP|__NVCC|__AMDGCN)[A-Z_]*|(cuda|cublas|cudnn|hip|miopen)[a-z_0-9]*\.h[^p])'
found=$(find include core backends tests tools bench docs -name '*.[hc]pp' ! -path '*/cuda/*' ! -path '*/hip/*' \
  ! -path include/ferry/cuda.hpp ! -path include/ferry/hip.hpp |
  while read -r file; do
    sed -E '/^ *# *include/!s/"[^"]*"//g; s,//.*,,' "$file" | grep -nE "$names" | sed "s,^,$file:," || true
  done)
[ -z "$found" ] && exit 0
printf '%s\n' "A vendor's name outside its folder:" "$found" >&2
exit 1
