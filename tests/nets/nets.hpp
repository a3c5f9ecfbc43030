// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/nets/layer_registry.hpp"
#include "ferry/nets/net.hpp"
#include "tests/folder.hpp"
#include "tests/log_lines.hpp"
#include "tests/nets/fills.hpp"
#include "tests/unit/kernels_world.hpp"

/// What tests of nets share.
namespace ferry::nets_test {

using ferry::testing::Folder;
using ferry::testing::LogLines;
using ferry::testing::World;

/// The NetParameter of a text.
inline NetParameter NetOf(const std::string& text) {
  NetParameter param;
  if (!google::protobuf::TextFormat::ParseFromString(text, &param)) throw std::invalid_argument(text);
  return param;
}

/// An Input layer of that blob; its dims with one space between them.
inline std::string Input(const std::string& blob, const std::string& dims) {
  std::string text = "layer { name: '" + blob + "' type: 'Input' top: '" + blob + "' input_param { shape {";
  for (std::size_t at = 0; at < dims.size();) {
    const std::size_t end = std::min(dims.find(' ', at), dims.size());
    text += " dim: " + dims.substr(at, end - at);
    at = end + 1;
  }
  return text + " } } }\n";
}
/// A layer with one bottom and one top; `more` is the rest of its text.
inline std::string LayerText(const std::string& type, const std::string& name, const std::string& bottom,
                             const std::string& top, const std::string& more = "") {
  return "layer { name: '" + name + "' type: '" + type + "' bottom: '" + bottom + "' top: '" + top + "' " +
         more + " }\n";
}
/// An InnerProduct layer whose name its top has.
inline std::string Product(const std::string& name, const std::string& bottom, int outputs,
                           const std::string& more = "") {
  return LayerText("InnerProduct", name, bottom, name,
                   "inner_product_param { num_output: " + std::to_string(outputs) +
                       " weight_filler { type: 'xavier' } bias_filler { type: 'uniform' } } " + more);
}

/// Elements on the host.
template <class T>
std::vector<T> DataOf(const Blob<T>& blob) {
  return {blob.cpu_data(), blob.cpu_data() + blob.count()};
}
template <class T>
std::vector<T> DiffOf(const Blob<T>& blob) {
  return {blob.cpu_diff(), blob.cpu_diff() + blob.count()};
}

/// Overwrites the data by numbers in [-1, 1) that a seed gives.
template <class T>
void Fill(Blob<T>& blob, std::uint64_t seed) {
  const std::vector<T> numbers = ferry::testing::Numbers<T>(blob.count(), seed);
  std::copy(numbers.begin(), numbers.end(), blob.overwrite_cpu_data());
}
/// Labels from 0 to `classes` - 1.
template <class T>
void FillLabels(Blob<T>& blob, int classes) {
  T* const labels = blob.overwrite_cpu_data();
  for (std::int64_t i = 0; i < blob.count(); ++i) labels[i] = static_cast<T>(i % classes);
}

/// data -> a -> b -> loss, with a label.
inline std::string Classifier(const std::string& more_of_a = "", const std::string& more_of_loss = "") {
  return "name: 'classifier'\n" + Input("data", "4 3") + Input("label", "4") +
         Product("a", "data", 5, more_of_a) + LayerText("ReLU", "relu", "a", "a") + Product("b", "a", 2) +
         "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'b' bottom: 'label' top: 'loss' " +
         more_of_loss + " }\n";
}

/// Fills "data", and "label" where it is there.
template <class T>
void FillInputs(Net<T>& net) {
  Fill(*net.blob_by_name("data"), 1);
  if (net.has_blob("label")) FillLabels(*net.blob_by_name("label"), 2);
}

/// The text of the NetError that the call throws; empty where it throws none.
template <class F>
std::string ErrorOf(const F& call) {
  try {
    call();
  } catch (const NetError& error) {
    return error.what();
  }
  return "";
}

/// Skips a test in a build without HDF5.
inline void NeedHdf5() {
  if (!detail::HasHdf5()) SKIP("this build has no HDF5");
}

}  // namespace ferry::nets_test
