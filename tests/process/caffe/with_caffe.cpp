// SPDX-License-Identifier: BSD-2-Clause
// A program that links Caffe's messages and ours: it starts, and each reads what the other wrote.
#include <string>

#include "caffe.pb.h"
#include "ferry/proto.hpp"

int main() {
  caffe::BlobProto theirs;
  theirs.mutable_shape()->add_dim(2);
  theirs.add_data(1.5F);
  theirs.add_data(2.5F);
  ferry::BlobProto ours;
  caffe::BlobProto back;
  const bool read =
      ours.ParseFromString(theirs.SerializeAsString()) && back.ParseFromString(ours.SerializeAsString());
  const bool same = ours.shape().dim(0) == 2 && ours.data(1) == 2.5F &&
                    back.SerializeAsString() == theirs.SerializeAsString();
  return read && same ? 0 : 1;
}
