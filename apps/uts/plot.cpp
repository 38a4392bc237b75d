// SPDX-License-Identifier: MIT
// The two plots of a tree's section.

#include "apps/uts/plot.hpp"

#include <algorithm>
#include <cmath>

#include "apps/uts/format.hpp"

namespace weft::uts {
namespace {

constexpr double width = 560;
constexpr double label_width = 190;
constexpr double value_width = 86;
constexpr double row_height = 25;
constexpr double top = 6;
constexpr double plot_width = width - label_width - value_width;

std::string opening(const std::string& title, double height) {
  return format(
      "<figure><figcaption>%s</figcaption><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">",
      title.c_str(), width, height, title.c_str());
}

std::string text_at(double x, double y, const char* css_class, const std::string& text) {
  return format("<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, css_class) + escaped(text) + "</text>";
}

// Label on the left and value text behind the mark, which ends at `end`.
std::string row_texts(const bar& b, double y, double end) {
  const double middle = y + row_height / 2 + 4;
  return text_at(label_width - 8, middle, "label", b.label) +
         text_at(end + 7, middle, b.failed ? "value bad" : "value", b.value_text);
}

double largest(const std::vector<bar>& bars) {
  double most = 0;
  for (const bar& b : bars) {
    most = std::max(most, b.value);
  }
  return most;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '&':
      out += "&amp;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string bar_plot(const std::string& title, const std::vector<bar>& bars) {
  const double height = top * 2 + row_height * static_cast<double>(bars.size());
  const double most = largest(bars);
  std::string svg = opening(title, height);
  svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.0f\" class=\"axis\"/>", label_width,
                label_width, height);
  double y = top;
  for (const bar& b : bars) {
    const double length = most > 0 ? b.value / most * plot_width : 0;
    if (length > 0) {
      svg += format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" class=\"%s\"/>",
                    label_width, y + 4, length, row_height - 8, b.css_class.c_str());
    }
    svg += row_texts(b, y, label_width + length);
    y += row_height;
  }
  return svg + "</svg></figure>";
}

std::string dot_plot(const std::string& title, const std::vector<bar>& bars,
                     std::string (*tick_text)(double)) {
  double least = largest(bars);
  for (const bar& b : bars) {
    least = b.value > 0 ? std::min(least, b.value) : least;
  }
  // Whole powers of four around the values: at most a handful of ticks for anything from KiB to GiB.
  const double low = least > 0 ? std::floor(std::log2(least) / 2) * 2 : 0;
  const double high = std::max(low + 2, std::ceil(std::log2(std::max(largest(bars), 1.0)) / 2) * 2);
  const auto place = [&](double value) {
    return label_width + (std::log2(value) - low) / (high - low) * plot_width;
  };
  const double bottom = top + row_height * static_cast<double>(bars.size());
  std::string svg = opening(title, bottom + 22);
  for (double power = low; power <= high + 0.5; power += 2) {
    const double x = place(std::exp2(power));
    svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%.1f\" class=\"grid\"/>", x, x, bottom + 4);
    svg += text_at(x, bottom + 18, "tick", tick_text(std::exp2(power)));
  }
  double y = top;
  for (const bar& b : bars) {
    double end = label_width;
    if (b.value > 0) {
      end = place(b.value);
      svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" class=\"stem\"/>", label_width,
                    end, y + row_height / 2, y + row_height / 2);
      svg += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\" class=\"%s\"/>", end, y + row_height / 2,
                    b.css_class.c_str());
    }
    svg += row_texts(b, y, end + 3);
    y += row_height;
  }
  return svg + "</svg></figure>";
}

} // namespace weft::uts
