// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "ferry/coherence.hpp"

namespace ferry::testing {

/// The protocol, row by row. coherence.hpp has the rule; this is what it must come to.
struct Row {
  Head head;
  Side side;
  Access access;
  Action action;
  Head next;
};

using enum Head;
using enum Side;
using enum Access;
using enum Action;

inline constexpr Row kRows[] = {
    {UNINITIALIZED, kCpu, kRead, kZero, HEAD_AT_CPU},
    {UNINITIALIZED, kCpu, kReadWrite, kZero, HEAD_AT_CPU},
    {UNINITIALIZED, kCpu, kOverwrite, kNone, HEAD_AT_CPU},
    {UNINITIALIZED, kGpu, kRead, kZero, HEAD_AT_GPU},
    {UNINITIALIZED, kGpu, kReadWrite, kZero, HEAD_AT_GPU},
    {UNINITIALIZED, kGpu, kOverwrite, kNone, HEAD_AT_GPU},
    {HEAD_AT_CPU, kCpu, kRead, kNone, HEAD_AT_CPU},
    {HEAD_AT_CPU, kCpu, kReadWrite, kNone, HEAD_AT_CPU},
    {HEAD_AT_CPU, kCpu, kOverwrite, kNone, HEAD_AT_CPU},
    {HEAD_AT_CPU, kGpu, kRead, kCopy, SYNCED},
    {HEAD_AT_CPU, kGpu, kReadWrite, kCopy, HEAD_AT_GPU},
    {HEAD_AT_CPU, kGpu, kOverwrite, kNone, HEAD_AT_GPU},
    {HEAD_AT_GPU, kCpu, kRead, kCopy, SYNCED},
    {HEAD_AT_GPU, kCpu, kReadWrite, kCopy, HEAD_AT_CPU},
    {HEAD_AT_GPU, kCpu, kOverwrite, kNone, HEAD_AT_CPU},
    {HEAD_AT_GPU, kGpu, kRead, kNone, HEAD_AT_GPU},
    {HEAD_AT_GPU, kGpu, kReadWrite, kNone, HEAD_AT_GPU},
    {HEAD_AT_GPU, kGpu, kOverwrite, kNone, HEAD_AT_GPU},
    {SYNCED, kCpu, kRead, kNone, SYNCED},
    {SYNCED, kCpu, kReadWrite, kNone, HEAD_AT_CPU},
    {SYNCED, kCpu, kOverwrite, kNone, HEAD_AT_CPU},
    {SYNCED, kGpu, kRead, kNone, SYNCED},
    {SYNCED, kGpu, kReadWrite, kNone, HEAD_AT_GPU},
    {SYNCED, kGpu, kOverwrite, kNone, HEAD_AT_GPU},
};

}  // namespace ferry::testing
