// SPDX-License-Identifier: MIT
#include "front/openmp/work_share.hpp"

#include "front/openmp/team.hpp"

#include <algorithm>

namespace weft::openmp {
namespace {

constexpr std::size_t spares_kept = 4;
// Above this many iterations a counter that each thread adds a chunk to could come round.
constexpr std::uint64_t counts_up_to = std::uint64_t{1} << 40;

std::uint64_t ceiling(std::uint64_t n, std::uint64_t by) noexcept {
  return n / by + (n % by != 0 ? 1 : 0);
}

std::uint64_t round_up(std::uint64_t n, std::uint64_t to) noexcept {
  return to == 1 ? n : ceiling(n, to) * to;
}

} // namespace

// Differences are taken without sign, so that those between any two values of the type are right.
iteration_space iteration_space::of(long start, long end, long step) noexcept {
  const auto a = static_cast<std::uint64_t>(start);
  const auto b = static_cast<std::uint64_t>(end);
  const auto by = static_cast<std::uint64_t>(step);
  std::uint64_t n = 0;
  if (step > 0 && end > start)
    n = ceiling(b - a, by);
  else if (step < 0 && end < start)
    n = ceiling(a - b, ~by + 1);
  return {a, by, b, n};
}

iteration_space iteration_space::of(bool up, unsigned long long start, unsigned long long end,
                                    unsigned long long step) noexcept {
  std::uint64_t n = 0;
  if (up && end > start)
    n = ceiling(end - start, step);
  else if (!up && end < start)
    n = ceiling(start - end, ~step + 1);
  return {start, step, end, n};
}

void work_share::renew() noexcept {
  next.store_relaxed(nullptr); // relaxed, all: nobody else knows it
  passed.store_relaxed(0);
  taken.store_relaxed(0);
  ordered_until.store_relaxed(0);
  copied = nullptr;
  is_ordered = false;
  multiple = 1;
  reductions = nullptr;
  across.reset();
  memory.reset();
}

work_share& take_share(thread& t) {
  if (t.spare_shares.empty())
    return *new work_share;
  work_share& s = *t.spare_shares.back();
  t.spare_shares.pop_back();
  s.renew();
  return s;
}

void give_share(thread& t, work_share& s) noexcept {
  s.across.reset();
  s.memory.reset();
  if (t.spare_shares.size() >= spares_kept) {
    delete &s;
    return;
  }
  t.spare_shares.push_back(&s); // has room: reserved by the thread's constructor
}

void leave_share(thread& t, work_share* next) noexcept {
  work_share& left = *t.at.share;
  team& in = *t.at.team;
  t.at.share = next;
  // acq_rel: the last one has all that the others did there behind it
  if (left.passed.fetch_add_acq_rel(1) + 1 == in.size && &left != &in.first_share)
    give_share(t, left);
}

bool take_static(thread& t, chunk& c) noexcept {
  work_share& s = *t.at.share;
  const std::uint64_t threads = t.at.team->size;
  const std::uint64_t me = t.at.number;
  const std::uint64_t n = s.space.count;
  if (s.chunk_size == 0) { // one chunk each, whose sizes differ by 1 at most
    if (t.at.trip++ != 0)
      return false;
    if (s.multiple != 1) {
      const std::uint64_t size = round_up(ceiling(n, threads), s.multiple);
      c.low = std::min(me * size, n);
      c.high = std::min(c.low + size, n);
      return c.low < c.high;
    }
    const std::uint64_t each = n / threads;
    const std::uint64_t rest = n % threads;
    c.low = me * each + std::min(me, rest);
    c.high = c.low + each + (me < rest ? 1 : 0);
    return c.low < c.high;
  }
  const std::uint64_t number = t.at.trip * threads + me;
  if (n == 0 || number > (n - 1) / s.chunk_size)
    return false;
  ++t.at.trip;
  c.low = number * s.chunk_size;
  c.high = c.low + std::min(s.chunk_size, n - c.low);
  return true;
}

// relaxed, here and below: the counter hands out numbers, and publishes nothing.
bool take_dynamic(work_share& s, chunk& c) noexcept {
  const std::uint64_t n = s.space.count;
  const std::uint64_t size = std::clamp<std::uint64_t>(s.chunk_size, 1, n);
  std::uint64_t low = s.taken.load_relaxed();
  if (low >= n)
    return false;
  if (n <= counts_up_to) {
    low = s.taken.fetch_add_relaxed(size);
    if (low >= n)
      return false;
  } else {
    while (!s.taken.cas_weak_relaxed(low, low + std::min(size, n - low))) {
      if (low >= n)
        return false;
    }
  }
  c = {low, low + std::min(size, n - low)};
  return true;
}

bool take_guided(work_share& s, unsigned threads, chunk& c) noexcept {
  const std::uint64_t n = s.space.count;
  std::uint64_t low = s.taken.load_relaxed();
  std::uint64_t size = 0;
  do {
    if (low >= n)
      return false;
    const std::uint64_t left = n - low;
    size = std::max(ceiling(left, threads), std::max<std::uint64_t>(s.chunk_size, 1));
    size = std::min(round_up(size, s.multiple), left);
  } while (!s.taken.cas_weak_relaxed(low, low + size));
  c = {low, low + size};
  return true;
}

bool take(thread& t, chunk& c) noexcept {
  work_share& s = *t.at.share;
  switch (s.kind) {
  case schedule::dynamic:
    return take_dynamic(s, c);
  case schedule::guided:
    return take_guided(s, t.at.team->size, c);
  default:
    return take_static(t, c);
  }
}

// Turns are numbers of iterations: the turn of a chunk has come when all before its first one are over.
void await_turn(thread& t) {
  if (!t.at.has_chunk)
    return;
  const work_share& s = *t.at.share;
  const std::uint64_t low = t.at.low;
  if (s.ordered_until.load_acquire() >= low) // pairs with the release in end_turn()
    return;
  await(t, helping::none, [&s, low] { return s.ordered_until.load_acquire() >= low; }); // SWITCH: may resume
}

void begin_ordered(thread& t) {
  if (!tool::is_on) [[likely]]
    return await_turn(t);                         // SWITCH: may resume on another worker
  const void* const of = &t.at.team->first_share; // one turn at a time in each team
  tool::acquires(t, tool::mutex::ordered, of);
  await_turn(t); // SWITCH: may resume on another worker
  tool::acquired(t, tool::mutex::ordered, of);
}

void end_ordered(thread& t) {
  tool::released(t, tool::mutex::ordered, &t.at.team->first_share);
}

namespace {

void end_turn(thread& t) {
  if (!t.at.has_chunk)
    return;
  await_turn(t);
  t.at.has_chunk = false;
  t.at.share->ordered_until.store_release(t.at.high); // pairs with the acquire in await_turn()
  t.at.team->wake_all();
}

} // namespace

bool take_ordered(thread& t, chunk& c) {
  end_turn(t); // SWITCH: may resume on another worker
  if (!take(t, c))
    return false;
  t.at.low = c.low;
  t.at.high = c.high;
  t.at.has_chunk = true;
  return true;
}

// --- doacross ---

std::uint64_t doacross::flat(const std::uint64_t* numbers) const noexcept {
  std::uint64_t at = 0;
  for (unsigned i = 1; i < dimensions; ++i)
    at = at * counts[i] + numbers[i];
  return at;
}

void start_doacross(work_share& s, unsigned dimensions, const std::uint64_t* counts) {
  auto d = std::make_shared<doacross>();
  d->dimensions = dimensions;
  d->counts = std::make_unique<std::uint64_t[]>(dimensions);
  std::copy_n(counts, dimensions, d->counts.get());
  d->posted = std::make_unique<door::atomic<std::uint64_t>[]>(counts[0]);
  s.across = std::move(d);
}

// What is posted of an outermost iteration grows: its inner ones run in order.
void post_doacross(thread& t, const doacross& d, const std::uint64_t* numbers) {
  if (numbers[0] >= d.counts[0])
    return;
  d.posted[numbers[0]].store_release(d.flat(numbers) + 1); // pairs with the acquire in await_doacross()
  t.at.team->wake_all();
}

void await_doacross(thread& t, const doacross& d, const std::uint64_t* numbers) {
  if (numbers[0] >= d.counts[0])
    return;
  const door::atomic<std::uint64_t>& posted = d.posted[numbers[0]];
  const std::uint64_t least = d.flat(numbers) + 1;
  if (posted.load_acquire() >= least) // pairs with the release in post_doacross()
    return;
  await(t, helping::none, [&posted, least] { return posted.load_acquire() >= least; }); // SWITCH: may resume
}

} // namespace weft::openmp
