// SPDX-License-Identifier: MIT
#include "weft/trace/name_table.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace {

using namespace weft::trace;

class name_table_test : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(table.make()); }
  void TearDown() override { table.free(); }

  static unit_name given(const char* text) {
    unit_name n{};
    std::snprintf(n.given, sizeof n.given, "%s", text);
    return n;
  }
  [[nodiscard]] std::string text(std::uint32_t number) const { return table.all()[number - 1].text; }

  name_table table;
};

const void* address(std::uintptr_t value) {
  return reinterpret_cast<const void*>(value);
}

TEST_F(name_table_test, one_name_has_one_number) {
  EXPECT_EQ(table.all().size(), 0u);
  EXPECT_EQ(table.number_of(given("reader")), 1u);
  EXPECT_EQ(table.number_of(given("writer")), 2u);
  EXPECT_EQ(table.number_of(given("reader")), 1u);
  EXPECT_EQ(table.all().size(), 2u);
  EXPECT_EQ(text(2), "writer");
}

TEST_F(name_table_test, what_it_was_given_goes_before_its_function) {
  unit_name n = given("reader");
  n.label = "f [with Callable = type]";
  n.function = address(16);
  EXPECT_EQ(text(table.number_of(n)), "reader");
  n.given[0] = '\0';
  EXPECT_EQ(text(table.number_of(n)), "type");
  n.label = "no such form";
  EXPECT_EQ(text(table.number_of(n)), "no such form");
  n.label = nullptr;
  EXPECT_EQ(text(table.number_of(n)), "") << "an address is not resolved while units run";
  table.resolve([](const void* function, char* buffer, std::size_t bytes) {
    std::snprintf(buffer, bytes, "function %d", static_cast<int>(reinterpret_cast<std::uintptr_t>(function)));
  });
  EXPECT_EQ(text(table.number_of(n)), "function 16");
  EXPECT_EQ(table.all().size(), 4u);
}

TEST_F(name_table_test, a_lambda_is_told_by_its_file_and_line) {
  unit_name n{};
  n.label = "void f() [Callable = (lambda at /a/folder/file.cpp:66:10)]";
  EXPECT_EQ(text(table.number_of(n)), "(lambda at file.cpp:66:10)");
  n.label = "void f() [with Callable = main()::<lambda(int)>]";
  EXPECT_EQ(text(table.number_of(n)), "main()::<lambda(int)>");
  const std::string long_one = "Callable = (lambda at /" + std::string(200, 'x') + ":1:2)]";
  n.label = long_one.c_str();
  EXPECT_EQ(text(table.number_of(n)).size(), name_entry::text_bytes - 1);
}

TEST_F(name_table_test, a_long_one_loses_its_middle) {
  for (std::size_t length = 90; length < 200; ++length) {
    const std::string type = "begin" + std::string(length - 8, 'x') + "end";
    const std::string label = "Callable = " + type + "]";
    unit_name n{};
    n.label = label.c_str();
    const std::string kept = text(table.number_of(n));
    if (length < name_entry::text_bytes) {
      EXPECT_EQ(kept, type);
    } else {
      EXPECT_EQ(kept.size(), name_entry::text_bytes - 1) << length;
      EXPECT_TRUE(kept.starts_with("beginx") && kept.ends_with("xend")) << kept;
      EXPECT_NE(kept.find("x...x"), std::string::npos);
    }
    table.free();
    ASSERT_TRUE(table.make()); // the next label may have the same address
  }
}

TEST_F(name_table_test, a_full_one_still_knows_those_it_has) {
  unit_name n{};
  for (std::uintptr_t i = 1; i <= name_table::capacity; ++i) {
    n.function = address(i * 16);
    ASSERT_EQ(table.number_of(n), i);
  }
  n.function = address(8);
  EXPECT_EQ(table.number_of(n), 0u);
  for (std::uintptr_t i = 1; i <= name_table::capacity; ++i) {
    n.function = address(i * 16);
    ASSERT_EQ(table.number_of(n), i);
  }
}

} // namespace
