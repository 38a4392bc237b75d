// SPDX-License-Identifier: MIT
// Which of the two forms a file is written in: its name says so.
#pragma once

#include <string_view>

#include "weft/base/export.hpp"
#include "weft/trace/recording.hpp"

namespace weft::trace {

// raw: all that was recorded (raw_file.hpp); timeline: JSON that viewers open (timeline.hpp).
enum class file_form : unsigned char { timeline, raw };

// raw for a name that ends in ".weft".
[[nodiscard]] WEFT_API file_form file_form_of(std::string_view path) noexcept;

// Creates or replaces the file. Contexts, switches, errors: as write_timeline() and write_raw().
[[nodiscard]] WEFT_API int write_in_form_of(const char* path, const recording& what) noexcept;

} // namespace weft::trace
