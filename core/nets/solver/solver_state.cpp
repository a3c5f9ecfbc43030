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
#include <vector>

#include "core/nets/format/stage.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/solver/refuse.hpp"
#include "ferry/detail/message.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry::detail {
namespace {

/// What becomes of arrays that a file has for other shapes.
enum class Misfit { kRefused, kZeros };

/// A kind of arrays.
struct Group {
  const char* name;      ///< of HDF5's group
  const char* in_words;  ///< in errors
  Misfit misfit;
};
constexpr Group kHistory{"history", "history", Misfit::kRefused};
// Of each stream, and these may be others when a solver goes on, as may its test nets.
constexpr Group kLayerState{"layer_state", "layers' state", Misfit::kZeros},
    kTestLayerState{"test_layer_state", "test layers' state", Misfit::kZeros};

/// Where what is read goes.
template <class T>
struct Taken {
  BlobWrites<T>& writes;
  std::vector<std::string>& warnings;
};

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
  if (!kept.test_layer_state.empty()) WriteHdf5(file, kTestLayerState, kept.test_layer_state);
  return file.Stage();
}

std::string Of(const Group& group, std::size_t number) {
  return std::string(group.in_words) + " blob " + std::to_string(number);
}

[[noreturn]] void FailBlob(const std::string& file, const Group& group, std::size_t number,
                           const std::string& what) {
  FailSolver(file + ": " + Of(group, number) + ": " + what);
}

template <class T>
std::vector<T> ZerosFor(const Blob<T>& blob) {
  return std::vector<T>(static_cast<std::size_t>(blob.count()));
}

template <class T>
void AddZeros(const StateBlobs<T>& kept, BlobWrites<T>& writes) {
  for (const auto& blob : kept) writes.Add(*blob, ZerosFor(*blob));
}

/// How what a file has differs from `kept`; "" if it does not. shape_at(i): of the file's blob.
template <class T, class ShapeAt>
std::string Difference(const Group& group, std::size_t count, const StateBlobs<T>& kept,
                       const ShapeAt& shape_at) {
  if (count != kept.size())
    return std::to_string(count) + ' ' + group.in_words + " blobs, and the solver " +
           std::to_string(kept.size());
  for (std::size_t i = 0; i < count; ++i)
    if (const Shape shape = shape_at(i); shape != kept[i]->shape())
      return Of(group, i) + " of shape " + shape.ToString() + ", and the solver's has " +
             kept[i]->shape_string();
  return "";
}

/// Reads `count` blobs of a file. read_at(i) adds one to the writes.
template <class T, class ShapeAt, class ReadAt>
void ReadGroup(const std::string& path, const Group& group, std::size_t count, const StateBlobs<T>& kept,
               const ShapeAt& shape_at, const ReadAt& read_at, const Taken<T>& taken) {
  const std::string difference = Difference(group, count, kept, shape_at);
  if (difference.empty()) {
    for (std::size_t i = 0; i < count; ++i) read_at(i);
    return;
  }
  const std::string found = path + " has " + difference;
  if (group.misfit == Misfit::kRefused)
    FailSolver(found + "; it is of another net, or of another type of solver");
  if (count != 0 && !kept.empty())
    taken.warnings.push_back("solver: " + found + "; all of the solver's begin with zeros");
  AddZeros(kept, taken.writes);
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
void ReadHdf5(const Hdf5File& file, const std::string& path, const Group& group, const StateBlobs<T>& kept,
              const Taken<T>& taken) {
  const std::size_t count = file.HasGroup(group.name) ? file.Names(group.name).size() : 0;
  ReadGroup(
      path, group, count, kept, [&](std::size_t i) { return file.ShapeOf(NameOf(group, i)); },
      [&](std::size_t i) {
        std::vector<T> read = ZerosFor(*kept[i]);
        file.Read<T>(NameOf(group, i), read);
        taken.writes.Add(*kept[i], std::move(read));
      },
      taken);
}

template <class T>
void ReadHdf5(const std::filesystem::path& path, const Kept<T>& kept, SolverState& state,
              const Taken<T>& taken) {
  const Hdf5File file = Hdf5File::Open(path);
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
  ReadHdf5(file, path.string(), kHistory, kept.history, taken);
  ReadHdf5(file, path.string(), kLayerState, kept.layer_state, taken);
  ReadHdf5(file, path.string(), kTestLayerState, kept.test_layer_state, taken);
}

template <class T>
void ReadBinary(const google::protobuf::RepeatedPtrField<BlobProto>& messages, const std::string& path,
                const Group& group, const StateBlobs<T>& kept, const Taken<T>& taken) {
  const auto shape_at = [&](std::size_t i) {
    const BlobProto& message = messages.at(static_cast<int>(i));
    try {
      const Shape found(ContentsOf(message).dims(), "Solver::Restore");
      return kept[i]->ShapeEquals(message) ? kept[i]->shape() : found;
    } catch (const ShapeError& error) {
      FailBlob(path, group, i, error.what());
    }
  };
  const auto read_at = [&](std::size_t i) {
    const BlobProto& message = messages.at(static_cast<int>(i));
    if (const std::string flaw = CountFlaw(message, *kept[i]); !flaw.empty()) FailBlob(path, group, i, flaw);
    taken.writes.Add(*kept[i], message);
  };
  ReadGroup(path, group, static_cast<std::size_t>(messages.size()), kept, shape_at, read_at, taken);
}

template <class T>
void ReadBinary(const std::filesystem::path& path, const Kept<T>& kept, SolverState& state,
                const Taken<T>& taken) {
  ReadProtoFromBinaryFileOrDie(path, &state);
  if (!state.has_iter()) FailSolver(path.string() + " has no iter; it is no solver's state");
  RequireCount(state.iter(), path.string(), "iter");
  RequireCount(state.current_step(), path.string(), "current_step");
  ReadBinary(state.history(), path.string(), kHistory, kept.history, taken);
  ReadBinary(state.layer_state(), path.string(), kLayerState, kept.layer_state, taken);
  ReadBinary(state.test_layer_state(), path.string(), kTestLayerState, kept.test_layer_state, taken);
}

}  // namespace

template <class T>
std::unique_ptr<NewFile> StageState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                                    const SolverState& state, const Kept<T>& kept) {
  if (format == SolverParameter::HDF5) return StageHdf5(file, state, kept);
  SolverState whole = state;
  for (const auto& blob : kept.history) blob->ToProto(whole.add_history());
  for (const auto& blob : kept.layer_state) blob->ToProto(whole.add_layer_state());
  for (const auto& blob : kept.test_layer_state) blob->ToProto(whole.add_test_layer_state());
  return StageBinary(whole, file);
}

template <class T>
std::vector<std::string> ReadState(const std::filesystem::path& file, const Kept<T>& kept, SolverState& state,
                                   BlobWrites<T>& writes) try {
  std::vector<std::string> warnings;
  const Taken<T> taken{writes, warnings};
  IsHdf5(file) ? ReadHdf5(file, kept, state, taken) : ReadBinary(file, kept, state, taken);
  return warnings;
} catch (const FormatError& error) {
  FailSolver(error.what());
}

#define FERRY_INSTANTIATE(T)                                                                              \
  template std::unique_ptr<NewFile> StageState(                                                           \
      const std::filesystem::path&, SolverParameter::SnapshotFormat, const SolverState&, const Kept<T>&); \
  template std::vector<std::string> ReadState(const std::filesystem::path&, const Kept<T>&, SolverState&, \
                                              BlobWrites<T>&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
