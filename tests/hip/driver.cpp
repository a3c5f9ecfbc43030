// SPDX-License-Identifier: BSD-2-Clause
#include "tests/hip/names.hpp"

bool ferry::hip::SurvivesFailedKernels() { return HIP_VERSION_MAJOR >= 7; }
