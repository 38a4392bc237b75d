// SPDX-License-Identifier: MIT
// epoll for what has events, and a ring (io_uring(7)) for what has none: files and open(2). One ring a group,
// and a lock each for its two ends. Who sleeps does so in epoll_wait(2), where the ring is one descriptor
// more; completions are read from memory. Why sockets do not go through the ring: docs/design/io.md.
//
// A request refers to its thread's stack until its completion has been seen. No limit ends it: neither does
// one end read(2) of a file.
#include "weft/io/uring.hpp"

#include "weft/base/spin_lock.hpp"
#include "weft/io/blocking.hpp"
#include "weft/io/epoll_source.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/sync/wait_queue.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <liburing.h>
#include <mutex>
#include <new>
#include <sched.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::io {
namespace {

constexpr unsigned submissions = 64;   // each is handed in at once; room for those that the kernel refused
constexpr unsigned completions = 4096; // beyond that the kernel keeps them until there is room

/// A request on its way. *Ownership*: the waiting thread's frame; the kernel's until `is_done`.
struct flight {
  base::spin_lock lock;
  sync::wait_queue waiters;
  const request& asked; // of the caller, for debuggers
  bool is_done = false;
  int result = 0;

  explicit flight(const request& r) noexcept : asked(r) {}
  flight(const flight&) = delete;
  ~flight() { waiters.drain(lock); }
  void land(int with) noexcept {
    const std::scoped_lock held(lock);
    result = with;
    is_done = true;
    waiters.notify_all();
  }
};

constinit std::atomic<int> refusal{0}; // the errno of the last attempt

class uring_source final : public epoll_source {
 public:
  /// `ring` is this object's from now on. *Errors*: as of epoll_set; the caller keeps the ring then.
  explicit uring_source(const io_uring& ring);
  ~uring_source() override;

  int poll() override;
  void wait(sched::deadline until) override;
  int deliver() override;
  void abandon_after_fork() noexcept override;

  [[nodiscard]] bool has_waiters() const noexcept override {
    return epoll_source::has_waiters() || in_flight_.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] mechanism kind() const noexcept override { return mechanism::uring; }

 private:
  [[nodiscard]] int perform_on_disk(const request& r) noexcept override;

  template <class Fill>
  void submit(Fill fill) noexcept;
  void submit_locked() noexcept;
  void await_cancelled() noexcept;
  int reap() noexcept;
  [[nodiscard]] int fly(const request& r) noexcept;

