// SPDX-License-Identifier: MIT
#include "front/pthreads/takeover.hpp"

#include "front/pthreads/libc.hpp"
#include "front/pthreads/objects.hpp"
#include "weft/door/atomic.hpp"
#include "weft/door/process.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fnmatch.h>
#include <link.h>
#include <string_view>
#include <unistd.h>

namespace weft::pthreads {
namespace {

// All written when the library is loaded.
const char* why_not = nullptr;  // what nobody has asked for, and is to be said
const char* patterns = nullptr; // a copy of WEFT_PTHREADS_NATIVE, as programs write over their variables

// --- patterns ---

constexpr std::size_t longest_pattern = 255;

// Of shells, separated by commas; a longer one matches nothing.
bool matches(const char* name) noexcept {
  std::string_view left = patterns != nullptr ? patterns : "";
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    std::array<char, longest_pattern + 1> pattern{};
    if (one.empty() || one.size() > longest_pattern)
      continue;
    std::copy(one.begin(), one.end(), pattern.begin());
    if (::fnmatch(pattern.data(), name, 0) == 0)
      return true;
  }
  return false;
}

const char* last_part(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// The name of the file that has the address, without a lock; null: none has it.
const char* file_of(const void* address) noexcept {
  dl_find_object found{};
  if (::_dl_find_object(const_cast<void*>(address), &found) != 0)
    return nullptr;
  const char* const path = found.dlfo_link_map->l_name;
  return path != nullptr && *path != '\0' ? last_part(path) : ::program_invocation_short_name;
}

// A std::thread begins in libstdc++ for all programs; its state is an object of a class of its maker's.
const char* file_that_began(const void* code, const void* argument) noexcept {
  const char* const file = file_of(code);
  if (file == nullptr || argument == nullptr || std::strncmp(file, "libstdc++.so", 12) != 0)
    return file;
  return file_of(*static_cast<void* const*>(argument));
}

// --- children ---

bool is_this_library(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(slash == path.npos ? 0 : slash + 1).starts_with("libweft_pthread");
}

// The programs that this one starts get the variable as it stands here, in its own bytes.
void leave_children_alone() noexcept {
  constexpr std::string_view name = "LD_PRELOAD=";
  char** each = ::environ;
  while (*each != nullptr && std::string_view(*each).substr(0, name.size()) != name)
    ++each;
  if (*each == nullptr)
    return;
  char* const value = *each + name.size();
  char* end = value; // of what stays
  for (const char* from = value; *from != '\0';) {
    const std::size_t length = std::strcspn(from, ": ");
    const bool goes = is_this_library({from, length});
    const std::size_t with_separator = length + (from[length] != '\0' ? 1 : 0);
    if (!goes)
      end = std::copy_n(from, with_separator, end);
    from += with_separator;
  }
  if (end != value) {
    *(end[-1] == ':' ? end - 1 : end) = '\0'; // no separator behind the last one
    return;
  }
  do {
    each[0] = each[1];
  } while (*each++ != nullptr);
}

bool says(const char* variable, const char* word) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, word) == 0;
}

// Why threads are not taken over, though nobody has asked for that; null: they are.
const char* obstacle() noexcept {
  if (*sanitizer_of_program() != '\0')
    return "the program was compiled with a sanitizer, which has functions for threads of its own: ";
  if (!is_known_libc())
    return "this C library lays its objects out otherwise";
  if (!can_preempt(preemption::bound_tls))
    return "programs cannot set their thread pointer here, or send signals to threads (no FSGSBASE, "
           "valgrind, or a filter of system calls)";
  return nullptr;
}

[[gnu::constructor]] void begin() noexcept {
  if (const char* const given = std::getenv("WEFT_PTHREADS_NATIVE"))
    patterns = ::strdup(given);
  const bool is_off = says("WEFT_PTHREADS", "off") || matches(::program_invocation_short_name);
  why_not = is_off ? nullptr : obstacle();
  all_are_libcs = is_off || why_not != nullptr;
  if (says("WEFT_PTHREADS_CHILDREN", "off"))
    leave_children_alone();
}

void say_why_not() noexcept {
  static constinit door::atomic<bool> said{false};
  if (why_not != nullptr && !said.exchange_relaxed(true)) // relaxed: it guards nothing
    door::warn("pthreads: threads are the kernel's, as %s%s", why_not, sanitizer_of_program());
}

} // namespace

bool all_are_libcs = false;

bool takes_threads_over() noexcept {
  if (all_are_libcs) [[unlikely]]
    say_why_not();
  return !all_are_libcs;
}

bool is_native(const void* code, const void* argument) noexcept {
  if (patterns == nullptr) [[likely]]
    return false;
  const char* const file = file_that_began(code, argument);
  return file != nullptr && matches(file);
}

bool is_native_name(const char* name) noexcept {
  return patterns != nullptr && matches(name);
}

} // namespace weft::pthreads
