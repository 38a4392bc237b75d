// SPDX-License-Identifier: MIT
// Thread-local storage to lend, and what of it a worker keeps: see user_mode.hpp.
#include "weft/carrier/tls_block.hpp"

#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/carrier/loop.hpp"
#include "weft/carrier/user_mode.hpp"

namespace weft::sched {

constinit std::atomic<tls_lender*> lender_of_tls{nullptr};

[[gnu::noinline]] void describe_tls_block(tls_block& block) noexcept {
  block.thread_pointer = arch::thread_pointer();
  block.exceptions = arch::globals_of_this_kernel_thread();
  block.current = &weft_current_worker;
  block.here = &weft_worker_here;
}

namespace {

tls_lender& lender() noexcept {
  return *lender_of_tls.load(std::memory_order_acquire); // pairs with the release of who sets it
}

// The last one that came back: its memory is at hand. Null: this worker has none that is fit.
tls_block* take_kept() noexcept {
  if (!on_worker())
    return nullptr;
  worker& w = here();
  tls_block* const block = w.blocks.to_bind;
  if (block == nullptr)
    return nullptr;
  w.blocks.to_bind = std::exchange(block->next, nullptr);
  --w.blocks.bind_count;
  if (lender().renew(*block))
    return block;
  lender().unbind(*block);
  return nullptr;
}

// Half of them go when there are too many: threads that are all made on one worker and end on another would
// come by the lender's lock one by one.
void keep(worker& w, tls_block& block) noexcept {
  constexpr unsigned kept = 64; // some 4 KiB each
  block.next = std::exchange(w.blocks.to_bind, &block);
  if (++w.blocks.bind_count <= kept)
    return;
  tls_block* last_kept = w.blocks.to_bind;
  for (unsigned k = 1; k < kept / 2; ++k)
    last_kept = last_kept->next;
  lender().take_back(std::exchange(last_kept->next, nullptr));
  w.blocks.bind_count = kept / 2;
}

} // namespace

// Others run meanwhile: who makes one may wait for a lock of libc's, whose owner may have been preempted on
// this worker.
tls_block& bind_block() {
  if (tls_block* const block = take_kept())
    return *block;
  for (bool first = true;; first = false) {
    if (tls_block* const block = lender().bind(first))
      return *block;
    if (on_thread()) {
      yield_preempted(false, false);
    } else {
      lender().await_bound();
    }
  }
}

// The same: destructors of thread-locals run.
void unbind_block(tls_block& block, bool may_yield) noexcept {
  if (block.is_made && on_worker())
    return keep(here(), block);
  lender().unbind(block);
  while (!lender().has_ended(block)) {
    if (may_yield) {
      yield_preempted(false, false);
    } else {
      lender().await_end(block);
    }
  }
}

void give_back_blocks(worker& w) noexcept {
  if (w.blocks.to_lend != nullptr)
    lender().take_back(std::exchange(w.blocks.to_lend, nullptr));
  if (w.blocks.to_bind != nullptr)
    lender().take_back(std::exchange(w.blocks.to_bind, nullptr));
}

// Those of kernel threads are gone with these; the others have their parent's ids.
void forget_blocks(worker& w) noexcept {
  w.blocks.to_lend = w.blocks.to_bind = nullptr;
  w.blocks.lend_count = w.blocks.bind_count = 0;
}

} // namespace weft::sched
