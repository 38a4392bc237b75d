// SPDX-License-Identifier: MIT
#include "fault.hpp"

#include <sched.h>

#include "front/abt/unit.hpp"
#include "front/abt/xstream.hpp"

namespace abt_test {
namespace {

struct node {
  ABT_thread thread;
  node* next;
};
struct list {
  std::mutex lock;
  node* first = nullptr;
  node** end = &first;
};
std::atomic<int> nodes{0};

list& list_of(ABT_pool pool) {
  void* data = nullptr;
  ABT_pool_get_data(pool, &data);
  return *static_cast<list*>(data);
}

ABT_unit make(ABT_pool, ABT_thread thread) {
  ++nodes;
  return reinterpret_cast<ABT_unit>(::new (std::malloc(sizeof(node))) node{thread, nullptr});
}
void drop(ABT_pool, ABT_unit unit) {
  --nodes;
  std::free(reinterpret_cast<node*>(unit));
}
ABT_bool is_empty(ABT_pool pool) {
  list& l = list_of(pool);
  const std::scoped_lock held(l.lock);
  return l.first == nullptr ? ABT_TRUE : ABT_FALSE;
}
ABT_thread pop(ABT_pool pool, ABT_pool_context) {
  list& l = list_of(pool);
  const std::scoped_lock held(l.lock);
  node* n = l.first;
  if (n == nullptr)
    return ABT_THREAD_NULL;
  l.first = n->next;
  if (l.first == nullptr)
    l.end = &l.first;
  return n->thread;
}
void push(ABT_pool pool, ABT_unit unit, ABT_pool_context) {
  list& l = list_of(pool);
  const std::scoped_lock held(l.lock);
  node* n = reinterpret_cast<node*>(unit);
  n->next = nullptr;
  *l.end = n;
  l.end = &n->next;
}
void push_many(ABT_pool pool, const ABT_unit* units, std::size_t count, ABT_pool_context why) {
  for (std::size_t i = 0; i < count; ++i)
    push(pool, units[i], why);
}

} // namespace

ABT_pool_user_def quiet_definition(bool several_at_once) {
  ABT_pool_user_def def = ABT_POOL_USER_DEF_NULL;
  EXPECT_OK(ABT_pool_user_def_create(make, drop, is_empty, pop, push, &def));
  if (several_at_once) {
    EXPECT_OK(ABT_pool_user_def_set_push_many(def, push_many));
  }
  return def;
}

void drop_kept_infos() noexcept {
  if (weft::abt::xstream* const es = weft::abt::stream_here())
    weft::abt::drop_kept_infos(*es);
}

quiet_pool::quiet_pool(bool several_at_once) {
  ABT_pool_user_def def = quiet_definition(several_at_once);
  EXPECT_OK(ABT_pool_create(def, ABT_POOL_CONFIG_NULL, &pool_));
  EXPECT_OK(ABT_pool_user_def_free(&def));
  EXPECT_OK(ABT_pool_set_data(pool_, new list));
}

quiet_pool::~quiet_pool() {
  const list* const l = &list_of(pool_);
  EXPECT_OK(ABT_pool_free(&pool_));
  delete l;
  EXPECT_EQ(nodes, 0);
}

int quiet_pool::units() {
  return nodes;
}

helper::helper(ABT_pool pool) {
  EXPECT_OK(ABT_thread_create(pool, &start, this, ABT_THREAD_ATTR_NULL, &ult_));
}
helper::helper() : kernel_(&start, this) {}

helper::~helper() {
  stop_ = true;
  if (ult_ != ABT_THREAD_NULL) {
    EXPECT_OK(ABT_thread_free(&ult_));
  } else {
    kernel_.join();
  }
}

void helper::work() {
  while (!stop_) {
    if (auto* const f = task_.exchange(nullptr)) {
      code_ = f(argument_);
      done_ = true;
    }
    if (ult_ != ABT_THREAD_NULL)
      ABT_thread_yield();
    ::sched_yield();
  }
}

int helper::run(int (*f)(void*), void* argument) {
  argument_ = argument;
  done_ = false;
  task_ = f;
  while (!done_)
    ::sched_yield();
  return code_;
}

} // namespace abt_test
