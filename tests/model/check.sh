#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#: usage: check.sh <program that prints the transitions> <folder to work in> [<fault> <what must be found>]
#: Lets spin look at all that protocol.pml can do. Without a fault nothing may be wrong; with one, what it breaks must be found.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
transitions=$1 work=$2 fault=${3:-NO_FAULT} finding=${4:-}

mkdir -p "$work" && cd "$work"
rm -f pan* ./*.trail
cp "$here/protocol.pml" .
"$transitions" >transitions.pml
spin -a -DFAULT="$fault" protocol.pml
cc -DSAFETY -w pan.c -o pan # to optimize takes longer than to look
./pan -m100000 >result.txt
cat result.txt

# A search that was cut, or found nothing to look at, shows nothing.
if grep -qE 'max search depth too small|Search not completed' result.txt && [ -z "$finding" ]; then
  echo "The search is not complete" >&2 && exit 1
fi
if [ -z "$finding" ]; then
  grep -q 'errors: 0$' result.txt && exit 0
  spin -t -p -g protocol.pml | tail -n 60 >&2 # the way there
  exit 1
fi
grep -q "^pan:1: $finding" result.txt && exit 0
echo "$fault goes unseen: there must be an $finding" >&2 && exit 1
