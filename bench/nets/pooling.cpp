// SPDX-License-Identifier: BSD-2-Clause
// How fast are pooling and LRN in the plain order of blobs, beside oneDNN called by hand with channels in
// blocks of 16?
#include "core/nets/vision/pooling.hpp"

#include <memory>
#include <string>

#include "bench/blas.hpp"
#include "bench/compare.hpp"
#include "bench/nets/by_hand.hpp"
#include "core/nets/vision/lrn.hpp"
#include "ferry/backend.hpp"
#include "ferry/blob.hpp"
#include "ferry/diff.hpp"

namespace {

using dnnl::memory;
using ferry::Diff;
using ferry::Overwrite;
using ferry::Place;
using ferry::Read;
using ferry::detail::PoolSizes;
using Method = ferry::PoolingParameter::PoolMethod;
constexpr auto kBlocked = memory::format_tag::nChw16c;

struct Case {
  const char* name;
  int images, channels, size, kernel, stride, pad;
  Method method;
};

struct Blobs {
  Blobs(const ferry::Shape& of_x, const ferry::Shape& of_y, ferry::Device& host)
      : x(of_x, host), y(of_y, host), mask(of_y, host) {
    float* const values = x.overwrite_cpu_data();
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < x.count(); ++i) {
      state = state * 1664525U + 1013904223U;
      values[i] = static_cast<float>(state >> 8U) / 16777216.F - 0.5F;
    }
    ferry::Set(Place::Cpu(host), 0.5F, Diff(y));
  }
  ferry::Blob<float> x, y;
  ferry::Blob<std::uint16_t> mask;
};

void RegisterPooling(const Case& of, ferry::Device& host) {
  PoolSizes sizes;
  sizes.planes = std::int64_t{of.images} * of.channels;
  for (auto* const axis : {&sizes.h, &sizes.w}) {
    axis->kernel = of.kernel;
    axis->stride = of.stride;
    axis->pad = of.pad;
    axis->SetSize(of.size, ferry::PoolingParameter::CEIL, of.pad != 0);
  }
  const auto blobs =
      std::make_shared<Blobs>(ferry::Shape{of.images, of.channels, of.size, of.size},
                              ferry::Shape{of.images, of.channels, sizes.h.pooled, sizes.w.pooled}, host);
  const bool max = of.method == ferry::PoolingParameter::MAX;
  const memory::desc x = bench::Desc({of.images, of.channels, of.size, of.size}, kBlocked);
  const memory::desc y = bench::Desc({of.images, of.channels, sizes.h.pooled, sizes.w.pooled}, kBlocked);
  const auto algorithm = max ? dnnl::algorithm::pooling_max : dnnl::algorithm::pooling_avg_include_padding;
  const memory::dims stride{of.stride, of.stride}, kernel{of.kernel, of.kernel}, left{of.pad, of.pad};
  const std::int64_t beyond = (sizes.h.pooled - 1) * of.stride + of.kernel - of.size - of.pad;
  const memory::dims right{beyond, beyond};
  const dnnl::pooling_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, x, y, stride, kernel, left, right}, bench::Engine());
  const dnnl::pooling_backward::primitive_desc backward({algorithm, x, y, stride, kernel, left, right},
                                                        bench::Engine(), forward);
  bench::ByHand there, back;
  there.primitive = dnnl::pooling_forward(forward);
  there.Add(DNNL_ARG_SRC, x);
  there.Add(DNNL_ARG_DST, y);
  back.primitive = dnnl::pooling_backward(backward);
  back.Add(DNNL_ARG_DIFF_SRC, x);
  back.Add(DNNL_ARG_DIFF_DST, y);
  if (max) {
    const memory workspace(forward.workspace_desc(), bench::Engine());
    there.arguments.emplace(DNNL_ARG_WORKSPACE, workspace);
    back.arguments.emplace(DNNL_ARG_WORKSPACE, workspace);
  }
  there();
  const Place cpu = Place::Cpu(host);
  bench::Compare(
      std::string(of.name) + "/forward", 0.95,
      [=] {
        if (max)
          ferry::detail::MaxPool(cpu, sizes, Read(blobs->x), Overwrite(blobs->y), Overwrite(blobs->mask));
        else
          ferry::detail::AveragePool(cpu, sizes, Read(blobs->x), Overwrite(blobs->y));
      },
      there);
  bench::Compare(
      std::string(of.name) + "/backward", 0.95,
      [=] {
        if (max)
          ferry::detail::MaskedPoolGradient<float, std::uint16_t>(cpu, sizes, ferry::detail::GrainAt(cpu),
                                                                  Read(Diff(blobs->y)), Read(blobs->mask),
                                                                  Overwrite(Diff(blobs->x)));
        else
          ferry::detail::AveragePoolGradient(cpu, sizes, Read(Diff(blobs->y)), Overwrite(Diff(blobs->x)));
      },
      back);
}

