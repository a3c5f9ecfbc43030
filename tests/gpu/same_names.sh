#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Fails when CudaRuntime and HipRuntime differ, with the vendor's name left out, in more than differences.txt says.
set -eu
here=$(dirname "$0")
backends=$here/../../backends

# names <header>: the struct, a statement a line, without comments and without the vendor.
names() {
  sed -n '/^struct /,/^};/p' "$1" | sed -E 's,//.*,,; /^#/d; s/([^a-zA-Z]|^)([Cc]uda|[Hh]ip)/\1Vendor/g' |
    tr -s ' \n' ' ' | sed 's/[;{}]/&\n/g' | sed 's/^ *//'
}

names "$backends/cuda/cuda_runtime.hpp" >cuda_names.txt
names "$backends/hip/hip_runtime.hpp" >hip_names.txt
[ "$(wc -l <cuda_names.txt)" -gt 80 ] # else it has read something else
{ diff cuda_names.txt hip_names.txt || true; } | grep '^[<>]' | diff "$here/differences.txt" - && exit 0
echo 'CudaRuntime (<) and HipRuntime (>) differ otherwise than differences.txt says' >&2
exit 1
