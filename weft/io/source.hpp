// SPDX-License-Identifier: MIT
// What an event source of the I/O room can do: suspend a thread until its request is done. Two kinds, chosen
// at run time (WEFT_IO, runtime::options::io); one a group, made at the first call of one of its threads.
#pragma once

#include "weft/events/event_source.hpp"
#include "weft/io/limit.hpp"
#include "weft/io/request.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace weft::sched {
class group;
} // namespace weft::sched

namespace weft::io {

enum class mechanism : std::uint8_t {
  automatic, // epoll
  epoll,
  uring, // epoll, and io_uring for files if the kernel lets us
};

struct edge_wait;

class WEFT_API source : public sched::waiting_source {
 public:
  /// Does `r`, which would have to wait, with the calling thread suspended meanwhile: the result, or -errno
  /// (-ETIMEDOUT, -ECANCELED: the limit). *Contexts*: a thread of the group's. *Switches*: may.
  [[nodiscard]] virtual int perform(const request& r, const limit& how_long) noexcept = 0;
  /// Suspends the calling thread until there is such an edge: 0, or an errno (ETIMEDOUT, ECANCELED: the
  /// limit; EBADF: closed; EPERM: a file, which has none; ENOMEM, ENOSPC). *Contexts*, *Switches*: as
  /// perform().
  [[nodiscard]] virtual int await(edge_wait& wait, const limit& how_long) noexcept = 0;
  [[nodiscard]] virtual mechanism kind() const noexcept = 0;
};

/// What groups use whose first wait is to come; automatic: WEFT_IO.
void choose(mechanism m) noexcept;

/// The source of this group. *Errors*: std::system_error, std::bad_alloc.
[[nodiscard]] source& source_of(sched::group& g);

/// Why io_uring cannot be used: empty if it can, or nobody has tried.
[[nodiscard]] std::string why_not_uring();

} // namespace weft::io