void RegisterLrn(const char* name, int images, int channels, int size, ferry::Device& host) {
  const ferry::Shape shape{images, channels, size, size};
  const auto blobs = std::make_shared<Blobs>(shape, shape, host);
  const auto scale = std::make_shared<ferry::Blob<float>>(shape, host);
  const ferry::detail::LrnSizes sizes{images, channels, std::int64_t{size} * size, 5};
  const ferry::detail::LrnFactors<float> factors{1e-4F, 0.75F, 1};
  const memory::desc x = bench::Desc({images, channels, size, size}, kBlocked);
  const auto across = dnnl::algorithm::lrn_across_channels;
  const dnnl::lrn_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, across, x, 5, 1e-4F, 0.75F, 1}, bench::Engine());
  const dnnl::lrn_backward::primitive_desc backward({across, x, x, 5, 1e-4F, 0.75F, 1}, bench::Engine(),
                                                    forward);
  bench::ByHand there, back;
  there.primitive = dnnl::lrn_forward(forward);
  there.Add(DNNL_ARG_SRC, x);
  there.Add(DNNL_ARG_DST, x);
  back.primitive = dnnl::lrn_backward(backward);
  back.Add(DNNL_ARG_SRC, x);
  back.Add(DNNL_ARG_DIFF_DST, x);
  back.Add(DNNL_ARG_DIFF_SRC, x);
  const memory workspace(forward.workspace_desc(), bench::Engine());
  there.arguments.emplace(DNNL_ARG_WORKSPACE, workspace);
  back.arguments.emplace(DNNL_ARG_WORKSPACE, workspace);
  there();
  const Place cpu = Place::Cpu(host);
  const auto run = [=] {
    ferry::detail::LrnAcross(cpu, sizes, factors, Read(blobs->x), Overwrite(*scale), Overwrite(blobs->y));
  };
  run();
  bench::Compare(std::string(name) + "/forward", 0.95, run, there);
  bench::Compare(
      std::string(name) + "/backward", 0.95,
      [=] {
        ferry::detail::LrnAcrossGradient<float>(cpu, sizes, factors, Read(blobs->x), Read(*scale),
                                                Read(blobs->y), Read(Diff(blobs->y)),
                                                Overwrite(Diff(blobs->x)));
      },
      back);
}

const bool g_registered = [] {
  ferry::Device& host = ferry::GetDevice("host");
  constexpr Method kMax = ferry::PoolingParameter::MAX, kAve = ferry::PoolingParameter::AVE;
  for (const Case& of : {Case{"CaffeNet pool1, max 3 / 2 of 96x55", 8, 96, 55, 3, 2, 0, kMax},
                         Case{"CaffeNet pool5, max 3 / 2 of 256x13", 8, 256, 13, 3, 2, 0, kMax},
                         Case{"GoogLeNet pool1, max 3 / 2 of 64x112", 4, 64, 112, 3, 2, 0, kMax},
                         Case{"GoogLeNet 3a, max 3 / 1 of 192x28", 4, 192, 28, 3, 1, 1, kMax},
                         Case{"GoogLeNet 4b, max 3 / 1 of 512x14", 4, 512, 14, 3, 1, 1, kMax},
                         Case{"average 3 / 1 of 512x14", 4, 512, 14, 3, 1, 1, kAve},
                         Case{"average 3 / 2 of 64x56", 4, 64, 56, 3, 2, 0, kAve},
                         Case{"GoogLeNet pool5, average of 1024x7", 4, 1024, 7, 7, 1, 0, kAve}})
    RegisterPooling(of, host);
  RegisterLrn("CaffeNet LRN of 96x27", 8, 96, 27, host);
  RegisterLrn("GoogLeNet LRN of 192x56", 4, 192, 56, host);
  return true;
}();

}  // namespace

int main(int argc, char** argv) {
  bench::UseOneThreadOfBestBlas(argv);
  return bench::Run(argc, argv);
}
