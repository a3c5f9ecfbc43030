#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Makes docs/reference/layers, a page for each type of layer and a list of them, of the comments above the layers' classes.
#   layers.sh          writes the pages
#   layers.sh --check  fails, and shows the differences, unless the pages are as they would be written
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
pages=$PWD/docs/reference/layers
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

for source in core/nets/layers/*.cpp; do
  public=include/ferry/nets/$(basename "$source" .cpp)_layer.hpp # of a layer whose class programs use
  [ -e "$public" ] || public=
  awk -v folder="$made" -v source="$source" '
    # Text in lines of about 128 characters, those after the first one indented. No line begins with an operator, which
    # Markdown would take for an item of a list.
    function wrap(text, indent,   words, n, i, line, out) {
      n = split(text, words, " ")
      line = words[1]
      for (i = 2; i <= n; ++i) {
        if (length(line) + 1 + length(words[i]) > 128 && words[i] !~ /^[-+*#>=]$/) {
          out = out line "\n"
          line = indent words[i]
        } else {
          line = line " " words[i]
        }
      }
      return out line
    }
    function fail(words) {
      print source ": " words > "/dev/stderr"
      failed = 1
      exit 1
    }

    /^\/\/\/ .*[.}] (Parameters|Bottoms|Tops|Weights|Gradient|Caffe): / { fail("a line goes on with another item: " $0) }
    /^[ \t]*\/\/\// {
      if (!inside) comment = ""
      inside = 1
      line = $0
      sub(/^[ \t]*\/\/\/ ?/, "", line)
      comment = comment line "\n"
      next
    }
    { inside = 0 }
    /^class [A-Za-z0-9]+Layer( final)? / {
      type = $2
      sub(/Layer$/, "", type)
      comments[type] = comment
    }
    /^template <class T>$/ { next }
    { comment = "" }

    match($0, /^FERRY_NETS_MAKE_LAYER\([A-Za-z0-9]+\)/) {
      made = substr($0, RSTART + 22, RLENGTH - 23)
    }

    END {
      if (failed) exit 1
      if (made == "") exit
      if (comments[made] == "") fail("no comment above class " made "Layer")
      n = split(comments[made], lines, "\n")
      for (i = 1; i <= n; ++i) {
        if (match(lines[i], /^(Parameters|Weights|Bottoms|Tops|Gradient|Caffe): /)) {
          ++parts
          label[parts] = substr(lines[i], 1, RLENGTH - 2)
          text[parts] = substr(lines[i], RLENGTH + 1)
        } else if (lines[i] != "") {
          text[parts + 0] = text[parts + 0] (text[parts + 0] == "" ? "" : " ") lines[i]
        }
      }
      if (text[0] == "") fail("the comment of " made " does not begin with what it computes")
      page = folder "/" made ".md"
      printf "# %s\n\n%s\n\n", made, wrap(text[0], "") > page
      for (i = 1; i <= parts; ++i) printf "- %s\n", wrap("**" label[i] "**: " text[i], "  ") > page
      printf "\nSource: [%s](../../../%s)\n", source, source > page
      print wrap("- [" made "](" made ".md): " text[0], "  ") > (folder "/" made ".item")
    }' ${public:+"$public"} "$source"
done

{
  echo '# Layers'
  echo
  echo 'The types of layers, as prototxt calls them, and what each computes: x is a bottom, y a top, dx and dy are their diffs. Numbers'
  echo 'behind parameters are defaults. A top is its bottom (the layer works in place) only where a page says that it may be; Caffe lets'
  echo 'some others, such as Tile and Crop. Caffe'"'"'s Python and WindowData are refused, with the reason. A type of your own:'
  echo '[Write a layer of your own](../../how-to/own-layer.md).'
  echo
  cat "$made"/*.item
} >"$made/README.md"
rm "$made"/*.item

if [ "${1-}" = --check ]; then
  diff -ru "$pages" "$made" || {
    echo "docs/reference/layers is not what the comments in core/nets/layers say: run docs/reference/layers.sh" >&2
    exit 1
  }
else
  rm -rf "$pages"
  mkdir "$pages"
  cp "$made"/* "$pages"
fi
