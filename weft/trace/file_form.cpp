// SPDX-License-Identifier: MIT
#include "weft/trace/file_form.hpp"

#include "weft/trace/output_file.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/trace/timeline.hpp"

namespace weft::trace {

file_form file_form_of(std::string_view path) noexcept {
  return path.ends_with(".weft") ? file_form::raw : file_form::timeline;
}

int write_in_form_of(const char* path, const recording& what) noexcept {
  if (file_form_of(path) == file_form::timeline) {
    return write_timeline(path, what);
  }
  output_file out;
  if (const int error = out.create(path); error != 0) {
    return error;
  }
  write_raw(out, what);
  return out.close();
}

} // namespace weft::trace
