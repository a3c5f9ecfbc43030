// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/nets/as_net_error.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/net/weights.hpp"

namespace ferry {
namespace {

using detail::Hdf5File;

/// How many links of the group are datasets. The layers a and a/b make a group of one in that of the other.
std::size_t CountDatasets(const Hdf5File& file, const std::string& group, std::size_t& links) {
  const std::vector<std::string> names = file.Names(group);
  links = names.size();
  return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
    return file.HasDataset(group + '/' + name);
  }));
}

/// Whether the group is there for layers whose names go on with a slash.
bool IsPrefix(const std::vector<std::string>& layers, const std::string& name) {
  return std::any_of(layers.begin(), layers.end(),
                     [&](const std::string& layer) { return layer.starts_with(name + '/'); });
}

}  // namespace

template <class T>
void detail::AddWeightsOfHdf5(const NetGraph<T>& graph, const std::filesystem::path& path,
                              BlobWrites<T>& writes) {
  const Hdf5File file = Hdf5File::Open(path);
  for (const std::string& name : file.Names("data"))
    if (!graph.layer_index.contains(name) && !IsPrefix(graph.layer_names, name)) Ignore(name, true);

  struct Copy {
    std::string dataset;
    Blob<T>* to;
  };
  std::vector<Copy> copies;
  std::vector<std::string> lacking;
  for (const auto& [name, l] : graph.layer_index) {
    const std::string group = "data/" + name;
    const std::vector<int>& params = graph.nodes[Index(l)].param_ids;
    std::size_t links = 0;
    const bool there = file.HasGroup(group);
    const std::size_t datasets = there ? CountDatasets(file, group, links) : 0;
    if (!there || (datasets == 0 && links != 0)) {
      if (!params.empty()) lacking.push_back(name);
      continue;
    }
    if (datasets > params.size()) FailParamCount(name, datasets, params.size(), path.string());
    for (int i = 0; i < SizeOf(params); ++i) {
      Blob<T>& to = *graph.params[Index(params[Index(i)])];
      const std::string dataset = group + '/' + std::to_string(i);
      if (!file.HasDataset(dataset)) {
        if (graph.param_owners[Index(params[Index(i)])] >= 0) continue;
        FailParamCount(name, datasets, params.size(), path.string());
      }
      const Shape shape = file.ShapeOf(dataset);
      if (shape != to.shape() || shape.count() != to.count())  // no shape differs from that of one number
        FailParamShape(name, i, shape.ToString(), to.shape_string(), path.string());
      copies.push_back({dataset, &to});
    }
  }
  for (const Copy& copy : copies) {
    std::vector<T> read(static_cast<std::size_t>(copy.to->count()));
    file.Read<T>(copy.dataset, read);
    writes.Add(*copy.to, std::move(read));
  }
  for (const std::string& name : lacking) KeepOwn(name);
}

template <class T>
void Net<T>::CopyTrainedLayersFromHDF5(const std::filesystem::path& path, const Site& site) {
  detail::BlobWrites<T> writes;
  detail::AddWeightsOfHdf5(*graph_, path, writes);
  writes.Make(graph_->place.device(), site);
}

template <class T>
std::unique_ptr<detail::NewFile> detail::StageHdf5(const NetGraph<T>& graph,
                                                   const std::filesystem::path& path, bool write_diff) {
  Hdf5File file = Hdf5File::Create(path);
  for (int l = 0; l < SizeOf(graph.layers); ++l) {
    const std::string& name = graph.layer_names[Index(l)];
    const std::vector<int>& params = graph.nodes[Index(l)].param_ids;
    file.MakeGroup("data/" + name);
    if (write_diff) file.MakeGroup("diff/" + name);
    for (int i = 0; i < SizeOf(params); ++i) {
      const std::string dataset = '/' + name + '/' + std::to_string(i);
      const Blob<T>& param = *graph.params[Index(params[Index(i)])];
      if (graph.param_owners[Index(params[Index(i)])] < 0)
        file.Write("data" + dataset, param.shape(), param.cpu_data());
      if (write_diff) file.Write("diff" + dataset, param.shape(), param.cpu_diff());
    }
  }
  return file.Stage();
}

template <class T>
void Net<T>::ToHDF5(const std::filesystem::path& path, bool write_diff) const {
  detail::AsNetError([&] { detail::StageHdf5(*graph_, path, write_diff)->Commit(); });
}

#define FERRY_INSTANTIATE(T)                                                                                \
  template void detail::AddWeightsOfHdf5(const NetGraph<T>&, const std::filesystem::path&, BlobWrites<T>&); \
  template std::unique_ptr<detail::NewFile> detail::StageHdf5(const NetGraph<T>&,                           \
                                                              const std::filesystem::path&, bool);          \
  template void Net<T>::CopyTrainedLayersFromHDF5(const std::filesystem::path&, const Site&);               \
  template void Net<T>::ToHDF5(const std::filesystem::path&, bool) const
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry
