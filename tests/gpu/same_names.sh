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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
names "$backends/cuda/cuda_runtime.hpp" >"$work/cuda"
names "$backends/hip/hip_runtime.hpp" >"$work/hip"
[ "$(wc -l <"$work/cuda")" -gt 80 ] # else it has read something else
{ diff "$work/cuda" "$work/hip" || true; } | grep '^[<>]' | diff "$here/differences.txt" - && exit 0
echo 'CudaRuntime (<) and HipRuntime (>) differ otherwise than differences.txt says' >&2
exit 1
