// SPDX-License-Identifier: MIT
// How the group of a cell is made, and the count at its end.
#include "tests/conformance/cell.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>

#include "tests/conformance/policies.hpp"
#include "tests/unit/kernel_thread_count.hpp"
#include "weft/arrange/priority.hpp"
#include "weft/preempt/preparation.hpp"
#include "weft/preemption.hpp"
#include "weft/runtime.hpp"

namespace weft::conformance {
namespace {

constexpr const char* pool_names[] = {"fifo_private",  "fifo_mpsc", "fifo_mpmc",        "lifo_private",
                                      "lifo_mpsc",     "lifo_mpmc", "priority_private", "priority_mpsc",
                                      "priority_mpmc", "deque",     "high_class",       "low_class",
                                      "user"};
constexpr const char* scheduler_names[] = {"fifo",    "priority",   "stealing",    "hierarchical",
                                           "classes", "by_concept", "by_interface"};

#if defined(__SANITIZE_THREAD__)
constexpr int default_scale = 10;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr int default_scale = 10;
#else
constexpr int default_scale = 100;
#endif
#else
constexpr int default_scale = 100;
#endif

int scale() {
  static const int percent = [] {
    const char* given = std::getenv("WEFT_CONFORMANCE_SCALE");
    return given != nullptr ? std::atoi(given) : default_scale;
  }();
  return percent;
}

// But for those that stay while there is any group, and the default runtime is one: who sees to timers, and
// what preemption needs.
std::size_t kernel_threads() {
  constexpr std::string_view stay[] = {"weft-monitor", "weft-creator", "weft-donor", "weft-spare"};
  return test::kernel_threads_if([&](std::string_view name) {
    return !test::sees_to_timers(name) && std::ranges::find(stay, name) == std::end(stay);
  });
}

// The default runtime stands beside the cells, with main's kernel thread as its only worker.
class default_runtime final : public ::testing::Environment {
 public:
  void SetUp() override {
    std::thread([] {}).join(); // ThreadSanitizer starts a kernel thread of its own beside the first one
    ASSERT_TRUE(runtime::start({.workers = 1, .pools = {}, .bind = false, .make_scheduler = nullptr}));
  }
  // Now those can end that stay while there is any group.
  void TearDown() override {
    EXPECT_TRUE(runtime::stop());
    preempt::stop();
    EXPECT_TRUE(eventually([] { return test::weft_kernel_threads() == 0; })) << test::weft_kernel_threads();
  }
};

const auto* const environment = ::testing::AddGlobalTestEnvironment(new default_runtime);

} // namespace

bool cell::single_consumer() const {
  switch (pools) {
  case pool_kind::fifo_mpmc:
  case pool_kind::lifo_mpmc:
  case pool_kind::priority_mpmc:
  case pool_kind::deque:
  case pool_kind::high_class:
  case pool_kind::low_class:
  case pool_kind::user:
    return false;
  default:
    return true;
  }
}

bool cell::lifo() const {
  return pools == pool_kind::lifo_private || pools == pool_kind::lifo_mpsc || pools == pool_kind::lifo_mpmc ||
         pools == pool_kind::deque || pools == pool_kind::low_class;
}

bool cell::fair() const {
  return !lifo() || (scheduler != scheduler_kind::by_concept && scheduler != scheduler_kind::by_interface);
}

std::ostream& operator<<(std::ostream& out, const cell& c) {
  return out << pool_names[static_cast<int>(c.pools)] << '_' << scheduler_names[static_cast<int>(c.scheduler)]
             << '_' << c.workers;
}

std::string name_of(const ::testing::TestParamInfo<cell>& info) {
  return ::testing::PrintToString(info.param);
}

std::vector<cell> all_cells() {
  std::vector<cell> cells;
  for (int p = 0; p <= static_cast<int>(pool_kind::user); ++p) {
    for (int s = 0; s <= static_cast<int>(scheduler_kind::by_interface); ++s) {
      for (const unsigned workers : {1U, 2U, 4U, 8U}) {
        // A smaller run leaves out what lies between.
        if (scale() < 50 && (workers == 2 || workers == 8))
          continue;
        cells.push_back({static_cast<pool_kind>(p), static_cast<scheduler_kind>(s), workers});
      }
    }
  }
  return cells;
}

std::vector<pool_kind> all_pool_kinds() {
  std::vector<pool_kind> kinds;
  for (int p = 0; p <= static_cast<int>(pool_kind::user); ++p)
    kinds.push_back(static_cast<pool_kind>(p));
  return kinds;
}

namespace {

std::shared_ptr<pool> make_bare_pool_of(pool_kind kind) {
  switch (kind) {
  case pool_kind::fifo_private:
    return make_pool(order::fifo, access::priv);
  case pool_kind::fifo_mpsc:
    return make_pool(order::fifo, access::mpsc);
  case pool_kind::fifo_mpmc:
    return make_pool(order::fifo, access::mpmc);
  case pool_kind::lifo_private:
    return make_pool(order::lifo, access::priv);
  case pool_kind::lifo_mpsc:
    return make_pool(order::lifo, access::mpsc);
  case pool_kind::lifo_mpmc:
    return make_pool(order::lifo, access::mpmc);
  case pool_kind::priority_private:
    return make_pool(order::priority, access::priv);
  case pool_kind::priority_mpsc:
    return make_pool(order::priority, access::mpsc);
  case pool_kind::priority_mpmc:
    return make_pool(order::priority, access::mpmc);
  case pool_kind::deque:
    return std::make_shared<deque_pool>();
  case pool_kind::high_class:
    return std::make_shared<sched::class_pool>();
  case pool_kind::low_class: {
    const auto high = std::make_shared<sched::class_pool>();
    return {high, high->low().get()};
  }
  case pool_kind::user:
    return std::make_shared<user_pool>();
  }
  return nullptr;
}

} // namespace

std::shared_ptr<pool> make_pool_of(pool_kind kind) {
  std::shared_ptr<pool> made = make_bare_pool_of(kind);
  made->set_default_technique(default_technique());
  return made;
}

// The default runtime has read the knob.
technique_id default_technique() {
  static const technique_id t = runtime::default_group().member(0).hot->default_technique();
  return t;
}

int scaled(int n) {
  return std::max(1, n * scale() / 100);
}

preemption kind_of_preemption() {
  static const preemption kind = [] {
    const char* given = std::getenv("WEFT_CONFORMANCE_PREEMPTION");
    const std::string name = given != nullptr ? given : "none";
    if (name == "none")
      return preemption::none;
    preempt::set_interval(200us);
    if (name == "own_kernel_thread")
      return preemption::own_kernel_thread;
    if (name == "bound_tls")
      return preemption::bound_tls;
    return name == "own_tls" ? preemption::own_tls : preemption::signal_yield;
  }();
  return kind;
}

void counted::SetUp() {
  before_ = runtime::count();
  kernel_threads_before_ = kernel_threads();
}

void counted::TearDown() {
  const runtime::census after = runtime::count();
  EXPECT_EQ(after.units, before_.units);
  EXPECT_EQ(after.stacks, before_.stacks);
  EXPECT_EQ(after.timers, 0U);
  // A kernel thread that was joined may stand in /proc for a moment longer, and one that begins has no name.
  EXPECT_TRUE(eventually([this] { return kernel_threads() <= kernel_threads_before_; })) << kernel_threads();
}

void cell_fixture::SetUp() {
  counted::SetUp();
  const cell& c = GetParam();
  const bool shares = !c.single_consumer();
  const bool one_pool =
      shares && (c.scheduler == scheduler_kind::fifo || c.scheduler == scheduler_kind::by_interface);
  for (unsigned i = 0; i < (one_pool ? 1 : c.workers); ++i)
    mains_.push_back(make_pool_of(c.pools));
  if (shares && !one_pool)
    common_ = make_pool_of(c.pools);
  group_options o;
  o.workers = c.workers;
  o.pools = arrangement::custom;
  o.make_scheduler = [this](unsigned number) { return make_scheduler(number); };
  group_ = std::make_unique<worker_group>(std::move(o));
  ASSERT_EQ(group_->size(), c.workers);
}

void cell_fixture::TearDown() {
  // Detached threads have done what the case waited for, and may have been preempted since: their end is
  // missing, and without workers they would not go on.
  EXPECT_TRUE(eventually([this] { return runtime::count().units == units_before(); }));
  group_.reset();
  for (const auto& p : mains_)
    EXPECT_TRUE(p->empty());
  mains_.clear();
  common_.reset();
  counted::TearDown();
}

std::shared_ptr<scheduler> cell_fixture::make_scheduler(unsigned number) {
  const cell& c = GetParam();
  std::vector<std::shared_ptr<pool>> own{mains_[number % mains_.size()]};
  std::vector<std::shared_ptr<pool>> own_and_common = own;
  if (common_ != nullptr)
    own_and_common.push_back(common_);
  std::vector<std::shared_ptr<pool>> own_and_others = own;
  for (std::size_t i = 0; i < mains_.size() && !c.single_consumer(); ++i) {
    if (mains_[i] != own[0])
      own_and_others.push_back(mains_[i]);
  }
  switch (c.scheduler) {
  case scheduler_kind::fifo:
    return std::make_shared<fifo_scheduler>(own);
  case scheduler_kind::priority:
    return std::make_shared<priority_scheduler>(own_and_common);
  case scheduler_kind::random_stealing:
    return std::make_shared<random_stealing_scheduler>(own_and_others);
  case scheduler_kind::hierarchical: {
    // A synthetic machine: two workers a core, four a socket.
    std::vector<int> distances;
    for (std::size_t i = 1; i < own_and_others.size(); ++i)
      distances.push_back(i < 2 ? 1 : i < 4 ? 2 : 3);
    return std::make_shared<hierarchical_scheduler>(own_and_others, distances);
  }
  case scheduler_kind::classes: {
    std::vector<std::vector<std::shared_ptr<pool>>> classes{own_and_others};
    if (common_ != nullptr)
      classes.push_back({common_});
    return std::make_shared<sched::class_scheduler>(std::move(classes));
  }
  case scheduler_kind::by_concept:
    return std::make_shared<scheduler_of<backward_policy>>(own_and_common);
  case scheduler_kind::by_interface:
    return std::make_shared<counting_scheduler>(own);
  }
  return nullptr;
}

} // namespace weft::conformance
