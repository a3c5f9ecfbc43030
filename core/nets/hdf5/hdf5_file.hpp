// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ferry/shape.hpp"

namespace ferry::detail {

class NewFile;

/// Whether the file begins as those of HDF5 do. False for one that cannot be read. Needs no libhdf5.
bool IsHdf5(const std::filesystem::path& file);
/// Whether this build has libhdf5; without it, Hdf5File throws when it is made, and says how to build with
/// it.
bool HasHdf5() noexcept;

/// A file of HDF5, open for reading or for writing: groups of datasets, each an array of numbers of any
/// shape, by paths from the root such as "data/conv1/0".
///
/// All calls throw NetError, with the file, the dataset and HDF5's reason. Several threads may use files of
/// their own; libhdf5 is entered by one at a time.
class Hdf5File {
 public:
  /// Opens a file to read it.
  static Hdf5File Open(const std::filesystem::path& file);
  /// Makes a file to write it. It appears at Close, whole, in the place of one that is there.
  static Hdf5File Create(const std::filesystem::path& file);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Without Close, what was written is dropped.
  ~Hdf5File();

  /// What a group has, sorted by bytes; "" is the root.
  std::vector<std::string> Names(const std::string& group) const;
  /// Whether that path is a group, or a dataset.
  ///@{
  bool HasGroup(const std::string& path) const;
  bool HasDataset(const std::string& path) const;
  ///@}
  /// A dataset's dims; none for a single value. Refused for one that is not of numbers, here and below.
  Shape ShapeOf(const std::string& dataset) const;
  /// All elements, as T, which is float, double or int. Refused where there are not so many.
  template <class T>
  void Read(const std::string& dataset, std::span<T> to) const;
  /// A text, as of WriteString.
  std::string ReadString(const std::string& dataset) const;

  /// Makes a group, and those in which it is; one that is there stays.
  void MakeGroup(const std::string& group);
  /// Makes a dataset of shape.count() elements, and the groups in which it is. Refused for one that is there.
  template <class T>
  void Write(const std::string& dataset, const Shape& shape, const T* from);
  /// A text that ends with a zero, as Caffe's files have them.
  void WriteString(const std::string& dataset, const std::string& text);
  /// Ends the writing. Nothing may be called after it.
  void Close();
  /// The same, except that the file comes to its place by Commit.
  std::unique_ptr<NewFile> Stage();

 private:
  struct State;
  explicit Hdf5File(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace ferry::detail
