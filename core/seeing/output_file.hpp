// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace ferry::detail {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};
using OutputFile = std::unique_ptr<std::FILE, CloseFile>;

/// stdout or stderr, if it goes to this file, pipe or socket. Else null, as of a terminal or /dev/null.
std::FILE* PrintedTo(const std::string& path) noexcept;
/// Whether both name one file, pipe or socket.
bool AreOne(const std::string& path, const std::string& other) noexcept;
/// Writes behind what waits in a stream to be printed, which may be one of wide characters. Whether all of it
/// is written; else errno says why.
bool Print(std::FILE* output, std::string_view text) noexcept;
/// Opens a file to write it anew; null where that cannot be, and errno says why. A named pipe that nobody
/// reads cannot be opened, where fopen would wait for a reader; nor can a file that was opened so and is not
/// closed yet, by whichever process.
OutputFile OpenToWrite(const std::string& path) noexcept;
/// Whether all of it is written; else errno says why.
bool Close(OutputFile file) noexcept;
/// What errno says of a file that was opened so, or could not be.
std::string WhyNotWritten();
/// Whether a file can be written there, as far as that is known before; else errno says why. Makes it if it
/// is not there, and changes none that is.
bool MayBeWritten(const std::string& path) noexcept;

}  // namespace ferry::detail
