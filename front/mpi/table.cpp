// SPDX-License-Identifier: MIT
#include "front/mpi/table.hpp"

#include "front/mpi/patience.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"
#include "weft/door/workers.hpp"
#include "weft/pool.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace weft::mpi {
namespace {

// So many requests a call: each call that finds nothing goes through all of the engine's devices.
constexpr std::size_t batch = 2048;

__thread bool in_look __attribute__((tls_model("initial-exec"))) = false;

class table {
 public:
  void enter(entry* first, entry* last) noexcept {
    has_moved_.store_relaxed(true);      // relaxed: a hint
    entry* head = inbox_.load_relaxed(); // relaxed: a guess
    do {
      last->next = head;
    } while (!inbox_.cas_weak_release(head, first)); // pairs with the exchange in take_inbox()
  }
  void expect(std::size_t more) noexcept { waiting_.fetch_add_relaxed(more); } // relaxed: a number
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.load_relaxed(); }
  // Who is about to sleep asks, and reads the clock for all who have come and gone: they do not.
  [[nodiscard]] std::int64_t patience() noexcept {
    const std::int64_t now = door::now();
    if (has_moved_.load_relaxed()) { // relaxed, here and below: hints
      has_moved_.store_relaxed(false);
      moved_at_.store_relaxed(now);
    }
    return patience_after(now - moved_at_.load_relaxed(), windows_.load_relaxed() != 0);
  }
  void count_windows(int more) noexcept { windows_.fetch_add_relaxed(more); } // relaxed: a number

  // One look for so many tests that each pays for some entries only, however many wait.
  void look_after_test() noexcept {
    constexpr std::size_t entries_of_test = 16, most_tests = 64;
    const std::size_t tests = 1 + tests_in_vain_.fetch_add_relaxed(1); // relaxed, here and below: a hint
    if (tests < most_tests && entries_of_test * tests < waiting())
      return;
    tests_in_vain_.store_relaxed(0);
    look();
  }

  int look() noexcept {
    if (waiting() == 0 || looks_.exchange_acq_rel(1) != 0)
      return 0;
    int through = 0;
    if (const engine_attempt turn; turn) {
      const bool before = std::exchange(in_look, true);
      take_inbox();
      // Who looks keeps its worker, and so its kernel thread, which `in_look` is of, though the engine may
      // wait.
      with_room([&] {
        const auto look_on = [](void* self) {
          table& t = *static_cast<table*>(self);
          t.through_ = t.test_requests() + t.ask_questions();
        };
        door::call_keeping_worker(look_on, this);
      });
      through = through_;
      in_look = before;
      if (through != 0) {
        waiting_.fetch_sub_relaxed(static_cast<std::size_t>(through)); // relaxed: a number
        has_moved_.store_relaxed(true);                                // relaxed: a hint
      }
    }
    looks_.store_release(0); // pairs with the exchange above
    return through;
  }

 private:
  // What arrives while there is no memory for it is taken by a later look.
  void take_inbox() noexcept {
    if (arrived_ == nullptr)
      arrived_ = inbox_.exchange_acquire(nullptr);
    if (arrived_ == nullptr || !has_room())
      return;
    for (entry* e = std::exchange(arrived_, nullptr); e != nullptr;) {
      entry* const next = e->next;
      if (e->ask != nullptr) {
        questions_.push_back(e);
      } else {
        requests_.push_back(e->request);
        owners_.push_back(e);
      }
      e = next;
    }
  }

