// SPDX-License-Identifier: MIT
#include "weft/door/own_thread.hpp"

#include "weft/door/preemptible.hpp"
#include "weft/door/request.hpp"
#include "weft/door/section.hpp"
#include "weft/door/stack.hpp"
#include "weft/preempt/made_blocks.hpp"

#include <new>

namespace weft::door {
namespace {

struct discarder; // stands for a function
using own_closure = closure<const discarder>;

void run(descriptor& u) {
  const own_closure& c = own_closure::of(u);
  c.function(c.argument);
}
void drop(descriptor& /*u*/) {}

// What discards is kept in its closure as it is: a pointer to a function for one to an object.
void discard(descriptor& u) {
  const own_closure& c = own_closure::of(u);
  if (const discarder* const kept = c.more.load(std::memory_order_relaxed)) // relaxed: set before its launch
    reinterpret_cast<void (*)(void*)>(reinterpret_cast<std::uintptr_t>(kept))(c.argument);
}

constexpr operations own{
    .run = &run, .drop = &drop, .name = nullptr, .discard = &discard, .name_at = closure_function_at};
constexpr operations gone{.run = &run, .drop = &drop, .name = nullptr};

} // namespace

descriptor& start_own_thread(weft::pool& own_pool, const own_thread_form& form, void (*function)(void*),
                             void* argument) {
  const runtime_section in;
  const bool preempts = form.preemption != weft::preemption::none;
  const thread_form f{.stack_size = form.stack_size + (preempts ? bytes_for_preemption() : 0)};
  descriptor& u = new_unit(own, own_pool, f.traits());
  own_closure::make_in(u, function, argument);
  own_closure::of(u).more.store(
      reinterpret_cast<const discarder*>(reinterpret_cast<std::uintptr_t>(form.discard)),
      std::memory_order_relaxed); // relaxed: its launch publishes it
  try {
    if (*form.name != '\0')
      unit::set_name(u, form.name);
    if (preempts)
      make_preemptible(u, form.preemption, form.workers); // SWITCH: may resume on another worker
    if (form.made != nullptr)
      *form.made = &u;
    launch(u, true, [&] { own_pool.push(u); });
  } catch (...) {
    make_cooperative_again(u);
    forget_new_unit(u, gone);
    throw;
  }
  return u;
}

void name_own_thread(descriptor& u, const char* name) noexcept {
  const runtime_section in;
  try {
    unit::set_name(u, name);
  } catch (const std::bad_alloc&) {
  }
}

void prepare_to_settle(descriptor& u) {
  const runtime_section in;
  prepare_migration(u);
}

bool settle_in(weft::pool& pool) noexcept {
  sched::user_mode& mode = sched::user_mode::behind(sched::here());
  if (mode.is_held())
    return false;
  const runtime_section in;
  bool replaced = false;
  static_cast<void>(request_migration(*sched::here().current, pool, nullptr, nullptr, replaced));
  sched::act_on_requests(); // SWITCH: resumes on that worker
  mode.keep_worker();
  return true;
}

bool variables_need_kernel_threads() noexcept {
  return preempt::why_no_blocks_are_made() != nullptr;
}

bool has_own_variables(const descriptor& u) noexcept {
  return sched::user_mode::has_bound_block(u);
}

on_variables_of::on_variables_of(descriptor& u) noexcept : lender_(u) {
  const runtime_section in;
  if (!sched::on_worker()) {
    own_thread_pointer_ = sched::user_mode::enter_bound_block(lender_);
    return;
  }
  sched::worker& w = sched::here();
  if (arch::any(*w.exceptions)) [[unlikely]]
    kept_ = arch::save_and_clear(*w.exceptions);
  sched::user_mode::exchange_bound_blocks(*w.current, lender_);
}

on_variables_of::~on_variables_of() {
  if (own_thread_pointer_ != nullptr) {
    sched::user_mode::leave_bound_block(own_thread_pointer_);
    return;
  }
  const runtime_section in;
  sched::worker& w = sched::here();
  sched::user_mode::exchange_bound_blocks(*w.current, lender_);
  arch::restore(*w.exceptions, kept_);
}

void join_own_thread(descriptor& u) {
  const runtime_section in;
  await_end(u); // SWITCH: may resume on another worker
  release_stack(u);
  free_unit(u, gone);
}

void detach_own_thread(descriptor& u) noexcept {
  const runtime_section in;
  if (u.join.detach())
    return;
  discard(u); // it has ended
  release_stack(u);
  free_unit(u, gone);
}

} // namespace weft::door
