// SPDX-License-Identifier: MIT
#include "front/openmp/crew.hpp"
#include "front/openmp/dependence.hpp"

#include "front/openmp/engine.hpp"
#include "front/openmp/environment.hpp"
#include "front/openmp/places.hpp"
#include "weft/door/own_thread.hpp"
#include "weft/door/process.hpp"
#include "weft/preemption.hpp"

#include <algorithm>
#include <bit>
#include <dlfcn.h>
#include <pthread.h>
#include <system_error>
#include <utility>

namespace weft::openmp {
namespace {

// A cooperative thread that is alone on its worker.
class pinned_runner final : public runner {
 public:
  explicit pinned_runner(weft::pool& of_worker)
      : unit_(door::start_own_thread(of_worker, {.stack_size = stack_bytes(), .name = "omp pinned"}, &live,
                                     static_cast<runner*>(this))) {}

 private:
  void join() noexcept override { door::join_own_thread(unit_); }
  door::descriptor& unit_;
};

// With a block of variables of its own, for as long as the thread lives.
class preemptible_runner final : public runner {
 public:
  explicit preemptible_runner(weft::pool& shared)
      : unit_(door::start_own_thread(shared,
                                     {.stack_size = stack_bytes(),
                                      .preemption = preemption::bound_tls,
                                      .workers = processors(),
                                      .name = "omp"},
                                     &live, static_cast<runner*>(this))) {
    if (door::has_own_variables(unit_)) {
      lends_ = &unit_;
      who.runs_on_own_variables = true;
    }
  }

 private:
  void join() noexcept override { door::join_own_thread(unit_); }
  door::descriptor& unit_;
};

// Under ThreadSanitizer, which keeps what it knows of a thread in a variable of each kernel thread, all
// members are kernel threads, and the program's functions make them: this library's own calls would go past
// the sanitizer's (weft/os/libc_itself.cpp).
struct functions_of_pthreads {
  decltype(&::pthread_create) create = &::pthread_create;
  decltype(&::pthread_join) join = &::pthread_join;
  bool watched = false;
};

const functions_of_pthreads& pthreads() noexcept {
  static const functions_of_pthreads found = [] {
    functions_of_pthreads f;
    f.watched = ::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr;
    if (f.watched) {
      f.create = reinterpret_cast<decltype(f.create)>(::dlsym(RTLD_DEFAULT, "pthread_create"));
      f.join = reinterpret_cast<decltype(f.join)>(::dlsym(RTLD_DEFAULT, "pthread_join"));
    }
    return f;
  }();
  return found;
}

// Where the machine cannot preempt, and beyond as many blocks as the process may have.
class kernel_runner final : public runner {
 public:
  kernel_runner() {
    pthread_attr_t a;
    ::pthread_attr_init(&a);
    ::pthread_attr_setstacksize(&a, stack_bytes());
    const int why = pthreads().create(&thread_, &a, &begin, static_cast<runner*>(this));
    ::pthread_attr_destroy(&a);
    if (why != 0)
      throw std::system_error(why, std::generic_category());
  }

