// SPDX-License-Identifier: MIT
#include "weft/io/left_errors.hpp"

#include "weft/base/atomic.hpp"
#include "weft/base/spin_lock.hpp"

#include <array>
#include <cstddef>
#include <mutex>
#include <utility>

#include <sys/stat.h>

namespace weft::io {
namespace {

// A socket by its inode: its descriptor may be another one's by then.
struct left_error {
  ino_t socket = 0;
  int error = 0; // 0: none
};

constinit base::spin_lock lock;
constinit std::array<left_error, 64> all{}; // under the lock
constinit std::size_t next = 0;             // under the lock
constinit base::atomic<bool> any{false};    // relaxed: who has left one for itself sees it

ino_t inode_of(int descriptor) noexcept {
  struct stat known{};
  return ::fstat(descriptor, &known) == 0 && S_ISSOCK(known.st_mode) ? known.st_ino : 0;
}

} // namespace

void leave_error(int descriptor, int error) noexcept {
  const ino_t socket = inode_of(descriptor);
  if (socket == 0)
    return;
  const std::scoped_lock held(lock);
  all[next] = {socket, error};
  next = (next + 1) % all.size();
  any.store_relaxed(true);
}

int take_left_error(int descriptor) noexcept {
  if (!any.load_relaxed())
    return 0;
  const ino_t socket = inode_of(descriptor);
  const std::scoped_lock held(lock);
  for (left_error& left : all) {
    if (left.socket == socket && left.error != 0)
      return std::exchange(left.error, 0);
  }
  return 0;
}

} // namespace weft::io
