// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fashion {

inline constexpr const char* kHelp =
    R"(fashion_mnist trains softmax regression on Fashion-MNIST, on any device that Ferry knows.

  --device NAME   host, sim, ... (host)
  --data DIR      the data set's four files, gzip'd or plain (/usr/share/datasets/fashion-mnist)
  --epochs N      passes over the training images (5)
  --batch N       images a step (128)
  --images N      train on the first N images only (0: on all)
  --rate R        learning rate; the n-th epoch takes an n-th of it (0.2)
  --seed N        of the order of the images (1)
  --save FILE     where the weights go, as a BlobProto (fashion_mnist.blobproto)
  --trace         print each change of state in the first two steps
  --help          print this
)";

struct Options {
  std::string device = "host";
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::int64_t epochs = 5;
  std::int64_t batch = 128;
  std::int64_t images = 0;
  float rate = 0.2F;  // with 0.25 the first epoch multiplies rounding errors
  std::uint32_t seed = 1;
  std::string save = "fashion_mnist.blobproto";
  bool trace = false;
  bool help = false;
};

/// A command line that makes no sense; the text says why.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A number of type T, from `lowest` on. Throws UsageError.
template <class T>
T Number(std::string_view text, T lowest) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || !(number >= lowest))
    throw UsageError("'" + std::string(text) + "' is not a number from " + std::to_string(lowest) + " on");
  return number;
}

/// Throws UsageError.
inline Options ParseOptions(int argc, char** argv) {
  Options options;
  const std::map<std::string_view, std::function<void()>> flags = {
      {"--trace", [&] { options.trace = true; }},
      {"--help", [&] { options.help = true; }},
  };
  const std::map<std::string_view, std::function<void(std::string_view)>> settings = {
      {"--device", [&](auto text) { options.device = text; }},
      {"--data", [&](auto text) { options.data = text; }},
      {"--save", [&](auto text) { options.save = text; }},
      {"--epochs", [&](auto text) { options.epochs = Number<std::int64_t>(text, 1); }},
      {"--batch", [&](auto text) { options.batch = Number<std::int64_t>(text, 1); }},
      {"--images", [&](auto text) { options.images = Number<std::int64_t>(text, 0); }},
      {"--rate", [&](auto text) { options.rate = Number<float>(text, 0); }},
      {"--seed", [&](auto text) { options.seed = Number<std::uint32_t>(text, 0); }},
  };
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      flag->second();
    } else if (const auto setting = settings.find(name); setting == settings.end()) {
      throw UsageError("unknown option " + name);
    } else if (++i == argc) {
      throw UsageError(name + " needs a value");
    } else {
      try {
        setting->second(argv[i]);
      } catch (const UsageError& error) {
        throw UsageError(name + ": " + error.what());
      }
    }
  }
  return options;
}

}  // namespace fashion
