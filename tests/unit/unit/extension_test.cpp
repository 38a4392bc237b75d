// SPDX-License-Identifier: MIT
#include "weft/unit/extension.hpp"

#include <gtest/gtest.h>

#include <string>
#include <system_error>
#include <thread>

namespace weft::unit {
namespace {

// A unit that is nothing but a place for an extension.
struct place {
  descriptor unit{};
  place() { unit.traits.store_relaxed(kind_thread); }
  ~place() { drop_extension(unit); }
};

int destroyed = 0;
void count(void*) {
  ++destroyed;
}

TEST(extension, names_are_cut) {
  place p;
  EXPECT_STREQ(name_of(p.unit), "");
  set_name(p.unit, "short");
  EXPECT_STREQ(name_of(p.unit), "short");
  const std::string longest(31, 'x');
  set_name(p.unit, (longest + "tail").c_str());
  EXPECT_EQ(name_of(p.unit), longest);
  set_name(p.unit, "");
  EXPECT_STREQ(name_of(p.unit), "");
  EXPECT_TRUE(p.unit.has(extended));
}

TEST(extension, values_and_their_destructors) {
  destroyed = 0;
  const local_key with = make_key(&count);
  const local_key without = make_key(nullptr);
  int a = 0;
  {
    place p;
    place other;
    EXPECT_EQ(get_local(p.unit, with), nullptr);
    set_local(p.unit, with, &a);
    set_local(p.unit, without, &a);
    EXPECT_EQ(get_local(p.unit, with), &a);
    EXPECT_EQ(get_local(other.unit, with), nullptr);
    set_local(other.unit, with, nullptr);
  }
  EXPECT_EQ(destroyed, 1) << "not for null, not without a destructor";
  delete_key(with);
  delete_key(without);
}

TEST(extension, a_deleted_key_is_forgotten) {
  destroyed = 0;
  int a = 0;
  place p;
  const local_key old = make_key(&count);
  set_local(p.unit, old, &a);
  delete_key(old);
  EXPECT_THROW(delete_key(old), std::system_error);
  const local_key fresh = make_key(&count);
  EXPECT_EQ(fresh.index, old.index) << "the first free place, or this test shows nothing";
  EXPECT_EQ(get_local(p.unit, fresh), nullptr) << "the value belongs to the old key";
  drop_extension(p.unit);
  EXPECT_EQ(destroyed, 0);
  EXPECT_THROW(delete_key({}), std::system_error);
  EXPECT_THROW(delete_key({largest_key_count, 1}), std::system_error);
  delete_key(fresh);
}

TEST(extension, all_keys_taken) {
  std::vector<local_key> keys;
  try {
    for (;;)
      keys.push_back(make_key(nullptr));
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
  }
  EXPECT_EQ(keys.size(), largest_key_count);
  delete_key(keys[517]);
  keys[517] = make_key(nullptr);
  EXPECT_EQ(keys[517].index, 517U);
  {
    place p;
    int a = 0;
    set_local(p.unit, keys.back(), &a);
    EXPECT_EQ(get_local(p.unit, keys.back()), &a);
    EXPECT_EQ(get_local(p.unit, keys.front()), nullptr);
  }
  for (const local_key k : keys)
    delete_key(k);
}

descriptor* dying = nullptr;
local_key again;

TEST(extension, a_destructor_may_set_values_but_not_for_ever) {
  static int rounds;
  rounds = 0;
  again = make_key([](void* value) {
    ++rounds;
    set_local(*dying, again, value);
  });
  int a = 0;
  {
    place p;
    dying = &p.unit;
    set_local(p.unit, again, &a);
  }
  EXPECT_EQ(rounds, destructor_rounds);
  delete_key(again);
}

TEST(extension, made_once_whoever_comes_first) {
  for (int round = 0; round < 200; ++round) {
    place p;
    extension* there = nullptr;
    std::thread other([&] { there = &extend(p.unit); });
    extension* here = &extend(p.unit);
    other.join();
    EXPECT_EQ(here, there);
    EXPECT_FALSE(p.unit.has(extending));
  }
}

} // namespace
} // namespace weft::unit
