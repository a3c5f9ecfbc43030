#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the tests catch each mutation of mutations/, or which they miss.

    tests/mutation/run.py [TEXT]      only those whose file or fault has TEXT in it
    tests/mutation/run.py --check     only see whether each still has its place in the source

Those of arrays, blobs and kernels need Kokkos, OpenBLAS and protobuf. Those of nets need all that Ferry is built
with, those of backends/cuda and backends/hip the vendor's headers, too: CMake builds them.

Each mutation is made in a copy of the tree; then tests are built and run, the quick ones first, until one
fails. A build that fails catches it too: the protocol's table is a static_assert. Exits with 1 if one survives.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from mutations import MUTATIONS

HERE = pathlib.Path(__file__).resolve().parent
# Each with the scale that it is run at. What survives the small scales meets the whole tests.
TESTS = [("unit_ranges", 1), ("unit_memory", 1), ("unit_gpu", 1), ("property_parts_exhaustive", 0.01), ("property_traces", 0.05),
         ("property_parts", 0.05), ("property_walk", 0.1), ("property_fault", 0.1), ("property_host_memory", 0.1),
         ("property_operands", 0.05), ("property_thread", 0.2), ("property_exhaustive", 0.005), ("property_pool", 1), ("unit_device", 1),
         ("unit_sim", 1), ("unit_stray_access", 1), ("unit_pointer_guard", 1), ("unit_kernel_guard", 1), ("unit_seeing", 1), ("property_walk", 4), ("property_exhaustive", 0.2),
         ("race_property_thread", 0.2)]
# For observers and what they are told by.
SEEING_TESTS = [("unit_seeing", 1), ("process", 1), ("unit_memory", 1), ("property_seeing", 1), ("property_seeing_memory", 1)]
SEEING = re.compile(r"core/seeing/|core/memory/(byte_ranges|observers|records|told_call)\.|"
                    r"include/ferry/(ledger|observer|overlap|trace|transfer_guard)\.hpp")
REPORT_TESTS = [("unit_report", 1), ("unit_seeing", 1)]
# For arrays, blobs, messages and kernels, which no other test has.
BLOB_TESTS = [("unit_proto", 1), ("unit_operands", 1), ("unit_blob_allocation", 1)]
BLOB = re.compile(r"core/(blob|proto|kernels(?!/gpu))/|core/memory/(array|operand)\.cpp|"
                  r"include/ferry/(array|blob|kernels|kokkos|operand|place|shape|detail/(kokkos/.*|message|blob_.*|shaped))\.hpp")
NETS_TESTS = [(test, 1) for test in ("nets_format", "nets_solver", "nets_data", "nets_vision", "nets_net", "nets_layers",
                                    "unit_prefetcher")]
# For a vendor's backend, with the vendor's functions made of the simulated GPU in three machines.
BACKEND_TESTS = {"cuda": ["names", "contract", "device", "peers", "pool", "walk"], "hip": ["names", "contract", "device", "peers", "walk"]}
MACHINES = ["", "unified", "without_pools"]
# For what kernels on GPUs need beside it, with a Kokkos in Kokkos' place.
KERNEL_TESTS = {"cuda": ["gemm", "device_space", "device_space_of_one", "device_space_failed"],
                "hip": ["gemm", "device_space_of_one", "device_space_failed"]}
# For convolutions by a vendor's library, which is made of the simulated GPU.
CONVOLUTION = re.compile(r"backends/(cuda|hip)/(convolution\.cpp|dnn\.hpp)")
CUDA_KERNELS = ["core/kernels/gpu/device_space.cpp", "backends/cuda/driver.cpp", "backends/gpu/gemm.hpp", "backends/gpu/library_handle.hpp"]
HIP_KERNELS = ["backends/hip/current_device.cpp", "backends/hip/blas.hpp", "backends/hip/gemm.cpp"]
SECONDS = 300


def part_of(file):
    """The part of the tree that has its own tests."""
    if file in CUDA_KERNELS:
        return "cuda kernels"
    if file in HIP_KERNELS:
        return "hip kernels"
    if found := CONVOLUTION.match(file):
        return f"{found[1]} nets"
    if file == "backends/gpu/convolution.hpp":
        return "hip nets"
    if found := re.match(r"backends/(cuda|hip)/", file):
        return found[1]
    if file.startswith("core/nets/"):
        return "nets"
    if file.startswith("tools/report/"):
        return "report"
    return "blob" if BLOB.match(file) else "seeing" if SEEING.match(file) else "core"


