#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# by_ccache.sh <compiler> <argument>...: compiles, or takes what was compiled before. While a precompiled header is made, the old
# one must not be there: ccache would read that one, and not the headers that the new one is made of.
set -eu
case " $* " in
  *' c++-header '*)
    before=
    for argument; do
      [ "$before" != -o ] || rm -f "$argument"
      before=$argument
    done
    ;;
esac
exec ccache "$@"
