#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# prints.sh <file> <program>: the program succeeds, and prints what is in the file.
set -eu
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$2" >"$output" || exit
diff -u "$1" "$output"
