// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

/// The files page.html, page.css, page.js and timeline.js, which CMake puts into page_files.cpp.
namespace ferry::report {

extern const std::string_view kPageHtml, kPageCss, kPageJs, kTimelineJs;

}  // namespace ferry::report
