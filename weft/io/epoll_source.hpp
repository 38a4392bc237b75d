// SPDX-License-Identifier: MIT
// The event source over epoll(7): a descriptor is registered once, for both directions and edges; its record
// (descriptor_table.hpp) holds who waits. Files, of which epoll knows nothing, go to the spare kernel
// threads, or to the ring of the source that is made of this one (uring_source.cpp). As in the
// composable-threads paper (its section 4.6), where a delegator's thread polls; here idle workers sleep in
// epoll_wait(2).
#pragma once

#include "weft/io/epoll_set.hpp"
#include "weft/io/source.hpp"

#include <array>

namespace weft::io {

class epoll_source : public source {
 public:
  /// *Errors*: as of epoll_set.
  epoll_source();

  int poll() override;
  void wait(sched::deadline until) override;
  int deliver() override;
  [[nodiscard]] os::doorbell& bell() noexcept override { return set_.bell(); }
  [[nodiscard]] int descriptor() const noexcept override { return set_.descriptor(); }
  void abandon_after_fork() noexcept override { set_.abandon(); }

  [[nodiscard]] bool has_waiters() const noexcept override;
  [[nodiscard]] int perform(const request& r, const limit& how_long) noexcept override;
  [[nodiscard]] int await(edge_wait& wait, const limit& how_long) noexcept override;
  [[nodiscard]] mechanism kind() const noexcept override { return mechanism::epoll; }

 protected:
  /// `r`, which no event tells about: a file's. *Switches*: may.
  [[nodiscard]] virtual int perform_on_disk(const request& r) noexcept;
  /// Has sleeps end while this descriptor is readable; whose it is sees to what is there. 0, or an errno.
  [[nodiscard]] int add(int descriptor) noexcept;

 private:
  static constexpr int batch = 64; // events fetched at a time: 768 bytes

  /// 0, or an errno; EPERM: it is a file.
  [[nodiscard]] int see_to_registration(int descriptor, class descriptor_record& record,
                                        std::uint32_t generation) noexcept;

  epoll_set set_;
  const std::uint32_t number_;
  std::array<epoll_event, batch> events_; // of who has the watch
  int event_count_ = 0;
};

} // namespace weft::io
