// SPDX-License-Identifier: BSD-2-Clause
// Prints the backends of this build and the devices that they find here; with --json, for programs.
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/backend.hpp"

namespace {

using ferry::Backend;
using ferry::Backends;
using ferry::DeviceProperties;

struct Found {
  std::string missing;                    ///< why there are no devices
  std::vector<DeviceProperties> devices;  ///< those that could be described
  std::vector<std::string> errors;        ///< of those that could not
};

Found Find(const Backend& backend) {
  Found found;
  const int count = backend.count();
  if (count == 0 && backend.missing != nullptr) found.missing = backend.missing();
  for (int index = 0; index < count; ++index) try {
      found.devices.push_back(backend.describe(index));
    } catch (const std::exception& error) {
      found.errors.push_back(backend.name + (':' + std::to_string(index)) + ": " + error.what());
    }
  return found;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    char escaped[8];
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      quoted += escaped;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

template <class Range, class Print>
std::string Array(const Range& items, Print print) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + print(item);
  return '[' + text + ']';
}

std::string Json(const DeviceProperties& device) {
  return "{\"index\": " + std::to_string(device.index) + ", \"name\": " + Quoted(device.name) +
         ", \"memory\": " + std::to_string(device.memory) +
         ", \"architecture\": " + Quoted(device.architecture) + ", \"pci_id\": " + Quoted(device.pci_id) +
         ", \"wavefront\": " + std::to_string(device.wavefront) +
         ", \"unified\": " + (device.unified ? "true" : "false") + '}';
}

std::string Json(const Backend& backend) {
  const Found found = Find(backend);
  return "\n  {\"name\": " + Quoted(backend.name) + ", \"missing\": " + Quoted(found.missing) +
         ", \"errors\": " + Array(found.errors, Quoted) +
         ", \"devices\": " + Array(found.devices, [](const auto& device) { return Json(device); }) + '}';
}

std::string Text(const DeviceProperties& device) {
  std::ostringstream line;
  line << device.backend << ':' << device.index << "  " << device.name << ", "
       << static_cast<double>(device.memory >> 20) / 1024 << " GiB";
  for (const std::string& more : {device.architecture, device.pci_id})
    if (!more.empty()) line << ", " << more;
  if (device.wavefront > 0) line << ", wavefront " << device.wavefront;
  line << (device.unified ? ", unified" : "") << '\n';
  return line.str();
}

std::string Text(const Backend& backend) {
  const Found found = Find(backend);
  std::string text;
  for (const DeviceProperties& device : found.devices) text += Text(device);
  for (const std::string& error : found.errors) text += error + '\n';
  if (text.empty()) text = backend.name + std::string("  no device: ") + found.missing + '\n';
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  const bool help = argc == 2 && option == "--help";
  if (help || argc > 2 || (!option.empty() && option != "--json")) {
    (help ? std::cout : std::cerr) << "usage: ferry-info [--json]\n";
    return help && std::cout.flush() ? 0 : 2;
  }
  if (option == "--json") {
    std::cout << "{\"backends\": " << Array(Backends(), [](const auto& backend) { return Json(backend); })
              << "}\n";
  } else {
    for (const Backend& backend : Backends()) std::cout << Text(backend);
  }
  return std::cout.flush() ? 0 : 1;
}
