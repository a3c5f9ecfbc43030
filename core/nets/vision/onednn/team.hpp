// SPDX-License-Identifier: BSD-2-Clause
#pragma once

/// The calling thread's team of the process's OpenMP, among which the library as a rule shares its work.
/// Where there is no OpenMP, each thread counts as alone.
namespace ferry::detail::onednn {

/// How many threads the library asks for.
int ThreadsAskedFor();
/// Whether OpenMP surely grants so many. It may not in a thread of another team, and where its settings set
/// limits or leave the number to it.
bool Grants(int threads);

/// While it lives, the library asks for no thread but the calling one, in that one.
class AskForOne {
 public:
  AskForOne();
  ~AskForOne();
  AskForOne(const AskForOne&) = delete;
  AskForOne& operator=(const AskForOne&) = delete;

 private:
  int before_;
};

}  // namespace ferry::detail::onednn
