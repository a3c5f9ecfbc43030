// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/proto_io.hpp"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <string>
#include <utility>

#include "core/nets/as_net_error.hpp"
#include "core/nets/format/binary.hpp"
#include "core/nets/format/fields.hpp"
#include "core/nets/format/stage.hpp"
#include "core/nets/format/text.hpp"
#include "core/proto/file.hpp"
#include "core/write_signals.hpp"
#include "ferry/error.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/nets/upgrade.hpp"

namespace ferry {
namespace {

using detail::AsNetError;
using google::protobuf::Message;

std::string Where(const char* verb, const Message& message, const std::filesystem::path& file) {
  const std::string where = std::string(verb) + message.GetDescriptor()->name() + ": ";
  if (file.empty()) throw NetError(where + "the path is empty; give the path of a file");
  return where + file.string();
}

void RequireComplete(const Message& message, const std::string& where) {
  const std::string missing = detail::MissingField(message);
  if (!missing.empty()) throw NetError(where + ": the required field " + missing + " is missing");
}

/// A file of what `print` writes to a stream, whole and not in its place yet. `print` returns whether it
/// could.
template <class F>
std::unique_ptr<detail::NewFile> Stage(const std::filesystem::path& file, const std::string& where,
                                       const F& print) {
  const detail::WithoutWriteSignals quiet;
  auto target = std::make_unique<detail::NewFile>(file, where);
  google::protobuf::io::FileOutputStream out(target->descriptor());
  if (!print(&out) || !out.Flush()) detail::ThrowSystemError(where, "write", out.GetErrno());
  return target;
}

/// As Caffe does: snapshots go beside the solver's file, or into the folder that is named.
void UpgradeSnapshotPrefix(const std::filesystem::path& file, SolverParameter* solver) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!solver->has_snapshot_prefix())
    solver->set_snapshot_prefix(fs::path(file).replace_extension().string());
  else if (fs::is_directory(solver->snapshot_prefix(), error))
    solver->set_snapshot_prefix((fs::path(solver->snapshot_prefix()) / file.stem()).string());
}

}  // namespace

bool ReadProtoFromTextFile(const std::filesystem::path& file, Message* proto) {
  const std::string where = Where("Read", *proto, file);
  AsNetError([&] {
    detail::RequireReadable(file, where);
    detail::ParseText(detail::ReadFile(file, detail::kMostBytes, where), file.string(), proto);
  });
  return true;
}
void ReadProtoFromTextFileOrDie(const std::filesystem::path& file, Message* proto) {
  ReadProtoFromTextFile(file, proto);
}

bool ReadProtoFromBinaryFile(const std::filesystem::path& file, Message* proto) {
  const std::string where = Where("Read", *proto, file);
  AsNetError([&] { detail::ReadBinary(file, where, proto); });
  return true;
}
void ReadProtoFromBinaryFileOrDie(const std::filesystem::path& file, Message* proto) {
  ReadProtoFromBinaryFile(file, proto);
}

void WriteProtoToTextFile(const Message& proto, const std::filesystem::path& file) {
  const std::string where = Where("Write", proto, file);
  RequireComplete(proto, where);
  detail::WarnOfUnknownFields(proto, where, "left out, as a text cannot have them");
  google::protobuf::TextFormat::Printer printer;
  printer.SetHideUnknownFields(true);
  AsNetError([&] { Stage(file, where, [&](auto* out) { return printer.Print(proto, out); })->Commit(); });
}

std::unique_ptr<detail::NewFile> detail::StageBinary(const Message& proto,
                                                     const std::filesystem::path& file) {
  const std::string where = Where("Write", proto, file);
  RequireComplete(proto, where);
  const std::size_t bytes = proto.ByteSizeLong();
  if (bytes == 0) throw NetError(where + ": the message is empty");
  if (bytes > detail::kMostBytes)
    throw NetError(
        where + ": the message has " + std::to_string(bytes) + " bytes, and protobuf writes " +
        std::to_string(detail::kMostBytes) +
        " at most; write a net's weights by Net::ToHDF5, and let a solver have snapshot_format: HDF5");
  return AsNetError(
      [&] { return Stage(file, where, [&](auto* out) { return proto.SerializeToZeroCopyStream(out); }); });
}
void WriteProtoToBinaryFile(const Message& proto, const std::filesystem::path& file) {
  AsNetError([&] { detail::StageBinary(proto, file)->Commit(); });
}

void ReadNetParamsFromTextFileOrDie(const std::filesystem::path& file, NetParameter* param) {
  NetParameter net;
  ReadProtoFromTextFile(file, &net);
  UpgradeNetAsNeeded(file.string(), &net);
  *param = std::move(net);
}

void ReadNetParamsFromBinaryFileOrDie(const std::filesystem::path& file, NetParameter* param) {
  NetParameter net;
  ReadProtoFromBinaryFile(file, &net);
  UpgradeNetAsNeeded(file.string(), &net);
  *param = std::move(net);
}

void ReadSolverParamsFromTextFileOrDie(const std::filesystem::path& file, SolverParameter* param) {
  SolverParameter solver;
  ReadProtoFromTextFile(file, &solver);
  UpgradeSolverAsNeeded(file.string(), &solver);
  UpgradeSnapshotPrefix(file, &solver);
  *param = std::move(solver);
}

}  // namespace ferry
