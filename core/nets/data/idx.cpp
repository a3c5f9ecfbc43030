// SPDX-License-Identifier: BSD-2-Clause
#include "ferry/nets/idx.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "core/nets/data/database.hpp"
#include "core/nets/hdf5/hdf5_file.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/shape.hpp"

namespace ferry {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const fs::path& file, const std::string& what) {
  throw NetError(file.string() + ": " + what);
}

/// zlib unpacks it, and passes on what is not gzip's.
class PackedFile {
 public:
  explicit PackedFile(const fs::path& path) : path_(path) {
    if (fs::is_directory(path)) Fail(path, "is a directory");
    file_.reset(gzopen(path.c_str(), "rb"));
    if (file_ == nullptr) Fail(path, "cannot be opened");
  }

  /// The next bytes, fewer than `count` where the file ends.
  std::vector<std::uint8_t> Read(std::size_t count) {
    constexpr std::size_t kStep = 1 << 20;
    std::vector<std::uint8_t> bytes;
    for (int read = 1; read > 0 && bytes.size() < count;) {
      const std::size_t old = bytes.size(), step = std::min(count - old, kStep);
      bytes.resize(old + step);
      read = gzread(file_.get(), bytes.data() + old, static_cast<unsigned>(step));
      bytes.resize(old + static_cast<std::size_t>(std::max(read, 0)));
    }
    int error = Z_OK;
    const char* const text = gzerror(file_.get(), &error);
    if (error != Z_OK) Fail(path_, "is cut short or corrupt: " + std::string(text));
    bytes.shrink_to_fit();
    return bytes;
  }

 private:
  fs::path path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_{nullptr, gzclose};
};

/// How many elements an array has; as many as can be counted where there are more.
std::size_t CountOf(const std::vector<std::int64_t>& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  std::size_t count = 1;
  for (const std::int64_t dim : dims)
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(dim), &count))
      return std::numeric_limits<std::size_t>::max();
  return count;
}

/// A Shape throws where its dims make too much, which those of a file may.
std::string Dims(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (const std::int64_t dim : dims) text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text;
}

struct Labelled {
  IdxArray images, labels;
  Shape shape;  ///< n, channels, height, width
};

Labelled Read(const IdxFiles& from) {
  Labelled read{ReadIdx(from.images), ReadIdx(from.labels), {}};
  const auto& dims = read.images.dims;
  if (dims.size() != 3 && dims.size() != 4)
    Fail(from.images, "has " + std::to_string(dims.size()) +
                          " dims; images have 3 (n, height, width) or 4 (n, channels, height, width)");
  if (read.labels.dims.size() != 1 || read.labels.dims[0] != dims[0])
    Fail(from.labels, "has the dims " + Dims(read.labels.dims) + "; labels for the " +
                          std::to_string(dims[0]) + " images of " + from.images.string() +
                          " have one dim of as many");
  if (read.images.bytes.empty()) Fail(from.images, "has no elements: its dims are " + Dims(dims));
  read.shape = dims.size() == 4 ? Shape(dims) : Shape{dims[0], 1, dims[1], dims[2]};
  return read;
}

}  // namespace

IdxArray ReadIdx(const fs::path& path) {
  PackedFile file(path);
  const std::vector<std::uint8_t> start = file.Read(4);
  constexpr std::uint8_t kUnsignedByte = 0x08;
  if (start.size() < 4 || start[0] != 0 || start[1] != 0 || start[2] != kUnsignedByte)
    Fail(path, "does not begin as an IDX file of unsigned bytes (00 00 08)");
  const std::vector<std::uint8_t> dims = file.Read(std::size_t{4} * start[3]);
  if (dims.size() < std::size_t{4} * start[3]) Fail(path, "ends within its header");
  IdxArray array;
  for (std::size_t at = 0; at < dims.size(); at += 4) {
    std::uint32_t dim = 0;
    for (std::size_t i = 0; i < 4; ++i) dim = dim << 8U | dims[at + i];
    array.dims.push_back(dim);
  }
  const std::size_t count = CountOf(array.dims);
  array.bytes = file.Read(count);
  if (array.bytes.size() < count)
    Fail(path, "is cut short: its dims promise more than the " + std::to_string(array.bytes.size()) +
                   " elements that it has");
  if (!file.Read(1).empty())
    Fail(path, "has more elements than the " + std::to_string(count) + " that its dims make");
  return array;
}

