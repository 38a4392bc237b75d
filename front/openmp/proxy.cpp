// SPDX-License-Identifier: MIT
#include "front/openmp/proxy.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/dependence.hpp"
#include "front/openmp/engine.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/team.hpp"
#include "weft/door/own_thread.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"
#include "weft/door/workers.hpp"
#include "weft/preemption.hpp"

#include <new>
#include <system_error>

namespace weft::openmp {
namespace {

/// *Ownership*: who took it from the list, until it gives it back; it lives as long as the process. While it
/// has no job it sleeps in its bed.
/// *Ordering*: (X1) `asked` and `answered` are published by a release each, with a full fence before the look
/// for the one who sleeps (B2).
class proxy {
 public:
  proxy();
  void call(thread& t, void (*job)(thread&, void*), void* argument);

  proxy* next = nullptr; // in the list

 private:
  static void live(void* self_as_proxy) noexcept;

  thread who_;
  contention_group group_;
  void (*job_)(thread&, void*) = nullptr;
  void* argument_ = nullptr;
  door::atomic<std::uint32_t> asked_{0};
  door::atomic<std::uint32_t> answered_{0};
  bed bed_of_asker_;
};

struct proxy_list {
  door::spin_lock lock;
  proxy* first = nullptr;
};

proxy_list& idle_proxies() noexcept {
  return door::immortal<proxy_list>();
}

// --- a proxy ---

proxy::proxy() {
  who_.group = &group_;
  const errno_kept as_it_was;
  door::detach_own_thread(door::start_own_thread(engine::of_process().shared_pool(),
                                                 {.stack_size = stack_bytes(),
                                                  .preemption = preemption::bound_tls,
                                                  .workers = processors(),
                                                  .name = "omp proxy"},
                                                 &live, this));
}

void proxy::live(void* self_as_proxy) noexcept {
  proxy& p = *static_cast<proxy*>(self_as_proxy);
  self = &p.who_;
  p.who_.runs_on_own_variables = door::calls_on_own_variables();
  if (tool::is_on)
    tool::thread_begins(p.who_);
  for (std::uint32_t seen = 0;; ++seen) {
    const auto asked = [&p, seen] { return p.asked_.load_acquire() != seen; }; // pairs with call()
    while (!asked())
      p.who_.idle_bed.sleep(&p, asked); // SWITCH: may resume on another worker
    p.job_(p.who_, p.argument_);        // SWITCH: may resume on another worker
    p.answered_.store_release(seen + 1);
    door::full_fence(); // (B2)
    p.bed_of_asker_.wake(&p);
  }
}

void proxy::call(thread& t, void (*job)(thread&, void*), void* argument) {
  job_ = job;
  argument_ = argument;
  who_.current->icv = t.current->icv;
  who_.league = t.league;
  const std::uint32_t number = asked_.load_relaxed() + 1; // relaxed: the caller's to change
  asked_.store_release(number);                           // pairs with live()
  door::full_fence();                                     // (B2)
  who_.idle_bed.wake();
  const auto answered = [this, number] { return answered_.load_acquire() == number; }; // pairs with live()
  while (!answered())
    bed_of_asker_.sleep(this, answered); // SWITCH: may resume on another worker
}

proxy* take_proxy() {
  proxy_list& list = idle_proxies();
  {
    const locked held(list.lock);
    if (proxy* const p = list.first) {
      list.first = p->next;
      return p;
    }
  }
  if (!can_preempt(preemption::bound_tls))
    return nullptr;
  try {
    return new proxy;
  } catch (const std::system_error&) { // there are no more blocks
    return nullptr;
  }
}

void give_back(proxy& p) noexcept {
  proxy_list& list = idle_proxies();
  const locked held(list.lock);
  p.next = list.first;
  list.first = &p;
}

} // namespace

bool needs_a_proxy(const thread& t) noexcept {
  return t.is_initial && !t.runs_on_own_variables && door::calls_from_a_thread();
}

bool call_on_proxy(thread& t, void (*job)(thread&, void*), void* argument) {
  proxy* const p = take_proxy(); // SWITCH: may resume on another worker
  if (p == nullptr)
    return false;
  p->call(t, job, argument); // SWITCH: may resume on another worker
  give_back(*p);
  return true;
}

void forget_proxies() noexcept {
  ::new (static_cast<void*>(&idle_proxies())) proxy_list;
}

} // namespace weft::openmp
