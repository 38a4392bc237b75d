// SPDX-License-Identifier: MIT
// The shipped pools and what all pools share: attaching, and waking a worker that sleeps.
#include "weft/workers/pool.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <ranges>
#include <system_error>

#include "weft/carrier/kick.hpp"
#include "weft/carrier/runtime_section.hpp"
#include "weft/os/futex.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

// Attaching and detaching, of all pools, and their numbers: rare. On a line of its own, which no worker
// reads.
alignas(64) std::mutex attach_lock;

bool is_owner(const base::atomic<worker*>& owner) noexcept {
  return on_worker() && owner.load_relaxed() == &here();
}

// What a unit is while a container holds it; yield_to() relies on `ready` meaning that it has a stack.
void mark_contained(descriptor& u) noexcept {
  if (u.has_started()) {
    u.state.make_ready();
  } else {
    u.state.reset();
  }
}

bool in_container(const descriptor& u) noexcept {
  return u.state.load() == unit::state::ready || u.state.load() == unit::state::fresh;
}

descriptor* unit_of(queue::link* l) noexcept {
  return l != nullptr ? &descriptor::from(*l) : nullptr;
}

unsigned level_index(const descriptor& u) noexcept {
  return static_cast<unsigned>(u.level - unit::first_level);
}

// Room for `more` elements, so that adding them cannot fail.
template <class T>
void make_room(std::vector<T>& in, std::size_t more) {
  if (in.capacity() < in.size() + more)
    in.reserve(std::max(in.size() + more, 2 * in.capacity()));
}

// Empties an inbox, oldest first.
template <class Insert>
void take_inbox(queue::mpsc_inbox& inbox, Insert insert) noexcept {
  queue::intrusive_fifo arrived;
  if (!inbox.take_into(arrived))
    return;
  while (queue::link* l = arrived.pop_front())
    insert(descriptor::from(*l));
}

// Whether an owned pool's container holds `u`, once its inbox has been looked into: only its owner can tell.
bool owner_finds(pool& p, descriptor& u, worker* here) noexcept {
  if (here == nullptr || here != p.owner() || u.own_pool != &p)
    return false;
  if (u.state.load() == unit::state::posted)
    p.drain(*here);
  return in_container(u);
}

} // namespace

void lock_attaching() noexcept {
  attach_lock.lock();
}
void unlock_attaching() noexcept {
  attach_lock.unlock();
}

// Who has just pushed the unit whose end lets a user free the pool may still look whom to wake.
pool::~pool() {
  servers_.store_release(nullptr);
}

void pool::push(descriptor& u) {
  const runtime_section in;
  push_inside(u);
}

void pool::drain(worker&) {}

void pool::notify_owner() noexcept {
  worker* w = owner();
  if (w == nullptr)
    return;
  if (w->attention.any_relaxed(worker_has_classes)) [[unlikely]]
    kick_owner(*w);
  w->ask(inbox_waiting); // GONE: *w, if the unit was all that its group waited for
}

void pool::attach(worker& w, bool as_main) {
  std::lock_guard held(attach_lock);
  if (single_consumer() && !attached_.empty() && attached_.front() != &w) {
    throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                            "weft: this pool has a single consumer and serves another worker already");
  }
  // All memory first, also that of the detach() to come, which may not fail.
  auto now = std::make_unique<server_list>();
  auto later = std::make_unique<server_list>();
  later->reserve(attached_.size());
  now->reserve(attached_.size() + 1);
  make_room(attached_, 1);
  make_room(spare_lists_, 1);
  make_room(server_lists_, spare_lists_.size() + 2);
  attached_.push_back(&w);
  spare_lists_.push_back(std::move(later));
  if (owner() == nullptr && (as_main || fast_ != fast_path::deque)) {
    owner_.store_release(&w);
    w.ask(inbox_waiting); // what was pushed while nobody owned the pool has told nobody
  }
  publish_servers(std::move(now));
}

void pool::set_default_technique(unit::technique_id t) {
  if (static_cast<unsigned>(t) >= unit::technique_count) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: no such threading technique");
  }
  default_technique_.store_relaxed(static_cast<std::uint8_t>(t));
  if (on_worker() && here().hot == this)
    here().refresh_births();
  std::lock_guard held(attach_lock);
  for (worker* w : attached_)
    w->call(refresh_waiting);
}

