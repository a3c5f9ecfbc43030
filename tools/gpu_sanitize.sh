#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# gpu_sanitize.sh <folder> [<tool> <test>]: the GPU tests in it, but those that break something on purpose, under each tool of
# compute-sanitizer; or one of them under one. Fails if anything is found.
set -u
folder=$1
tools=${2:-memcheck initcheck synccheck racecheck}
tests=${3:-contract device walk mathematics}
found=0
export FERRY_TEST_SCALE=0.02
for tool in $tools; do
  for test in $tests; do
    if output=$(compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 \
      "$folder"/*_"$test" '~[no-gpu]' 2>&1); then
      echo "$tool, $test: nothing found"
    else
      printf '%s, %s: failed\n%s\n' "$tool" "$test" "$output" && found=1
    fi
  done
done
exit $found
