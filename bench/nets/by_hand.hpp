// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

/// oneDNN called by hand: a primitive, and arrays in the order that it has chosen.
namespace bench {

inline const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

inline dnnl::memory::desc Desc(const dnnl::memory::dims& dims, dnnl::memory::format_tag tag) {
  return {dims, dnnl::memory::data_type::f32, tag};
}

struct ByHand {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;

  void Add(int argument, const dnnl::memory::desc& desc) {
    const dnnl::memory memory(desc, Engine());
    auto* const values = static_cast<float*>(memory.get_data_handle());
    for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i)
      values[i] = static_cast<float>(i % 7) / 8 + 0.125F;
    arguments.emplace(argument, memory);
  }
  void operator()() const {
    dnnl::stream stream(Engine());
    primitive.execute(stream, arguments);
    stream.wait();
  }
};

}  // namespace bench
