// SPDX-License-Identifier: MIT
// The event source over io_uring(7): a request that would wait is given to the kernel, which does it when it
// can. One ring a group, and a lock each for its two ends. Who sleeps does so in epoll_wait(2) on the ring
// and the bell: completions are then read from memory, so a poll is no system call.
//
// A request refers to its thread's stack until its completion has been seen: a wait that ends otherwise asks
// the kernel to cancel it, and waits for that.
#include "weft/io/uring.hpp"

#include "weft/base/spin_lock.hpp"
#include "weft/io/descriptor_table.hpp"
#include "weft/io/epoll_set.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/wait_queue.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <liburing.h>
#include <mutex>
#include <new>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
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
  bool is_done = false;
  int result = 0;

  ~flight() { waiters.drain(lock); }
  void land(int with) noexcept {
    const std::scoped_lock held(lock);
    result = with;
    is_done = true;
    waiters.notify_all();
  }
};

constinit std::atomic<int> refusal{0}; // the errno of the last attempt

class uring_source final : public source {
 public:
  /// `ring` is this object's from now on. *Errors*: as of epoll_set; the caller keeps the ring then.
  explicit uring_source(const io_uring& ring);
  ~uring_source() override;

  int poll() override;
  void wait(sched::deadline until) override;
  int deliver() override { return poll(); }
  [[nodiscard]] os::doorbell& bell() noexcept override { return set_.bell(); }
  [[nodiscard]] int descriptor() const noexcept override { return ring_.ring_fd; }
  void abandon_after_fork() noexcept override;

  [[nodiscard]] int perform(const request& r, const limit& how_long) noexcept override;
  [[nodiscard]] mechanism kind() const noexcept override { return mechanism::uring; }

  /// Has every request on this descriptor cancelled.
  void cancel_all(int descriptor) noexcept;

  static constinit std::mutex all_lock; // guards the list
  static constinit uring_source* all;
  [[nodiscard]] uring_source* next() const noexcept { return next_; }

 private:
  template <class Fill>
  void submit(Fill fill) noexcept;
  void submit_locked() noexcept;
  void await_cancelled() noexcept;
  [[nodiscard]] int fly(const request& r, bool is_socket, descriptor_record* record, const limit& how_long,
                        bool& was_cancelled) noexcept;
  [[nodiscard]] int fly_past_hangup(const request& ready, descriptor_record* record, const limit& how_long,
                                    bool& was_cancelled) noexcept;
  [[nodiscard]] int await(flight& f, const limit& how_long) noexcept;

  io_uring ring_;
  std::mutex submit_lock_;
  std::atomic<bool> has_refused_{false}; // the kernel left some of what was submitted
  base::spin_lock reap_lock_;
  epoll_set set_;
  std::atomic<unsigned> in_flight_{0};
  uring_source* next_ = nullptr;
};

constinit std::mutex uring_source::all_lock;
constinit uring_source* uring_source::all = nullptr;

// What a poll for `asked` has seen: nothing of it, and no error either.
bool is_only_hangup(int seen, int asked) noexcept {
  return seen > 0 && (seen & (asked | POLLERR | POLLHUP | POLLNVAL)) == 0;
}

// An epoll instance that watches one descriptor, for a moment.
struct epoll_for_one {
  epoll_for_one() noexcept : descriptor(::epoll_create1(EPOLL_CLOEXEC)) {}
  epoll_for_one(const epoll_for_one&) = delete;
  epoll_for_one& operator=(const epoll_for_one&) = delete;
  ~epoll_for_one() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  // 0 or an errno.
  [[nodiscard]] int watch(int watched, std::uint32_t events) const noexcept {
    epoll_event e{};
    e.events = events;
    return descriptor >= 0 && ::epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &e) == 0 ? 0 : errno;
  }
  const int descriptor;
};

