// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/blob.hpp"

void Mathematics(ferry::Blob<int>& blob) { blob.scale_data(2); }
