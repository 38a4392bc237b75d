// SPDX-License-Identifier: MIT
// One measurement in a process of its own.

#include "apps/uts/run.hpp"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>
#include <system_error>

#include "apps/uts/machine.hpp"

namespace weft::uts {
namespace {

const tree& known_tree(const std::string& name) {
  const tree* t = find_tree(name);
  if (t == nullptr) {
    throw std::runtime_error("no tree is called " + name);
  }
  return *t;
}

// Runs `body` on a kernel thread with a stack that the deepest tree fits; what it throws is thrown here.
void on_deep_stack(const std::function<void()>& body) {
  struct call {
    const std::function<void()>& body;
    std::exception_ptr thrown;
  } c{body, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, deep_stack_bytes);
  pthread_t thread;
  const auto entry = [](void* argument) -> void* {
    auto* const made = static_cast<call*>(argument);
    try {
      made->body();
    } catch (...) {
      made->thrown = std::current_exception();
    }
    return nullptr;
  };
  const int error = pthread_create(&thread, &attributes, entry, &c);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "a kernel thread with a deep stack");
  }
  pthread_join(thread, nullptr);
  if (c.thrown) {
    std::rethrow_exception(c.thrown);
  }
}

json::value report(const counts& c, double seconds) {
  return json::object{{"nodes", c.nodes},
                      {"leaves", c.leaves},
                      {"max_depth", c.max_depth},
                      {"seconds", seconds},
                      {"peak_bytes", status_bytes("VmHWM")},
                      {"table_bytes", status_bytes("VmPTE")}};
}

json::value timed(const std::function<counts()>& count) {
  const auto begin = std::chrono::steady_clock::now();
  const counts c = count();
  return report(c, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

} // namespace

json::value run_count(const std::string& tree_name, const std::string& runtime, int workers) {
  const tree& t = known_tree(tree_name);
  const adapter* a = find_adapter(runtime);
  if (a == nullptr) {
    throw std::runtime_error("no runtime is called " + runtime);
  }
  json::value result;
  const auto body = [&] { result = timed([&] { return a->count(t, workers); }); };
  if (a->own_stacks) {
    body();
  } else {
    on_deep_stack(body);
  }
  return result;
}

json::value run_blocked(std::size_t threads, std::size_t stack_bytes, int workers) {
  if (!extras().block_threads) {
    throw std::runtime_error("Weft is not built in");
  }
  const blocked_result r = extras().block_threads(threads, stack_bytes, workers);
  return json::object{{"threads", r.threads},
                      {"stack_bytes", stack_bytes},
                      {"workers", workers},
                      {"arrived", r.arrived},
                      {"woken", r.woken},
                      {"resident_before", r.resident_before},
                      {"resident_blocked", r.resident_blocked},
                      {"resident_after", r.resident_after},
                      {"tables_before", r.tables_before},
                      {"tables_blocked", r.tables_blocked},
                      {"tables_after", r.tables_after},
                      {"seconds_to_block", r.seconds_to_block},
                      {"seconds_to_wake", r.seconds_to_wake}};
}

json::value run_trace(const std::string& tree_name, int workers, const std::string& path) {
  if (!extras().trace_count) {
    throw std::runtime_error("Weft is not built in");
  }
  const tree& t = known_tree(tree_name);
  return timed([&] { return extras().trace_count(t, workers, path); });
}

} // namespace weft::uts
