// SPDX-License-Identifier: MIT
// The scheduler of arrangement::packing: a pool a worker, served by whoever is active, as the paper's
// Algorithm 1 says or as a region has laid its threads out (weft/packing.hpp). docs/design/packing.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "weft/arrange/packing_rules.hpp"
#include "weft/workers/scheduler.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {

// A thread of a region. Ownership: who makes the region; while the thread is about, its worker.
struct packed_thread {
  base::atomic<descriptor*> unit{nullptr}; // from its first instruction to its last
  base::atomic<std::int64_t> spent{0};     // ns that it has run
  std::int64_t expected = 0;               // ns; 0: not known
  wrap_around::place place;
};

// What the schedulers of a group know of the region that runs, if one does. One for the group; it outlives
// them.
class packing_board {
 public:
  enum class phase : std::uint8_t {
    none,       // Algorithm 1
    laying_out, // a plan's threads are being made: nobody takes those of others
    planned,    // each worker runs what was laid out for it, then what is left
  };
  struct table {
    explicit table(std::size_t n) : threads(n) {}
    std::vector<packed_thread> threads;
  };

  // The board is free: the caller has it until give_back(). Null: somebody else has. Errors: std::bad_alloc.
  // Contexts: in the runtime. Switches: never.
  table* take(std::size_t threads);
  void give_back() noexcept;
  void set(phase p) noexcept { phase_.store_release(static_cast<std::uint32_t>(p)); }
  [[nodiscard]] phase now() const noexcept { return static_cast<phase>(phase_.load_acquire()); }
  // Null: `u` is no thread of the region.
  [[nodiscard]] packed_thread* find(const descriptor* u) const noexcept;

 private:
  base::atomic<std::uint32_t> phase_{0};
  base::atomic<std::uint32_t> taken_{0};
  base::atomic<table*> shown_{nullptr};
  std::vector<std::unique_ptr<table>>
      tables_; // a scheduler may still look at an old one; whoever has the board
};

class WEFT_API packing_scheduler final : public scheduler {
 public:
  // `pools`: one of each worker of `crew`, in their order, but beginning with the one of this worker, whose
  // place is `rank`. The board, and the group, live longer.
  packing_scheduler(std::vector<std::shared_ptr<pool>> pools, unsigned rank, const group& crew,
                    packing_board& board);
  descriptor* next(worker& here) override;
  // The running thread begins, or ends, its part in a region. Contexts: in the runtime, on its worker.
  // Switches: never.
  void begin(worker& here, packed_thread& t) noexcept;
  void end(worker& here) noexcept;

 private:
  // That of the worker in this place.
  [[nodiscard]] pool& pool_of(unsigned place) const noexcept {
    const auto total = static_cast<unsigned>(pools().size());
    return *pools()[(place + total - rank_) % total];
  }
  descriptor* take(worker& here);
  void call_for_leftovers() noexcept;

  const unsigned rank_;
  const group& crew_;
  packing_board& board_;
  packing_turns turns_;
};

} // namespace weft::sched
