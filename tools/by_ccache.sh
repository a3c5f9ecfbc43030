#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# by_ccache.sh <compiler> <argument>...: compiles, or takes what was compiled before. While a precompiled header is made, the old
# one must not be there: ccache would read that one, and not the headers that the new one is made of. It is taken from the cache only
# where each header is the same byte for byte (CCACHE_DEPEND), and not where only comments differ: what is to be included once is known
# by its bytes.
set -eu
case " $* " in
  *' c++-header '*)
    export CCACHE_DEPEND=1
    before=
    for argument; do
      [ "$before" != -o ] || rm -f "$argument"
      before=$argument
    done
    ;;
esac
exec ccache "$@"