void pool::detach(worker& w) noexcept {
  std::lock_guard held(attach_lock);
  auto it = std::find(attached_.begin(), attached_.end(), &w);
  if (it == attached_.end())
    return;
  attached_.erase(it);
  const bool still = std::find(attached_.begin(), attached_.end(), &w) != attached_.end();
  if (owner() == &w && !still) {
    // A deque belongs to the worker that made it its first pool; a shared pool passes on.
    owner_.store_release(fast_ == fast_path::deque || attached_.empty() ? nullptr : attached_.front());
  }
  publish_servers(take_spare_list());
}

std::unique_ptr<pool::server_list> pool::take_spare_list() noexcept {
  auto list = std::move(spare_lists_.back());
  spare_lists_.pop_back();
  return list;
}

void pool::publish_servers(std::unique_ptr<server_list> list) noexcept {
  list->assign(attached_.begin(), attached_.end());
  servers_.store_release(list.get()); // release: pairs with the acquire in wake_one()
  server_lists_.push_back(std::move(list));
}

void pool::wake_one() noexcept {
  if (const server_list* workers = servers())
    park::choose_sleeper(*workers | std::views::transform([](worker* w) {
      return &w->parking.spot;
    })).finish();
}

// --- owned_fifo ---

void owned_fifo::insert(descriptor& u) noexcept {
  mark_contained(u);
  if (here().timing.waking) [[unlikely]]
    list_.list.push_front(&u.link);
  else
    list_.list.push_back(&u.link);
}

void owned_fifo::do_push(descriptor& u) {
  if (is_owner(owner_))
    return insert(u);
  u.state.post();
  inbox_.push(&u.link); // GONE: the owner may run it now
  notify_owner();
}

void owned_fifo::drain(worker&) {
  take_inbox(inbox_, [this](descriptor& u) { insert(u); });
}

descriptor* owned_fifo::do_pop(worker& here) {
  if (list_.list.empty())
    drain(here);
  return unit_of(list_.list.pop_front());
}

bool owned_fifo::do_remove(descriptor& u, worker* here) {
  if (!owner_finds(*this, u, here))
    return false;
  list_.list.remove(&u.link);
  return true;
}

bool owned_fifo::empty() const noexcept {
  return list_.list.empty() && inbox_.empty();
}

// RACY for all but the owner, who is the only one to walk the list.
std::size_t owned_fifo::size() const noexcept {
  return (is_owner(owner_) ? list_.list.size() : std::size_t{!list_.list.empty()}) +
         std::size_t{!inbox_.empty()};
}

// --- owned_ordered ---

void owned_ordered::insert(descriptor& u) noexcept {
  mark_contained(u);
  if (order_ == order::priority) {
    buckets_.push_back(&u.link, level_index(u));
  } else {
    list_.push_front(&u.link);
  }
}

void owned_ordered::do_push(descriptor& u) {
  if (is_owner(owner_))
    return insert(u);
  u.state.post();
  inbox_.push(&u.link); // GONE: the owner may run it now
  notify_owner();
}

void owned_ordered::drain(worker&) {
  take_inbox(inbox_, [this](descriptor& u) { insert(u); });
}

descriptor* owned_ordered::do_pop(worker& here) {
  if (!inbox_.empty())
    drain(here);
  return unit_of(order_ == order::priority ? buckets_.pop_front() : list_.pop_front());
}

descriptor* owned_ordered::do_pop_oldest(worker& here) {
  if (order_ == order::priority)
    return do_pop(here);
  if (!inbox_.empty())
    drain(here);
  return unit_of(list_.pop_back());
}

bool owned_ordered::do_remove(descriptor& u, worker* here) {
  if (!owner_finds(*this, u, here))
    return false;
  if (order_ == order::priority) {
    buckets_.remove(&u.link, level_index(u));
  } else {
    list_.remove(&u.link);
  }
  return true;
}

bool owned_ordered::empty() const noexcept {
  return list_.empty() && buckets_.empty() && inbox_.empty();
}

std::size_t owned_ordered::size() const noexcept {
  if (!is_owner(owner_))
    return std::size_t{!empty()};
  return (order_ == order::priority ? buckets_.size() : list_.size()) + std::size_t{!inbox_.empty()};
}

// --- shared_pool ---

namespace {

// Under attach_lock. Never destroyed: pools may outlive static objects.
constinit std::array<bool, 1U << 16> numbers_taken{};

} // namespace

container_number::container_number() : number_(0) {
  std::lock_guard held(attach_lock);
  const auto free = std::find(numbers_taken.begin() + 1, numbers_taken.end(), false);
  if (free == numbers_taken.end())
    return;
  *free = true;
  number_ = static_cast<std::uint16_t>(free - numbers_taken.begin());
}

