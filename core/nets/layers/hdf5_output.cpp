// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/hdf5_file.hpp"
#include "core/nets/layers/layers.hpp"
#include "ferry/nets/error.hpp"
#include "ferry/transfer_guard.hpp"

namespace ferry::detail {
namespace {

/// Writes bottom 0 as the dataset "data" of a file of HDF5, and bottom 1 as "label". The file appears with
/// the first pass forward after SetUp, and a second one is an error.
///
/// Parameters: hdf5_output_param { file_name }.
/// Bottoms: 2, of as many rows, and at most 4 axes: the datasets have 4.
/// Tops: 0.
/// Gradient: none.
/// Caffe: makes an empty file at once.
template <class T>
class HDF5OutputLayer final : public Layer<T> {
 public:
  using Layer<T>::Layer;
  using typename Layer<T>::Blobs;

  const char* type() const override { return "HDF5Output"; }
  int ExactNumBottomBlobs() const override { return 2; }
  int ExactNumTopBlobs() const override { return 0; }

  void LayerSetUp(const Blobs& /*bottom*/, const Blobs& /*top*/) override {
    written_ = false;
    if (File().empty()) this->Fail("hdf5_output_param's file_name is empty");
    try {
      Hdf5File::Create(File());  // appears when it is closed, which this one is not
    } catch (const NetError& error) {
      this->Fail(error.what());
    }
  }

  void Reshape(const Blobs& bottom, const Blobs& /*top*/) override {
    if (bottom[0]->num() != bottom[1]->num())
      this->Fail("bottom shapes " + bottom[0]->shape_string() + " and " + bottom[1]->shape_string() +
                 "; data and labels must have as many rows");
  }

 protected:
  void ForwardAt(const Place& /*place*/, const Blobs& bottom, const Blobs& /*top*/) override {
    if (written_)
      this->Fail("it has written " + File() + " in the pass before; a file has the batch of one pass");
    const TransferGuard meant(TransferPolicy::kAllow);
    try {
      Hdf5File file = Hdf5File::Create(File());
      Write("data", *bottom[0], file);
      Write("label", *bottom[1], file);
      file.Close();
      written_ = true;
    } catch (const NetError& error) {
      this->Fail(error.what());
    }
  }

  void BackwardAt(const Place&, const Blobs&, const std::vector<bool>&, const Blobs&) override {}

 private:
  const std::string& File() const { return this->layer_param().hdf5_output_param().file_name(); }
  static void Write(const char* dataset, const Blob<T>& blob, Hdf5File& to) {
    to.Write(dataset, {blob.num(), blob.channels(), blob.height(), blob.width()}, blob.cpu_data());
  }

  bool written_ = false;
};

}  // namespace

FERRY_NETS_MAKE_LAYER(HDF5Output);

}  // namespace ferry::detail
