// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/solver/solver_state.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/solver/log_line.hpp"
#include "ferry/nets/proto_io.hpp"

namespace ferry::detail {
namespace {

std::string HistoryName(std::size_t number) { return "history/" + std::to_string(number); }

template <class T>
void WriteHdf5(const std::filesystem::path& path, const SolverState& state, const History<T>& history) {
  Hdf5File file = Hdf5File::Create(path);
  const Shape one{1};
  const int iter = state.iter(), step = state.current_step();
  file.Write("iter", one, &iter);
  file.WriteString("learned_net", state.learned_net());
  file.Write("current_step", one, &step);
  file.WriteString("seed", std::to_string(state.seed()));  // as text, for 64 bits
  file.WriteString("solver_type", state.solver_type());
  file.MakeGroup("history");
  for (std::size_t i = 0; i < history.size(); ++i)
    file.Write(HistoryName(i), history[i]->shape(), history[i]->cpu_data());
  file.Close();
}

[[noreturn]] void FailCount(const std::string& file, std::size_t count, std::size_t needed) {
  FailSolver(file + " has " + std::to_string(count) + " history blobs, and the solver " +
             std::to_string(needed) + "; it is of another net, or of another type of solver");
}

[[noreturn]] void FailShape(const std::string& file, std::size_t number, const std::string& found,
                            const std::string& needed) {
  FailSolver(file + ": history blob " + std::to_string(number) + " has shape " + found +
             ", and the solver's has " + needed + "; it is of another net");
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
SolverState ReadHdf5(const std::filesystem::path& path, const History<T>& like, History<T>* history,
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
  const std::size_t count = file.Names("history").size();
  if (count != like.size()) FailCount(path.string(), count, like.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Shape shape = file.ShapeOf(HistoryName(i));
    if (shape != like[i]->shape()) FailShape(path.string(), i, shape.ToString(), like[i]->shape_string());
    history->push_back(std::make_shared<Blob<T>>(shape, like[i]->device()));
    history->back()->set_name(like[i]->name());
    file.Read(HistoryName(i),
              std::span(history->back()->overwrite_cpu_data(site), static_cast<std::size_t>(shape.count())));
  }
  return state;
}

template <class T>
SolverState ReadBinary(const std::filesystem::path& path, const History<T>& like, History<T>* history,
                       const Site& site) {
  SolverState state;
  ReadProtoFromBinaryFileOrDie(path, &state);
  if (!state.has_iter()) FailSolver(path.string() + " has no iter; it is no solver's state");
  RequireCount(state.iter(), path.string(), "iter");
  RequireCount(state.current_step(), path.string(), "current_step");
  const auto count = static_cast<std::size_t>(state.history_size());
  if (count != like.size()) FailCount(path.string(), count, like.size());
  for (std::size_t i = 0; i < count; ++i) {
    BlobProto& message = *state.mutable_history(static_cast<int>(i));
    auto blob = std::make_shared<Blob<T>>(like[i]->device());
    blob->set_name(like[i]->name());
    try {
      blob->FromProto(message, true, site);
    } catch (const Error& error) {
      FailSolver(path.string() + ": history blob " + std::to_string(i) + ": " + error.what());
    }
    if (!like[i]->ShapeEquals(message))
      FailShape(path.string(), i, blob->shape_string(), like[i]->shape_string());
    blob->ReshapeLike(*like[i]);  // where the message has the four dims of old
    history->push_back(std::move(blob));
    message.Clear();
  }
  state.clear_history();
  return state;
}

}  // namespace

template <class T>
void WriteState(const std::filesystem::path& file, SolverParameter::SnapshotFormat format,
                const SolverState& state, const History<T>& history) {
  if (format == SolverParameter::HDF5) return WriteHdf5(file, state, history);
  SolverState whole = state;
  for (const auto& blob : history) blob->ToProto(whole.add_history());
  WriteProtoToBinaryFile(whole, file);
}

template <class T>
SolverState ReadState(const std::filesystem::path& file, const History<T>& like, History<T>* history,
                      const Site& site) try {
  return IsHdf5(file) ? ReadHdf5(file, like, history, site) : ReadBinary(file, like, history, site);
} catch (const FormatError& error) {
  FailSolver(error.what());
}

#define FERRY_INSTANTIATE(T)                                                              \
  template void WriteState(const std::filesystem::path&, SolverParameter::SnapshotFormat, \
                           const SolverState&, const History<T>&);                        \
  template SolverState ReadState(const std::filesystem::path&, const History<T>&, History<T>*, const Site&)
FERRY_INSTANTIATE(float);
FERRY_INSTANTIATE(double);
#undef FERRY_INSTANTIATE

}  // namespace ferry::detail
