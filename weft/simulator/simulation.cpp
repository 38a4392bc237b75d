// SPDX-License-Identifier: MIT
// The virtual kernel thread of each worker, who of them goes on, and when: see simulation.hpp.
#include "weft/simulator/simulation.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "weft/arch/arch.hpp"
#include "weft/arch/exception_state.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/random.hpp"
#include "weft/base/refuse.hpp"
#include "weft/memory/overflow.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/mapping.hpp"
#include "weft/simulator/simulation_report.hpp"
#include "weft/view/waiting_threads.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

using base::refuse;

// A number, or random.
bool is_seed(const char* text) noexcept {
  if (std::string_view(text) == "random")
    return true;
  char* end = nullptr;
  errno = 0;
  static_cast<void>(std::strtoull(text, &end, 0));
  return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

constinit base::text_knob seed_knob{
    "WEFT_SIM", nullptr, "a number|random", &is_seed,
    "run all workers in turn on one kernel thread; a number, from which all choices follow, or random"};
constinit base::boolean_knob trace_knob{"WEFT_SIM_TRACE", false,
                                        "print each choice of a simulation: who goes on, where and when"};
const base::knob_list simulation_knobs{seed_knob, trace_knob};

// Loops, the schedulers, tasklets and event sources of users run on it; a page is taken when it is touched.
constexpr std::size_t stack_bytes = 1 << 20;

// What all running workers together do within a choice or two, in virtual time.
constexpr deadline step = 500;

constexpr std::uint64_t never = ~0ULL;

} // namespace

// What a worker has instead of a kernel thread. The first is the host itself: what it does outside of Weft,
// and the worker that it becomes if it has the primary thread.
class virtual_thread {
 public:
  explicit virtual_thread(unsigned n) noexcept : number(n) {}
  ~virtual_thread() { give_stack_back(); }
  virtual_thread(const virtual_thread&) = delete;
  virtual_thread& operator=(const virtual_thread&) = delete;

  void give_stack_back() noexcept {
    if (void* const mine = std::exchange(memory, nullptr))
      os::unmap(mine, os::memory_page_bytes() + stack_bytes);
  }

  const unsigned number;          // in order of birth
  std::uint64_t stands_until = 0; // this choice, unless nobody else can go on
  worker* serves = nullptr;
  void (*life)(worker&) = nullptr;
  base::atomic<std::uint32_t> ended{0}; // a futex
  // --- while it waits ---
  const void* word = nullptr; // on this one; null: not on any
  deadline until = no_deadline;
  bool timed_out = false;
  // --- while another one runs ---
  arch::context context{};
  worker* here = nullptr; // the two words of the kernel thread
  worker_face* current = nullptr;
  arch::exception_state exceptions;
  int error = 0;
  // --- its stack; null: the host's ---
  void* memory = nullptr;
};

namespace {

class simulator final : public base::virtual_kernel {
 public:
  explicit simulator(std::uint64_t seed);

  int wait(const void* word, std::uint32_t expected, std::int64_t until) noexcept override;
  int wake(const void* word, int count) noexcept override;
  void yield() noexcept override { choose(simulation::at::yield, true); }
  void sleep(std::int64_t ns) noexcept override;
  std::int64_t now() noexcept override { return now_; }

  void point(simulation::at where) noexcept { choose(where, false); }
  void start(worker& w, void (*life)(worker&));
  void join(worker& w) noexcept;
  void adopt(worker* w) noexcept { threads_.front()->serves = w; }
  [[nodiscard]] bool has_workers() const noexcept {
    return threads_.size() > 1 || threads_.front()->serves != nullptr;
  }
  [[nodiscard]] unsigned running() const noexcept { return running_->number; }
  void forbid() noexcept { forbidden_ = true; }
  [[nodiscard]] std::uint64_t salt() const noexcept { return salt_; }
  [[nodiscard]] deadline search(deadline real) const noexcept { return real * search_percent_ / 100; }
  [[nodiscard]] simulation::counts count() const noexcept {
    return {seed_, decisions_, switches_, schedule_, now_ - began_};
  }

