// SPDX-License-Identifier: MIT
#include "weft/sync/mcs_mutex.hpp"
#include "weft/carrier/runtime_section.hpp"

#include "weft/arch/arch.hpp"
#include "weft/sched/switch.hpp"
#include "weft/sync/wait_told.hpp"

namespace weft::sync {
namespace {

/// The link that a thread is just about to set: two instructions of it are missing, unless its kernel thread
/// has lost the CPU.
template <class Node>
Node* await_link(const base::atomic<Node*>& link) noexcept {
  constexpr int looks_before_yield = 64;
  for (int looks = 0;; ++looks) {
    if (Node* const found = link.load_acquire()) { // (K4)
      return found;
    }
    if (looks < looks_before_yield) {
      arch::relax();
    } else {
      base::backend::yield_kernel_thread();
    }
  }
}

} // namespace

// True: waits in the queue. False: the mutex was free, the caller has it.
bool mcs_mutex::enqueue(waiting_node& n) noexcept {
  node* last = tail_.load_relaxed(); // relaxed: the swaps decide
  for (;;) {
    if (last == nullptr) {
      if (tail_.cas_weak_acquire(last, &head_)) { // (K1)
        return false;
      }
    } else if (tail_.cas_weak_acq_rel(last, &n)) {
      last->next.store_release(&n); // (K3)
      return true;
    }
  }
}

// The new owner takes its node out of the queue: head_ stands for it from now on.
void mcs_mutex::take_over(waiting_node& n) noexcept {
  node* successor = n.next.load_acquire(); // (K4)
  if (successor == nullptr) {
    head_.next.store_relaxed(nullptr); // relaxed: published by the swap
    node* expected = &n;
    if (tail_.cas_strong_acq_rel(expected, &head_)) {
      return;
    }
    successor = await_link(n.next);
  }
  head_.next.store_relaxed(successor); // relaxed: only the owner reads it while it is set
}

/// After a wake-up. True: the caller owns it. False: others have taken it, and the caller can wait once more.
bool mcs_mutex::accept(waiting_node& n) noexcept {
  do {
    n.calls.look(); // (O4)
    if (offer_.take()) {
      take_over(n);
      return true;
    }
    n.sleep.renew();
  } while (!n.calls.stand_by());
  return false;
}

void mcs_mutex::wait() {
  const sched::runtime_section in;
  if (sched::on_worker()) {
    sched::require_thread("mcs_mutex::lock");
  }
  waiting_node n;
  n.sleep.why = {unit::wait_kind::mcs_mutex, 0, this};
  if (enqueue(n)) {
    const wait_told told(this);
    do {
      n.sleep.wait(); // SWITCH: may resume on another worker
    } while (!accept(n));
  }
}

bool mcs_mutex::wait(sched::deadline until, const std::stop_token& stop) {
  const sched::runtime_section in;
  owner_.expect_other();
  if (has_passed(until)) {
    if (try_lock()) {
      return true;
    }
    let_others_run(); // SWITCH: may resume on another worker
    return try_lock();
  }
  if (sched::on_worker()) {
    sched::require_thread("mcs_mutex::lock");
  }
  auto n = std::make_unique<waiting_node>();
  n->sleep.why = {unit::wait_kind::mcs_mutex, 0, this};
  if (enqueue(*n)) {
    const wait_told told(this);
    do {
      if (!sleep(n, until, stop)) { // SWITCH: may resume on another worker
        return false;
      }
    } while (!accept(*n));
  }
  set_owner();
  return true;
}

/// False: given up, and the node let go.
bool mcs_mutex::sleep(std::unique_ptr<waiting_node>& n, sched::deadline until, const std::stop_token& stop) {
  try {
    if (n->sleep.wait(until, stop) == wait_result::notified) { // SWITCH: may resume on another worker
      return true;
    }
  } catch (...) {
    if (!n->sleep.decide(wait_result::stopped)) {
      return true; // somebody was faster, and what he has offered may not be lost
    }
    waiting_node::let_go()(n.release());
    throw;
  }
  waiting_node::let_go()(n.release());
  return false;
}

/// False: it has given up.
bool mcs_mutex::offer_to(waiting_node& n) noexcept {
  const auto publish = [this] { offer_.publish(); }; // GONE: *this and n, unless n sleeps
  head_.next.store_relaxed(&n);                      // relaxed: published by the offer
  offer_.prepare();
  if (!n.calls.call()) { // (O3) it will look
    publish();
    return true;
  }
  if (n.sleep.decide(wait_result::notified, publish)) {
    return true;
  }
  offer_.withdraw();
  return false;
}

void mcs_mutex::offer() noexcept {
  const sched::runtime_section in;
  sched::note_here(trace::event::lock_pass, this);
  auto* n = static_cast<waiting_node*>(await_link(head_.next));
  while (!offer_to(*n)) { // GONE: *n and *this, if true
    // It has given up. Its node leaves the queue, by the same steps as the owner's.
    const std::unique_ptr<waiting_node, waiting_node::let_go> given_up(n);
    node* successor = n->next.load_acquire(); // (K4)
    if (successor == nullptr) {
      head_.next.store_relaxed(nullptr); // relaxed: published by the swap
      node* expected = n;
      if (tail_.cas_strong_acq_rel(expected, nullptr)) { // (K2) GONE: *this
        return;
      }
      successor = await_link(n->next);
    }
    n = static_cast<waiting_node*>(successor);
  }
}

} // namespace weft::sync
