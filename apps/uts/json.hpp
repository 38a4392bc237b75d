// SPDX-License-Identifier: MIT
// As much JSON (RFC 8259) as the demo needs: a child reports one object to its parent, the trace is read
// back to draw the timeline, and the results are written. Numbers are doubles, exact up to 2^53.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace weft::uts::json {

class value;
using array = std::vector<value>;
using member = std::pair<std::string, value>;
using object = std::vector<member>; ///< in the order written

class value {
 public:
  value() = default;
  value(bool b) : data_(b) {}
  value(double d) : data_(d) {}
  value(int i) : data_(static_cast<double>(i)) {}
  value(std::size_t n) : data_(static_cast<double>(n)) {}
  value(std::string s) : data_(std::move(s)) {}
  value(std::string_view s) : data_(std::string(s)) {}
  value(const char* s) : data_(std::string(s)) {}
  value(array a);
  value(object o);

  /// The member of that name; null if this is no object or has none.
  [[nodiscard]] const value* find(std::string_view key) const;

  /// What is held, or the default (an empty one) if it is of another type.
  [[nodiscard]] double number(double otherwise = 0) const;
  [[nodiscard]] bool boolean(bool otherwise = false) const;
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] const array& items() const;

  /// Shorthands for a member's value; the default if it is absent.
  [[nodiscard]] double number_at(std::string_view key, double otherwise = 0) const;
  [[nodiscard]] const std::string& text_at(std::string_view key) const;

  /// One line, or indented by two spaces a level.
  [[nodiscard]] std::string dump(bool indented = false) const;

 private:
  void write(std::string& out, bool indented, int level) const;

  std::variant<std::monostate, bool, double, std::string, array, object> data_;
};

/// Errors: std::runtime_error with the offset of the first byte that does not fit.
value parse(std::string_view text);

} // namespace weft::uts::json
