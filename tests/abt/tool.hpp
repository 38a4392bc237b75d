// SPDX-License-Identifier: MIT
// What the tests of the tool interface hear with: which events a callback hears of each unit, in which order,
// and what it may ask then.
#pragma once

#include <algorithm>
#include <map>

#include "abt_test.hpp"
#include "user_defs.hpp"

namespace tool_test {

using namespace abt_test;

constexpr std::uint64_t has_pool = ABT_TOOL_EVENT_THREAD_CREATE | ABT_TOOL_EVENT_THREAD_REVIVE |
                                   ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_RESUME;
constexpr std::uint64_t has_depth = ABT_TOOL_EVENT_THREAD_RUN | ABT_TOOL_EVENT_THREAD_FINISH |
                                    ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND;
constexpr std::uint64_t has_sync = ABT_TOOL_EVENT_THREAD_YIELD | ABT_TOOL_EVENT_THREAD_SUSPEND;
constexpr std::uint64_t every_event = 0x3ff;

inline char letter_of(std::uint64_t event) {
  switch (event) {
  case ABT_TOOL_EVENT_THREAD_CREATE:
    return 'c';
  case ABT_TOOL_EVENT_THREAD_JOIN:
    return 'j';
  case ABT_TOOL_EVENT_THREAD_FREE:
    return 'f';
  case ABT_TOOL_EVENT_THREAD_REVIVE:
    return 'v';
  case ABT_TOOL_EVENT_THREAD_RUN:
    return 'r';
  case ABT_TOOL_EVENT_THREAD_FINISH:
    return 'e';
  case ABT_TOOL_EVENT_THREAD_CANCEL:
    return 'x';
  case ABT_TOOL_EVENT_THREAD_YIELD:
    return 'y';
  case ABT_TOOL_EVENT_THREAD_SUSPEND:
    return 's';
  case ABT_TOOL_EVENT_THREAD_RESUME:
    return 'w';
  default:
    return '?';
  }
}

struct heard {
  ABT_thread thread;
  ABT_xstream es;
  std::uint64_t event;
  ABT_pool pool = nullptr;
  int depth = -1;
  ABT_exec_entity_type caller_type = ABT_EXEC_ENTITY_TYPE_EXT;
  void* caller = nullptr;
  ABT_sync_event_type sync = ABT_SYNC_EVENT_TYPE_UNKNOWN;
  void* sync_object = nullptr;
};

// What the callback heard. Never dies: an old callback may still run when a new one is registered.
class recorder {
 public:
  void clear() {
    const std::lock_guard guard(lock_);
    all_.clear();
  }
  void add(const heard& what) {
    const std::lock_guard guard(lock_);
    all_.push_back(what);
  }
  std::vector<heard> of(ABT_thread t) {
    const std::lock_guard guard(lock_);
    std::vector<heard> result;
    std::copy_if(all_.begin(), all_.end(), std::back_inserter(result),
                 [t](const heard& h) { return h.thread == t; });
    return result;
  }
  std::string story(ABT_thread t) {
    std::string result;
    for (const heard& h : of(t))
      result += letter_of(h.event);
    return result;
  }
  std::vector<heard> all() {
    const std::lock_guard guard(lock_);
    return all_;
  }

 private:
  std::mutex lock_;
  std::vector<heard> all_;
};

inline recorder& first_recorder() {
  static recorder& one = *new recorder;
  return one;
}
inline recorder& second_recorder() {
  static recorder& one = *new recorder;
  return one;
}

template <class T>
void ask(ABT_tool_context context, std::uint64_t event, ABT_tool_query_kind kind, T* out) {
  EXPECT_OK(ABT_tool_query_thread(context, event, kind, out));
}

inline void listen(ABT_thread t, ABT_xstream es, std::uint64_t event, ABT_tool_context context, void* arg) {
  heard h{t, es, event};
  if ((event & has_pool) != 0)
    ask(context, event, ABT_TOOL_QUERY_KIND_POOL, &h.pool);
  if ((event & has_depth) != 0)
    ask(context, event, ABT_TOOL_QUERY_KIND_STACK_DEPTH, &h.depth);
  ask(context, event, ABT_TOOL_QUERY_KIND_CALLER_TYPE, &h.caller_type);
  if (event != ABT_TOOL_EVENT_THREAD_CANCEL)
    ask(context, event, ABT_TOOL_QUERY_KIND_CALLER_HANDLE, &h.caller);
  if ((event & has_sync) != 0) {
    ask(context, event, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_TYPE, &h.sync);
    ask(context, event, ABT_TOOL_QUERY_KIND_SYNC_OBJECT_HANDLE, &h.sync_object);
  }
  static_cast<recorder*>(arg)->add(h);
}

// A registered callback, for as long as it lives.
class listening {
 public:
  explicit listening(std::uint64_t mask = ABT_TOOL_EVENT_THREAD_ALL) {
    first_recorder().clear();
    EXPECT_OK(ABT_tool_register_thread_callback(listen, mask, &first_recorder()));
  }
  ~listening() { EXPECT_OK(ABT_tool_register_thread_callback(nullptr, ABT_TOOL_EVENT_THREAD_NONE, nullptr)); }
  listening(const listening&) = delete;
  listening& operator=(const listening&) = delete;
  recorder* operator->() const { return &first_recorder(); }
};

inline ABT_thread self() {
  ABT_thread t = ABT_THREAD_NULL;
  EXPECT_OK(ABT_self_get_thread(&t));
  return t;
}

inline void until_blocked(ABT_thread t) {
  yield_until([t] {
    ABT_thread_state state = ABT_THREAD_STATE_READY;
    EXPECT_OK(ABT_thread_get_state(t, &state));
    return state == ABT_THREAD_STATE_BLOCKED;
  });
}

} // namespace tool_test
