#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh [part...]: runs these parts of a bundle (see gpu_bundle.sh), or all of them, on this machine's GPUs: tests, training,
# benchmarks, and each of compute-sanitizer's tools. Writes results.md and the folder log beside itself: what ran, on what,
# with which result, and what did not run. Fails if anything failed, and where there is no GPU. A program ends after
# FERRY_SECONDS, 300 unless set, and a part after one and a half times that: what it has not started then has failed. Where
# FERRY_RESULTS names a folder, results.md and log are copied into a folder of it that is named after the parts.
set -u
all='tests training benchmarks memcheck initcheck synccheck racecheck'
for part in "$@"; do
  case " $all " in *" $part "*) ;; *) echo "run.sh: no part $part; there are $all" >&2 && exit 2 ;; esac
done
# shellcheck disable=SC2086 # one word a part
[ $# != 0 ] || set -- $all
seconds=${FERRY_SECONDS:-300}
results=${FERRY_RESULTS:+$(mkdir -p "$FERRY_RESULTS" && cd "$FERRY_RESULTS" && pwd)}
cd "$(dirname "$0")" || exit 2
cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH="$PWD/lib:$cuda/lib64:/usr/local/nvidia/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PATH="$PATH:$cuda/bin"
unset FERRY_DEVICE
[ ! -d caffe ] || export FERRY_CAFFE_DATA="$PWD/caffe"
backend=$(sed -n 's/^backend //p' made-of.txt)
rm -rf log && mkdir log

# Whatever the end, and the program that is running when a signal brings it.
keep_results() {
  if [ -z "$results" ]; then return; fi
  kept=$results/$(echo "$parts" | tr ' ' -)
  mkdir -p "$kept" && cp -r log "$kept" && { [ ! -e results.md ] || cp results.md "$kept"; }
}
parts=$*
[ "$parts" != "$all" ] || parts=all
trap keep_results EXIT
trap 'exit 1' INT TERM

# Where the toolkit is not, another package may have brought its libraries.
for library in $(ldd bin/* | awk '/not found/ { print $1 }' | sort -u); do
  found=$(find /usr /opt -name "$library" 2>/dev/null | head -n 1)
  if [ -n "$found" ]; then LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$found"); fi
done
if ! bin/ferry-info >log/ferry-info 2>&1; then
  echo 'The programs of the bundle do not start here:' && cat log/ferry-info && exit 1
fi
gpu=$(sed -n "/^$backend:[0-9]/p" log/ferry-info)

# check <name> <command...>: one line of the report.
check() {
  name=$1 && shift
  left=$((part_ends - $(date +%s)))
  if [ "$left" -le 0 ]; then echo "| $name | FAILED | not started: its part has had its time |" && return; fi
  [ "$left" -lt "$seconds" ] || left=$seconds
  timeout -k 10 "$left" "$@" >"log/$name" 2>&1
  case $? in
    0) result=passed ;;
    4 | 77) result='did not run' ;;
    124 | 137) result=FAILED && echo "ended after $left seconds" >>"log/$name" ;;
    127) result='did not start' ;;
    *) result=FAILED ;;
  esac
  echo "| $name | $result | $(grep . "log/$name" | tail -n 1 | cut -c1-160) |"
}
count() {
  grep -c "^| [^|]* | $1 |" results.md
}

# fenced <command...>: its output as it is.
fence=$(printf '\140\140\140')
fenced() {
  printf '\n%stext\n%s\n%s\n' "$fence" "$("$@" 2>&1)" "$fence"
}

tests() {
  for program in bin/"$backend"_*; do
    test=${program#"bin/${backend}_"}
    case $test in
      ranges) ;; # tests the program's own words, in the build
      no_device) check no_device env CUDA_VISIBLE_DEVICES=-1 "$program" ;;
      *) check "$test" "$program" '~[no-gpu]' ;;
    esac
  done
  for owner in library launch program program-at-exit shared; do
    check "kokkos_of_$owner" bin/kernels_kokkos_process "$owner" "$backend"
    check "kokkos_of_${owner}_on_the_host" bin/kernels_kokkos_process "$owner"
  done
}
training() {
  check training sh test_gpu_training.sh bin/fashion_mnist bin/compare_blobs bin/ferry-info "$backend" data
}
benchmarks() {
  for program in bin/bench_*; do [ ! -e "$program" ] || check "${program#bin/}" "$program" --benchmark_min_time=0.2; done
}
sanitizer() {
  if [ -z "$gpu" ] || ! command -v compute-sanitizer >/dev/null; then
    echo "| $1 | did not run | it needs a GPU and a toolkit |" && return
  fi
  for test in contract device walk mathematics; do check "$1_$test" sh gpu_sanitize.sh bin "$1" "$test"; done
}

{
  printf '# Ferry on hardware\n\n- date: %s\n- machine: %s\n' "$(date -u +%Y-%m-%d)" "$(uname -srm)"
  printf -- '- GPU: %s\n' "${gpu:-none}"
  printf -- '- driver: %s\n' "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | paste -sd';')"
  printf -- '- toolkit: %s\n' "$(nvcc --version 2>/dev/null | tail -n 2 | head -n 1)"
  sed 's/^/- /' made-of.txt
  if [ -z "$gpu" ]; then printf '\n**There is no GPU here: nothing below has run on one.**\n'; fi
  fenced cat log/ferry-info
  printf '\n| test | result | its last words |\n| --- | --- | --- |\n'
} >results.md
for part in "$@"; do
  part_ends=$(($(date +%s) + seconds * 3 / 2))
  case $part in *check) sanitizer "$part" ;; *) "$part" ;; esac
done | tee -a results.md
summary="$(count passed) passed, $(count FAILED) failed, $(count 'did not run') did not run, $(count 'did not start') did not start"
{
  printf '\n%s\n' "$summary"
  if [ -n "$gpu" ]; then
    for log in log/training log/bench_*; do [ ! -e "$log" ] || { printf '\n## %s\n' "${log#log/}" && fenced cat "$log"; }; done
  fi
} >>results.md
printf '\n%s\n' "$PWD/results.md: $summary"
if [ -z "$gpu" ]; then echo 'There is no GPU here' >&2 && exit 1; fi
[ "$(count FAILED)$(count 'did not start')" = 00 ]
