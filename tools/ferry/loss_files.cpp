// SPDX-License-Identifier: BSD-2-Clause
#include "loss_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "core/proto/file.hpp"
#include "ferry/nets/error.hpp"

namespace ferry::program {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames = "iteration,loss,rate,seconds";
constexpr double kWidth = 720, kHeight = 400, kLeft = 70, kRight = 20, kTop = 20, kBottom = 50;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Not so pipes and devices, such as /dev/stdout.
bool IsReplaced(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  return !fs::exists(status) || fs::is_regular_file(status);
}

std::ofstream OpenStream(const fs::path& file) {
  std::ofstream out(file, std::ios::app | std::ios::binary);
  if (!out) throw NetError(file.string() + " cannot be written");
  return out;
}

void Write(const fs::path& file, const std::string& text) {
  if (IsReplaced(file)) {
    detail::NewFile target(file, file.string());
    target.Write(text);
    return target.Commit();
  }
  std::ofstream out = OpenStream(file);
  out << text;
  out.close();
  if (!out) throw NetError(file.string() + " cannot be written");
}

/// Reads a line; false for one without its newline.
bool NextLine(std::istream& in, std::string& line) { return std::getline(in, line) && !in.eof(); }

/// Of a line that WriteCsv wrote.
std::optional<LossRow> RowOf(const std::string& line) {
  LossRow row{};
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto read = [&](auto& value, bool last) {
    const auto [after, error] = std::from_chars(at, end, value);
    at = last ? after : after + 1;
    return error == std::errc() && (last ? after == end : after != end && *after == ',');
  };
  const bool whole = read(row.iteration, false) && read(row.loss, false) && read(row.rate, false) &&
                     read(row.seconds, true) && std::isfinite(row.seconds) && row.iteration >= 0 &&
                     row.seconds >= 0;
  return whole ? std::optional(row) : std::nullopt;
}

/// From values to a range of pixels.
class Axis {
 public:
  Axis(double low, double high, double first, double last, bool logarithmic)
      : low_(low),
        high_(high > low ? high : low + std::max(1.0, std::abs(low) / 1000)),
        first_(first),
        last_(last),
        logarithmic_(logarithmic) {}

  double At(double value) const { return first_ + (last_ - first_) * Share(value); }
  /// Where five marks are.
  std::vector<double> Marks() const {
    std::vector<double> marks;
    for (int i = 0; i <= 4; ++i) {
      const double share = i / 4.0;
      marks.push_back(logarithmic_ ? low_ * std::pow(high_ / low_, share) : low_ + (high_ - low_) * share);
    }
    return marks;
  }

 private:
  double Share(double value) const {
    return logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  }

  double low_, high_, first_, last_;
  bool logarithmic_;
};

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" + anchor + "\">" + text +
         "</text>\n";
}

std::string Line(double x1, double y1, double x2, double y2) {
  return "<line x1=\"" + Number(x1) + "\" y1=\"" + Number(y1) + "\" x2=\"" + Number(x2) + "\" y2=\"" +
         Number(y2) + "\"/>\n";
}

/// Marks, their numbers and the names of both axes.
std::string Frame(const Axis& x, const Axis& y) {
  const double floor = kHeight - kBottom;
  std::string svg = "<g stroke=\"#bbb\">\n";
  for (const double mark : y.Marks()) svg += Line(kLeft, y.At(mark), kWidth - kRight, y.At(mark));
  svg += "</g>\n<g fill=\"#444\">\n";
  for (const double mark : y.Marks()) svg += Text(kLeft - 8, y.At(mark) + 4, "end", Number(mark));
  for (const double mark : x.Marks()) svg += Text(x.At(mark), floor + 20, "middle", Number(mark));
  svg += Text(kWidth / 2, kHeight - 8, "middle", "iteration");
  return svg + Text(kLeft, 14, "end", "loss") + "</g>\n";
}

}  // namespace

void RequireWritable(const fs::path& file) {
  if (IsReplaced(file))
    const detail::NewFile probe(file, file.string());
  else
    OpenStream(file);
}

std::vector<LossRow> ReadCsv(const fs::path& file) {
  std::vector<LossRow> rows;
  std::error_code error;
  if (!fs::is_regular_file(file, error) || fs::file_size(file, error) == 0) return rows;
  std::ifstream in(file);
  std::string line;
  bool whole = NextLine(in, line) && line == kNames;
  while (whole && in.peek() != std::ifstream::traits_type::eof()) {
    const std::optional<LossRow> row = NextLine(in, line) ? RowOf(line) : std::nullopt;
    whole = row && (rows.empty() || row->iteration > rows.back().iteration);
    if (whole) rows.push_back(*row);
  }
  if (!whole) throw NetError(file.string() + " is no table of losses to go on with; write to another file");
  return rows;
}

void WriteCsv(const fs::path& file, const std::vector<LossRow>& rows) {
  std::string text = std::string(kNames) + '\n';
  for (const LossRow& row : rows)
    text += std::to_string(row.iteration) + ',' + Number(row.loss) + ',' + Number(row.rate) + ',' +
            Number(row.seconds) + '\n';
  Write(file, text);
}

void WritePlot(const fs::path& file, const std::vector<LossRow>& rows) {
  std::vector<LossRow> shown = rows;
  std::erase_if(shown, [](const LossRow& row) { return !std::isfinite(row.loss); });
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 400\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<title>Loss by iteration</title>\n"
      "<rect width=\"720\" height=\"400\" fill=\"#fff\"/>\n";
  if (!shown.empty()) {
    const auto [least, most] = std::minmax_element(
        shown.begin(), shown.end(), [](const LossRow& a, const LossRow& b) { return a.loss < b.loss; });
    const bool logarithmic = least->loss > 0 && most->loss >= 10 * least->loss;
    const Axis x(shown.front().iteration, shown.back().iteration, kLeft, kWidth - kRight, false);
    const Axis y(least->loss, most->loss, kHeight - kBottom, kTop, logarithmic);
    svg += Frame(x, y) + R"(<polyline fill="none" stroke="#0b62a8" stroke-width="1.5" points=")";
    for (const LossRow& row : shown) svg += Number(x.At(row.iteration)) + ',' + Number(y.At(row.loss)) + ' ';
    svg += "\"/>\n";
  }
  Write(file, svg + "</svg>\n");
}

}  // namespace ferry::program
