// SPDX-License-Identifier: MIT
#include "weft/trace/name_table.hpp"

#include <cstring>
#include <string_view>

#include "weft/os/mapping.hpp"

namespace weft::trace {
namespace {

// 64-bit FNV-1a (Fowler, Noll, Vo): short texts, no table.
std::uint64_t hash_of(const char* text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (; *text != '\0'; ++text) {
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3ULL;
  }
  return hash;
}

std::uint64_t key_of(const unit_name& name) noexcept {
  if (name.given[0] != '\0') {
    return hash_of(name.given) | 1; // odd: the keys below are even
  }
  const void* address = name.label != nullptr ? static_cast<const void*>(name.label) : name.function;
  return reinterpret_cast<std::uintptr_t>(address) << 1;
}

// One that is too long loses its middle: it begins with where it is, and ends with what it is.
void copy(char* to, std::size_t room, std::string_view from) noexcept {
  static constexpr std::string_view gap = "...";
  if (from.size() >= room) {
    const std::size_t head = (room - gap.size()) / 2;
    std::memcpy(to, from.data(), head);
    std::memcpy(to + head, gap.data(), gap.size());
    const std::size_t used = head + gap.size();
    to += used;
    room -= used;
    from.remove_prefix(from.size() - (room - 1));
  }
  std::memcpy(to, from.data(), from.size());
  to[from.size()] = '\0';
}

// From the text in which the compiler spells a function with its template arguments, the type of the
// callable.
void copy_label(char (&to)[name_entry::text_bytes], const char* label) noexcept {
  static constexpr char before[] = "Callable = ";
  const char* type = std::strstr(label, before);
  type = type != nullptr ? type + sizeof before - 1 : label;
  const char* end = std::strrchr(type, ']');
  const std::string_view spelt(type,
                               end != nullptr ? static_cast<std::size_t>(end - type) : std::strlen(type));
  // Clang's spelling of a lambda has the whole path of its file; the file's name and the line tell as much.
  static constexpr std::string_view lambda = "(lambda at ";
  const std::size_t slash = spelt.rfind('/');
  if (!spelt.starts_with(lambda) || slash == std::string_view::npos) {
    return copy(to, sizeof to, spelt);
  }
  std::memcpy(to, lambda.data(), lambda.size());
  copy(to + lambda.size(), sizeof to - lambda.size(), spelt.substr(slash + 1));
}

} // namespace

bool name_table::make() noexcept {
  void* memory = nullptr;
  if (os::map(os::round_up_to_page(sizeof(content)), os::page_access::read_write, &memory) != 0) {
    return false;
  }
  content_ = static_cast<content*>(memory); // zero is what an empty one holds
  return true;
}

void name_table::free() noexcept {
  if (content_ != nullptr) {
    static_cast<void>(os::unmap(content_, os::round_up_to_page(sizeof(content))));
  }
  content_ = nullptr;
  used_ = 0;
}

std::uint32_t name_table::number_of(const unit_name& name) noexcept {
  constexpr std::uint32_t slots = 2 * capacity;
  const std::uint64_t key = key_of(name);
  // Multiplicative hashing (Knuth, TAOCP 3, 6.4): addresses of functions differ in their middle bits.
  auto at = static_cast<std::uint32_t>((key * 0x9E3779B97F4A7C15ULL) >> 53);
  static_assert(slots == 1U << (64 - 53));
  for (; content_->slots[at] != 0; at = (at + 1) % slots) {
    if (content_->keys[content_->slots[at] - 1] == key) {
      return content_->slots[at];
    }
  }
  if (used_ == capacity) {
    return 0;
  }
  const std::uint32_t index = used_++;
  content_->slots[at] = static_cast<std::uint16_t>(used_);
  content_->keys[index] = key;
  if (name.given[0] != '\0') {
    copy(content_->entries[index].text, name_entry::text_bytes, name.given);
  } else if (name.label != nullptr) {
    copy_label(content_->entries[index].text, name.label);
  } else {
    content_->functions[index] = name.function;
  }
  return used_;
}

void name_table::resolve(void (*describe)(const void* address, char* buffer, std::size_t bytes)) noexcept {
  for (std::uint32_t i = 0; i < used_; ++i) {
    if (const void* function = content_->functions[i]) {
      describe(function, content_->entries[i].text, name_entry::text_bytes);
      content_->functions[i] = nullptr;
    }
  }
}

} // namespace weft::trace
