// SPDX-License-Identifier: MIT
#include "apps/http/file_cache.hpp"

#include "apps/http/path.hpp"
#include "apps/http/response.hpp"

#include <weft/blocking.hpp>

#include <cerrno>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mutex>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace weft::http {
namespace {

int open_root(const std::string& root) {
  if (root.empty())
    return -1;
  const int made = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (made < 0)
    throw std::system_error(errno, std::system_category(), root);
  return made;
}

// The kernel keeps us below the root, whatever links there are and whoever changes them meanwhile.
int open_beneath(int root, const std::string& path) noexcept {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

bool same_file(const struct stat& a, const struct stat& b) noexcept {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// 0, or an errno. A file that shrinks meanwhile is sent from its descriptor.
int read_small(file& f) {
  if (f.size > file_cache::small)
    return 0;
  f.content.resize(f.size);
  std::size_t got = 0;
  while (got < f.size) {
    const ssize_t part =
        ::pread(f.descriptor.get(), f.content.data() + got, f.size - got, static_cast<off_t>(got));
    if (part < 0 && errno != EINTR)
      return errno;
    if (part == 0)
      break;
    got += part > 0 ? static_cast<std::size_t>(part) : 0;
  }
  f.is_in_memory = got == f.size;
  return 0;
}

} // namespace

owned_descriptor::~owned_descriptor() {
  if (descriptor_ >= 0)
    ::close(descriptor_); // files only: nobody waits for one
}

file_cache::file_cache(const std::string& root) : root_(open_root(root)) {}

file_cache::found file_cache::load(const std::string& path) const {
  return weft::blocking([&]() -> found {
    const int descriptor = open_beneath(root_.get(), path);
    if (descriptor < 0)
      return {nullptr, errno};
    auto made = std::make_shared<file>(descriptor);
    if (::fstat(descriptor, &made->about) != 0)
      return {nullptr, errno};
    if (!S_ISREG(made->about.st_mode))
      return {nullptr, S_ISDIR(made->about.st_mode) ? EISDIR : ENXIO};
    made->size = static_cast<std::uint64_t>(made->about.st_size);
    made->modified = date_of(made->about.st_mtim.tv_sec);
    made->etag = etag_of(static_cast<std::uint64_t>(made->about.st_mtim.tv_sec),
                         static_cast<std::uint64_t>(made->about.st_mtim.tv_nsec), made->size);
    made->type = content_type(path);
    if (const int error = read_small(*made); error != 0)
      return {nullptr, error};
    return {std::move(made), 0};
  });
}

bool file_cache::is_same(const std::string& path, const file& known) const {
  return weft::blocking([&] {
    struct stat now{};
    return ::fstatat(root_.get(), path.c_str(), &now, 0) == 0 && same_file(now, known.about);
  });
}

file_cache::found file_cache::find(const std::string& path) {
  if (root_.get() < 0)
    return {nullptr, ENOENT};
  const std::time_t now = coarse_now();
  std::shared_ptr<const file> old;
  {
    const std::scoped_lock held(lock_);
    if (const auto at = entries_.find(path); at != entries_.end()) {
      if (at->second.looked_at == now)
        return {at->second.file, 0};
      at->second.looked_at = now; // others go on with what there is while this one looks
      old = at->second.file;
    }
  }
  if (old && is_same(path, *old))
    return {std::move(old), 0};
  found fresh = load(path);
  const std::scoped_lock held(lock_);
  if (!fresh.file) {
    entries_.erase(path);
    return fresh;
  }
  if (entries_.size() >= most)
    entries_.clear(); // those that are being sent live on
  entries_[path] = {fresh.file, now};
  return fresh;
}

} // namespace weft::http