  // Whether each list can take all that is waited for, `arrived_` included, which was counted before it came.
  bool has_room() noexcept {
    const std::size_t wanted = waiting();
    if (questions_.capacity() >= wanted) // the last that grows
      return true;
    try {
      const std::size_t room = std::max(wanted, 2 * questions_.capacity());
      requests_.reserve(room);
      owners_.reserve(room);
      questions_.reserve(room);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // GONE: e
  void tell(entry& e) noexcept {
    joint& j = *e.of;
    if (--j.left == 0)
      j.place.notify(); // GONE: j. What was written to the entries is seen by who waits
  }

  int test_requests() noexcept {
    int through = 0;
    for (std::size_t left = requests_.size(); left != 0 && !requests_.empty();) {
      if (turn_ >= requests_.size())
        turn_ = 0;
      const std::size_t count = std::min({batch, requests_.size() - turn_, left});
      left -= count;
      through += test_some(count);
    }
    return through;
  }

  int test_some(std::size_t count) noexcept {
    int done = 0;
    const int code = PMPI_Testsome(static_cast<int>(count), &requests_[turn_], &done, which_, statuses_);
    if (done == MPI_UNDEFINED)
      done = 0;
    for (int i = 0; i < done; ++i) {
      entry& e = *std::exchange(owners_[turn_ + static_cast<std::size_t>(which_[i])], nullptr);
      e.request = requests_[turn_ + static_cast<std::size_t>(which_[i])]; // null, or a persistent one
      e.status = statuses_[i];
      e.code = code == MPI_ERR_IN_STATUS ? statuses_[i].MPI_ERROR : code;
      tell(e);
    }
    if (done != 0)
      fill_holes(turn_, turn_ + count);
    turn_ += count - static_cast<std::size_t>(done);
    return done;
  }

  // Where owners are gone: the last ones move there, so that it takes no longer where many wait.
  void fill_holes(std::size_t from, std::size_t to) noexcept {
    for (std::size_t i = to; i-- != from;) {
      if (owners_[i] != nullptr)
        continue;
      requests_[i] = requests_.back(); // its owner is there: behind `to`, or looked at before
      owners_[i] = owners_.back();
      requests_.pop_back();
      owners_.pop_back();
    }
  }

  int ask_questions() noexcept {
    int through = 0;
    for (std::size_t i = 0; i < questions_.size();) {
      entry& e = *questions_[i];
      if (!e.ask(e)) {
        ++i;
        continue;
      }
      questions_[i] = questions_.back();
      questions_.pop_back();
      tell(e);
      ++through;
    }
    return through;
  }

  door::atomic<entry*> inbox_{nullptr};
  door::atomic<std::size_t> waiting_{0};
  door::atomic<std::size_t> tests_in_vain_{0}; // since a look that one of them made
  door::atomic<bool> has_moved_{false};        // a wait has begun or ended since
  door::atomic<std::int64_t> moved_at_{0};     // this time, or somewhat before
  door::atomic<int> windows_{0};               // that are open
  door::atomic<std::uint32_t> looks_{0};       // whoever has set it owns what is below
  entry* arrived_ = nullptr;                   // taken from the inbox, not yet in the lists
  std::vector<MPI_Request> requests_;
  std::vector<entry*> owners_, questions_;
  std::size_t turn_ = 0; // where the next batch begins
  int through_ = 0;      // of the look that is under way
  int which_[batch];
  MPI_Status statuses_[batch];
};

table& of_process() noexcept {
  return door::immortal<table>();
}

// The group that was served last, where its address leads: most waits are of one of few groups, and need no
// lock to find that it is served.
door::atomic<worker_group*>& served_lately(const worker_group& g) noexcept {
  constexpr std::size_t places = 16, between_groups = 256;
  static door::atomic<worker_group*> lately[places];
  return lately[reinterpret_cast<std::uintptr_t>(&g) / between_groups % places];
}

class progress final : public weft::event_source {
 public:
  explicit progress(worker_group& of) noexcept : of_(&of) {}
  // The group ends, and another may be where it was.
  ~progress() override {
    worker_group* expected = of_;
    served_lately(*of_).cas_strong_acq_rel(expected, nullptr);
  }
  int poll() override { return of_process().look(); }
  [[nodiscard]] std::chrono::nanoseconds patience() const override {
    return of_process().waiting() != 0 ? std::chrono::nanoseconds(of_process().patience())
                                       : std::chrono::nanoseconds::max();
  }

 private:
  worker_group* const of_;
};

// Has the workers of that group look. A group that has ended has let go of its source.
void serve(worker_group& g) {
  if (served_lately(g).load_acquire() == &g)
    return;
  static std::mutex lock;
  static std::vector<std::pair<worker_group*, std::weak_ptr<progress>>> served;
  const std::scoped_lock held(lock);
  std::erase_if(served, [](const auto& s) { return s.second.expired(); });
  if (std::ranges::none_of(served, [&g](const auto& s) { return s.first == &g; })) {
    served.reserve(served.size() + 1);
    auto source = std::make_shared<progress>(g);
    g.add_event_source(source);
    served.emplace_back(&g, source);
  }
  served_lately(g).store_release(&g); // by one of its threads: it lives
}

} // namespace

bool is_in_look() noexcept {
  return in_look;
}

void wait_in_table(joint& j, entry* entries, std::size_t count, const door::message_wait& shown) {
  table& t = of_process();
  worker_group& g = door::group_here();
  serve(g);
  j.left = count; // published with the entries
  for (std::size_t i = 0; i < count; ++i) {
    entries[i].of = &j;
    entries[i].next = i + 1 < count ? &entries[i + 1] : nullptr;
  }
  entry* const last = &entries[count - 1];
  // A worker without others looks itself, before it sleeps; one that goes on with them looks much later.
  const bool goes_on = door::others_are_ready_here();
  t.expect(count);
  const auto on_left = [&t, &g, entries, last, goes_on] {
    worker_group* const to_wake = goes_on ? &g : nullptr; // what is captured stands in the frame
    t.enter(entries, last);                               // GONE: the frame
    if (to_wake != nullptr)
      to_wake->wake();
    return true;
  };
  j.place.wait_with(on_left, {door::wait_kind::messages, 0, &shown}); // SWITCH: may resume on another worker
}

bool table_is_empty() noexcept {
  return of_process().waiting() == 0;
}

void look_after_test() noexcept {
  of_process().look_after_test();
}

void count_windows(int more) noexcept {
  of_process().count_windows(more);
}

} // namespace weft::mpi