 private:
  [[noreturn]] static void entry(void* self);
  void choose(simulation::at where, bool others_first) noexcept;
  void count_choice(simulation::at where, const virtual_thread& next) noexcept;
  void block(simulation::at where) noexcept;
  virtual_thread& pick(bool others_first) noexcept;
  virtual_thread& next_after_block() noexcept;
  void run(virtual_thread& next) noexcept;
  void arrive() noexcept;
  void make_runnable(virtual_thread& t, bool timed_out) noexcept;
  void pass_time() noexcept;
  void end_waits_in_time() noexcept;
  [[noreturn]] void die_of_deadlock() noexcept;
  [[noreturn]] void end(virtual_thread& self) noexcept;
  void add(std::unique_ptr<virtual_thread> t);

  const std::uint64_t seed_;
  std::uint64_t random_;
  std::uint64_t salt_;
  std::uint64_t stay_; // bits of which none may be set for a choice to be made at all
  deadline search_percent_;
  std::uint64_t stand_; // bits of which all must be set for a worker to be held up
  const bool traced_;
  bool forbidden_ = false;
  arch::exception_globals* const exceptions_; // of the host
  unsigned numbers_ = 0;
  std::vector<std::unique_ptr<virtual_thread>> threads_; // in order of birth
  std::vector<virtual_thread*> runnable_;                // in an order that follows from the choices
  virtual_thread* running_ = nullptr;
  virtual_thread* ended_ = nullptr; // its stack may go once another one runs
  deadline began_;
  deadline now_;
  deadline next_deadline_ = no_deadline; // of those who wait, or earlier
  std::uint64_t decisions_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t schedule_ = 0xCBF29CE484222325ULL; // FNV-1a
};

[[gnu::noinline]] void show(worker* here, worker_face* current) noexcept {
  weft_worker_here = here;
  weft_current_worker = current;
}
[[gnu::noinline]] worker* shown() noexcept {
  return weft_worker_here;
}

simulator::simulator(std::uint64_t seed)
    : seed_(seed), random_(base::seed_of(seed) | 1), traced_(trace_knob.get()),
      exceptions_(arch::globals_of_this_kernel_thread()), began_(os::now_ns()), now_(began_) {
  for (int i = 0; i < 8; ++i) // neighbouring seeds shall have nothing in common
    base::next_random(random_);
  salt_ = base::next_random(random_);
  // Each seed is a different kind of schedule: how often somebody else goes on, how long idle workers search,
  // whether workers are held up at times.
  constexpr std::uint64_t stays[] = {0, 0, 1, 3, 15};
  stay_ = stays[(base::next_random(random_) >> 32) % 5] << 56;
  constexpr deadline searches[] = {0, 0, 10, 100};
  search_percent_ = searches[(base::next_random(random_) >> 32) % 4];
  constexpr std::uint64_t stands[] = {never, 7, 31, 127};
  stand_ = stands[(base::next_random(random_) >> 32) % 4];
  add(std::make_unique<virtual_thread>(0));
  running_ = threads_.front().get();
  running_->here = shown();
  running_->current = &here();
  arch::sanitizer::adopt_native(running_->context.fiber);
}

void simulator::add(std::unique_ptr<virtual_thread> t) {
  runnable_.reserve(threads_.size() + 1);
  runnable_.push_back(t.get());
  threads_.push_back(std::move(t));
  ++numbers_;
}

// --- who goes on ---

virtual_thread& simulator::pick(bool others_first) noexcept {
  const std::size_t n = runnable_.size();
  const std::uint64_t r = base::next_random(random_);
  const std::size_t first = (r >> 16) % n;
  for (std::size_t i = 0; i < n; ++i) {
    virtual_thread& t = *runnable_[(first + i) % n];
    if (t.stands_until <= decisions_ && !(others_first && &t == running_))
      return t;
  }
  // All are held up, or only the caller is not, who asks for others.
  virtual_thread& t = *runnable_[first];
  return others_first && &t == running_ ? *runnable_[(first + 1) % n] : t;
}

void simulator::count_choice(simulation::at where, const virtual_thread& next) noexcept {
  ++decisions_;
  constexpr std::uint64_t prime = 0x100000001B3ULL;
  schedule_ = (schedule_ ^ next.number) * prime;
  schedule_ = (schedule_ ^ static_cast<std::uint64_t>(where)) * prime;
  if (&next != running_)
    ++switches_;
  if (traced_) [[unlikely]]
    simulation_report::choice(decisions_, now_ - began_, where, running_->serves, next.serves);
}

void simulator::choose(simulation::at where, bool others_first) noexcept {
  if (forbidden_)
    base::panic("the child of fork() of a simulated program has no workers: it may only exec() or _exit()");
  pass_time();
  // As if something else had its CPU for a while.
  if (stand_ != never) {
    const std::uint64_t r = base::next_random(random_) >> 32;
    if ((r & stand_) == stand_)
      running_->stands_until = decisions_ + (1ULL << (r >> 16 & 7));
  }
  const bool stays = runnable_.size() == 1 || (!others_first && running_->stands_until <= decisions_ &&
                                               stay_ != 0 && (base::next_random(random_) & stay_) != 0);
  virtual_thread& next = stays ? *running_ : pick(others_first);
  count_choice(where, next);
  if (&next != running_)
    run(next);
}

void simulator::run(virtual_thread& next) noexcept {
  virtual_thread& self = *running_;
  self.here = shown();
  self.current = &here();
  self.exceptions = arch::save_and_clear(*exceptions_);
  self.error = errno;
  running_ = &next;
  arch::sanitizer::adopt_current(self.context.fiber, next.context.fiber);
  arch::swap(self.context, next.context); // back when somebody has chosen `self`
  arrive();
}

void simulator::arrive() noexcept {
  const virtual_thread& self = *running_;
  show(self.here, self.current);
  arch::restore(*exceptions_, self.exceptions);
  errno = self.error;
  if (virtual_thread* gone = std::exchange(ended_, nullptr))
    gone->give_stack_back();
}

// --- waiting ---

void simulator::make_runnable(virtual_thread& t, bool timed_out) noexcept {
  t.word = nullptr;
  t.until = no_deadline;
  t.timed_out = timed_out;
  runnable_.push_back(&t);
}

// With more workers more is done at a time.
void simulator::pass_time() noexcept {
  now_ += 1 + step / static_cast<deadline>(runnable_.size());
  if (now_ >= next_deadline_)
    end_waits_in_time();
}

void simulator::end_waits_in_time() noexcept {
  next_deadline_ = no_deadline;
  for (const auto& t : threads_) {
    if (t->until <= now_)
      make_runnable(*t, true);
    next_deadline_ = std::min(next_deadline_, t->until);
  }
}

virtual_thread& simulator::next_after_block() noexcept {
  while (runnable_.empty()) {
    deadline first = no_deadline;
    for (const auto& t : threads_)
      first = std::min(first, t->until);
    if (first == no_deadline)
      die_of_deadlock();
    now_ = std::max(now_, first);
    end_waits_in_time();
  }
  return pick(false);
}

void simulator::block(simulation::at where) noexcept {
  if (forbidden_)
    base::panic("the child of fork() of a simulated program has no workers: it may only exec() or _exit()");
  runnable_.erase(std::find(runnable_.begin(), runnable_.end(), running_));
  next_deadline_ = std::min(next_deadline_, running_->until);
  virtual_thread& next = next_after_block();
  count_choice(where, next);
  if (&next != running_)
    run(next);
}

int simulator::wait(const void* word, std::uint32_t expected, std::int64_t until) noexcept {
  if (__atomic_load_n(static_cast<const std::uint32_t*>(word), __ATOMIC_ACQUIRE) != expected)
    return EAGAIN;
  if (until <= now_)
    return ETIMEDOUT;
  virtual_thread& self = *running_;
  self.word = word;
  self.until = until;
  self.timed_out = false;
  block(simulation::at::wait);
  return self.timed_out ? ETIMEDOUT : 0;
}

int simulator::wake(const void* word, int count) noexcept {
  int woken = 0;
  for (const auto& t : threads_) {
    if (woken == count)
      break;
    if (t->word != word)
      continue;
    make_runnable(*t, false);
    ++woken;
  }
  return woken;
}

void simulator::sleep(std::int64_t ns) noexcept {
  static std::uint32_t nobody_wakes = 0;
  virtual_thread& self = *running_;
  self.word = &nobody_wakes;
  self.until = now_ + std::max<std::int64_t>(ns, 1);
  block(simulation::at::sleep);
}

void simulator::die_of_deadlock() noexcept {
  simulation_report::deadlock(seed_, decisions_, now_ - began_);
  for (const auto& t : threads_)
    simulation_report::waiting(t->serves, t->number == 0);
  name_waiting_threads();
  base::panic("a simulated program stands still: every worker is idle, no timer is armed, and kernel threads "
              "that are "
              "not simulated cannot wake anybody");
}

// --- births and deaths ---

void simulator::start(worker& w, void (*life)(worker&)) {
  auto t = std::make_unique<virtual_thread>(numbers_);
  const std::size_t guard = os::memory_page_bytes();
  if (os::map(guard + stack_bytes, os::page_access::read_write, &t->memory) != 0 ||
      os::protect(t->memory, guard, os::page_access::none) != 0)
    throw std::bad_alloc();
  t->serves = &w;
  t->life = life;
  t->current = &face_of_others();
  w.simulation.runs_on = t.get();
  arch::make(t->context, static_cast<std::byte*>(t->memory) + guard + stack_bytes, stack_bytes, &entry,
             t.get());
  add(std::move(t));
}

void simulator::entry(void* argument) {
  arch::sanitizer::first_arrival();
  auto& self = *static_cast<virtual_thread*>(argument);
  auto& all = *static_cast<simulator*>(base::hosted_virtual_kernel());
  all.arrive();
  worker& w = *self.serves;
  w.base.fiber = self.context.fiber; // the loop runs here
  self.life(w);
  all.end(self);
}

void simulator::end(virtual_thread& self) noexcept {
  self.ended.store_release(1);
  self.serves = nullptr;
  wake(&self.ended, 1);
  runnable_.erase(std::find(runnable_.begin(), runnable_.end(), &self));
  virtual_thread& next = next_after_block();
  count_choice(simulation::at::end, next);
  running_ = &next;
  ended_ = &self;
  arch::restore(next.context);
}

void simulator::join(worker& w) noexcept {
  virtual_thread* const t = std::exchange(w.simulation.runs_on, nullptr);
  while (t->ended.load_acquire() == 0)
    os::futex_wait(&t->ended, 0);
  std::erase_if(threads_, [t](const auto& other) { return other.get() == t; });
}

// --- the one of the process ---

constinit simulator* process_simulator = nullptr;
constinit simulation::counts last_counts{};
constinit bool printed_at_exit = false;
constinit std::atomic<bool> told_of_outsider{false};

// Null on kernel threads that are not the host.
simulator* simulator_here() noexcept {
  return base::virtual_kernel_here() != nullptr ? process_simulator : nullptr;
}

void tell(bool begins) noexcept {
  if (auto* const f = simulation::told.load(std::memory_order_acquire))
    f(begins);
}

std::uint64_t parse_seed(const char* text) {
  if (std::string_view(text) == "random")
    return std::random_device{}();
  return std::strtoull(text, nullptr, 0);
}

void print_at_exit() {
  if (simulator* const s = simulator_here())
    simulation_report::summary(s->count());
}

} // namespace

