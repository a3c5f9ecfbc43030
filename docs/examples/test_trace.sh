#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# test_trace.sh <thirty_blobs> <ferry-report> [<chromium>]: the trace of a program and the page of it name the needless copies, and
# their lines. With a browser, the page is drawn without an error, in light and dark.
set -eu
program=$1 report=$2 browser=${3:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
line() {
  grep -n "$1" "${0%/*}/thirty_blobs.cpp" | head -n 1 | cut -d: -f1
}
has() { # has <text> <where it must be>
  case $2 in *"$1"*) ;; *) printf 'no "%s" in: %.2000s\n' "$1" "$2" >&2 && exit 1 ;; esac
}
norm="Norm (thirty_blobs.cpp:$(line mutable_cpu_data))" step="Step (thirty_blobs.cpp:$(line ferry::Asum))"

FERRY_TRACE=$dir/trace.json "$program" >"$dir/said"
"$program" | cmp - "$dir/said"
"$report" "$dir/trace.json"

if [ -n "$browser" ]; then
  # draw <address> [<option>...]: the page as the browser has it when its scripts have run
  draw() {
    address=$1 && shift
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$dir/browser" --virtual-time-budget=5000 "$@" \
      --dump-dom "file://$dir/$address" 2>"$dir/browser.log" || { cat "$dir/browser.log" >&2 && exit 1; }
  }
  # row <page>: the first row of the table of copies, which has the most bytes, without its tags
  row() {
    echo "$1" | tr -d '\n' | sed 's,.*<table id="pairs">,,; s,</tbody>.*,,; s,.*<tbody>,,; s,</tr>.*,,; s,<[^>]*>, ,g; s,  *, ,g'
  }
  # check <light or dark> <page>
  check() {
    has "data-shown=\"$1\"" "$2"
    has 'data-ready="yes"' "$2"
    case $2 in *data-error=*) echo "a script failed: $(echo "$2" | grep -o 'data-error="[^"]*"')" >&2 && exit 1 ;; esac
    has " 1.2 MB 3 weight7 the host → sim:0 $norm mutable $step read" "$(row "$2")"
    has 'sim:0: 0 % of ' "$2"
    has 'Live bytes on sim:0: at most 12.0 MB' "$2"
  }
  check light "$(draw trace.html)"
  check dark "$(draw trace.html --blink-settings=preferredColorScheme=0)"
  check dark "$(draw 'trace.html#dark')"
  check light "$(draw 'trace.html#light' --blink-settings=preferredColorScheme=0)"

  # Keys move, zoom and select, and the button changes the colours.
  keys='for (const key of ["ArrowUp", "ArrowRight", "n", "n", "p", "+", "ArrowLeft", "ArrowDown"])
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key }));
  document.body.dataset.zoomed = view.length < whole; find("theme").click(); find("theme").click();'
  sed '/<\/body>/d' "$dir/trace.html" >"$dir/keys.html"
  echo "<script>$keys</script></body></html>" >>"$dir/keys.html"
  keys=$(draw keys.html)
  check dark "$keys"
  has '<dt>operands</dt><dd>overwrite "weight0"</dd>' "$keys"
  has 'data-zoomed="true"' "$keys"

  # A slice that is selected can be seen, in whatever row it is, and so can what is said of it.
  slice() { # slice <stream> <category>
    printf ',{"ph":"X","pid":2,"tid":%s,"ts":0,"dur":9,"cat":"%s","name":"n"%s}' "$1" "$2" "${3:-}"
  }
  {
    printf '[{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"}'
    lines=',"args":{"a":"1","b":"2","c":"3","d":"4","e":"5","f":"6","g":"7","h":"8","i":"9"}'
    for stream in $(seq 100); do slice "$stream" kernel "$lines"; done
    echo ']'
  } >"$dir/many.json"
  "$report" "$dir/many.json"
  keys='const seen = (number) => {
    select(number);
    const row = canvas.getBoundingClientRect().top + axis + tracks[order[number][0]].row * rowHeight, shown = frame.getBoundingClientRect();
    const said = find("details").getBoundingClientRect();
    return row >= Math.max(shown.top + axis, 0) && row + rowHeight <= Math.min(shown.bottom, said.top) && said.bottom <= innerHeight + 1;
  };
  document.body.dataset.seen = [99, 0, 50, 51, 49].map(seen).join(" ");
  document.body.dataset.moved = innerHeight > 500 && scrollY > 0;'
  sed '/<\/body>/d' "$dir/many.html" >"$dir/seen.html"
  echo "<script>$keys</script></body></html>" >>"$dir/seen.html"
  for size in 400,500 800,550 1280,800; do
    seen=$(draw seen.html --window-size="$size")
    has 'data-seen="true true true true true"' "$seen"
    has 'data-moved="false"' "$seen"
  done

  # An access by a pointer has no time by the device's clock.
  pointers() { # pointers <category>...: what the page says beside a kernel and a copy that have times
    {
      printf '[{"ph":"M","pid":1,"tid":0,"name":"ferry_trace"}' && slice 1 "device copy" && slice 2 kernel
      slice 2 "device kernel" && for category in "$@"; do slice 2 "$category"; done && echo ']'
    } >"$dir/pointer.json"
    "$report" "$dir/pointer.json" && draw pointer.html
  }
  has "by the device's clock; 1 access or kernel has no time by it" "$(pointers access)"
  has "by the device's clock; 2 accesses or kernels have no time by it" "$(pointers access kernel)"

  # What dies is drawn as far as it goes, and says so; what a label says is no tag.
  head -c 60000 "$dir/trace.json" | sed 's,weight3,</script><b id=evil>,g' >"$dir/short.json"
  "$report" "$dir/short.json" 2>/dev/null
  short=$(draw short.html)
  has 'data-ready="yes"' "$short"
  has 'The trace ends too early' "$short"
  has '&lt;/script&gt;&lt;b id=evil&gt;' "$short"
  case $short in *'<b id'*) echo "a label became a tag" >&2 && exit 1 ;; esac
  exit
fi

page=$(cat "$dir/trace.html")
has "\"weight7\",\"the host\",\"sim:0\",\"$norm\",\"mutable\",\"$step\",\"read\"" "$page"
# It needs no network.
case $page in *https:* | *' src='* | *'@import'*) echo "the page needs more than itself" >&2 && exit 1 ;; esac

# What is said wrongly is one warning, and the program goes on unchanged.
for wrong in /nowhere/at/all "$dir" /dev/full; do
  if [ ! -e "$wrong" ] && [ "$wrong" = /dev/full ]; then continue; fi
  said=$(FERRY_TRACE=$wrong "$program" 2>&1)
  has "$wrong cannot be written" "$said"
  [ "$(echo "$said" | grep -c warning)" = 1 ]
  has "$(cat "$dir/said")" "$(echo "$said" | grep -v warning)"
done

has "FERRY_TRACE=1 is not a file" "$(FERRY_TRACE=1 "$program" 2>&1)"

# Of a program that died, what has been written can be read.
head -c 20000 "$dir/trace.json" >"$dir/short.json"
has "short.json ends too early" "$("$report" "$dir/short.json" 2>&1)"
has '"weight7"' "$(cat "$dir/short.html")"