 private:
  static void* begin(void* r) {
    live(r);
    return nullptr;
  }
  void join() noexcept override { pthreads().join(thread_, nullptr); }
  pthread_t thread_{};
};

std::unique_ptr<runner> make_runner(unsigned number, bool pinned) {
  const errno_kept as_it_was;
  if (pthreads().watched)
    return std::make_unique<kernel_runner>();
  if (pinned)
    return std::make_unique<pinned_runner>(engine::of_process().pinned_pool(number));
  if (can_preempt(preemption::bound_tls)) {
    try {
      return std::make_unique<preemptible_runner>(engine::of_process().shared_pool());
    } catch (const std::system_error&) { // there are no more blocks
    }
  }
  return std::make_unique<kernel_runner>();
}

void say_once(const char* what, unsigned wanted, unsigned got) noexcept {
  static constinit door::atomic<bool> said{false};
  if (!said.exchange_relaxed(true)) // relaxed: who is first
    door::warn("OpenMP: a region of %u threads has %u: %s", wanted, got, what);
}

} // namespace

// --- a runner ---

runner::runner() {
  who.is_initial = false;
}

void runner::live(void* self_as_runner) noexcept {
  runner& r = *static_cast<runner*>(self_as_runner);
  thread& t = r.who;
  self = &t;
  if (tool::is_on)
    tool::thread_begins(t);
  team* before = nullptr;
  std::uint32_t region = 0; // of `before`, by its number
  for (;; ++r.seen_) {
    r.await_ticket(before, region); // SWITCH: may resume on another worker
    if (r.retiring_)
      break;
    team& in = *r.job_;
    before = &in;
    region = in.region.load_relaxed(); // relaxed: it cannot change before the caller has finished
    start_next(in, region);
    r.run_member(in, r.number_); // SWITCH: may resume on another worker
    if (tool::is_on) [[unlikely]] {
      finish_and_tell(t, region); // SWITCH: may resume on another worker
      continue;
    }
    finish(t);
    if (r.lends_ != nullptr)
      run_free_members(in, region); // SWITCH: may resume on another worker
  }
  t.copies.reset(); // ends the program's variables
  dismiss_crews(t);
  if (tool::is_on)
    tool::thread_ends(t);
  self = nullptr;
}

// The caller has the runner's variables.
[[gnu::noinline]] void runner::run_member(team& in, unsigned number) noexcept {
  thread& t = who;
  t.at = position_in(in, number);
  t.current = &in.members[number].implicit;
  if (t.at.place != 0)
    go_to_place(t);
  if (in.shows_affinity) [[unlikely]]
    show_affinity(t, in.of_llvm);
  if (tool::is_on) [[unlikely]]
    tool::implicit_begins(t, __builtin_frame_address(0));
  in.function(in.data); // SWITCH: may resume on another worker
}

// (L1) The runner's own thread sleeps between regions as long as its bed is held, so nobody else uses its
// variables. The bed is given back before the member counts as finished: with the next region it can be had
// again.
bool runner::run_elsewhere(team& in, unsigned number) noexcept {
  const std::uint64_t held = lends_ != nullptr ? who.idle_bed.hold() : 0;
  if (held == 0)
    return false;
  {
    const door::on_variables_of here(*lends_); // SWITCH: may resume on another worker, at both ends
    run_member(in, number);
    leave_share(who, nullptr);
  }
  who.idle_bed.let_sleep(held, [this] { return is_called(); });
  count_finished(in);
  return true;
}

void start_next(team& in, std::uint32_t region) noexcept {
  if (const unsigned number = in.take_seat(region))
    in.members[number].by->start(in, number);
}

// (L2) A runner takes other members only of a region in which its own is done: nobody will start it again
// there, and so no member waits for a runner that waits in another one.
void run_free_members(team& in, std::uint32_t region) noexcept {
  while (const unsigned number = in.take_seat(region)) {
    runner& other = *in.members[number].by;
    if (!other.run_elsewhere(in, number)) // SWITCH: may resume on another worker
      other.start(in, number);
  }
}

// Between two regions. The team of the one before may still have tasks. The master may have written what the
// next one is by now, so nothing of that is read here.
void runner::await_ticket(team* before, std::uint32_t region) noexcept {
  const auto called = [this] { return is_called(); };
  if (before == nullptr) {
    while (!called())
      who.idle_bed.sleep(this, called); // SWITCH: may resume on another worker
    return;
  }
  team& in = *before;
  const auto is_open = [&in, region] { return in.region.load_acquire() == region; }; // pairs with (H1)
  for (patience more; !called();) {
    if (who.thefts.goes_on())
      continue;
    const std::uint32_t seen = in.pushes.load_acquire(); // pairs with make_ready()
    if (in.queued.load_relaxed() != 0 && is_open() && help_after_end(who, in, region)) {
      more = {};
    } else if (!more.looks_again()) {
      in.idle_sleepers.fetch_add_seq_cst(1); // before (B1)
      who.idle_bed.sleep(in.idle_reason(region), [&] {
        return called() || (is_open() && in.pushes.load_acquire() != seen);
      });                                    // SWITCH: may resume on another worker
      in.idle_sleepers.fetch_sub_relaxed(1); // relaxed: a hint
    }
  }
}

void runner::start(team& job, unsigned number) noexcept {
  job_ = &job;
  number_ = number;
  ticket_.fetch_add_release(1); // pairs with the acquire in is_called()
  door::full_fence();           // (B2): the ticket before the look for a sleeper
  who.idle_bed.wake();
}

void runner::retire() noexcept {
  retiring_ = true;
  ticket_.fetch_add_release(1);
  door::full_fence(); // (B2)
  who.idle_bed.wake();
  join(); // SWITCH: may resume on another worker
}

// --- a crew ---

// All of them end before the first is freed: they give memory back to each other.
crew::~crew() {
  for (auto* list : {&pinned_, &others_}) {
    for (auto& r : *list)
      r->retire();
  }
}

void crew::forget() noexcept {
  for (auto* list : {&pinned_, &others_}) {
    for (auto& r : *list)
      static_cast<void>(r.release());
    list->clear();
  }
  for (auto& in : teams_)
    static_cast<void>(in.release());
  teams_.clear();
}

team& crew::team_for(unsigned size, bool may_pin, contention_group* /*group*/) {
  const bool pin = may_pin && size <= processors();
  in_use_ = pin ? &pinned_ : &others_;
  unsigned got = size;
  try {
    while (in_use_->size() + 1 < size)
      in_use_->push_back(make_runner(static_cast<unsigned>(in_use_->size()), pin));
  } catch (const std::exception& e) {
    got = static_cast<unsigned>(in_use_->size()) + 1;
    say_once(e.what(), size, got);
  }
  const unsigned room = std::bit_ceil(got);
  for (auto& in : teams_) {
    if (in->room == room) {
      in->size = got;
      return *in;
    }
  }
  teams_.push_back(std::make_unique<team>(room));
  teams_.back()->size = got;
  return *teams_.back();
}

crew& crew_of(thread& t) {
  while (t.crews.size() <= t.mastering)
    t.crews.push_back(std::make_unique<crew>());
  return *t.crews[t.mastering];
}

void dismiss_crews(thread& t) noexcept {
  t.crews.clear();
}

} // namespace weft::openmp