def runs(part):
    """Each program, and what it finds in its environment."""
    vendor = part.split()[0]
    if part.endswith(" nets"):
        return [(f"{vendor}_simulated_convolution", {})]
    if part in BACKEND_TESTS:
        return [(f"{vendor}_simulated_{test}", {"FERRY_TEST_SCALE": "0.1", "FERRY_SIMULATED": machine})
                for test in BACKEND_TESTS[vendor] for machine in MACHINES]
    if vendor in KERNEL_TESTS:
        return [(f"{vendor}_simulated_{test}", {}) for test in KERNEL_TESTS[vendor]]
    tests = {"blob": BLOB_TESTS, "nets": NETS_TESTS, "report": REPORT_TESTS, "seeing": SEEING_TESTS}.get(part, TESTS)
    return [(test, {"FERRY_TEST_SCALE": str(scale)}) for test, scale in tests]


def build_by_cmake(tree, out, test, options):
    if not (out / "build.ninja").exists():
        subprocess.run(["cmake", "-G", "Ninja", "-S", tree, "-B", out, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1",
                        "-DFERRY_TESTS=ON", "-DFERRY_BENCH=OFF", "-DFERRY_EXAMPLES=OFF", "-DFERRY_INSTALL=OFF", *options],
                       check=True, stdout=subprocess.DEVNULL)
    return subprocess.run(["cmake", "--build", out, "--target", test], capture_output=True, text=True)


def build(tree, out, test, part):
    if part == "nets":
        return build_by_cmake(tree, out, test, [f"-DFERRY_CAFFE_DATA={HERE.parents[2] / 'shared/data/caffe'}"])
    if (vendor := part.split()[0]) in BACKEND_TESTS:
        nets = "ON" if part.endswith(" nets") else "OFF"
        return build_by_cmake(tree, out, test, [f"-DFERRY_BACKEND={vendor}", f"-DFERRY_NETS={nets}"])
    return subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "-C", str(HERE), f"TREE={tree}", f"BUILD={out}", f"{out}/{test}"],
                          capture_output=True, text=True)


def program(out, test):
    return next(path for path in out.rglob(test) if path.is_file())


def failing_case(output):
    """The first test case that Catch2 reports as failed."""
    found = re.search(r"-{20,}\n(.+?)\n-{20,}\n", output, re.S)
    return " ".join(found[1].split()) if found else "no report"


def caught_by(tree, out, part):
    """What catches the fault in `tree`, or None."""
    out = out / part.removesuffix(" kernels").replace(" ", "_")
    out.mkdir(exist_ok=True)
    for test, environment in runs(part):
        built = build(tree, out, test, part)
        if built.returncode != 0:
            asserted = "static_assert" if "static assertion failed" in built.stderr else "error"
            return f"the build ({asserted})"
        try:
            ran = subprocess.run([program(out, test)], capture_output=True, text=True, errors="replace",
                                 timeout=SECONDS, env=os.environ | environment)
        except subprocess.TimeoutExpired:
            return f"{test}: hangs"
        if ran.returncode != 0:
            return f"{test}: {failing_case(ran.stdout)}"
    return None


def check():
    missing = {file for file, *_ in MUTATIONS if not (HERE.parents[1] / file).is_file()}
    if missing:
        sys.exit("\n".join(f"{file}: is not there" for file in sorted(missing)))
    misplaced = [f"{file}: found {count} times: {old}" for file, old, *_ in MUTATIONS
                 if (count := (HERE.parents[1] / file).read_text().count(old)) != 1]
    sys.exit("\n".join(misplaced) or 0)


def main():
    if sys.argv[1:] == ["--check"]:
        check()
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [mutation for mutation in MUTATIONS if wanted in mutation[0] or wanted in mutation[3]]
    if not chosen or len(sys.argv) > 2:
        sys.exit(f"run.py: no file and no fault has this in it: {' '.join(sys.argv[1:])}")
    survivors = 0
    with tempfile.TemporaryDirectory() as scratch:
        tree, out = pathlib.Path(scratch, "tree"), pathlib.Path(scratch, "build")
        shutil.copytree(HERE.parents[1], tree, ignore=shutil.ignore_patterns(".git", "build"))
        out.mkdir()
        for part in sorted({part_of(file) for file, *_ in chosen}):
            if (broken := caught_by(tree, out, part)) is not None:
                sys.exit(f"{part}: without any mutation, caught by {broken}")
        for file, old, new, fault in chosen:
            path = tree / file
            source = path.read_text()
            if source.count(old) != 1:
                sys.exit(f"{file}: found {source.count(old)} times: {old}")
            path.write_text(source.replace(old, new))
            by = caught_by(tree, out, part_of(file))
            path.write_text(source)
            survivors += by is None
            print(f"{'CAUGHT' if by else 'SURVIVED'} | {file} | {fault} | {by or '-'}", flush=True)
    print(f"{survivors} of {len(chosen)} survived")
    sys.exit(survivors != 0)


if __name__ == "__main__":
    main()
