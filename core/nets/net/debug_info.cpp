// SPDX-License-Identifier: BSD-2-Clause
#include <cmath>
#include <sstream>

#include "core/nets/net/graph.hpp"
#include "ferry/log.hpp"

namespace ferry::detail {
namespace {

/// A line in the words that readers of Caffe's logs look for.
template <class... X>
void Line(const char* pass, const X&... words) {
  std::ostringstream line;
  line << "    [" << pass << "] ";
  (line << ... << words);
  Log(LogLevel::kInfo, line.str());
}

bool Wanted() { return log_level() <= LogLevel::kInfo; }

}  // namespace

template <class T>
void LogForward(const NetGraph<T>& graph, int layer) {
  if (!Wanted()) return;
  const NetNode& node = graph.nodes[Index(layer)];
  const std::string& name = graph.layer_names[Index(layer)];
  const auto line = [&](const char* what, const std::string& blob_name, const Blob<T>& blob) {
    Line("Forward", "Layer ", name, ", ", what, " blob ", blob_name,
         " data: ", Asum(graph.place, blob) / static_cast<double>(blob.count()));
  };
  for (const int id : node.top_ids) line("top", graph.blob_names[Index(id)], *graph.blobs[Index(id)]);
  for (const int id : node.param_ids)
    line("param", graph.param_display_names[Index(id)], *graph.params[Index(id)]);
}

template <class T>
void LogBackward(const NetGraph<T>& graph, int layer) {
  if (!Wanted()) return;
  const NetNode& node = graph.nodes[Index(layer)];
  const auto line = [&](const char* what, const std::string& blob_name, const Blob<T>& blob) {
    Line("Backward", "Layer ", graph.layer_names[Index(layer)], ", ", what, " blob ", blob_name,
         " diff: ", Asum(graph.place, Diff(blob)) / static_cast<double>(blob.count()));
  };
  for (std::size_t i = 0; i < node.bottom_ids.size(); ++i) {
    const std::size_t id = Index(node.bottom_ids[i]);
    if (graph.bottom_need_backward[Index(layer)][i]) line("bottom", graph.blob_names[id], *graph.blobs[id]);
  }
  for (int i = 0; i < SizeOf(node.param_ids); ++i)
    if (graph.layers[Index(layer)]->param_propagate_down(i))
      line("param", std::to_string(i), *graph.params[Index(node.param_ids[Index(i)])]);
}

template <class T>
void LogAllBackward(const NetGraph<T>& graph) {
  if (!Wanted()) return;
  double asum_data = 0, asum_diff = 0, sumsq_data = 0, sumsq_diff = 0;
  for (const Blob<T>* param : graph.learnable_params) {
    asum_data += Asum(graph.place, *param);
    asum_diff += Asum(graph.place, Diff(*param));
    sumsq_data += Sumsq(graph.place, *param);
    sumsq_diff += Sumsq(graph.place, Diff(*param));
  }
  Line("Backward", "All net params (data, diff): L1 norm = (", asum_data, ", ", asum_diff, "); L2 norm = (",
       std::sqrt(sumsq_data), ", ", std::sqrt(sumsq_diff), ")");
}

#define FERRY_INSTANTIATE(T)                          \
  template void LogForward(const NetGraph<T>&, int);  \
  template void LogBackward(const NetGraph<T>&, int); \
  template void LogAllBackward(const NetGraph<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
