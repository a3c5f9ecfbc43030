#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpu_sanitize.sh <folder>: the GPU tests in it, but those that break something on purpose, under each tool of
# compute-sanitizer. Fails if one finds anything.
set -u
folder=$1
found=0
export FERRY_TEST_SCALE=0.02
for tool in memcheck initcheck synccheck racecheck; do
  for test in contract device walk mathematics; do
    if output=$(compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 \
      "$folder"/*_"$test" '~[no-gpu]' 2>&1); then
      echo "$tool, $test: nothing found"
    else
      printf '%s, %s: failed\n%s\n' "$tool" "$test" "$output" && found=1
    fi
  done
done
exit $found
