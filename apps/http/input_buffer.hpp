// SPDX-License-Identifier: MIT
// The bytes of a connection that are not parsed yet: always contiguous, one memory page at first, growing up
// to the longest head of a request that is allowed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace weft::http {

class input_buffer {
 public:
  /// `most`: bytes it may hold; it is full only if one request's head has that many.
  explicit input_buffer(std::size_t most) : most_(most) {}

  [[nodiscard]] std::string_view text() const noexcept { return {bytes_.get() + begin_, end_ - begin_}; }

  /// Where to read into; invalidates the text's views. *Errors*: std::bad_alloc.
  [[nodiscard]] std::span<char> room() {
    if (begin_ != 0)
      to_the_front();
    if (end_ == size_)
      grow();
    return {bytes_.get() + end_, size_ - end_};
  }
  void filled(std::size_t bytes) noexcept { end_ += bytes; }
  void consume(std::size_t bytes) noexcept {
    begin_ += bytes;
    if (begin_ == end_)
      clear();
  }
  void clear() noexcept { begin_ = end_ = 0; }

 private:
  static constexpr std::size_t first = 4096;

  void to_the_front() noexcept {
    std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  void grow() {
    const std::size_t size = std::min(std::max(2 * size_, first), most_);
    auto bytes = std::make_unique_for_overwrite<char[]>(size);
    std::copy_n(bytes_.get(), end_, bytes.get());
    bytes_ = std::move(bytes);
    size_ = size;
  }

  const std::size_t most_;
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

} // namespace weft::http
