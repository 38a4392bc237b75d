// SPDX-License-Identifier: MIT
// The C interface: streams of a predefined kind, and two more that serve two pools of another one.
#include <chrono>

#include "tests/random/abt_machine.hpp"
#include "tests/random/abt_own.hpp"
#include "tests/random/stage.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/runtime/runtime.hpp"

namespace weft::random_programs {

namespace {

struct kind {
  ABT_sched_predef scheduler;
  ABT_pool_kind pool;
  bool common; // one pool for all
  bool own;    // pools and schedulers as a user writes them
};
constexpr kind kinds[] = {
    {ABT_SCHED_BASIC, ABT_POOL_FIFO, false, false},           {ABT_SCHED_BASIC, ABT_POOL_FIFO, true, false},
    {ABT_SCHED_RANDWS, ABT_POOL_RANDWS, false, false},        {ABT_SCHED_PRIO, ABT_POOL_FIFO, false, false},
    {ABT_SCHED_BASIC_WAIT, ABT_POOL_FIFO_WAIT, false, false}, {ABT_SCHED_BASIC, ABT_POOL_FIFO, false, true}};

// For the destructor of a key, which knows nothing but the value.
std::atomic<record*> current;

template <unsigned Key>
void destroy(void* value) {
  record& r = *current.load();
  r.key_ends[Key].fetch_add(1);
  r.key_sums[Key].fetch_add(reinterpret_cast<long>(value));
}

ABT_pool make(const kind& k) {
  if (k.own)
    return make_own_pool();
  ABT_pool p = ABT_POOL_NULL;
  require(ABT_pool_create_basic(k.pool, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &p), "pool_create_basic");
  return p;
}

// Automatic.
ABT_sched make_sched(const kind& k, std::vector<ABT_pool> with) {
  const int count = static_cast<int>(with.size());
  if (k.own)
    return make_own_sched(count, with.data(), false);
  ABT_sched s = ABT_SCHED_NULL;
  require(ABT_sched_create_basic(k.scheduler, count, with.data(), ABT_SCHED_CONFIG_NULL, &s),
          "sched_create_basic");
  return s;
}

class abt_stage final : public stage {
 public:
  explicit abt_stage(const set_up& where) {
    require(ABT_init(0, nullptr), "init");
    ABTX_preemption_set_interval(100e-6);
    const kind& k = kinds[where.pools];
    std::vector<ABT_pool> mains(where.workers, k.common ? make(k) : ABT_POOL_NULL);
    for (ABT_pool& p : mains)
      p = k.common ? p : make(k);
    for (unsigned w = 0; w < where.workers; ++w) {
      std::vector<ABT_pool> mine{mains[w]};
      if (k.scheduler == ABT_SCHED_RANDWS)
        mine.insert(mine.end(), mains.begin(), mains.end());
      if (w == 0) {
        ABT_xstream self = ABT_XSTREAM_NULL;
        require(ABT_xstream_self(&self), "xstream_self");
        require(ABT_xstream_set_main_sched(self, make_sched(k, mine)), "set_main_sched");
      } else {
        add_stream(k, mine);
      }
    }
    const kind& beside = kinds[where.side % std::size(kinds)];
    places_ = {mains[0], make(beside), make(beside)};
    for (unsigned w = 0; w < 2; ++w)
      add_stream(beside, {places_[1 + w], places_[2 - w]});
    require(ABT_key_create(destroy<0>, &keys_[0]), "key_create");
    require(ABT_key_create(destroy<1>, &keys_[1]), "key_create");
    const unsigned own = (k.own ? where.workers : 0) + (beside.own ? 2 : 0);
    while (running_own_scheds() != own)
      ABT_thread_yield();
    before_ = runtime::count();
  }
  abt_stage(const abt_stage&) = delete;
  abt_stage& operator=(const abt_stage&) = delete;
  ~abt_stage() override {
    for (ABT_key& k : keys_)
      ABT_key_free(&k);
    for (ABT_xstream& x : streams_)
      ABT_xstream_free(&x);
    ABT_finalize();
  }

  void run(const program& p, record& r, saboteur& s) override {
    current = &r;
    {
      abt_machine machine(p, places_, keys_, r);
      interpreter<abt_machine> all(machine, p, r, s);
      all.run(0);
      machine.wait_for_the_rest();
      look_for_leaks(r);
    }
    for (unsigned k = 0; k < keys; ++k) { // the primary ULT does not end
      void* value = nullptr;
      ABT_key_get(keys_[k], &value);
      ABT_key_set(keys_[k], nullptr);
      if (value != nullptr)
        (k == 0 ? destroy<0> : destroy<1>)(value);
    }
  }

 private:
  void add_stream(const kind& k, std::vector<ABT_pool> with) {
    ABT_xstream x = ABT_XSTREAM_NULL;
    require(ABT_xstream_create(make_sched(k, std::move(with)), &x), "xstream_create");
    streams_.push_back(x);
  }

  void look_for_leaks(record& r) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (;;) {
      const runtime::census now = runtime::count();
      if (now.units == before_.units && now.stacks == before_.stacks && now.timers == 0)
        return;
      if (std::chrono::steady_clock::now() > give_up) {
        r.check(now.units == before_.units, "units were left:", static_cast<long>(now.units - before_.units));
        r.check(now.stacks == before_.stacks,
                "stacks were left:", static_cast<long>(now.stacks - before_.stacks));
        return r.check(now.timers == 0, "timers were left:", static_cast<long>(now.timers));
      }
      ABT_thread_yield();
    }
  }

  std::array<ABT_pool, pools> places_{};
  std::vector<ABT_xstream> streams_;
  std::array<ABT_key, keys> keys_{};
  runtime::census before_{};
};

bool is_fair(const set_up& where, unsigned) {
  return kinds[where.pools].pool != ABT_POOL_RANDWS &&
         kinds[where.side % std::size(kinds)].pool != ABT_POOL_RANDWS;
}

} // namespace

dialect dialect_here() {
  dialect d{.name = "C",
            .arrangements = std::size(kinds),
            .sides = std::size(kinds),
            .unwinds = false,
            .fair = is_fair};
  d.ways.fill(1);
  for (const op what : {op::call, op::post, op::stop, op::await_stop, op::keep})
    d.ways[static_cast<unsigned>(what)] = 0;
  for (const auto& [what, ways] : {std::pair(op::time_out, 3),
                                   {op::hand_over, 3},
                                   {op::nest, 6},
                                   {op::errand, 12},
                                   {op::lock, 2},
                                   {op::share, 2},
                                   {op::try_lock, 2},
                                   {op::acquire, 2},
                                   {op::wait, 2},
                                   {op::get, 2},
                                   {op::send, 2},
                                   {op::receive, 2},
                                   {op::spawn, 3},
                                   {op::join, 3}})
    d.ways[static_cast<unsigned>(what)] = static_cast<std::uint8_t>(ways);
  d.locks = {lock_kind::mutex, lock_kind::recursive, lock_kind::shared};
  d.semaphores = {semaphore_kind::condition};
  if (arch::can_preempt && arch::can_set_thread_pointer())
    d.preemptions = {ABTX_PREEMPTION_SIGNAL_YIELD, ABTX_PREEMPTION_OWN_TLS, ABTX_PREEMPTION_OWN_KERNEL_THREAD,
                     ABTX_PREEMPTION_BOUND_TLS};
  return d;
}

std::unique_ptr<stage> make_stage(const set_up& where) {
  return std::make_unique<abt_stage>(where);
}

} // namespace weft::random_programs