constinit std::atomic<void (*)(bool) noexcept> simulation::told{nullptr};

void simulation::begin(std::uint64_t seed) {
  if (is_active())
    refuse(std::errc::operation_not_permitted, "weft: this program is simulated already");
  if (workers_running.load(std::memory_order_relaxed) != 0 || on_worker())
    refuse(std::errc::operation_not_permitted, "weft: a simulation begins before there are workers");
  process_simulator = new simulator(seed);
  told_of_outsider = false;
  face_of_others().attention.fetch_or_relaxed(simulated);
  memory::install_alternate_stack(); // one for all that run here
  tell(true);
  base::host_virtual_kernel(process_simulator);
}

void simulation::end() {
  if (!is_host() || process_simulator->has_workers())
    refuse(std::errc::operation_not_permitted, "weft: a simulation ends where it began, and without workers");
  last_counts = process_simulator->count();
  base::host_virtual_kernel(nullptr);
  tell(false);
  face_of_others().attention.fetch_and_relaxed(~std::uint32_t{simulated});
  delete std::exchange(process_simulator, nullptr);
}

void simulation::begin_if_asked() {
  if (is_active() || seed_knob.get() == nullptr)
    return;
  const std::uint64_t seed = parse_seed(seed_knob.get());
  begin(seed);
  base::warn("simulated with WEFT_SIM=%llu", static_cast<unsigned long long>(seed));
  if (!std::exchange(printed_at_exit, true))
    std::atexit(&print_at_exit);
}