namespace {

void RequireNoStop(const std::function<bool()>& stop, const fs::path& to) {
  if (stop && stop()) Fail(to, "is not made: the conversion was stopped");
}

void WriteRecords(const Labelled& read, DataParameter::DB backend, const fs::path& to,
                  const std::function<bool()>& stop) {
  const auto database = detail::OpenDatabase(backend, to, detail::DatabaseMode::kNew);
  const auto transaction = database->NewTransaction();
  Datum datum;
  datum.set_channels(static_cast<int>(read.shape[1]));
  datum.set_height(static_cast<int>(read.shape[2]));
  datum.set_width(static_cast<int>(read.shape[3]));
  const std::int64_t size = read.shape.count(1, 4);
  constexpr std::int64_t kAtOnce = 1000;
  for (std::int64_t i = 0; i < read.shape[0]; ++i) {
    RequireNoStop(stop, to);
    datum.set_data(read.images.bytes.data() + i * size, static_cast<std::size_t>(size));
    datum.set_label(read.labels.bytes[static_cast<std::size_t>(i)]);
    std::string key = std::to_string(i);
    constexpr std::size_t kDigits = 8;
    if (key.size() < kDigits) key.insert(0, kDigits - key.size(), '0');
    transaction->Put(key, datum.SerializeAsString());
    if ((i + 1) % kAtOnce == 0) transaction->Commit();
  }
  transaction->Commit();
}

/// A new folder beside a file or folder, which goes with all that is in it.
class Beside {
 public:
  explicit Beside(const fs::path& place) {
    const std::string ending = ".unfinished-" + std::string(6, 'X');
    constexpr std::size_t kMost = 255;  // bytes of a name
    folder_ = place.parent_path() / (place.filename().string().substr(0, kMost - ending.size()) + ending);
    if (::mkdtemp(folder_.data()) == nullptr)  // which replaces each X
      detail::FailDatabase(place, "cannot be made: " + std::generic_category().message(errno));
  }
  ~Beside() {
    std::error_code error;  // it stays then
    fs::remove_all(folder_, error);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  fs::path folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace

std::int64_t ConvertIdxToDatabase(const IdxFiles& from, DataParameter::DB backend, const fs::path& to,
                                  const std::function<bool()>& stop) {
  const Labelled read = Read(from);
  const fs::path place = to.has_filename() ? to : to.parent_path();
  if (place.empty()) throw NetError("ConvertIdxToDatabase: the database has no name");
  std::error_code error;
  const fs::file_type there = fs::symlink_status(place, error).type();
  if (there == fs::file_type::symlink && fs::status(place, error).type() == fs::file_type::not_found)
    detail::FailDatabase(to,
                         "is a link to " + fs::read_symlink(place, error).string() + ", which is not there");
  if (there != fs::file_type::not_found) {
    WriteRecords(read, backend, to, stop);
    return read.shape[0];
  }
  RequireNoStop(stop, to);
  const Beside beside(place);  // a part of it would pass for the whole data set
  const fs::path written = beside.folder() / place.filename();
  WriteRecords(read, backend, written, stop);
  fs::rename(written, place, error);
  if (error) detail::FailDatabase(to, "cannot be put into place: " + error.message());
  return read.shape[0];
}

std::int64_t ConvertIdxToHdf5(const IdxFiles& from, const fs::path& to, float scale,
                              const std::function<bool()>& stop) {
  const Labelled read = Read(from);
  std::vector<float> data(read.images.bytes.size());
  std::transform(read.images.bytes.begin(), read.images.bytes.end(), data.begin(),
                 [scale](std::uint8_t byte) { return scale * static_cast<float>(byte); });
  const std::vector<float> labels(read.labels.bytes.begin(), read.labels.bytes.end());
  RequireNoStop(stop, to);
  detail::Hdf5File file = detail::Hdf5File::Create(to);
  file.Write("data", read.shape, data.data());
  file.Write("label", {read.shape[0]}, labels.data());
  RequireNoStop(stop, to);
  file.Close();
  return read.shape[0];
}

}  // namespace ferry