container_number::~container_number() {
  if (number_ == 0)
    return;
  std::lock_guard held(attach_lock);
  numbers_taken[number_] = false;
}

void shared_pool::do_push(descriptor& u) {
  mark_contained(u);
  switch (order_) {
  case order::fifo:
    if (on_worker() && here().timing.waking)
      list_.push_front(&u.link);
    else
      list_.push_back(&u.link);
    break;
  case order::lifo:
    list_.push_front(&u.link);
    break;
  case order::priority:
    buckets_.push_back(&u.link, level_index(u));
    break;
  }
}

descriptor* shared_pool::do_pop(worker&) {
  return unit_of(order_ == order::priority ? buckets_.pop_front() : list_.pop_front());
}

descriptor* shared_pool::do_pop_oldest(worker& here) {
  return order_ == order::lifo ? unit_of(list_.pop_back()) : do_pop(here);
}

bool shared_pool::do_remove(descriptor& u, worker*) {
  // Units of this pool may be between pop and run, between push and insertion, or on their way to another
  // pool; the mark, which only changes under the lock, tells those that are in the list.
  if (order_ == order::priority || number_.get() == 0)
    return false;
  // relaxed: under the lock, but for marks of other pools, which are not ours whatever they are
  return list_.remove_if(&u.link, [&u, this] { return u.container.load_relaxed() == number_.get(); });
}

std::size_t shared_pool::size() const noexcept {
  return order_ == order::priority ? buckets_.size() : list_.size();
}

// --- deque_pool ---

// Its memory comes from the own heap, under a spin lock, and whoever makes a pool may be preemptible.
deque_pool::deque_pool(const group* family) : pool(access::mpmc, fast_path::deque) {
  const runtime_section in;
  sharing_ = family;
  deque_.emplace();
}

deque_pool::~deque_pool() {
  const runtime_section in;
  deque_.reset();
}

void deque_pool::do_push(descriptor& u) {
  mark_contained(u);
  if (is_owner(owner_)) {
    // Who wakes a thread cannot be told that there is no memory for a longer deque: the inbox needs none.
    if (!deque_->try_push_bottom(&u))
      inbox_.push_back(&u.link);
    return;
  }
  if (sharing_ != nullptr && owner() == nullptr) {
    // The worker was removed; its group takes the unit.
    sharing_->adopt(u);
    return;
  }
  inbox_.push_back(&u.link); // GONE: u may run already
  notify_owner();
  if (sharing_ == nullptr)
    return;
  base::light_fence(); // pairs with the heavy fence in group::remove_worker(): either that finds the unit, or
                       // we see no owner
  if (owner() != nullptr)
    return;
  while (queue::link* l = inbox_.pop_front())
    sharing_->adopt(descriptor::from(*l));
}

void deque_pool::drain(worker&) {
  queue::intrusive_fifo arrived;
  inbox_.pop_front_into(arrived, decision_budget);
  while (queue::link* l = arrived.pop_front()) {
    if (deque_->try_push_bottom(&descriptor::from(*l)))
      continue;
    // No memory for a longer deque: back, in the old order. Who finds the deque empty looks here.
    while (queue::link* younger = arrived.pop_back())
      inbox_.push_front(younger);
    inbox_.push_front(l);
    return;
  }
}

descriptor* deque_pool::do_pop(worker& here) {
  if (&here != owner())
    return do_steal(here);
  if (descriptor* u = deque_->pop_bottom())
    return u;
  return unit_of(inbox_.pop_front());
}

descriptor* deque_pool::do_steal(worker& thief) {
  ++thief.recording.counters.steal_attempts;
  if (auto taken = deque_->steal(); taken.item != nullptr)
    return taken.item;
  return unit_of(inbox_.pop_front());
}

descriptor* deque_pool::do_pop_oldest(worker& here) {
  if (&here != owner())
    return do_steal(here);
  if (descriptor* u = unit_of(inbox_.pop_front()))
    return u;
  return deque_->steal_top_by_owner();
}

bool deque_pool::empty() const noexcept {
  return deque_->empty() && inbox_.empty();
}

std::size_t deque_pool::size() const noexcept {
  return deque_->size() + inbox_.size();
}

std::unique_ptr<pool> make_pool(order o, access a) {
  const bool one_consumer = a <= access::mpsc;
  if (!one_consumer)
    return std::make_unique<shared_pool>(o, a);
  if (o == order::fifo)
    return std::make_unique<owned_fifo>(a);
  return std::make_unique<owned_ordered>(o, a);
}

} // namespace weft::sched
