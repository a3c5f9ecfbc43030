// SPDX-License-Identifier: BSD-2-Clause
#include "core/nets/hdf5/library.hpp"

#include <dlfcn.h>

#include "ferry/nets/error.hpp"

namespace ferry::detail {

Hdf5Functions::Hdf5Functions(void* loaded) : library(loaded) {}

/// As the library itself finds them: a program that links libhdf5, too, has its ids in the program's own
/// data.
void* Hdf5Functions::Find(const char* name) const {
  if (void* const found = dlsym(RTLD_DEFAULT, name)) return found;
  if (void* const found = dlsym(library, name)) return found;
  throw NetError(std::string("libhdf5 has no ") + name + ": it is not the one that Ferry was built with");
}

void* LoadHdf5(std::span<const char* const> names) {
  std::string why;
  for (const char* const name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread
  }
  throw NetError("libhdf5 cannot be loaded, which files of HDF5 need: " + why);
}

const Hdf5Functions& H5() {
  static constexpr const char* kNames[] = {FERRY_HDF5_NAME, FERRY_HDF5_FILE};
  static const Hdf5Functions functions(LoadHdf5(kNames));
  return functions;
}

}  // namespace ferry::detail