void simulation::refuse_others(const char* what) {
  if (is_active() && !is_host())
    throw std::system_error(
        std::make_error_code(std::errc::not_supported),
        std::string("weft: in a simulation one kernel thread uses Weft; this one may not ") + what);
}

void simulation::end_in_child_of_fork() noexcept {
  if (simulator* const s = simulator_here())
    s->forbid();
}

namespace {

// What it makes ready may wait until some timer passes, for nobody here is woken by it.
void tell_of_outsider() noexcept {
  if (simulation::is_active() && !told_of_outsider.exchange(true))
    base::warn(
        "a kernel thread that is not simulated uses Weft: this run cannot be repeated, and may stand still");
}

} // namespace

void simulation::point(at where) noexcept {
  simulator* const s = simulator_here();
  if (s == nullptr)
    return tell_of_outsider();
  // A worker between two units may stand on the stack of one that has just left it, which cannot be left
  // again. The host outside of Weft has such a unit as well, but no worker.
  if (on_worker() && here().current->kind() == unit::kind_loop)
    return;
  s->point(where);
}

void simulation::turn(at where) noexcept {
  simulator* const s = simulator_here();
  if (s == nullptr)
    return;
  if (where == at::yield) {
    s->yield();
  } else {
    s->point(where);
  }
}

void simulation::start(worker& w, void (*life)(worker&)) {
  process_simulator->start(w, life);
}

void simulation::join(worker& w) noexcept {
  process_simulator->join(w);
}

void simulation::adopt(worker* w) noexcept {
  if (simulator* const s = simulator_here())
    s->adopt(w);
}

std::uint64_t simulation::salt() noexcept {
  const simulator* const s = simulator_here();
  return s != nullptr ? s->salt() : 0;
}

deadline simulation::search(deadline real) noexcept {
  const simulator* const s = simulator_here();
  return s != nullptr ? s->search(real) : real;
}

unsigned simulation::running() noexcept {
  return process_simulator->running();
}

simulation::counts simulation::count() noexcept {
  const simulator* const s = simulator_here();
  return s != nullptr ? s->count() : last_counts;
}

} // namespace weft::sched
