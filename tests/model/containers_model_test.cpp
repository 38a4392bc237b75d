// SPDX-License-Identifier: MIT
// The shipped mpsc_inbox, locked_fifo and locked_priority_buckets under the checker.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "weft/queue/locked_fifo.hpp"
#include "weft/queue/mpsc_inbox.hpp"
#include "weft/queue/priority_buckets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>

namespace weft {
namespace {

using model::check;

struct item : queue::link {
  int producer = 0;
  int number = 0;
  model::var<int> payload;
  base::atomic<std::uint16_t> mark = 0;
  int taken = 0;
};

item* as_item(queue::link* link) {
  return static_cast<item*>(link);
}

void take(queue::link* link) {
  check(++as_item(link)->taken == 1, "taken twice");
  check(as_item(link)->payload == 7, "payload not handed over");
}

void expect_passes(const std::function<void()>& body) {
  model::expect_passes(model::exhaustively(), body);
}

/// Takes everything that is there; checks that each producer's items arrive in order.
int take_all(queue::mpsc_inbox& inbox, std::array<int, 2>& last) {
  queue::intrusive_fifo list;
  int count = 0;
  inbox.take_into(list);
  check(list.valid(), "list is not valid");
  while (queue::link* const link = list.pop_front()) {
    take(link);
    int& before = last[static_cast<std::size_t>(as_item(link)->producer)];
    check(as_item(link)->number == before + 1, "order of arrival lost");
    before = as_item(link)->number;
    ++count;
  }
  return count;
}

TEST(mpsc_inbox_model, two_producers_and_the_owner) {
  expect_passes([] {
    queue::mpsc_inbox inbox;
    std::array<std::array<item, 2>, 2> items;
    std::array<int, 2> last = {0, 0};
    int empty_before = 0;
    int count = 0;
    const auto produce = [&](std::size_t producer) {
      for (std::size_t i = 0; i < 2; ++i) {
        item& made = items[producer][i];
        made.producer = static_cast<int>(producer);
        made.number = static_cast<int>(i) + 1;
        made.payload = 7;
        empty_before += inbox.push(&made) ? 1 : 0;
      }
    };
    int batches = 0;
    {
      model::thread a([&] { produce(0); });
      model::thread b([&] { produce(1); });
      for (int look = 0; look < 2; ++look) {
        const int got = take_all(inbox, last);
        count += got;
        batches += got != 0 ? 1 : 0;
      }
    }
    const int got = take_all(inbox, last);
    batches += got != 0 ? 1 : 0;
    check(count + got == 4, "lost");
    check(batches == empty_before, "push() must say \"was empty\" once per batch");
    check(inbox.empty(), "not empty");
  });
}

/// What the inbox does, with the release taken away: the checker has to see it.
TEST(mpsc_inbox_mutation, relaxed_push_is_found) {
  const auto body = [] {
    base::atomic<queue::link*> youngest = nullptr;
    item made;
    model::thread producer([&] {
      made.payload = 7;
      queue::link* seen = nullptr;
      made.next = seen;
      youngest.cas_strong_relaxed(seen, &made);
    });
    if (queue::link* const got = youngest.exchange_acquire(nullptr)) {
      take(got);
    }
  };
  model::expect_fails({}, "data race", body);
}

TEST(locked_fifo_model, both_ends_and_the_middle) {
  expect_passes([] {
    queue::locked_fifo fifo;
    std::array<item, 3> items;
    for (item& each : items) {
      each.payload = 7;
    }
    fifo.push_back(&items[0]);
    {
      model::thread producer([&] {
        fifo.push_back(&items[1]);
        fifo.push_front(&items[2]);
      });
      model::thread consumer([&] {
        if (queue::link* const got = fifo.pop_back()) {
          take(got);
        }
      });
      if (queue::link* const got = fifo.pop_front()) {
        take(got);
      }
    }
    check(fifo.valid(), "not valid");
    while (queue::link* const got = fifo.pop_front()) {
      take(got);
    }
    check(fifo.empty() && fifo.size() == 0, "not empty");
    check(items[0].taken + items[1].taken + items[2].taken == 3, "lost");
  });
}

TEST(locked_fifo_model, remove_races_with_pop) {
  expect_passes([] {
    queue::locked_fifo fifo;
    item one;
    one.payload = 7;
    bool queued = true; // changed under the fifo's lock by whoever wins
    fifo.push_back(&one);
    {
      model::thread remover([&] {
        if (fifo.remove_if(&one, [&] { return std::exchange(queued, false); })) {
          take(&one);
        }
      });
      model::thread other([&] {
        if (fifo.remove_if(&one, [&] { return std::exchange(queued, false); })) {
          take(&one);
        }
      });
    }
    check(one.taken == 1 && fifo.empty() && fifo.valid(), "not taken exactly once");
  });
}

// As a unit that leaves a shared pool for another while somebody takes it out of the middle.
struct number_marks {
  std::uint16_t number;
  void enter(queue::link* l) const noexcept { static_cast<item*>(l)->mark.store_relaxed(number); }
  void leave(queue::link* l) const noexcept { static_cast<item*>(l)->mark.store_relaxed(0); }
};

TEST(locked_fifo_model, remove_races_with_a_move_to_another_list) {
  expect_passes([] {
    queue::basic_locked_fifo<number_marks> from{number_marks{1}}, to{number_marks{2}};
    item one;
    one.payload = 7;
    from.push_back(&one);
    {
      model::thread mover([&] {
        if (queue::link* l = from.pop_front())
          to.push_back(l);
      });
      model::thread remover([&] {
        if (from.remove_if(&one, [&one] { return one.mark.load_relaxed() == 1; }))
          take(&one);
      });
    }
    if (queue::link* l = to.pop_front())
      take(l);
    check(one.taken == 1 && from.empty() && from.valid() && to.empty() && to.valid(), "not in one place");
  });
}

TEST(priority_buckets_model, two_takers) {
  expect_passes([] {
    static queue::locked_priority_buckets* buckets = nullptr;
    queue::locked_priority_buckets here;
    buckets = &here;
    std::array<item, 2> items;
    for (item& each : items) {
      each.payload = 7;
    }
    const auto taker = [&] {
      if (queue::link* const got = buckets->pop_front()) {
        take(got);
      }
    };
    {
      model::thread first(taker);
      model::thread second(taker);
      buckets->push_back(&items[0], 3);
      buckets->push_back(&items[1], 63);
    }
    while (queue::link* const got = buckets->pop_front()) {
      take(got);
    }
    check(buckets->empty() && items[0].taken == 1 && items[1].taken == 1, "lost");
  });
}

} // namespace
} // namespace weft
