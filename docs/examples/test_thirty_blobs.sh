#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_thirty_blobs.sh <program>: the ledger and the guard name the one needless access among thirty.
set -eu
program=$1
line() {
  grep -n "$1" "${0%/*}/thirty_blobs.cpp" | head -n 1 | cut -d: -f1
}
norm="Norm (thirty_blobs.cpp:$(line mutable_cpu_data))" step="Step (thirty_blobs.cpp:$(line ferry::Asum))"
has() { # has <text> <where it must be>
  case $2 in *"$1"*) ;; *) echo "no \"$1\" in: $2" >&2 && exit 1 ;; esac
}

ledger=$(FERRY_LEDGER=verify "$program" 2>&1 >/dev/null)
has "\"weight7\" copied 3 times, 1.2 MB: $norm asked for it mutable, then $step read it on sim:0; read-only access would save all of them" \
  "$ledger"

if refusal=$(FERRY_TRANSFERS=throw "$program" 2>&1 >/dev/null); then echo "nothing was refused" >&2 && exit 1; fi
has "\"weight7\": 400000 bytes from byte 0 on would go from the host to sim:0 for a read by $step, since $norm asked for them mutable" \
  "$refusal"

log=$(FERRY_TRANSFERS=log "$program" 2>&1 >/dev/null)
[ "$(echo "$log" | grep -c 'FERRY_TRANSFERS: "weight7"')" = 3 ]

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
FERRY_LEDGER=$dir/ledger.json "$program" >/dev/null
has '"label": "weight7"' "$(cat "$dir/ledger.json")"

# What is said wrongly is one warning, and the program goes on unchanged.
plain=$("$program" 2>&1)
for wrong in FERRY_LEDGER=/nowhere/at/all FERRY_GUARD=yes FERRY_TRANSFERS=perhaps FERRY_RANGES=perhaps; do
  said=$(env "$wrong" "$program" 2>&1)
  has "${wrong%%=*}" "$said"
  [ "$(echo "$said" | grep -c warning)" = 1 ]
  has "$plain" "$(echo "$said" | grep -v warning)"
done
[ "$(FERRY_GUARD=1 "$program" 2>&1)" = "$plain" ]
mkfifo "$dir/pipe" # which nobody reads
for variable in FERRY_LEDGER FERRY_TRACE; do
  said=$(env "$variable=$dir/pipe" timeout 60 "$program" 2>&1)
  has "$variable: " "$said"
  has "$dir/pipe cannot be written" "$said"
  has "$plain" "$(echo "$said" | grep -v warning)"
done
if [ -e /dev/full ]; then has "/dev/full cannot be written" "$(FERRY_LEDGER=/dev/full "$program" 2>&1)"; fi
