// SPDX-License-Identifier: MIT
// The workers on which the threads of the program run.
#pragma once

#include "front/pthreads/process_signals.hpp"
#include "front/pthreads/thread.hpp"
#include "weft/door/workers.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

namespace weft::pthreads {

/// *Ownership*: made by the first thread that is created; goes on until the process has ended. One of the
/// process: door::immortal.
class engine {
 public:
  engine();
  static engine& of_process();
  /// Where a new thread becomes ready. *Contexts*: all but signal handlers. *Switches*: never. *Errors*:
  /// std::bad_alloc, std::system_error: no kernel thread could be had.
  [[nodiscard]] weft::pool& pool();
  [[nodiscard]] unsigned workers() const noexcept { return workers_; }
  /// In the child of fork().
  void forget() noexcept;

  /// In scope, around pool() and the creation of a thread there: kernel threads that the runtime makes for
  /// the first one have the signals blocked that handlers of the program may be for (process_signals.hpp).
  /// *Contexts*, *Switches*: as pool(). *Errors*: none.
  class [[nodiscard]] kernel_threads_made {
   public:
    explicit kernel_threads_made(engine& e);
    ~kernel_threads_made();
    kernel_threads_made(const kernel_threads_made&) = delete;
    kernel_threads_made& operator=(const kernel_threads_made&) = delete;

   private:
    engine& engine_;
    std::optional<handed_signals_blocked> blocked_;
  };

 private:
  const unsigned workers_;
  std::mutex lock_;
  std::unique_ptr<weft::worker_group> group_;
  door::atomic<weft::worker_group*> ready_{nullptr}; // the same, once there is one
  door::atomic<bool> has_kernel_threads_{false};     // all that the first thread needs
};

/// Threads that have not ended. *Contexts*: any. *Switches*: never. *Errors*: none.
[[nodiscard]] futex_word& alive() noexcept;
/// Whether the caller is the child of a vfork(), which has the parent's memory but descriptors of its own. A
/// system call. *Contexts*: all. *Switches*: never. *Errors*: none.
[[nodiscard]] bool is_child_of_vfork() noexcept;
/// Whether the caller is main's kernel thread, and whether that is its handle. *Contexts*: all. *Switches*:
/// never. *Errors*: none.
[[nodiscard]] bool is_main_here() noexcept;
[[nodiscard]] bool is_main(pthread_t handle) noexcept;
/// main ends by pthread_exit() with that result. *Contexts*: main's kernel thread. *Switches*: never.
/// *Errors*: none.
void note_end_of_main(void* result) noexcept;
/// Its kernel thread outlives it: not 0 when it has ended; its result. *Contexts*: any. *Switches*: never.
/// *Errors*: none.
[[nodiscard]] futex_word& main_has_ended() noexcept;
[[nodiscard]] void* result_of_main() noexcept;

/// The key by which main's end is noticed is the program's to have: true, if there was one. *Contexts*: all
/// but signal handlers. *Switches*: never. *Errors*: none.
[[nodiscard]] bool give_up_key() noexcept;

/// Which child of fork() this process is: 0 in the first.
[[nodiscard]] std::uint32_t forks() noexcept;

} // namespace weft::pthreads
