#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# precompiled_header.sh <by_ccache.sh> <compiler> <folder>: in the folder, makes a precompiled header of three versions of a header,
# each time with the first one's result still there. The program that includes the third must have its value. Of the fourth, a word
# of a comment differs, so that a precompiled third would not be taken for what is included once.
set -eu
by_ccache=$1 compiler=$2 folder=$3
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder"
export CCACHE_DIR="$folder/cache" CCACHE_SLOPPINESS=pch_defines,time_macros
echo '#include "value.hpp"' >all.hpp
echo >all.cpp
echo '#include "value.hpp"
int main() { return value; }' >program.cpp
make() {
  "$by_ccache" "$compiler" -std=c++20 -MD -x c++-header -include "$folder/all.hpp" -o all.hpp.gch -c all.cpp
}
run() {
  "$compiler" -std=c++20 -include all.hpp program.cpp -o program
  status=0
  ./program || status=$?
  echo "the value is $status"
  [ "$status" -eq 3 ]
}
for value in 1 2 3; do
  echo "#pragma once
constexpr int value = $value;" >value.hpp
  [ ! -e first ] || cp first all.hpp.gch
  make
  [ -e first ] || cp all.hpp.gch first
done
run
echo '// Longer by this comment.' >>value.hpp
make
run
