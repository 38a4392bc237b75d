// SPDX-License-Identifier: MIT
// The shipped pools by themselves: order, owner and others, removal, attaching.
#include "weft/workers/pool.hpp"

#include <list>
#include <system_error>

#include "tests/unit/sched/fixture.hpp"

// Nobody asks for it in this room's tests; see default_group.hpp.
weft::sched::group& weft::sched::default_group() {
  std::abort();
}

namespace weft::sched::test {
namespace {

struct pool_test : ::testing::Test {
  std::list<dummy> units;
  stage people;
  worker& owner = people.first();
  worker& other = people.second();

  dummy& make(pool& p, int level = 0) { return units.emplace_back(p, level); }
  void push(pool& p, worker* as, descriptor& u) {
    if (as == nullptr)
      return p.push(u);
    const as_worker here(*as);
    p.push(u);
  }
  descriptor* pop(pool& p, worker& as) {
    const as_worker here(as);
    return p.pop(as);
  }
};

TEST_F(pool_test, make_pool_gives_what_is_asked_for) {
  for (const order o : {order::fifo, order::lifo, order::priority}) {
    for (const access a : {access::priv, access::spsc, access::mpsc, access::spmc, access::mpmc}) {
      auto p = make_pool(o, a);
      EXPECT_EQ(p->mode(), a);
      EXPECT_EQ(p->single_consumer(), a == access::priv || a == access::spsc || a == access::mpsc);
      EXPECT_EQ(p->fast() == fast_path::owned_fifo, o == order::fifo && p->single_consumer());
      EXPECT_TRUE(p->empty());
      EXPECT_EQ(p->owner(), nullptr);
    }
  }
}

TEST_F(pool_test, orders) {
  for (const access a : {access::mpsc, access::mpmc}) {
    for (const order o : {order::fifo, order::lifo, order::priority}) {
      auto p = make_pool(o, a);
      p->attach(owner);
      const int levels[] = {3, -32, 31, -32};
      descriptor* u[4];
      for (int i = 0; i < 4; ++i)
        push(*p, &owner, *(u[i] = &make(*p, levels[i])));
      EXPECT_EQ(u[0]->state.load(), unit::state::fresh);
      {
        const as_worker here(owner);
        EXPECT_EQ(p->size(), 4U);
      }
      const int fifo[] = {0, 1, 2, 3};
      const int lifo[] = {3, 2, 1, 0};
      const int priority[] = {1, 3, 0, 2};
      const int* expected = o == order::fifo ? fifo : o == order::lifo ? lifo : priority;
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(pop(*p, owner), u[expected[i]]) << i;
      EXPECT_EQ(pop(*p, owner), nullptr);
      p->detach(owner);
    }
  }
}

TEST_F(pool_test, lifo_pools_know_their_oldest) {
  for (const access a : {access::mpsc, access::mpmc}) {
    auto p = make_pool(order::lifo, a);
    p->attach(owner);
    descriptor& oldest = make(*p);
    descriptor& youngest = make(*p);
    push(*p, &owner, oldest);
    push(*p, &owner, youngest);
    const as_worker here(owner);
    EXPECT_EQ(p->pop_oldest(owner), &oldest);
    EXPECT_EQ(p->pop_oldest(owner), &youngest);
    EXPECT_EQ(p->pop_oldest(owner), nullptr);
    p->detach(owner);
  }
}

TEST_F(pool_test, what_others_push_is_posted_until_the_owner_looks) {
  for (const order o : {order::fifo, order::lifo, order::priority}) {
    auto p = make_pool(o, access::mpsc);
    p->attach(owner);
    descriptor& mine = make(*p);
    descriptor& theirs = make(*p);
    descriptor& outside = make(*p);
    push(*p, &owner, mine);
    push(*p, &other, theirs);
    push(*p, nullptr, outside);
    EXPECT_EQ(mine.state.load(), unit::state::fresh);
    EXPECT_EQ(theirs.state.load(), unit::state::posted);
    EXPECT_FALSE(p->empty());
    {
      const as_worker here(owner);
      p->drain(owner);
    }
    EXPECT_EQ(theirs.state.load(), unit::state::fresh);
    for (int i = 0; i < 3; ++i)
      EXPECT_NE(pop(*p, owner), nullptr);
    EXPECT_TRUE(p->empty());
    p->detach(owner);
  }
}

TEST_F(pool_test, removal_from_the_middle) {
  for (const order o : {order::fifo, order::lifo, order::priority}) {
    auto p = make_pool(o, access::mpsc);
    auto foreign = make_pool(o, access::mpsc);
    p->attach(owner);
    descriptor& a = make(*p);
    descriptor& b = make(*p);
    descriptor& c = make(*p);
    for (descriptor* u : {&a, &b, &c})
      push(*p, u == &b ? nullptr : &owner, *u); // b stands in the inbox
    const as_worker here(owner);
    EXPECT_FALSE(p->remove(b, &other)) << "not the owner";
    EXPECT_FALSE(p->remove(b, nullptr));
    EXPECT_FALSE(foreign->remove(b, &owner)) << "not its pool";
    EXPECT_TRUE(p->remove(b, &owner));
    EXPECT_NE(p->pop(owner), &b);
    EXPECT_NE(p->pop(owner), &b);
    EXPECT_EQ(p->pop(owner), nullptr);
    p->detach(owner);
  }
  auto shared = make_pool(order::fifo, access::mpmc);
  descriptor& a = make(*shared);
  descriptor& b = make(*shared);
  shared->push(a);
  shared->push(b);
  EXPECT_TRUE(shared->remove(a, nullptr)) << "anybody may";
  EXPECT_EQ(shared->pop(owner), &b);
  EXPECT_FALSE(shared->remove(b, nullptr)) << "it is out";
}

TEST_F(pool_test, a_deque_gives_its_owner_the_newest_and_thieves_the_oldest) {
  deque_pool p;
  p.attach(other, false);
  EXPECT_EQ(p.owner(), nullptr) << "it is not the first pool of that worker";
  p.attach(owner);
  EXPECT_EQ(p.owner(), &owner);
  descriptor* u[4];
  for (auto& each : u)
    each = &make(p);
  for (int i = 0; i < 3; ++i)
    push(p, &owner, *u[i]);
  push(p, &other, *u[3]); // through the inbox
  EXPECT_EQ(p.size(), 4U);
  EXPECT_EQ(pop(p, owner), u[2]);
  EXPECT_EQ(p.steal(other), u[0]);
  {
    const as_worker here(owner);
    EXPECT_EQ(p.pop_oldest(owner), u[3]) << "newcomers do not starve";
    EXPECT_EQ(p.pop_oldest(owner), u[1]);
  }
  EXPECT_EQ(p.steal(other), nullptr);
  EXPECT_TRUE(p.empty());
  p.detach(owner);
  EXPECT_EQ(p.owner(), nullptr) << "thieves do not inherit it";
  p.detach(other);
}

TEST_F(pool_test, attaching) {
  for (const access a : {access::priv, access::spsc, access::mpsc}) {
    auto p = make_pool(order::fifo, a);
    p->attach(owner);
    p->attach(owner); // two schedulers of one worker
    EXPECT_THROW(p->attach(other), std::system_error);
    p->detach(owner);
    EXPECT_EQ(p->owner(), &owner) << "once more attached";
    p->detach(owner);
    EXPECT_EQ(p->owner(), nullptr);
    p->detach(owner); // a surplus one does nothing
    p->attach(other);
    EXPECT_EQ(p->owner(), &other);
    p->detach(other);
  }
  auto shared = make_pool(order::fifo, access::mpmc);
  shared->attach(owner);
  shared->attach(other);
  shared->detach(owner);
  EXPECT_EQ(shared->owner(), &other) << "passes on";
  shared->detach(other);
}

TEST_F(pool_test, families) {
  deque_pool a(&people.all());
  deque_pool b(&people.all());
  deque_pool alone;
  EXPECT_TRUE(a.same_family(b));
  EXPECT_FALSE(a.same_family(alone));
  EXPECT_TRUE(alone.same_family(alone));
}

} // namespace
} // namespace weft::sched::test
