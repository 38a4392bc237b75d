// SPDX-License-Identifier: MIT
// Inline SVG for the page. Colours come from the page's style sheet by class ("f0", "f1", ... fill;
// "muted"), so that one drawing serves light and dark.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::uts {

/// Text for HTML and SVG, with <, >, & and quotes replaced.
std::string escaped(std::string_view text);

struct bar {
  std::string label;
  double value = 0;       ///< nothing is drawn if it is 0
  std::string value_text; ///< beside the bar; in place of it if there is no value
  std::string css_class;
  bool failed = false;
};

/// Horizontal bars from 0 on a linear axis.
std::string bar_plot(const std::string& title, const std::vector<bar>& bars);

/// The same rows as dots on a logarithmic axis whose ticks `tick_text` words, for values of different
/// magnitude.
std::string dot_plot(const std::string& title, const std::vector<bar>& bars,
                     std::string (*tick_text)(double));

} // namespace weft::uts