void fill(io_uring_sqe* s, const request& r, bool is_socket, msghdr& message) noexcept {
  const bool one = r.buffer_count == 1;
  switch (r.what) {
  case operation::read:
    return one ? io_uring_prep_read(
                     s, r.descriptor, r.buffers->iov_base,
                     static_cast<unsigned>(std::min<std::size_t>(r.buffers->iov_len, 1U << 30)),
                     static_cast<std::uint64_t>(r.offset))
               : io_uring_prep_readv(s, r.descriptor, r.buffers, static_cast<unsigned>(r.buffer_count),
                                     static_cast<std::uint64_t>(r.offset));
  case operation::write:
    if (is_socket) { // without SIGPIPE
      message.msg_iov = const_cast<iovec*>(r.buffers);
      message.msg_iovlen = static_cast<std::size_t>(r.buffer_count);
      return io_uring_prep_sendmsg(s, r.descriptor, &message, MSG_NOSIGNAL);
    }
    return io_uring_prep_writev(s, r.descriptor, r.buffers, static_cast<unsigned>(r.buffer_count),
                                static_cast<std::uint64_t>(r.offset));
  case operation::receive:
    return io_uring_prep_recv(s, r.descriptor, r.buffers->iov_base, r.buffers->iov_len, r.flags);
  case operation::send:
    return io_uring_prep_send(s, r.descriptor, r.buffers->iov_base, r.buffers->iov_len,
                              r.flags | MSG_NOSIGNAL);
  case operation::accept:
    return io_uring_prep_accept(s, r.descriptor, r.address, r.length, r.flags);
  case operation::connect:
    return io_uring_prep_connect(s, r.descriptor, r.address, r.address_size);
  case operation::poll:
    return io_uring_prep_poll_add(s, r.descriptor, static_cast<unsigned>(r.flags));
  case operation::open:
    return io_uring_prep_openat(s, AT_FDCWD, r.path, r.flags, r.mode);
  case operation::sync:
    return io_uring_prep_fsync(s, r.descriptor, 0);
  case operation::sync_data:
    return io_uring_prep_fsync(s, r.descriptor, IORING_FSYNC_DATASYNC);
  }
}

// Those that are likely to find what they want at once are tried first: the kernel then need not be told
// where to put the answer. A read is likely to wait, and the ring tries it as well.
bool is_tried_first(operation what) noexcept {
  return what == operation::write || what == operation::send;
}

uring_source::uring_source(const io_uring& ring) : ring_(ring) {
  if (const int error = set_.add(ring.ring_fd, EPOLLIN, 0); error != 0)
    throw std::system_error(error, std::system_category(), "weft: idle workers cannot wait for a ring");
  const std::scoped_lock held(all_lock);
  next_ = std::exchange(all, this);
}

uring_source::~uring_source() {
  {
    const std::scoped_lock held(all_lock);
    uring_source** at = &all;
    while (*at != this)
      at = &(*at)->next_;
    *at = next_;
  }
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
  set_.abandon();
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
    poll();
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
    set_.bell().ring();
}

int uring_source::poll() {
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
  epoll_event events[2];
  set_.wait(events, 2, until); // what there is, poll() finds
}

int uring_source::await(flight& f, const limit& how_long) noexcept {
  int error = 0;
  {
    sync::held_lock held(f.lock);
    if (f.is_done)
      return 0;
    sync::waiter w;
    try {
      // SWITCH: may resume on another worker
      switch (f.waiters.wait(held, w, how_long.until(), how_long.stop())) {
      case sync::wait_result::notified:
        return 0;
      case sync::wait_result::timed_out:
        error = ETIMEDOUT;
        break;
      case sync::wait_result::stopped:
        error = ECANCELED;
        break;
      }
    } catch (const std::system_error& e) {
      error = e.code().value();
    } catch (const std::bad_alloc&) {
      error = ENOMEM;
    }
    if (f.is_done)
      return 0;
  }
  submit([&f](io_uring_sqe* s) {
    io_uring_prep_cancel(s, &f, 0);
    io_uring_sqe_set_data(s, nullptr);
  });
  poll();
  sync::held_lock held(f.lock);
  if (!f.is_done) {
    sync::waiter w;
    static_cast<void>(f.waiters.wait(held, w, sched::no_deadline, {})); // SWITCH: may resume elsewhere
  }
  return error;
}

// One trip through the ring. `was_cancelled`: by somebody else, or by the end of the kernel thread that
// handed it in.
int uring_source::fly(const request& r, bool is_socket, descriptor_record* record, const limit& how_long,
                      bool& was_cancelled) noexcept {
  if (const int injected = os::fault(os::fault_site::interrupted)) {
    if (r.what == operation::connect) // which goes on
      static_cast<void>(start_connect(r));
    return -injected;
  }
  flight f;
  msghdr message{};
  in_flight_.fetch_add(1, std::memory_order_release); // release: pairs with the acquire in poll()
  if (record != nullptr)
    record->begin_flight();
  submit([&](io_uring_sqe* s) {
    fill(s, r, is_socket, message);
    io_uring_sqe_set_data(s, &f);
  });
  poll();
  const int error = await(f, how_long); // SWITCH: may resume on another worker
  if (record != nullptr)
    record->end_flight();
  was_cancelled = f.result == -ECANCELED && error == 0;
  return error != 0 && (f.result == -ECANCELED || f.result == -EINTR) ? -error : f.result;
}

