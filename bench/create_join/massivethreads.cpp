// SPDX-License-Identifier: MIT
// create_join with MassiveThreads, child-first (its default) and parent-first.
#include "bench/peer/massivethreads.hpp"

#include "bench/create_join/workload.hpp"

namespace bench = weft::bench;

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::create_join::defaults(), {"thread", "parent_first"});
  bench::massivethreads runtime(rec.opt().workers);
  myth_thread_attr_t queued = bench::parent_first();
  myth_thread_attr_t* attr = rec.form_is("thread") ? nullptr : &queued;
  std::vector<myth_thread_t> threads(rec.opt().n);
  return bench::create_join::run(rec, [&](auto body) {
    using body_type = decltype(body);
    const auto start = [](void*) -> void* {
      body_type::run();
      return nullptr;
    };
    for (myth_thread_t& thread : threads)
      myth_create_ex(&thread, attr, start, nullptr);
    for (myth_thread_t thread : threads)
      myth_join(thread, nullptr);
  });
}
