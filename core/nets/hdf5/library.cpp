// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/library.hpp"

#include <dlfcn.h>

#include "ferry/nets/error.hpp"

namespace ferry::detail {

Hdf5Functions::Hdf5Functions(void* loaded) : library(loaded) {}

void* Hdf5Functions::Find(const char* name) const {
  if (void* const found = dlsym(library, name)) return found;
  throw NetError(std::string("libhdf5 has no ") + name + ": it is not the one that Ferry was built with");
}

hid_t Hdf5Functions::Id(const char* name) const {
  if (open() < 0) throw NetError("libhdf5 cannot be opened");
  return *static_cast<const hid_t*>(Find(name));
}

void* LoadHdf5(std::span<const char* const> names) {
  std::string why;
  for (const char* const name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
  }
  throw NetError("libhdf5 cannot be loaded, which files of HDF5 need: " + why);
}

// A program that is linked with libhdf5 may have its ids in data of its own.
const Hdf5Functions& H5() {
  static const Hdf5Functions functions(dlsym(RTLD_DEFAULT, "H5open") != nullptr ? RTLD_DEFAULT
                                                                                : LoadHdf5(kHdf5Names));
  return functions;
}

}  // namespace ferry::detail
