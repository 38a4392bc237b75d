// SPDX-License-Identifier: MIT
// Open files of the served directory. A file that was asked for stays open, a small one is kept in memory as
// well; whether it is still the same is looked up once a second while it is asked for.
#pragma once

#include "apps/http/date.hpp"

#include <weft/mutex.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unordered_map>

namespace weft::http {

/// An open descriptor and who closes it.
class owned_descriptor {
 public:
  explicit owned_descriptor(int descriptor = -1) noexcept : descriptor_(descriptor) {}
  owned_descriptor(const owned_descriptor&) = delete;
  ~owned_descriptor();
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

struct file {
  explicit file(int open_one) noexcept : descriptor(open_one) {}
  owned_descriptor descriptor;
  std::uint64_t size = 0;
  struct stat about{};
  date_text modified{};
  std::string etag;
  std::string_view type;
  std::string content; // whole, if small
  bool is_in_memory = false;
};

class file_cache {
 public:
  static constexpr std::uint64_t small = 64 * 1024; // kept in memory; sent with its head in one call
  static constexpr std::size_t most = 1024;         // files; the cache is emptied when there would be more

  /// Of files below `root`; empty: there are none. *Errors*: std::system_error if it is no directory.
  explicit file_cache(const std::string& root);

  struct found {
    std::shared_ptr<const http::file> file; // null: `error` says why
    int error = 0;                          // an errno
  };
  /// `path` is relative, as of file_path(). Symbolic links may not lead out of the root. *Contexts*: thread.
  /// *Switches*: may. *Errors*: std::bad_alloc, std::system_error (no kernel thread can be had).
  [[nodiscard]] found find(const std::string& path);

 private:
  struct entry {
    std::shared_ptr<const http::file> file;
    std::time_t looked_at = 0;
  };
  [[nodiscard]] found load(const std::string& path) const;
  [[nodiscard]] bool is_same(const std::string& path, const http::file& known) const;

  owned_descriptor root_;
  weft::mutex lock_; // guards entries_
  std::unordered_map<std::string, entry> entries_;
};

} // namespace weft::http
