// SPDX-License-Identifier: BSD-2-Clause
// What must not compile, by its name; and its neighbours, which must.
#include <vector>

#include "ferry/array.hpp"
#include "ferry/blob.hpp"
#include "ferry/kernels.hpp"

using ferry::Array, ferry::Blob, ferry::Place;

void Right(const Place& place, Array<float>& x, const Array<float>& c, Blob<float>& blob,
           const Blob<float>& b) {
  Scale(place, 2, blob);
  Axpy(place, 2, c, x);
  Axpy(place, 2, b, x.Slice(0, 1));
  Copy(place, Diff(b), Diff(blob));
  Set(place, 0, Overwrite(x).count() == 0 ? x.Share() : x.Slice(0, 1));
  static_cast<void>(Read(c.Slice(0, 1)));
  static_cast<void>(place.Read(b));
  Copy(place, b.Slice(0, 1), blob.Slice(0, 1));
  Axpy(place, 2, Diff(b.Slice(0, 1)), Diff(blob.Slice(0, 1)));
  blob.CopyFrom(b.Slice(0, 1));
}

void Wrong(const Place& place, Array<float>& x, const Array<float>& c, Array<const float>& r,
           Blob<float>& blob, const Blob<float>& b, Array<double>& doubles, Array<int>& ints,
           Array<std::vector<int>*>& pointers) {
#if defined(POINTER_FOR_A_PLACE)
  Scale(Place::Cpu(place.device()), 21, blob.mutable_gpu_data());
#elif defined(COUNT_AND_POINTER)
  Scale(place, 6, 21, blob.mutable_gpu_data());
#elif defined(TYPE_OF_A_PLACE)
  static_cast<void>(place.ReadWrite<double>(blob));
#elif defined(TYPE_OF_AN_OPERAND)
  static_cast<void>(ferry::ReadWrite<Blob<double> >(blob));
#elif defined(OVERWRITE_CONST_BLOB)
  static_cast<void>(Overwrite(b));
#elif defined(OVERWRITE_CONST_DIFF)
  static_cast<void>(Overwrite(Diff(b)));
#elif defined(CHANGE_SLICE_OF_CONST_BLOB)
  static_cast<void>(ReadWrite(b.Slice(0, 1)));
#elif defined(CHANGE_DIFF_OF_SLICE_OF_CONST_BLOB)
  static_cast<void>(place.Overwrite(Diff(b.Slice(0, 1))));
#elif defined(OVERWRITE_CONST_ARRAY)
  static_cast<void>(Overwrite(c));
#elif defined(OVERWRITE_ARRAY_OF_CONST)
  static_cast<void>(Overwrite(r));
#elif defined(CHANGE_SLICE_OF_CONST)
  static_cast<void>(place.ReadWrite(c.Slice(0, 1)));
#elif defined(CHANGE_WITH_DIMS)
  static_cast<void>(ReadWrite(c, {1, 1}));
#elif defined(KERNEL_WRITES_CONST)
  Axpy(place, 2, x, b);
#elif defined(KERNEL_OF_TWO_TYPES)
  Axpy(place, 2, x, doubles);
#elif defined(COPY_OF_TWO_TYPES)
  Copy(place, x, doubles);
#elif defined(MATHEMATICS_OF_INT)
  Scale(place, 2, ints);
#elif defined(SET_OF_POINTERS)
  Set(place, nullptr, pointers);
#elif defined(VECTOR_AS_ARRAY)
  Copy(place, std::vector<float>(3), x);
#elif defined(ARRAY_OF_VECTORS)
  Array<std::vector<int> > vectors(3);
#elif defined(ARRAY_OF_PAGES)
  struct alignas(4096) Page {
    char bytes[4096];
  };
  Array<Page> pages(3);
#elif defined(ARRAY_COPIED)
  Array<float> copy = x;
#elif defined(RANGE_OF_ANOTHER_TYPE)
  Array<float> from_doubles(std::vector<double>{1, 2}, place.device());
#elif defined(CONST_TAKEN_OFF)
  Array<float> writable = c.Share();
#endif
}
