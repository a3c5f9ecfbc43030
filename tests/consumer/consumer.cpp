// SPDX-License-Identifier: BSD-2-Clause
#include <ferry/ferry.hpp>

/// Sums on a simulated GPU what the CPU has written.
int main() {
  ferry::Device& device = ferry::GetDevice("sim");
  ferry::Blob<float> blob({2, 3}, device);
  for (int i = 0; i < blob.count(); ++i) blob.mutable_cpu_data()[i] = 2;
  blob.gpu_data();
  return blob.data()->head() == ferry::Head::SYNCED && blob.asum_data() == 12 ? 0 : 1;
}