// A ring's poll also ends when the peer will send no more (POLLRDHUP), asked for or not, and would at once
// each time. An epoll instance tells of what is asked only, and the ring polls that.
int uring_source::fly_past_hangup(const request& ready, descriptor_record* record, const limit& how_long,
                                  bool& was_cancelled) noexcept {
  const epoll_for_one only;
  if (const int error = only.watch(ready.descriptor, static_cast<std::uint32_t>(ready.flags)); error != 0)
    return -error;
  request outer = ready;
  outer.descriptor = only.descriptor;
  outer.flags = POLLIN;
  return fly(outer, false, record, how_long, was_cancelled);
}

// What connect(2) says when an earlier trip has begun it: it goes on after a signal, after the end of the
// kernel thread that handed it in, and where O_NONBLOCK is set.
int result_of_begun_connect(int result) noexcept {
  return result == -EALREADY ? -EINPROGRESS : result == -EISCONN ? 0 : result;
}

int uring_source::perform(const request& r, const limit& how_long) noexcept {
  try {
    sched::require_thread("waiting for I/O");
  } catch (const std::system_error&) { // a tasklet: what can be done without waiting
    hints none;
    const int result = attempt(r, none);
    return result == -EAGAIN || result == -EINPROGRESS ? -EPERM : result;
  }
  const bool has_descriptor = r.what != operation::open;
  descriptor_record* const record = has_descriptor ? record_of(r.descriptor) : nullptr;
  if (has_descriptor && record == nullptr)
    return r.descriptor < 0 ? -EBADF : -ENOMEM;
  const std::uint32_t generation = record != nullptr ? record->generation() : 0;
  hints known = record != nullptr ? record->known() : hints{};
  bool try_first = is_tried_first(r.what) || how_long.until() == 0;
  bool is_again = false;
  bool has_begun = false;     // a connect(2), by an earlier trip
  bool is_connecting = false; // and it goes on
  request ready = r; // to wait for what is nonblocking: the kernel does not wait for that otherwise
  ready.what = operation::poll;
  ready.flags = events_of(r);
  for (int result = 0;;) {
    if (try_first && !is_connecting && result != -EINTR) { // a trip that a signal ended is made again
      result = attempt(r, known);
      if (has_begun)
        result = result_of_begun_connect(result);
      is_connecting = result == -EINPROGRESS;
      if (result != -EAGAIN && !is_connecting)
        return result;
      if (how_long.until() == 0 && !is_file(r.descriptor))
        return -ETIMEDOUT;
    }
    bool was_cancelled = false;
    const bool is_socket = r.offset == -1 && !known.no_socket;
    const bool waits_only = is_connecting || (try_first && is_again);
    result = fly(waits_only ? ready : r, is_socket, record, how_long, was_cancelled);
    if ((waits_only || r.what == operation::poll) && is_only_hangup(result, ready.flags)) {
      result = fly_past_hangup(ready, record, how_long, was_cancelled);
      if (result >= 0 && !waits_only) { // what of it, the epoll instance did not say
        try_first = true;
        continue;
      }
    }
    if (record != nullptr && record->generation() != generation && (was_cancelled || result == -EBADF))
      return -EBADF;
    if (is_connecting && result >= 0)
      return finish_connect(r.descriptor);
    if (has_begun)
      result = result_of_begun_connect(result);
    has_begun = r.what == operation::connect;
    if (result == -EINPROGRESS) {
      is_connecting = true;
    } else if (result == -EAGAIN) { // O_NONBLOCK is set
      try_first = true;
      is_again = true;
    } else if (was_cancelled || result == -EINTR || (waits_only && result >= 0)) {
      is_again = is_again || waits_only;
    } else {
      return result;
    }
  }
}

void uring_source::cancel_all(int descriptor) noexcept {
  submit([descriptor](io_uring_sqe* s) {
    io_uring_prep_cancel_fd(s, descriptor, IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data(s, nullptr);
  });
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

void cancel_in_rings(int descriptor) noexcept {
  const std::scoped_lock held(uring_source::all_lock);
  for (uring_source* s = uring_source::all; s != nullptr; s = s->next())
    s->cancel_all(descriptor);
}

void forget_rings() noexcept {
  ::new (static_cast<void*>(&uring_source::all_lock)) std::mutex;
  uring_source::all = nullptr;
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
