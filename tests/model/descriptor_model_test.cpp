// SPDX-License-Identifier: MIT
// The life of a thread's descriptor: taken from its owner's cache, run and ended elsewhere, joined or
// detached, freed by whoever joined or by its own end, and taken again. The shipped
// weft/memory/object_cache.cpp and weft/unit/join_word.hpp under the checker.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "tests/model/runtime/below.hpp"
#include "weft/memory/object_cache.hpp"
#include "weft/unit/join_word.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace weft {
namespace {

using model::bounds;
using model::check;
using model::exactly;
using model::expect_every_weakening_is_found;
using model::expect_passes;
using unit::join_word;

/// Stands for a descriptor: a link of the cache, the word of joins, and data of its life.
struct alignas(64) record {
  void* link;
  join_word join;
  model::var<int> life;
  model::var<int> result;
};
static_assert(std::is_trivially_destructible_v<record>);

using cache = memory::object_cache<record>;

/// The caches of three workers on one depot.
struct caches {
  memory::object_depot depot{sizeof(record), alignof(record), 0};
  cache of_creator{depot};
  cache of_runner{depot};
  cache of_joiner{depot};
};

struct alignas(64) waiting_thread {
  unsigned id = model::self();
  unit::descriptor& as_descriptor() { return *reinterpret_cast<unit::descriptor*>(this); }
};

record* make(cache& from, int life) {
  record* const r = from.allocate();
  r->join.reset();
  r->life = life;
  r->result = 0;
  return r;
}

/// As complete() in weft/sched/lifecycle.cpp.
void run_to_end(cache& mine, record* r) {
  r->result = r->life * 2;
  const std::uintptr_t before = r->join.finish(); // GONE: r, unless detached
  if (before == join_word::detached) {
    mine.free(r);
  } else if (before != join_word::none) {
    model::unpark(reinterpret_cast<waiting_thread*>(before)->id);
  }
}

void join(cache& mine, record* r, int life) {
  waiting_thread self;
  if (!r->join.has_ended() && r->join.wait(self.as_descriptor()))
    model::park();
  check(r->result == life * 2, "the joiner sees what the thread did");
  mine.free(r);
}

/// The creator hands two to others, and takes two more meanwhile: perhaps the same memory.
void created_run_and_joined(bool detaches) {
  model::runtime::begin_execution();
  caches all;
  record* const first = make(all.of_creator, 1);
  record* const second = make(all.of_creator, 2);
  const model::thread runner([&] {
    run_to_end(all.of_runner, first);
    run_to_end(all.of_runner, second);
  });
  const model::thread joiner([&] {
    join(all.of_joiner, first, 1);
    if (!detaches) {
      join(all.of_joiner, second, 2);
    } else if (!second->join.detach()) {
      check(second->result == 4, "who frees it sees what the thread did");
      all.of_joiner.free(second);
    }
  });
  for (int life = 3; life <= 4; ++life) {
    record* const again = make(all.of_creator, life);
    run_to_end(all.of_creator, again);
    join(all.of_creator, again, life);
  }
}

/// Freed elsewhere until the owner has none of its own left and takes those that came back.
void memory_comes_back() {
  model::runtime::begin_execution();
  caches all;
  record* const first = make(all.of_creator, 1);
  record* const second = make(all.of_creator, 2);
  const model::thread a([&] { all.of_runner.free(first); });
  const model::thread b([&] {
    second->life = 7;
    all.of_joiner.free(second);
  });
  constexpr int page = 4096 / static_cast<int>(sizeof(record)) + 2;
  for (int i = 0; i < page; ++i)
    make(all.of_creator, i);
}

TEST(descriptor_model, created_run_and_joined) {
  expect_passes(model::exhaustively(), [] { created_run_and_joined(false); });
}
TEST(descriptor_model, created_run_and_detached) {
  expect_passes(model::exhaustively(), [] { created_run_and_joined(true); });
}
TEST(descriptor_model, memory_comes_back) {
  expect_passes(model::exhaustively(), memory_comes_back);
}

TEST(descriptor_weakened, cache_and_join_word) {
  expect_every_weakening_is_found(
      {{exactly(2, 2), [] { created_run_and_joined(true); }},
       {exactly(2, 1), [] { created_run_and_joined(false); }},
       {exactly(1, 1), memory_comes_back}},
      {{"object_cache.cpp: object_cache_base::free_elsewhere: load -> relaxed",
        "orders the estate of a slab that is adopted: no cache dies here"},
       {"join_word.hpp: join_word::detach: cas -> acquire",
        "who detaches has written nothing that the end of the thread reads"},
       {"join_word.hpp: join_word::finish: rmw -> release",
        "the joiner has written nothing here that the end reads; join_word_weakened finds it"},
       {"join_word.hpp: join_word::set_waiter: cas -> acquire",
        "the same: the joiner publishes nothing here"}});
}

} // namespace
} // namespace weft
