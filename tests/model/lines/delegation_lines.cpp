// SPDX-License-Identifier: MIT
// Counts the cache lines that move between two cores for one protected increment, by the mutex and by
// delegators: the shipped word protocols and queues on simulated caches. What is not simulated: the
// scheduler's own lines when a thread sleeps or is woken, and what the mutex' queue keeps beside its atomics.
//
//   delegation_lines [--check]     --check: exits with 1 unless what docs/design/delegation.md says of the
//                                  counts is so
#include "tests/model/lines/cores.hpp"
#include "weft/sync/mutex_word.hpp"
#include "weft/sync/request_list.hpp"
#include "weft/sync/request_ring.hpp"
#include "weft/sync/wait_slot.hpp"
#include "weft/sync/wait_word.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>

namespace weft::sync {
struct server {
  request* finished = nullptr;
};
} // namespace weft::sync

namespace weft {
namespace {

using sync::request;

/// Increments of a core; the count stops with the first that has made its own, so the other contends always.
constexpr int increments = 10'000;
constexpr unsigned seeds = 3;

/// What is protected, alone on its line, and on whose core each increment was made.
struct alignas(64) number {
  std::size_t value = 0;
  std::size_t made = 0;
  void add() noexcept {
    lines::access(this, lines::kind::write);
    ++value;
    ++made;
  }
};

/// One sleep, as brief_waiter and waiter have it: by the shipped word.
class sleeper {
 public:
  /// Looks after every `between` pauses, `looks` times, then sleeps. True: it slept.
  void wait(int looks, int between) {
    for (int look = 0; look < looks; ++look) {
      if (word_.load() > sync::wait_word::asleep) {
        return;
      }
      lines::spend(between * lines::costs::pause);
    }
    if (word_.load() <= sync::wait_word::asleep && word_.fall_asleep()) {
      lines::sleep();
    }
  }
  void notify() {
    const unsigned core = core_;
    if (word_.decide(sync::wait_word::asleep + 1) == sync::wait_word::found::sleeping) {
      lines::wake(core);
    }
  }

 private:
  sync::wait_word word_;
  const unsigned core_ = lines::self();
};

/// weft::sync::stored_release_mutex with lock_slowly() of wait_table.cpp.
class mutex {
 public:
  mutex() {
    lines::label(&word_, sizeof word_, "word");
    lines::label(&slot_, sizeof slot_, "slot");
  }
  template <class Section>
  void execute(Section section) {
    if (!sync::take_word(word_, mark) && !spin()) {
      slot_.acquire(word_, mark, [](waiter& w) {
        w.sleep.wait(1, 0);
        return true;
      });
    }
    section();
    bool look = false;
    if (!slot_.state.release_quietly(word_, look)) {
      slot_.release(word_);
    } else if (look) {
      slot_.look_again(&word_);
    }
  }

 private:
  static constexpr std::uint32_t mark = 5; // of an owner; the model does not ask which
  struct waiter {
    sleeper sleep;
    bool notify() {
      sleep.notify();
      return true;
    }
  };
  bool spin() {
    for (int i = 0; i < 32; ++i) {
      lines::spend(lines::costs::pause);
      if (word_.load_relaxed() == sync::word_free && sync::take_word(word_, mark)) {
        return true;
      }
    }
    return false;
  }

  alignas(64) sync::mutex_word word_{sync::word_free};
  sync::wait_slot<waiter> slot_;
};

/// weft::sync::delegation without consumer; `Looks` looks, `Between` pauses before each.
template <class Queue, int Looks, int Between>
class delegator {
 public:
  delegator() { lines::label(&queue_, sizeof queue_, "word"); }

  template <class Section>
  void execute(Section section) {
    if (queue_.try_take()) {
      section();
      return release();
    }
    waiting_call<Section> r(section);
    if (queue_.push(r).owner) {
      release();
    }
    r.sleep.wait(Looks, Between);
    lines::access(&r, lines::kind::read); // its result
  }

 private:
  struct waited : request {
    using request::request;
    sleeper sleep;
  };
  template <class Section>
  struct alignas(64) waiting_call : waited {
    explicit waiting_call(Section& s) : waited(&execute), section(s) {}
    static request::outcome execute(request& r, sync::server& s) noexcept {
      auto& self = static_cast<waiting_call&>(r);
      lines::access(&self.section, lines::kind::read);
      self.section();
      r.next = s.finished;
      s.finished = &r;
      return request::outcome::done;
    }
    Section section;
  };

  void release() {
    sync::server here;
    while (!queue_.try_free()) {
      while (request* const r = queue_.front()) {
        queue_.pop();
        r->run(*r, here);
      }
    }
    while (here.finished != nullptr) {
      auto* const r = static_cast<waited*>(here.finished);
      here.finished = r->next;
      r->sleep.notify(); // GONE: *r
    }
  }

  Queue queue_;
};

struct count {
  double word, rest, data, wakes, ns;
  [[nodiscard]] double all() const { return word + rest + data; }
};

template <class Protection>
count measure() {
  count sum{};
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const auto protection = std::make_unique<Protection>();
    number shared;
    lines::label(&shared, sizeof shared, "data");
    std::array<int, 2> made{};
    const double ns = lines::run(2, seed, [&](unsigned core) {
      lines::spend(core * 100.0);
      for (; made[core] < increments; ++made[core]) {
        protection->execute([&] { shared.add(); });
      }
    });
    const double ops = made[0] + made[1];
    const auto word = static_cast<double>(lines::moves("word"));
    const auto data = static_cast<double>(lines::moves("data"));
    sum.word += word / ops / seeds;
    sum.data += data / ops / seeds;
    sum.rest += (static_cast<double>(lines::moves()) - word - data) / ops / seeds;
    sum.wakes += static_cast<double>(lines::wakes()) / ops / seeds;
    sum.ns += ns / ops / seeds;
  }
  return sum;
}

template <class Protection>
count show(const char* name) {
  const count c = measure<Protection>();
  std::printf("%-34s %6.3f %6.3f %6.3f %6.3f %7.4f %7.1f\n", name, c.word, c.rest, c.data, c.all(), c.wakes,
              c.ns);
  return c;
}

using list = sync::request_list;
using ring = sync::request_ring<>;

} // namespace
} // namespace weft

int main(int argc, char** argv) {
  using namespace weft;
  std::printf("%-34s %6s %6s %6s %6s %7s %7s\n", "lines moved an increment, 2 cores", "word", "others",
              "data", "all", "wakes", "ns");
  const count locked = show<mutex>("mutex");
  const count by_list = show<delegator<list, 1, 40>>("list");
  const count by_ring = show<delegator<ring, 1, 40>>("ring");
  show<delegator<list, 1, 20>>("list, looks after 20 pauses");
  show<delegator<list, 1, 80>>("list, looks after 80 pauses");
  const count eager = show<delegator<list, 40, 1>>("list, looks after each pause");
  const count asleep = show<delegator<list, 0, 0>>("list, sleeps at once");
  if (argc > 1 && std::strcmp(argv[1], "--check") == 0) {
    const auto is_better = [&](const count& c) {
      return c.wakes < locked.wakes / 10 && c.wakes < asleep.wakes / 10 && c.all() < eager.all() / 4;
    };
    return is_better(by_list) && is_better(by_ring) ? 0 : 1;
  }
  return 0;
}
