#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Whether a program has layers of float, and none of double: test_no_double.sh NM PROGRAM
set -eu
symbols=$("$1" -C "$2")
has() {
  printf '%s\n' "$symbols" | grep "LayerRegistry<$1>" >/dev/null
}
has float
! has double
