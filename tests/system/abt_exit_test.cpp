// SPDX-License-Identifier: MIT
// exit() of a program over abt.h: its streams run until the process has ended, so destructors and atexit
// functions may lock, join, free and finalise, whenever they were registered and whoever calls exit(). What
// they do is in abt_exit_user.c.
#include <abt.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/system/scenario.hpp"
#include "weft/weft.hpp"

extern "C" {
void user_start();
void user_end();
void user_end_by_destructor();
}

namespace {

using namespace std::chrono_literals;
using weft::tests::require;

// --- where the user ends ---

// Made before main() uses anything, so destroyed late.
bool ends_in_early_static = false;
struct early_static {
  ~early_static() {
    if (ends_in_early_static)
      user_end();
  }
} early;

void* open_user() {
  void* const library = ::dlopen(WEFT_ABT_USER, RTLD_NOW | RTLD_LOCAL);
  require(library != nullptr, WEFT_ABT_USER);
  return library;
}
void call(void* library, const char* name) {
  auto* const f = reinterpret_cast<void (*)()>(::dlsym(library, name));
  require(f != nullptr, name);
  f();
}

void start_user(const std::string& where) {
  if (where == "atexit_before_init")
    std::atexit(&user_end);
  if (where.starts_with("library")) {
    void* const library = open_user();
    ABT_init(0, nullptr); // the program's own use goes on when the library has gone
    call(library, "user_start");
    call(library, "user_end_by_destructor");
    if (where == "library_closed")
      ::dlclose(library);
    return;
  }
  user_start();
  if (where == "atexit_after_init")
    std::atexit(&user_end);
  if (where == "late_static") {
    static const struct late_static {
      ~late_static() { user_end(); }
    } late;
  }
  if (where == "destructor")
    user_end_by_destructor();
  ends_in_early_static = where == "early_static";
}

// --- who calls exit() ---

void exit_from_ult(void*) {
  std::exit(7);
}

[[noreturn]] void exit_on_stream_of(ABT_xstream stream) {
  ABT_pool pool;
  require(ABT_xstream_get_main_pools(stream, 1, &pool) == ABT_SUCCESS, "pools");
  ABT_thread ult;
  require(ABT_thread_create(pool, exit_from_ult, nullptr, ABT_THREAD_ATTR_NULL, &ult) == ABT_SUCCESS, "ULT");
  ABT_thread_join(ult);
  std::_Exit(1);
}

int leave(const std::string& who) {
  ABT_xstream stream = ABT_XSTREAM_NULL;
  if (who == "exit")
    std::exit(7);
  if (who == "ult") {
    ABT_self_get_xstream(&stream);
    exit_on_stream_of(stream);
  }
  if (who == "ult_elsewhere") {
    ABT_xstream_create(ABT_SCHED_NULL, &stream);
    exit_on_stream_of(stream);
  }
  if (who == "foreign") {
    std::thread([] { std::exit(7); }).join();
    return 1;
  }
  return 7;
}

WEFT_SCENARIO(abt_exit) {
  const std::string& argument = weft::tests::scenario_argument();
  const std::size_t space = argument.find(' ');
  start_user(argument.substr(0, space));
  return leave(argument.substr(space + 1));
}

class exits_of_streams : public ::testing::TestWithParam<const char*> {};
TEST_P(exits_of_streams, end_what_stands_on_them) {
  for (const char* who : {"return", "exit", "ult", "ult_elsewhere", "foreign"}) {
    const std::string argument = std::string(GetParam()) + " " + who;
    const auto result = weft::tests::run(
        "abt_exit", {.environment = {}, .limit = std::chrono::seconds(20), .argument = argument});
    EXPECT_EQ(result.exit_code, 7) << argument << ": " << result.describe();
    EXPECT_TRUE(result.contains("user has ended")) << argument << ": " << result.describe();
  }
}
INSTANTIATE_TEST_SUITE_P(where, exits_of_streams,
                         ::testing::Values("atexit_before_init", "atexit_after_init", "early_static",
                                           "late_static", "destructor", "library_open", "library_closed"),
                         [](const auto& info) { return std::string(info.param); });

// Streams at work, which nobody ends: the process ends with its code all the same, as it does at once.
void yield_for_ever(void*) {
  for (;;)
    ABT_thread_yield();
}
void create_for_ever(void*) {
  ABT_pool pool;
  ABT_self_get_last_pool(&pool);
  for (;;) {
    ABT_thread ult;
    if (ABT_thread_create(pool, [](void*) {}, nullptr, ABT_THREAD_ATTR_NULL, &ult) == ABT_SUCCESS)
      ABT_thread_free(&ult);
  }
}
WEFT_SCENARIO(abt_exit_while_streams_work) {
  require(ABT_init(0, nullptr) == ABT_SUCCESS, "init");
  for (int i = 0; i < 3; ++i) {
    ABT_xstream stream;
    ABT_pool pool;
    require(ABT_xstream_create(ABT_SCHED_NULL, &stream) == ABT_SUCCESS, "stream");
    ABT_xstream_get_main_pools(stream, 1, &pool);
    ABT_thread_create(pool, yield_for_ever, nullptr, ABT_THREAD_ATTR_NULL, nullptr);
    ABT_thread_create(pool, create_for_ever, nullptr, ABT_THREAD_ATTR_NULL, nullptr);
  }
  return leave(weft::tests::scenario_argument());
}
TEST(exit_of_streams, with_its_code_while_they_work) {
  for (const char* who : {"return", "exit", "ult", "ult_elsewhere", "foreign"}) {
    for (int i = 0; i < 10; ++i) {
      const auto result =
          weft::tests::run("abt_exit_while_streams_work",
                           {.environment = {}, .limit = std::chrono::seconds(20), .argument = who});
      ASSERT_EQ(result.exit_code, 7) << who << ": " << result.describe();
    }
  }
}

// Both doors in one process: the default group of the C++ interface stands still, the streams do not.
WEFT_SCENARIO(abt_exit_beside_a_group) {
  static std::atomic<long> turns{0};
  // Before the runtime registers what makes the group stand still, so it runs after that.
  std::atexit([] {
    const long before = turns.load();
    std::this_thread::sleep_for(20ms);
    require(turns.load() == before, "the group stands still");
    user_end();
  });
  std::thread([] { // not on main's kernel thread, which is the primary stream's
    weft::runtime::start({.workers = 2});
    for (int i = 0; i < 4; ++i) {
      weft::thread([] {
        for (;;) {
          turns.fetch_add(1);
          weft::this_thread::yield();
        }
      }).detach();
    }
  })
      .join();
  user_start();
  return 7;
}
TEST(exit_of_streams, beside_a_group_that_stands_still) {
  const auto result = weft::tests::run("abt_exit_beside_a_group");
  EXPECT_EQ(result.exit_code, 7) << result.describe();
  EXPECT_TRUE(result.contains("user has ended")) << result.describe();
}

} // namespace
