#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh <folder with the programs gate_*> [--update]: holds what they print against ../baseline.txt, or writes that anew. A program
# prints lines "name value"; gate_instructions is run by callgrind, whose counts are its lines. In the baseline a name has its
# program before it. Values are to be the same, those of instructions at most as high. A program that exits with 4 cannot run
# here: its lines are left out, and --update keeps those that there are.
set -eu
programs=$1
baseline=$(dirname "$0")/../baseline.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# What each dump of callgrind counted under "name calls", a call. The environment and the program's path lie on the stack,
# whose alignment decides how many steps it takes to move or to zero some bytes there: they are the same for everybody, except
# for LD_LIBRARY_PATH.
count_instructions() {
  cp "$1" "$dir/program"
  (cd "$dir" && env -i ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} "$(command -v valgrind)" --quiet --tool=callgrind \
    --instr-atstart=no --callgrind-out-file=counts ./program) || return $?
  awk '/^desc: Trigger: Client Request: / { name = $5; calls = $6 }
       /^totals: / && name != "" { printf "%s %.0f\n", name, $2 / calls; name = "" }' "$dir"/counts*
}

touch "$dir/values" "$dir/skipped" "$dir/expected" "$dir/kept"
for program in "$programs"/gate_*; do
  name=${program##*/gate_}
  run= && [ "$name" != instructions ] || run=count_instructions
  status=0
  $run "$program" >"$dir/lines" || status=$?
  case $status in
    0) sed "s,^,$name/," "$dir/lines" >>"$dir/values" ;;
    4) echo "$name" >>"$dir/skipped" && sed "s/^/gate: $name: skipped: /" "$dir/lines" ;;
    *) echo "gate: $program failed" >&2 && exit 1 ;;
  esac
done

# Of the baseline, what a program that has run is to print.
if [ -e "$baseline" ]; then
  awk -v skipped="$dir/skipped" -v kept="$dir/kept" -v expected="$dir/expected" '
    BEGIN { while ((getline name < skipped) > 0) leave_out[name] = 1 }
    /^#/ { next }
    { print >(substr($1, 1, index($1, "/") - 1) in leave_out ? kept : expected) }' "$baseline"
fi

if [ "${2:-}" = --update ]; then
  {
    echo '# What ./dev bench --gate holds, written by ./dev bench --gate --update: program/name value.'
    LC_ALL=C sort "$dir/values" "$dir/kept"
  } >"$baseline"
  exit
fi

awk '
  function wrong(name, is, was) { print "gate: " name " is " is ", and the baseline " was; bad = 1 }
  FNR == NR { baseline[$1] = $2; next }
  !($1 in baseline) { wrong($1, $2, "has no such line"); next }
  /^instructions\// ? $2 > baseline[$1] : $2 != baseline[$1] { wrong($1, $2, "has " baseline[$1]) }
  /^instructions\// && $2 < baseline[$1] { print "gate: " $1 " is " $2 ", better than the baseline: " baseline[$1] }
  { delete baseline[$1]; values++ }
  END {
    for (name in baseline) wrong(name, "not printed", "has " baseline[name])
    print "gate: " values + 0 " values " (bad ? "are not all" : "are") " as in the baseline"
    exit bad
  }' "$dir/expected" "$dir/values" || {
  echo 'gate: what is meant to change is written down by ./dev bench --gate --update' >&2
  exit 1
}
