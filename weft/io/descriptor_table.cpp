// SPDX-License-Identifier: MIT
#include "weft/io/descriptor_table.hpp"

#include "weft/os/own_heap.hpp"
#include "weft/sched/switch.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>

namespace weft::io {
namespace {

// Two levels: Linux hands out the lowest free number, so the first chunk is all that most programs need.
// Numbers end at 2^30 (fs.nr_open's limit), of which the first 64 Mi have a place here.
constexpr unsigned chunk_bits = 10;
constexpr unsigned chunk_size = 1U << chunk_bits;
constexpr unsigned chunk_count = 1U << 16;

struct give_back {
  void operator()(descriptor_record* records) const noexcept {
    os::own_free(records, chunk_size * sizeof *records);
  }
};
using chunk = std::unique_ptr<descriptor_record[], give_back>;

// Not from malloc: handlers of signals adopt descriptors. Null: out of memory.
chunk make_chunk() noexcept {
  void* const room = os::own_allocate(chunk_size * sizeof(descriptor_record));
  return chunk(room != nullptr ? ::new (room) descriptor_record[chunk_size] : nullptr);
}
static_assert(std::is_trivially_destructible_v<descriptor_record>);

// In pages of zeros that are not there until used.
constinit std::atomic<descriptor_record*> chunks[chunk_count];

std::atomic<descriptor_record*>* place_of(int descriptor) noexcept {
  const auto number = static_cast<unsigned>(descriptor);
  return descriptor < 0 || number >> chunk_bits >= chunk_count ? nullptr : &chunks[number >> chunk_bits];
}

} // namespace

descriptor_record* known_record_of(int descriptor) noexcept {
  const auto* place = place_of(descriptor);
  descriptor_record* known = place != nullptr ? place->load(std::memory_order_acquire) : nullptr;
  return known != nullptr ? &known[static_cast<unsigned>(descriptor) % chunk_size] : nullptr;
}

descriptor_record* record_of(int descriptor) noexcept {
  if (descriptor_record* known = known_record_of(descriptor)) [[likely]]
    return known;
  auto* place = place_of(descriptor);
  if (place == nullptr)
    return nullptr;
  chunk fresh = make_chunk();
  if (fresh == nullptr)
    return nullptr;
  descriptor_record* first = nullptr;
  // acq_rel: publishes the records; pairs with the acquire in known_record_of()
  if (place->compare_exchange_strong(first, fresh.get(), std::memory_order_acq_rel,
                                     std::memory_order_acquire))
    first = fresh.release();
  return &first[static_cast<unsigned>(descriptor) % chunk_size];
}

void disown_records(unsigned first, unsigned last) noexcept {
  last = std::min(last, chunk_count * chunk_size - 1);
  for (unsigned number = first; number <= last;) {
    descriptor_record* const record = known_record_of(static_cast<int>(number));
    if (record != nullptr)
      record->disown();
    number = record != nullptr ? number + 1 : (number | (chunk_size - 1)) + 1; // else the next chunk
  }
}

bool anybody_waits() noexcept {
  for (const auto& place : chunks) {
    const descriptor_record* const records = place.load(std::memory_order_acquire);
    if (records != nullptr &&
        std::any_of(records, records + chunk_size, [](const auto& one) { return one.has_waiters(); }))
      return true;
  }
  return false;
}

void forget_descriptors() noexcept {
  for (auto& place : chunks) {
    if (place.load(std::memory_order_relaxed) != nullptr)
      place.store(nullptr, std::memory_order_relaxed); // leaked: those who wait are gone, not their waits
  }
}

int descriptor_record::wait(direction d, std::uint32_t seen, std::uint32_t generation, const limit& how_long,
                            bool& was_woken, const unit::wait_record& why) noexcept {
  was_woken = false;
  try {
    if (sched::on_worker())
      sched::require_thread("waiting for I/O");
    side& mine = of(d);
    sync::held_lock held(lock_);
    if (generation_.load_relaxed() != generation) // relaxed: the lock orders it
      return EBADF;
    if (mine.edges.load_relaxed() != seen) // (D2)
      return 0;
    sync::waiter w(why);
    // SWITCH: may resume on another worker
    switch (mine.waiters.wait(held, w, how_long.until(), how_long.stop())) {
    case sync::wait_result::timed_out:
      return ETIMEDOUT;
    case sync::wait_result::stopped:
      return ECANCELED;
    case sync::wait_result::notified:
      break;
    }
    was_woken = true;
    return generation_.load_acquire() == generation ? 0 : EBADF;
  } catch (const std::system_error& e) {
    return e.code().value();
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

void descriptor_record::pass_on(direction d) noexcept {
  if (of(d).waiters.looks_empty()) // RACY: who comes later than this look tries before it waits
    return;
  const std::scoped_lock held(lock_);
  of(d).waiters.notify_one();
}

void descriptor_record::edge(bool in, bool out, bool ends, std::uint32_t generation) noexcept {
  const std::scoped_lock held(lock_);
  if (generation_.load_relaxed() != generation)
    return; // of one that is closed
  if (ends)
    short_reads_.store_relaxed(short_reads::tell_nothing); // before the count: who reads after it sees both
  if (in) {
    of(direction::in).count();
    of(direction::in).waiters.notify_one();
  }
  if (out) {
    of(direction::out).count();
    of(direction::out).waiters.notify_one();
  }
  of(direction::any).count();
  of(direction::any).waiters.notify_all();
}

void descriptor_record::wake_all() noexcept {
  const std::scoped_lock held(lock_);
  for (side& s : sides_) {
    s.count();
    s.waiters.notify_all();
  }
}

namespace {

bool is_tcp(int descriptor) noexcept {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         (domain == AF_INET || domain == AF_INET6) &&
         ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

} // namespace

void descriptor_record::found_drained(int descriptor, std::uint32_t seen) noexcept {
  if (!is_ours())
    return; // it may be another by now
  if (short_reads_.load_relaxed() == short_reads::unknown) {
    auto expected = short_reads::unknown;
    short_reads_.cas_strong_acq_rel(expected,
                                    is_tcp(descriptor) ? short_reads::drain : short_reads::tell_nothing);
  }
  // After `seen` was read with acquire: an edge up to then that told of an end is seen here.
  if (short_reads_.load_relaxed() == short_reads::drain)
    drained_.store_relaxed(drained_mark | seen);
}

void descriptor_record::begin_generation(bool is_ours) noexcept {
  const std::scoped_lock held(lock_);
  generation_.store_release(generation_.load_relaxed() + 1);
  registered_.store_release(0);
  ours_.store_relaxed(is_ours);
  nonblocking_.store_relaxed(false);
  no_socket_.store_relaxed(false);
  short_reads_.store_relaxed(short_reads::unknown);
  drained_.store_relaxed(0);
  for (side& s : sides_)
    s.waiters.notify_all();
}

void descriptor_record::set_registered(std::uint32_t source, std::uint32_t generation) noexcept {
  const std::scoped_lock held(lock_);
  if (generation_.load_relaxed() == generation)
    registered_.store_release(source);
}

} // namespace weft::io
