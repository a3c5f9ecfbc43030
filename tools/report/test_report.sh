#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_report.sh <ferry-report>: how it is called, and what it says of files that it cannot read.
set -eu
report=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
has() { # has <text> <where it must be>
  case $2 in *"$1"*) ;; *) echo "no \"$1\" in: $2" >&2 && exit 1 ;; esac
}
# fails <status> <text> <argument>...
fails() {
  status=$1 text=$2 && shift 2
  got=0 && said=$("$report" "$@" 2>&1) || got=$?
  [ "$got" = "$status" ] || { echo "ferry-report $* ended with $got: $said" >&2 && exit 1; }
  has "$text" "$said"
}

head='[{"ph":"M","pid":1,"tid":0,"name":"ferry_trace","args":{"version":1}}'
echo "$head]" >"$dir/t.json"
"$report" "$dir/t.json"
has '<title>t.json</title>' "$(cat "$dir/t.html")"
"$report" "$dir/t.json" -o "$dir/other page"
cmp "$dir/t.html" "$dir/other page"
has 'usage: ferry-report' "$("$report" --help)"

fails 2 usage
fails 2 usage --verbose "$dir/t.json"
fails 2 usage "$dir/t.json" -o
fails 2 usage "$dir/t.json" "$dir/t.json"
fails 1 "$dir is a directory" "$dir"
fails 1 "$dir/none cannot be read: No such file" "$dir/none"
: >"$dir/empty.json"
fails 1 "empty.json is empty" "$dir/empty.json"
echo '{"traceEvents":[]}' >"$dir/chrome.json"
fails 1 "chrome.json is no trace of Ferry's" "$dir/chrome.json"
echo "$head]" | sed 's/"version":1/"version":2/' >"$dir/later.json"
fails 1 "later.json is a trace of another version than 1" "$dir/later.json"
echo "$head,{]" >"$dir/damaged.json"
fails 1 "damaged.json is damaged: at byte" "$dir/damaged.json"
{ printf '%s,[' "$head" && yes 1, | head -n 1000000; } >"$dir/wide.json"
fails 1 "a value is longer than 1 MiB" "$dir/wide.json"
fails 1 "t.json would be replaced" "$dir/t.json" -o "$dir/t.json"
fails 1 "t.json would be replaced" "$dir/t.json" -o "$dir/../${dir##*/}/t.json"
fails 1 "$dir/none/page.html cannot be written" "$dir/t.json" -o "$dir/none/page.html"
got=0 && said=$(ulimit -f 1 && "$report" "$dir/t.json" -o "$dir/limited.html" 2>&1) || got=$?
[ "$got" = 1 ] || { echo "ferry-report ended with $got under a limit: $said" >&2 && exit 1; }
has "$dir/limited.html cannot be written: File too large" "$said"
if [ -e /dev/full ]; then fails 1 "/dev/full cannot be written" "$dir/t.json" -o /dev/full; fi
if dd if=/dev/null of="$dir/large.json" bs=1 seek=2147483649 2>/dev/null; then # a hole
  fails 1 "large.json has 2147483649 bytes; at most 2 GiB are read" "$dir/large.json"
fi

echo "$head," >"$dir/short.json"
has "short.json ends too early" "$("$report" "$dir/short.json" 2>&1)"
has '"truncated":1' "$(cat "$dir/short.html")"