  io_uring ring_;
  std::mutex submit_lock_;
  std::atomic<bool> has_refused_{false}; // the kernel left some of what was submitted
  base::spin_lock reap_lock_;
  std::atomic<unsigned> in_flight_{0};
};

// As read(2) and write(2): more than this is not transferred at once.
unsigned length_of(const iovec& buffer) noexcept {
  return static_cast<unsigned>(std::min<std::size_t>(buffer.iov_len, 0x7ffff000));
}

// Of those that are no file's there is none here.
void fill(io_uring_sqe* s, const request& r) noexcept {
  const auto offset = static_cast<std::uint64_t>(r.offset);
  const auto count = static_cast<unsigned>(r.buffer_count);
  switch (r.what) {
  case operation::read:
    return count == 1
               ? io_uring_prep_read(s, r.descriptor, r.buffers->iov_base, length_of(*r.buffers), offset)
               : io_uring_prep_readv(s, r.descriptor, r.buffers, count, offset);
  case operation::write:
    return count == 1
               ? io_uring_prep_write(s, r.descriptor, r.buffers->iov_base, length_of(*r.buffers), offset)
               : io_uring_prep_writev(s, r.descriptor, r.buffers, count, offset);
  case operation::open:
    io_uring_prep_openat(s, AT_FDCWD, r.path, r.flags, r.mode);
    // The kernel would try it with O_NONBLOCK first: a FIFO is then open before its other side is, or ENXIO.
    return io_uring_sqe_set_flags(s, IOSQE_ASYNC);
  case operation::sync:
    return io_uring_prep_fsync(s, r.descriptor, 0);
  default:
    return io_uring_prep_fsync(s, r.descriptor, IORING_FSYNC_DATASYNC);
  }
}

bool is_for_files(operation what) noexcept {
  return what == operation::read || what == operation::write || what == operation::open ||
         what == operation::sync || what == operation::sync_data;
}

uring_source::uring_source(const io_uring& ring) : ring_(ring) {
  if (const int error = add(ring.ring_fd); error != 0)
    throw std::system_error(error, std::system_category(), "weft: idle workers cannot wait for a ring");
}

uring_source::~uring_source() {
  // Threads that wait will not run again; what the kernel would write into their stacks must not come late.
  if (in_flight_.load(std::memory_order_acquire) != 0) {
    submit([](io_uring_sqe* s) {
      io_uring_prep_cancel64(s, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
      io_uring_sqe_set_data(s, nullptr);
    });
    await_cancelled();
  }
  io_uring_queue_exit(&ring_);
}

void uring_source::await_cancelled() noexcept {
  constexpr std::int64_t retry = 1'000'000;
  while (in_flight_.load(std::memory_order_relaxed) != 0) {
    if (has_refused_.load(std::memory_order_relaxed)) { // the cancellation, perhaps
      os::sleep_ns(retry);
      const std::scoped_lock held(submit_lock_);
      submit_locked();
      continue;
    }
    io_uring_cqe* c = nullptr;
    int error = -os::fault(os::fault_site::interrupted);
    if (error == 0)
      error = io_uring_wait_cqe(&ring_, &c);
    if (error == -EINTR)
      continue;
    if (error != 0)
      return;
    if (io_uring_cqe_get_data(c) != nullptr)
      in_flight_.fetch_sub(1, std::memory_order_relaxed);
    io_uring_cqe_seen(&ring_, c);
  }
}

// The ring's memory is not in the child (MADV_DONTFORK).
void uring_source::abandon_after_fork() noexcept {
  epoll_source::abandon_after_fork();
  ::close(ring_.ring_fd);
}

// What the kernel refuses for want of memory stays in the ring and goes with the next one, or with the next
// poll.
template <class Fill>
void uring_source::submit(Fill fill) noexcept {
  for (;;) {
    {
      const std::scoped_lock held(submit_lock_);
      if (io_uring_sqe* s = io_uring_get_sqe(&ring_)) {
        fill(s);
        submit_locked();
        return;
      }
      submit_locked();
    }
    reap();
    ::sched_yield();
  }
}

// Who sleeps in wait() without a limit must know of what was refused, for nobody else may look again.
void uring_source::submit_locked() noexcept {
  int result;
  do {
    result = -os::fault(os::fault_site::submission);
    if (result == 0)
      result = -os::fault(os::fault_site::interrupted);
    if (result == 0)
      result = io_uring_submit(&ring_);
  } while (result == -EINTR);
  const bool has_refused = io_uring_sq_ready(&ring_) != 0;
  const bool had_refused = has_refused_.load(std::memory_order_relaxed);
  has_refused_.store(has_refused, std::memory_order_relaxed);
  if (has_refused && !had_refused)
    bell().ring();
}

int uring_source::poll() {
  const int events = epoll_source::poll();
  return events + reap();
}

int uring_source::deliver() {
  const int events = epoll_source::deliver();
  return events + reap();
}

int uring_source::reap() noexcept {
  if (has_refused_.load(std::memory_order_relaxed)) { // RACY: a later poll finds it
    const std::unique_lock held(submit_lock_, std::try_to_lock);
    if (held.owns_lock())
      submit_locked();
  }
  if (!reap_lock_.try_lock())
    return 0;
  int count = 0;
  io_uring_cqe* c = nullptr;
  while (io_uring_peek_cqe(&ring_, &c) == 0 && c != nullptr) {
    auto* const landed = static_cast<flight*>(io_uring_cqe_get_data(c));
    const int result = c->res;
    io_uring_cqe_seen(&ring_, c);
    if (landed == nullptr)
      continue;
    // acquire: the flight was made before its addition; the way through the kernel is none of the language's
    in_flight_.fetch_sub(1, std::memory_order_acq_rel);
    landed->land(result); // GONE: *landed
    ++count;
  }
  reap_lock_.unlock();
  return count;
}

void uring_source::wait(sched::deadline until) {
  constexpr sched::deadline retry = 1'000'000;
  if (has_refused_.load(std::memory_order_relaxed))
    until = std::min(until, os::now_ns() + retry);
  epoll_source::wait(until);
}

// One trip through the ring. Nothing ends it before its time but the end of the group.
int uring_source::fly(const request& r) noexcept {
  if (const int injected = os::fault(os::fault_site::interrupted))
    return -injected;
  flight f(r);
  in_flight_.fetch_add(1, std::memory_order_release); // release: pairs with the acquire in reap()
  submit([&](io_uring_sqe* s) {
    fill(s, r);
    io_uring_sqe_set_data(s, &f);
  });
  sync::held_lock held(f.lock);
  if (!f.is_done) {
    const shown_wait shown(f.asked);
    sync::waiter w(shown.record());
    static_cast<void>(f.waiters.wait(held, w, sched::no_deadline, {})); // SWITCH: may resume elsewhere
  }
  return f.result;
}

int uring_source::perform_on_disk(const request& r) noexcept {
  if (!is_for_files(r.what) || sched::simulation::is_active())
    return epoll_source::perform_on_disk(r);
  try {
    sched::require_thread("waiting for a file");
  } catch (const std::system_error& e) {
    return -e.code().value();
  }
  int result;
  do {
    result = fly(r); // SWITCH: may resume on another worker
    // Nobody cancels it but the end of the kernel thread that handed it in: then again.
  } while (result == -EINTR || result == -ECANCELED);
  // O_NONBLOCK is set, and the file system cannot do without waiting.
  return result == -EAGAIN ? epoll_source::perform_on_disk(r) : result;
}

// The ring itself and what was in Linux by 5.19, where a descriptor's requests can be cancelled. 0 or an
// errno.
int set_up(io_uring& ring) noexcept {
  if (const int error = os::fault(os::fault_site::io_uring); error != 0)
    return error;
  io_uring_params wanted{};
  wanted.flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
  wanted.cq_entries = completions;
  if (const int result = io_uring_queue_init_params(submissions, &ring, &wanted); result != 0)
    return -result;
  io_uring_probe* const known = io_uring_get_probe_ring(&ring);
  const bool is_new = known != nullptr && io_uring_opcode_supported(known, IORING_OP_SOCKET) != 0;
  io_uring_free_probe(known);
  if (is_new && io_uring_ring_dontfork(&ring) == 0)
    return 0;
  io_uring_queue_exit(&ring);
  return ENOSYS;
}

} // namespace

std::unique_ptr<source> try_make_uring_source() {
  io_uring ring{};
  refusal.store(set_up(ring), std::memory_order_relaxed);
  if (refusal.load(std::memory_order_relaxed) != 0)
    return nullptr;
  try {
    return std::make_unique<uring_source>(ring);
  } catch (...) {
    io_uring_queue_exit(&ring);
    throw;
  }
}

std::string why_not_uring() {
  switch (const int error = refusal.load(std::memory_order_relaxed)) {
  case 0:
    return {};
  case ENOSYS:
    return "Linux is older than 5.19, or has no io_uring";
  default:
    return std::string("io_uring_setup: ") + std::strerror(error);
  }
}

} // namespace weft::io
