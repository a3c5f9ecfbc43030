// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/solver/solver_state.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "core/nets/format/stage.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/solver/log_line.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry::detail {
namespace {

/// A kind of arrays, as files and errors call it.
struct Group {
  const char* name;  ///< of HDF5's group
  const char* in_words;
};
constexpr Group kHistory{"history", "history"}, kLayerState{"layer_state", "layers' state"};

std::string NameOf(const Group& group, std::size_t number) {
  return std::string(group.name) + '/' + std::to_string(number);
}

template <class T>
void WriteHdf5(Hdf5File& file, const Group& group, const StateBlobs<T>& blobs) {
  file.MakeGroup(group.name);
  for (std::size_t i = 0; i < blobs.size(); ++i)
    file.Write(NameOf(group, i), blobs[i]->shape(), blobs[i]->cpu_data());
}

template <class T>
std::unique_ptr<NewFile> StageHdf5(const std::filesystem::path& path, const SolverState& state,
                                   const Kept<T>& kept) {
  Hdf5File file = Hdf5File::Create(path);
  const Shape one{1};
  const int iter = state.iter(), step = state.current_step();
  file.Write("iter", one, &iter);
  file.WriteString("learned_net", state.learned_net());
  file.Write("current_step", one, &step);
  file.WriteString("seed", std::to_string(state.seed()));  // as text, for 64 bits
  file.WriteString("solver_type", state.solver_type());
  WriteHdf5(file, kHistory, kept.history);
  if (!kept.layer_state.empty()) WriteHdf5(file, kLayerState, kept.layer_state);
  return file.Stage();
}

void RequireSame(const std::string& file, const Group& group, std::size_t count, std::size_t needed) {
  if (count == needed) return;
  FailSolver(file + " has " + std::to_string(count) + ' ' + group.in_words + " blobs, and the solver " +
             std::to_string(needed) + "; it is of another net, or of another type of solver");
}

[[noreturn]] void FailShape(const std::string& file, const Group& group, std::size_t number,
                            const std::string& found, const std::string& needed) {
  FailSolver(file + ": " + group.in_words + " blob " + std::to_string(number) + " has shape " + found +
             ", and the solver's has " + needed + "; it is of another net");
}

/// A blob of zeros for each, with its name.
template <class T>
StateBlobs<T> MakeLike(const StateBlobs<T>& like) {
  StateBlobs<T> blobs;
  for (const auto& blob : like) {
    blobs.push_back(std::make_shared<Blob<T>>(blob->shape(), blob->device()));
    blobs.back()->set_name(blob->name());
  }
  return blobs;
}

void RequireCount(double value, const std::string& file, const char* name) {
  if (value >= 0 && value <= std::numeric_limits<int>::max() && value == std::floor(value)) return;
  std::array<char, 32> digits{};
  const char* const begin = digits.data();
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  FailSolver(file + ": " + name + " is " + std::string(begin, end) +
             "; it must be a whole number from 0 to 2147483647");
}

/// As a double, which can be any int. HDF5 would cut a larger number, or a half, to an int.
int ReadCount(const Hdf5File& file, const std::string& path, const char* name) {
  double value = 0;
  file.Read(name, std::span(&value, 1));
  RequireCount(value, path, name);
  return static_cast<int>(value);
}

template <class T>
StateBlobs<T> ReadHdf5(const Hdf5File& file, const std::string& path, const Group& group,
                       const StateBlobs<T>& like, const Site& site) {
  const std::size_t count = file.Names(group.name).size();
  RequireSame(path, group, count, like.size());
  StateBlobs<T> blobs = MakeLike(like);
  for (std::size_t i = 0; i < count; ++i) {
    const Shape shape = file.ShapeOf(NameOf(group, i));
    if (shape != like[i]->shape()) FailShape(path, group, i, shape.ToString(), like[i]->shape_string());
    file.Read(NameOf(group, i),
              std::span(blobs[i]->overwrite_cpu_data(site), static_cast<std::size_t>(shape.count())));
  }
  return blobs;
}

template <class T>
SolverState ReadHdf5(const std::filesystem::path& path, const Kept<T>& like, Kept<T>* kept,
                     const Site& site) {
  const Hdf5File file = Hdf5File::Open(path);
  SolverState state;
  state.set_iter(ReadCount(file, path.string(), "iter"));
  state.set_current_step(ReadCount(file, path.string(), "current_step"));
  if (file.HasDataset("learned_net")) state.set_learned_net(file.ReadString("learned_net"));
  if (file.HasDataset("solver_type")) state.set_solver_type(file.ReadString("solver_type"));
  if (file.HasDataset("seed")) {
    const std::string text = file.ReadString("seed");
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc() || end != text.data() + text.size())
      FailSolver(path.string() + ": seed '" + text + "' is no number");
    state.set_seed(seed);
  }
  kept->history = ReadHdf5(file, path.string(), kHistory, like.history, site);
  kept->layer_state = file.HasGroup(kLayerState.name)
                          ? ReadHdf5(file, path.string(), kLayerState, like.layer_state, site)
                          : MakeLike(like.layer_state);
  return state;
}

