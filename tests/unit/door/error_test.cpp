// SPDX-License-Identifier: MIT
#include "weft/door/error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace {

using weft::door::guarded;

constexpr weft::door::error_row rows[] = {
    {std::errc::not_enough_memory, 1},
    {std::errc::resource_unavailable_try_again, 2},
};
constexpr weft::door::error_table errors{rows, 9};

template <class Exception>
int code_for(Exception e) {
  return guarded(errors, [&]() -> int { throw e; });
}

TEST(door_error, what_returns_keeps_its_code) {
  EXPECT_EQ(guarded(errors, [] { return 5; }), 5);
}

TEST(door_error, a_failure_is_its_own_code) {
  EXPECT_EQ(code_for(weft::door::failure{7}), 7);
}

TEST(door_error, exceptions_get_the_codes_of_their_rows) {
  EXPECT_EQ(code_for(std::bad_alloc()), 1);
  EXPECT_EQ(code_for(std::system_error(ENOMEM, std::generic_category())), 1);
  EXPECT_EQ(code_for(std::system_error(EAGAIN, std::system_category())), 2);
}

TEST(door_error, what_has_no_row_gets_the_callers_code) {
  EXPECT_EQ(code_for(std::system_error(EPERM, std::generic_category())), 9);
  EXPECT_EQ(code_for(std::runtime_error("")), 9);
  EXPECT_EQ(guarded(errors, []() -> int { throw 1; }, 4), 4);
  constexpr weft::door::error_table none{{}, 3};
  EXPECT_EQ(guarded(none, []() -> int { throw std::bad_alloc(); }), 3);
}

} // namespace
