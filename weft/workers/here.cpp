// SPDX-License-Identifier: MIT
// Which worker the calling code is on, and what there is once a process: see worker.hpp and ticker.hpp.
#include "weft/arch/user_mode.hpp"
#include "weft/workers/ticker.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

// Whatever asks who runs on a kernel thread that is no worker finds a unit that may not wait.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
constinit descriptor foreign_unit{.traits = unit::kind_loop | unit::not_cancellable};
#pragma GCC diagnostic pop
// Aligned as a worker is: here() hands it out as one.
alignas(worker) constinit worker_face foreign_face{.current = &foreign_unit};

} // namespace

extern "C" {
__thread worker* weft_worker_here __attribute__((tls_model("initial-exec"))) = nullptr;
__thread worker_face* weft_current_worker __attribute__((tls_model("initial-exec"))) = &foreign_face;
}

worker_face& face_of_others() noexcept {
  return foreign_face;
}

constinit std::atomic<unsigned> workers_running{0};
constinit std::atomic<ticker*> ticker_of_process{nullptr};
constinit base::atomic<int> signal_of_ticks{0};

[[gnu::noinline]] bool worker::is_here() const noexcept {
  return arch::thread_pointer() == carried.own_thread_pointer.load_relaxed();
}

void worker::call(std::uint32_t bits) noexcept {
  ask(bits);
  parking.spot.try_notify().finish();
}

} // namespace weft::sched
