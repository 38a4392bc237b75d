// SPDX-License-Identifier: MIT
// The life of a stream.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "front/abt/affinity.hpp"
#include "front/abt/context.hpp"
#include "front/abt/error.hpp"
#include "front/abt/requests.hpp"
#include "front/abt/runtime.hpp"
#include "front/abt/tool.hpp"
#include "front/abt/xstream.hpp"
#include "weft/door/caller.hpp"
#include "weft/door/process.hpp"
#include "weft/door/stream.hpp"
#include "weft/door/switch.hpp"

namespace weft::abt {
namespace {

// Streams run while statics are destroyed, so neither of these ever is.
union never_destroyed {
  constexpr never_destroyed() noexcept : none() {}
  constexpr ~never_destroyed() {}
  stream_view none;
};
constinit const never_destroyed no_streams;
std::atomic<const stream_view*> view{&no_streams.none};

struct kept_views { // under state().lock
  std::vector<std::unique_ptr<const stream_view>> all;
};
std::vector<std::unique_ptr<const stream_view>>& views() noexcept {
  return door::immortal<kept_views>().all;
}

} // namespace

const stream_view* streams_now() noexcept {
  return view.load(std::memory_order_acquire);
}

void publish_streams() {
  views().push_back(std::make_unique<const stream_view>(state().streams));
  view.store(views().back().get(),
             std::memory_order_release); // release: pairs with the acquire in streams_now()
}

void forget_views() noexcept {
  view.store(&no_streams.none);
  views().clear();
}

namespace {

// Under which a stream that has ended rests.
class resting final : public weft::scheduler {
 public:
  explicit resting(xstream& es) : weft::scheduler({es.loop_pool}), stream_(es) {}
  descriptor* next(worker& here) override {
    if (stream_.stopping.load(std::memory_order_relaxed))
      stream_.now_resting();
    return main_pool().pop(here);
  }

 private:
  xstream& stream_;
};

// A user's pool may have a unit without a push: streams that sleep look from time to time.
class patience_for_users final : public weft::event_source {
 public:
  explicit patience_for_users(const xstream& es) : stream_(es) {}
  int poll() override { return 0; }
  [[nodiscard]] std::chrono::nanoseconds patience() const override {
    if (stream_.condition.load() != ABT_XSTREAM_STATE_RUNNING)
      return std::chrono::nanoseconds::max();
    const scheduler* main = stream_.main.load();
    return !main->loops() && main->has_user_pools() ? std::chrono::milliseconds(10)
                                                    : std::chrono::nanoseconds::max();
  }

