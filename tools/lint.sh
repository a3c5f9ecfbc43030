#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# lint.sh <jobs>: from the root, with build/lint configured. Every check is made, whatever the one before it said.
set -eu
jobs=$1

files() {
  git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do [ ! -e "$file" ] || echo "$file"; done
}

check_formatting() {
  files '*.hpp' '*.cpp' '*.inc' | xargs clang-format-15 --dry-run -Werror
}
check_scripts() {
  files dev .ci/run '*.sh' | xargs shellcheck
}
check_lengths() {
  files | xargs wc -l | awk '$2 != "total" && $1 > 320 { print $2 ": " $1 " lines"; bad = 1 } END { exit bad }'
}
check_licences() {
  files '*.hpp' '*.cpp' '*.inc' '*.cmake' '*CMakeLists.txt' | xargs grep -L 'SPDX-License-Identifier: BSD-2-Clause' | (! grep .)
}
# Each test is built: as far as it is compiled here, by what CMake says of it, and where only a vendor's backend or OpenCV builds
# it, by its name in some list.
check_tests() {
  files '*_test.cpp' | while read -r test; do
    case $test in
      tests/gpu/* | tests/cuda/* | tests/hip/* | tests/nets/image_data_test.cpp)
        grep -qwF "${test##*/}" tests/gpu/CMakeLists.txt "${test%/*}/CMakeLists.txt"
        ;;
      *) grep -rqF --include=compile_commands.json --include='unity_*' "\"$PWD/$test\"" build/lint ;;
    esac || echo "$test: no target builds it"
  done | (! grep .)
}
# Only the public headers that are named after another library bring its headers, and outside a backend's own folders no
# directive asks for a vendor.
check_headers() {
  {
    files 'include/*.hpp' | xargs grep -HnE '# *include *[<"](cuda|cublas|cudnn|hip|miopen|Kokkos|google|ferry/[a-z_]*\.pb)'
    files 'include/*.hpp' | xargs grep -HnE '# *include *"ferry/((detail/)?kokkos[._/]|nets[./]|(proto|cuda|hip)\.)'
    files '*.hpp' '*.cpp' ':!backends/' ':!*/cuda/*' ':!*/hip/*' | xargs grep -HnE '# *(el)?if.*(CUDA|HIP|NVCC)'
  } | (! grep -vE '^include/ferry/(detail/kokkos/|nets/|(kokkos|kokkos_view|nets|proto|cuda|hip)\.hpp:)')
}
# Each public header is in the table of the reference.
check_reference() {
  files ':(glob)include/ferry/*.hpp' | while read -r header; do
    grep -qF "(../../$header)" docs/reference/README.md || echo "$header: docs/reference/README.md has no row of it"
  done | (! grep .)
}
# What the files of each layer must not include. A header is found from the root, in include/ or beside the file, and nowhere
# by a path that a file has alone.
upward() {
  cat <<'END'
include      | (core|backends)/
backends     | core/|ferry/(synced_memory|array|place|shape|shaped|blob|const_blob|diff|proto|ledger|trace|transfer_guard|overlap)[._/]
core/device  | backends/|core/(memory|seeing|kernels|blob|proto)/|ferry/(ledger|trace|transfer_guard|overlap|(detail/)?(synced_memory|array|place|kernels|kokkos|shape|shaped|blob|const_blob|diff|proto))[._/]
core/memory  | backends/|core/(seeing|kernels|blob|proto)/|ferry/(ledger|trace|transfer_guard|overlap|(detail/)?(kernels|kokkos|shape|shaped|blob|const_blob|diff|proto))[._/]
core/seeing  | backends/|core/(kernels|blob|proto)/|ferry/(detail/)?(kernels|kokkos|shape|blob|proto)[._/]
core/kernels | core/(blob|proto)/|ferry/(shape|blob|proto)\.
core/blob    | backends/|core/proto/|ferry/proto\.
core/proto   | backends/
core/nets    | backends/
END
}
check_layers() {
  {
    upward | while read -r folder _ headers; do
      files "$folder/*.[ch]pp" | xargs grep -HnE "# *include *\"($headers)"
    done
    files 'core/kernels/*.[ch]pp' ':!core/kernels/gpu/' | xargs grep -HnE '# *include *"backends/'
    without_kernels | xargs grep -HnE '# *include *("(core/kernels/|ferry/(detail/)?(kernels|kernel_place|kokkos)[._/])|<(Kokkos|cblas))'
    files 'core/*.[ch]pp' 'backends/*.[ch]pp' ':!core/proto/' ':!core/nets/' |
      xargs grep -HnE '# *include *(<google/|"ferry/([a-z_]*\.pb|proto)\.)'
    files 'core/*.[ch]pp' 'backends/*.[ch]pp' ':!core/nets/' | xargs grep -HnE '# *include *"(core|ferry)/nets[./]'
    files 'core/*.[ch]pp' 'backends/*.[ch]pp' 'include/*.hpp' | xargs grep -HE '# *include *"' | unfound
    files 'core/*.[ch]pp' 'backends/*.[ch]pp' 'include/*.hpp' | xargs grep -HnE '# *include *"(tests|bench|docs|tools)/'
    files 'core/*.txt' 'backends/*.txt' '*.cmake' ':!tests/' | xargs grep -HnE '(^|[^a-z])(tests|bench|docs|tools)/'
  } | (! grep .)
}
# The sources of ferry::memory and ferry::proto, which link neither Kokkos nor BLAS.
without_kernels() {
  files 'core/*.[ch]pp' 'backends/*.[ch]pp' ':!core/kernels/' ':!core/nets/' ':!core/blob/blob_math.cpp' ':!backends/*/gemm.*' \
    ':!backends/*/blas.hpp' ':!backends/*/convolution.*'
}
unfound() {
  while IFS=':"' read -r file _ header _; do
    [ -e "$header" ] || [ -e "include/$header" ] || [ -e "build/lint/include/$header" ] || [ -e "${file%/*}/$header" ] ||
      echo "$file: $header is not where headers are"
  done
}
# nvcc compiles no kernel in a member function that is not public.
check_kernels() {
  # shellcheck disable=SC2016 # awk's
  files '*.hpp' '*.cpp' | xargs awk '
    FNR == 1 || /^};/ || /^ public:/ { access = "" }
    /^ (private|protected):/ { access = $1 }
    /KOKKOS_LAMBDA/ && access { print FILENAME ":" FNR ": a kernel in a function that is " access; bad = 1 }
    END { exit bad }'
}
# What compiles, and what must not: each header alone, misuse, and each source by clang.
check_compilers() {
  ctest --preset lint -j "$jobs" --output-log build/lint/ctest.log
}
check_mutations() {
  tests/mutation/run.py --check
}
# What is compiled here, except for what was generated. All sources of a target are read at once, since their headers are most
# of the work.
check_tidy() {
  for folder in tests bench; do ln -sf "../../../$folder/.clang-tidy" "build/lint/$folder/"; done
  sed -n 's/^  "file": "\(.*\)"$/\1/p' build/lint/compile_commands.json | grep -e /Unity/ -e "^$PWD/[^b]" -e "^$PWD/b[^u]" |
    xargs -n 1 -P "$jobs" clang-tidy-15 -p build/lint --quiet
}

failed=
for check in formatting scripts lengths licences tests headers reference layers kernels mutations compilers tidy; do
  echo "== $check"
  "check_$check" || failed="$failed $check"
done
if [ -n "$failed" ]; then echo "lint: failed:$failed" >&2 && exit 1; fi