/// Takes the messages' content.
template <class T>
StateBlobs<T> ReadBinary(google::protobuf::RepeatedPtrField<BlobProto>& messages, const std::string& path,
                         const Group& group, const StateBlobs<T>& like, const Site& site) {
  const auto count = static_cast<std::size_t>(messages.size());
  RequireSame(path, group, count, like.size());
  StateBlobs<T> blobs;
  for (std::size_t i = 0; i < count; ++i) {
    BlobProto& message = messages.at(static_cast<int>(i));
    auto blob = std::make_shared<Blob<T>>(like[i]->device());
    blob->set_name(like[i]->name());
    try {
      blob->FromProto(message, true, site);
    } catch (const Error& error) {
      FailSolver(path + ": " + group.in_words + " blob " + std::to_string(i) + ": " + error.what());
    }
    if (!like[i]->ShapeEquals(message))
      FailShape(path, group, i, blob->shape_string(), like[i]->shape_string());
    blob->ReshapeLike(*like[i]);  // where the message has the four dims of old
    blobs.push_back(std::move(blob));
    message.Clear();
  }
  messages.Clear();
  return blobs;
}

template <class T>
SolverState ReadBinary(const std::filesystem::path& path, const Kept<T>& like, Kept<T>* kept,
                       const Site& site) {
  SolverState state;
  ReadProtoFromBinaryFileOrDie(path, &state);
  if (!state.has_iter()) FailSolver(path.string() + " has no iter; it is no solver's state");
  RequireCount(state.iter(), path.string(), "iter");
  RequireCount(state.current_step(), path.string(), "current_step");
  kept->history = ReadBinary(*state.mutable_history(), path.string(), kHistory, like.history, site);
  kept->layer_state = state.layer_state_size() != 0 ? ReadBinary(*state.mutable_layer_state(), path.string(),
                                                                 kLayerState, like.layer_state, site)
                                                    : MakeLike(like.layer_state);
  return state;
}

}  // namespace

template <class T>
std::unique_ptr<NewFile> StageState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                                    const SolverState& state, const Kept<T>& kept) {
  if (format == SolverParameter::HDF5) return StageHdf5(file, state, kept);
  SolverState whole = state;
  for (const auto& blob : kept.history) blob->ToProto(whole.add_history());
  for (const auto& blob : kept.layer_state) blob->ToProto(whole.add_layer_state());
  return StageBinary(whole, file);
}

template <class T>
SolverState ReadState(const std::filesystem::path& file, const Kept<T>& like, Kept<T>* kept,
                      const Site& site) try {
  return IsHdf5(file) ? ReadHdf5(file, like, kept, site) : ReadBinary(file, like, kept, site);
} catch (const FormatError& error) {
  FailSolver(error.what());
}

#define FERRY_INSTANTIATE(T)                                                                              \
  template std::unique_ptr<NewFile> StageState(                                                           \
      const std::filesystem::path&, SolverParameter::SnapshotFormat, const SolverState&, const Kept<T>&); \
  template SolverState ReadState(const std::filesystem::path&, const Kept<T>&, Kept<T>*, const Site&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