 private:
  const xstream& stream_;
};

void be_patient(xstream& es, const scheduler& s) {
  if (!s.has_user_pools() || es.patient.load())
    return;
  es.group->add_event_source(std::make_shared<patience_for_users>(es));
  es.patient.store(true);
}

int free_rank_locked() {
  for (int rank = 0;; ++rank) {
    const auto& all = state().streams;
    if (std::none_of(all.begin(), all.end(), [rank](const xstream* es) { return es->rank == rank; }))
      return rank;
  }
}

void start_worker(xstream& es, scheduler& main) {
  es.group = door::start_stream(&es, es.primary, [&] { return core_scheduler_for(main, es); });
}

} // namespace

void xstream::stop_running() {
  if (stopping.exchange(true))
    return;
  try {
    group->set_scheduler(*worker.load(), rest);
  } catch (const std::bad_alloc&) {
    stopping.store(false); // tried again when the stream next finds nothing to do, before it sleeps
    door::block_for(100'000);
    door::look_again_soon(*worker.load());
  }
}

void xstream::now_resting() {
  stopping.store(false);
  forget_requests(*main.load());
  const std::scoped_lock held(lock);
  condition.store(ABT_XSTREAM_STATE_TERMINATED);
  ended.notify_all();
}

void xstream::wait_until_ended() {
  if (!may_wait()) {
    door::poll_until([this] { return condition.load() == ABT_XSTREAM_STATE_TERMINATED; });
    return;
  }
  door::held_lock held(lock);
  if (condition.load() == ABT_XSTREAM_STATE_TERMINATED)
    return;
  const tool_reason why(ABT_SYNC_EVENT_TYPE_XSTREAM_JOIN, this);
  door::wait_in(ended, held, door::no_deadline, {}); // SWITCH: may resume on another worker
}

void xstream::wake() noexcept {
  door::look_again(*worker.load());
  const std::scoped_lock held(lock);
  for (const auto& p : main.load()->pools)
    p->wake_waiters();
}

void xstream::request(std::uint32_t bits) noexcept {
  {
    const std::scoped_lock held(lock);
    add_request(*main.load(), bits);
  }
  wake();
}

bool xstream::serves(const pool* p) noexcept {
  const std::scoped_lock held(lock);
  const auto& pools = main.load()->pools;
  return std::any_of(pools.begin(), pools.end(), [p](const auto& q) { return q.get() == p; });
}

void xstream::set_main(scheduler& next) noexcept {
  const std::scoped_lock held(lock);
  const scheduler* before = main.exchange(&next);
  const std::uint32_t asked = before->requests.load() & (finish_requested | exit_requested);
  if (asked != 0)
    add_request(next, asked);
}

bool runs_on_main_scheduler(const xstream& es) noexcept {
  return door::nesting_here() <= (es.main.load()->loops() ? 1U : 0U);
}

xstream& create_stream(scheduler& main, int rank, bool primary) {
  std::unique_lock held(state().lock);
  auto& all = state().streams;
  all.reserve(all.size() + 1);
  if (rank < 0) {
    rank = free_rank_locked();
  } else if (std::any_of(all.begin(), all.end(), [rank](const xstream* es) { return es->rank == rank; })) {
    throw failure{ABT_ERR_INV_XSTREAM_RANK};
  }
  auto es = make_owned<xstream>();
  views().reserve(views().size() + 2);
  auto grown = std::make_unique<stream_view>(all);
  grown->push_back(es.get());
  es->rank = rank;
  es->primary = primary;
  es->main = &main;
  es->loop_pool = std::make_shared<door::own_pool>();
  es->rest = std::make_shared<resting>(*es);
  start_worker(*es, main);
  es->kernel_thread = primary ? ::pthread_self() : es->worker.load()->kernel_thread.handle();
  try {
    be_patient(*es, main);
    bind_by_environment(*es);
  } catch (...) {
    main.requests.fetch_or(exit_requested);
    held.unlock(); // the stream may want it, and the wait may switch
    es->wake();
    if (!primary)
      es->wait_until_ended(); // a loop of the user's that had begun would be left with its stack
    es->group.reset();
    throw;
  }
  all.push_back(es.get());
  views().push_back(std::move(grown));
  view.store(views().back().get(), std::memory_order_release);
  return *es.release();
}

void join_stream(xstream& es) {
  if (es.condition.load() == ABT_XSTREAM_STATE_TERMINATED)
    return;
  es.request(finish_requested);
  es.wait_until_ended();
}

void let_go(scheduler& old) noexcept {
  forget_requests(old);
  const bool automatic = old.automatic; // once it is not in use, somebody else may free it
  old.used = use::none;
  if (automatic)
    destroy_scheduler(old);
}

// The timers of a stream that is gone are everybody's: one who sleeps must know how long it may.
void wake_one_for_timers() noexcept {
  const std::scoped_lock held(state().lock);
  if (!state().streams.empty())
    door::look_again(*state().streams.front()->worker.load());
}

// From the view, in place: it is never longer than a stream lives.
void withdraw(xstream& es) noexcept {
  try {
    publish_streams();
  } catch (const std::bad_alloc&) {
    std::erase(const_cast<stream_view&>(*view.load()),
               &es); // nobody may read it meanwhile: better than a dead one
  }
}

void free_stream(xstream& es) noexcept {
  {
    const std::scoped_lock held(state().lock);
    std::erase(state().streams, &es);
    withdraw(es);
  }
  es.group.reset();
  wake_one_for_timers();
  let_go(*es.main.load());
  destroy(&es);
}

void revive_stream(xstream& es) {
  scheduler& main = *es.main.load();
  auto core = core_scheduler_for(main, es);
  forget_requests(main);
  be_patient(es, main);
  es.condition = ABT_XSTREAM_STATE_RUNNING;
  try {
    es.group->set_scheduler(*es.worker.load(), std::move(core));
  } catch (...) {
    es.condition = ABT_XSTREAM_STATE_TERMINATED;
    throw;
  }
}

namespace {

// The caller goes where the next scheduler finds it. It may go on, on another stream that shares a pool,
// while the old scheduler is still in use here.
void yield_until_replaced(const xstream& es, std::uint64_t starts_before) {
  do {
    door::yield_thoroughly();
  } while (es.starts.load(std::memory_order_acquire) == starts_before);
}

} // namespace

// While the stream runs, only its own units get here, one at a time, and none yields before the change is
// made.
void replace_main_scheduler(xstream& es, scheduler& next) {
  scheduler& old = *es.main.load();
  be_patient(es, next);
  if (es.condition.load() == ABT_XSTREAM_STATE_TERMINATED) {
    es.main = &next;
    return let_go(old);
  }
  const std::uint64_t before = es.starts.load();
  auto core = old.loops() ? nullptr : core_scheduler_for(next, es);
  descriptor& self = door::unit_here();
  pool& own_pool = *next.pools.front();
  const ABT_unit name = name_in(self, own_pool);
  if (core != nullptr) {
    try {
      es.group->set_scheduler(*es.worker.load(), std::move(core));
    } catch (...) {
      forget_name_in(own_pool, name);
      throw;
    }
    settle_in(self, own_pool, name);
    es.set_main(next);
    yield_until_replaced(es, before);
    return let_go(old);
  }
  // Its loop returns when it next looks. One that was to follow it will not: whoever named that one lets
  // `old` go.
  settle_in(self, own_pool, name);
  scheduler* skipped = es.next_main.exchange(&next);
  add_request(old, replace_requested);
  yield_until_replaced(es, before);
  let_go(skipped != nullptr ? *skipped : old);
}

} // namespace weft::abt
