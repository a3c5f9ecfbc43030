#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pkg_config.sh <compiler> <library folder> <module> <source> <program>: builds and runs it with nothing but pkg-config.
set -eu
PKG_CONFIG_PATH="$2/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # one word a flag
"$1" -std=c++20 "$(dirname "$0")/$4" $(pkg-config --cflags --libs "$3") -o "$5"
LD_LIBRARY_PATH="$2" "$5"
