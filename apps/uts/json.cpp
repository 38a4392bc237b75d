// SPDX-License-Identifier: MIT
// A recursive-descent parser and a printer for json.hpp.

#include "apps/uts/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace weft::uts::json {
namespace {

constexpr int deepest_nesting = 200;

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class parser {
 public:
  explicit parser(std::string_view text) : text_(text) {}

  value document() {
    value v = any(0);
    space();
    if (at_ != text_.size()) {
      fail("text after the end");
    }
    return v;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error("JSON, byte " + std::to_string(at_) + ": " + what);
  }

  void space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
  }

  bool take(char c) {
    space();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c, const char* what) {
    if (!take(c)) {
      fail(what);
    }
  }

  value word(std::string_view spelling, value v) {
    if (text_.substr(at_, spelling.size()) != spelling) {
      fail("unknown word");
    }
    at_ += spelling.size();
    return v;
  }

  value any(int depth) {
    if (depth > deepest_nesting) {
      fail("nested too deep");
    }
    space();
    if (at_ == text_.size()) {
      fail("a value is missing");
    }
    switch (text_[at_]) {
    case '{':
      return members(depth);
    case '[':
      return elements(depth);
    case '"':
      return string();
    case 't':
      return word("true", true);
    case 'f':
      return word("false", false);
    case 'n':
      return word("null", {});
    default:
      return number();
    }
  }

  value members(int depth) {
    object o;
    expect('{', "{");
    if (take('}')) {
      return o;
    }
    do {
      space();
      std::string key = string();
      expect(':', "a colon is missing");
      o.emplace_back(std::move(key), any(depth + 1));
    } while (take(','));
    expect('}', "} is missing");
    return o;
  }

  value elements(int depth) {
    array a;
    expect('[', "[");
    if (take(']')) {
      return a;
    }
    do {
      a.push_back(any(depth + 1));
    } while (take(','));
    expect(']', "] is missing");
    return a;
  }

  value number() {
    double d = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), d);
    // from_chars also takes "inf" and "nan", which JSON has not.
    if (error != std::errc{} || !(*first == '-' || (*first >= '0' && *first <= '9')) || !std::isfinite(d)) {
      fail("no value");
    }
    at_ += static_cast<std::size_t>(end - first);
    return d;
  }

  unsigned hex4() {
    unsigned code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc{} || end != digits.data() + 4) {
      fail("\\u needs four hexadecimal digits");
    }
    at_ += 4;
    return code;
  }

  void escape(std::string& out) {
    static constexpr std::string_view names = "\"\\/bfnrt";
    static constexpr std::string_view meaning = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c == 'u') {
      unsigned code = hex4();
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        code = 0x10000 + ((code - 0xd800) << 10) + ((hex4() - 0xdc00) & 0x3ff);
      }
      append_utf8(out, code);
      return;
    }
    const std::size_t which = names.find(c);
    if (c == '\0' || which == std::string_view::npos) {
      fail("unknown escape");
    }
    out += meaning[which];
  }

  std::string string() {
    std::string out;
    expect('"', "a string is missing");
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) {
        fail("control character in a string");
      }
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
    if (at_ == text_.size()) {
      fail("string without end");
    }
    ++at_;
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void write_string(std::string& out, std::string_view s) {
  out += '"';
  for (const char c : s) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  out += '"';
}

// As many digits as it takes to read the same number again; whole ones without an exponent.
void write_number(std::string& out, double d) {
  if (!std::isfinite(d)) {
    out += "null";
    return;
  }
  char text[40];
  const bool whole = std::fabs(d) < 9e15 && d == std::floor(d);
  const std::to_chars_result written =
      whole ? std::to_chars(text, text + sizeof text, d, std::chars_format::fixed)
            : std::to_chars(text, text + sizeof text, d);
  out.append(text, written.ptr);
}

void new_line(std::string& out, bool indented, int level) {
  if (indented) {
    out += '\n';
    out.append(static_cast<std::size_t>(level) * 2, ' ');
  }
}

template <typename T>
const T& get_or_empty(const T* held) {
  static const T empty{};
  return held != nullptr ? *held : empty;
}

} // namespace

value::value(array a) : data_(std::move(a)) {}
value::value(object o) : data_(std::move(o)) {}

const value* value::find(std::string_view key) const {
  for (const auto& [name, v] : get_or_empty(std::get_if<object>(&data_))) {
    if (name == key) {
      return &v;
    }
  }
  return nullptr;
}

double value::number(double otherwise) const {
  const double* d = std::get_if<double>(&data_);
  return d != nullptr ? *d : otherwise;
}

bool value::boolean(bool otherwise) const {
  const bool* b = std::get_if<bool>(&data_);
  return b != nullptr ? *b : otherwise;
}

const std::string& value::text() const {
  return get_or_empty(std::get_if<std::string>(&data_));
}

const array& value::items() const {
  return get_or_empty(std::get_if<array>(&data_));
}

double value::number_at(std::string_view key, double otherwise) const {
  const value* v = find(key);
  return v != nullptr ? v->number(otherwise) : otherwise;
}

const std::string& value::text_at(std::string_view key) const {
  const value* v = find(key);
  return v != nullptr ? v->text() : get_or_empty<std::string>(nullptr);
}

std::string value::dump(bool indented) const {
  std::string out;
  write(out, indented, 0);
  return out;
}

void value::write(std::string& out, bool indented, int level) const {
  if (const auto* o = std::get_if<object>(&data_)) {
    out += '{';
    for (std::size_t i = 0; i < o->size(); ++i) {
      out += i == 0 ? "" : ",";
      new_line(out, indented, level + 1);
      write_string(out, (*o)[i].first);
      out += indented ? ": " : ":";
      (*o)[i].second.write(out, indented, level + 1);
    }
    new_line(out, indented && !o->empty(), level);
    out += '}';
  } else if (const auto* a = std::get_if<array>(&data_)) {
    out += '[';
    for (std::size_t i = 0; i < a->size(); ++i) {
      out += i == 0 ? "" : ",";
      new_line(out, indented, level + 1);
      (*a)[i].write(out, indented, level + 1);
    }
    new_line(out, indented && !a->empty(), level);
    out += ']';
  } else if (const auto* s = std::get_if<std::string>(&data_)) {
    write_string(out, *s);
  } else if (const auto* d = std::get_if<double>(&data_)) {
    write_number(out, *d);
  } else {
    const auto* b = std::get_if<bool>(&data_);
    out += b == nullptr ? "null" : *b ? "true" : "false";
  }
}

value parse(std::string_view text) {
  return parser(text).document();
}

} // namespace weft::uts::json
