// SPDX-License-Identifier: MIT
// Blocks of thread-local storage that preemptible threads run on, and who has them to lend.
#pragma once

#include <atomic>

#include "weft/arch/exception_state.hpp"
#include "weft/base/export.hpp"

namespace weft::sched {

struct worker;
struct worker_face;

// A block of thread-local storage to borrow. It belongs to a kernel thread that does nothing but exist, or it
// was made without one (`is_made`). Ownership: the list that holds it, or the thread that runs on it or was
// preempted on it.
struct tls_block {
  tls_block* next = nullptr;
  bool is_made = false; // its next thread may have it as soon as its last one has ended
  void* thread_pointer = nullptr;
  arch::exception_globals* exceptions = nullptr;
  worker_face** current = nullptr; // its weft_current_worker
  worker** here = nullptr;         // its weft_worker_here
};

// Who has TLS blocks to lend. One for the process, set before the first thread needs one. Contexts: in the
// runtime, but for begin() and end(). Switches: never, but for those two.
class tls_lender {
 public:
  // Null: there is none now. More are made then, if more_may_come().
  virtual tls_block* lend() noexcept = 0;
  virtual bool more_may_come() noexcept = 0;
  virtual void take_back(tls_block* first) noexcept = 0; // a list
  // One that nobody had before, with its thread-locals as they begin. `first`: the caller did not ask before.
  // Null: one is being made; ask again, after await_bound() where no thread waits for this kernel thread.
  // Errors: std::system_error.
  virtual tls_block* bind(bool first) = 0;
  virtual void await_bound() noexcept = 0;
  // Its kernel thread ends, and runs the destructors of its thread-locals; has_ended() tells when it has,
  // once, and may be asked for after await_end().
  virtual void unbind(tls_block& block) noexcept = 0;
  virtual bool has_ended(tls_block& block) noexcept = 0;
  virtual void await_end(tls_block& block) noexcept = 0;
  // Of one that is made and that nobody runs on: its thread-locals as they begin. False: not now; whoever has
  // it gives it back by unbind(), and asks for another.
  virtual bool renew(tls_block& block) noexcept = 0;
  // The same, for the thread that runs on it, in user mode: before its function, and after. end() runs the
  // destructors of its thread-locals and keys.
  virtual void begin(tls_block& block) noexcept = 0;
  virtual void end(tls_block& block) noexcept = 0;

 protected:
  ~tls_lender() = default;
};
WEFT_API extern std::atomic<tls_lender*> lender_of_tls;

// A block for life. Contexts: in the runtime. Switches: a thread yields while one is made, and while the
// destructors of one that has a kernel thread run (`may_yield`). Errors: of bind_block(), those of bind().
tls_block& bind_block();
void unbind_block(tls_block& block, bool may_yield) noexcept;
// Gives all that a worker keeps back; it keeps none after a fork().
void give_back_blocks(worker& w) noexcept;
void forget_blocks(worker& w) noexcept;

// The TLS block of the calling kernel thread, to be lent to threads. Contexts: a kernel thread that will run
// nothing else until it has the block back.
WEFT_API void describe_tls_block(tls_block& block) noexcept;

} // namespace weft::sched
