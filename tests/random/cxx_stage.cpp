// SPDX-License-Identifier: MIT
// The C++ interface: the default runtime, and a group beside it that serves two pools of another make.
#include "tests/random/cxx_machine.hpp"
#include "tests/random/own_policies.hpp"
#include "tests/random/stage.hpp"

namespace weft::random_programs {

namespace {

constexpr arrangement arrangements[] = {
    arrangement::stealing,        arrangement::hierarchical, arrangement::one_pool, arrangement::packing,
    arrangement::pool_per_worker, arrangement::priorities,   arrangement::custom};
// `own`: pools and schedulers as a user writes them.
struct side {
  order sequence;
  access mode;
  unsigned workers;
  bool own;
};
constexpr side sides[] = {
    {order::fifo, access::mpmc, 2, false},     {order::lifo, access::mpmc, 2, false},
    {order::priority, access::mpmc, 2, false}, {order::fifo, access::mpsc, 1, false},
    {order::lifo, access::mpsc, 1, false},     {order::priority, access::mpsc, 1, false},
    {order::fifo, access::mpmc, 2, true}};

using pool_list = std::vector<std::shared_ptr<pool>>;

std::shared_ptr<scheduler> make_own_scheduler(const pool_list& served, unsigned number) {
  if (number % 2 == 0)
    return std::make_shared<own_scheduler>(served);
  return std::make_shared<scheduler_of<backward_turns>>(served);
}

// For the destructor of a key, which knows nothing but the value.
std::atomic<record*> current;

template <unsigned Key>
void destroy(void* value) {
  record& r = *current.load();
  r.key_ends[Key].fetch_add(1);
  r.key_sums[Key].fetch_add(reinterpret_cast<long>(value));
}

class cxx_stage final : public stage {
 public:
  explicit cxx_stage(const set_up& where) : side_(sides[where.side]) {
    runtime::options wanted;
    wanted.workers = where.workers;
    wanted.pools = arrangements[where.pools];
    if (wanted.pools == arrangement::custom) {
      wanted.make_scheduler = [common = std::make_shared<own_pool>()](unsigned number) {
        return make_own_scheduler({std::make_shared<own_pool>(), common}, number);
      };
    }
    runtime::start(wanted);
    for (auto& p : places_)
      p = side_.own ? std::make_shared<own_pool>() : std::shared_ptr(make_pool(side_.sequence, side_.mode));
    group_options beside;
    beside.workers = side_.workers;
    beside.pools = arrangement::custom;
    beside.make_scheduler = [this](unsigned number) {
      return side_.own ? make_own_scheduler(places_, number) : std::make_shared<fifo_scheduler>(places_);
    };
    beside_ = std::make_unique<worker_group>(beside);
    preempt::set_interval(100us);
    thread([] {}).join();
    before_ = runtime::count();
  }
  cxx_stage(const cxx_stage&) = delete;
  cxx_stage& operator=(const cxx_stage&) = delete;
  ~cxx_stage() override {
    beside_.reset();
    runtime::stop();
  }

  void run(const program& p, record& r, saboteur& s) override {
    current = &r;
    {
      cxx_machine machine(p, {&sched::default_group().next_pool(), places_[0].get(), places_[1].get()},
                          {&first_key_, &second_key_}, r);
      interpreter<cxx_machine> all(machine, p, r, s);
      all.run(0);
      machine.wait_for_the_rest();
      look_for_leaks(r); // after the last thread: detached ones end a moment later
    }
    for (auto* const key : {&first_key_, &second_key_}) {
      if (char* const value = key->reset())
        (key == &first_key_ ? destroy<0> : destroy<1>)(value); // the primary thread does not end
    }
  }

 private:
  void look_for_leaks(record& r) {
    const auto left = [this] {
      const runtime::census now = runtime::count();
      return now.units != before_.units || now.stacks != before_.stacks || now.timers != 0;
    };
    const auto give_up = std::chrono::steady_clock::now() + 5s;
    for (int i = 0; left(); ++i) {
      if (std::chrono::steady_clock::now() > give_up) {
        const runtime::census now = runtime::count();
        r.check(now.units == before_.units, "units were left:", static_cast<long>(now.units - before_.units));
        r.check(now.stacks == before_.stacks,
                "stacks were left:", static_cast<long>(now.stacks - before_.stacks));
        return r.check(now.timers == 0, "timers were left:", static_cast<long>(now.timers));
      }
      i < 20 ? this_thread::yield() : static_cast<void>(this_thread::sleep_for(50us));
    }
  }

  const side side_;
  pool_list places_{2};
  std::unique_ptr<worker_group> beside_;
  thread_specific<char> first_key_{destroy<0>};
  thread_specific<char> second_key_{destroy<1>};
  runtime::census before_{};
};

// The newest first may be the one that was preempted.
bool is_fair(const set_up& where, unsigned pool) {
  return pool == 0 || sides[where.side].sequence == order::fifo;
}

} // namespace

dialect dialect_here() {
  dialect d{
      .name = "C++", .arrangements = std::size(arrangements), .sides = std::size(sides), .fair = is_fair};
  d.ways.fill(1);
  for (const auto& [what, ways] : {std::pair(op::yield, 2),
                                   {op::time_out, 6},
                                   {op::hand_over, 4},
                                   {op::nest, 6},
                                   {op::errand, 15},
                                   {op::lock, 2},
                                   {op::share, 2},
                                   {op::try_lock, 2},
                                   {op::acquire, 3},
                                   {op::wait, 3},
                                   {op::arrive, 3},
                                   {op::set, 2},
                                   {op::get, 2},
                                   {op::send, 2},
                                   {op::receive, 2},
                                   {op::await_stop, 4},
                                   {op::spawn, 4},
                                   {op::join, 2}})
    d.ways[static_cast<unsigned>(what)] = static_cast<std::uint8_t>(ways);
  for (unsigned k = 0; k < lock_kinds; ++k)
    d.locks.push_back(static_cast<lock_kind>(k));
  for (unsigned k = 0; k < semaphore_kinds; ++k)
    d.semaphores.push_back(static_cast<semaphore_kind>(k));
  for (const preemption kind : {preemption::signal_yield, preemption::own_tls, preemption::own_kernel_thread,
                                preemption::bound_tls}) {
    if (can_preempt(kind))
      d.preemptions.push_back(static_cast<std::uint8_t>(kind));
  }
  return d;
}

std::unique_ptr<stage> make_stage(const set_up& where) {
  return std::make_unique<cxx_stage>(where);
}

} // namespace weft::random_programs
