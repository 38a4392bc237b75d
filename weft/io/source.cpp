// SPDX-License-Identifier: MIT
#include "weft/io/source.hpp"

#include "weft/base/knob.hpp"
#include "weft/io/epoll_source.hpp"
#include "weft/io/uring.hpp"
#include "weft/workers/group.hpp"

#include <atomic>

namespace weft::io {
namespace {

constexpr const char* words[] = {"auto", "epoll", "uring"};
constinit base::choice_knob mechanism_knob{
    "WEFT_IO", 0, words,
    "what does files: epoll: spare kernel threads; uring: io_uring where the kernel lets us; auto: epoll"};
const base::knob_list source_knobs{mechanism_knob};

constinit std::atomic<mechanism> chosen{mechanism::automatic};

std::unique_ptr<sched::waiting_source> make_source() {
  mechanism wanted = chosen.load(std::memory_order_relaxed);
  if (wanted == mechanism::automatic)
    wanted = static_cast<mechanism>(mechanism_knob.get());
  if (wanted == mechanism::uring) {
    if (auto made = try_make_uring_source())
      return made;
  }
  return std::make_unique<epoll_source>();
}

} // namespace

void choose(mechanism m) noexcept {
  chosen.store(m, std::memory_order_relaxed); // relaxed: read when a group first needs its source
}

source& source_of(sched::group& g) {
  if (sched::waiting_source* known = g.waiting_source()) [[likely]]
    return static_cast<source&>(*known);
  return static_cast<source&>(g.waiting_source(&make_source));
}

} // namespace weft::io
