#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pkg_config.sh <compiler> <library folder> <program>: builds and runs the consumer with nothing but pkg-config.
set -eu
PKG_CONFIG_PATH="$2/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # one word a flag
"$1" -std=c++20 "$(dirname "$0")/consumer.cpp" $(pkg-config --cflags --libs ferry) -o "$3"
LD_LIBRARY_PATH="$2" "$3"
