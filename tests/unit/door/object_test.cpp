// SPDX-License-Identifier: MIT
#include "weft/door/object.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>

namespace {

enum class kind : std::uint32_t { gone = 0xdead0001, apple = 0xab000001, pear };

struct apple : weft::door::object<kind> {
  explicit apple(int w) : object(kind::apple), weight(w) {
    if (w < 0)
      throw std::invalid_argument("weight");
  }
  int weight;
};

TEST(door_object, knows_its_kind) {
  const weft::door::owner<apple> a = weft::door::make_owned<apple>(3);
  EXPECT_TRUE(a->is(kind::apple));
  EXPECT_FALSE(a->is(kind::pear));
  EXPECT_EQ(a->weight, 3);
}

TEST(door_object, is_gone_in_memory_that_can_still_be_read) {
  apple* a = weft::door::make<apple>(3);
  weft::door::destroy(a);
  EXPECT_FALSE(a->is(kind::apple));
}

TEST(door_object, a_constructor_that_throws_leaves_nothing_behind) {
  apple* first = weft::door::make<apple>(1);
  weft::door::destroy(first);
  EXPECT_THROW(weft::door::make<apple>(-1), std::invalid_argument);
  const weft::door::owner<apple> again = weft::door::make_owned<apple>(2);
  EXPECT_EQ(again.get(), first);
}

TEST(door_object, may_be_shared) {
  auto a = std::allocate_shared<apple>(weft::door::cell_allocator<apple>(), 5);
  const apple* const where = a.get();
  EXPECT_TRUE(where->is(kind::apple));
  a.reset();
  EXPECT_FALSE(where->is(kind::apple));
}

} // namespace
