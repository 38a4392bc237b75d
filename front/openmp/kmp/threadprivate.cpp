// SPDX-License-Identifier: MIT
// threadprivate where the compiler does not make thread-local variables of it (clang -fnoopenmp-use-tls):
// each thread asks for its copy by the address of the original, which is the copy of the process's first
// thread.
#include "front/openmp/kmp/abi.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

using construct = void* (*)(void*);
using construct_copy = void* (*)(void*, void*);
using destroy = void (*)(void*);
using construct_all = void* (*)(void*, std::size_t);
using construct_copies = void* (*)(void*, void*, std::size_t);
using destroy_all = void (*)(void*, std::size_t);

// How copies of a variable come and go: as the program has registered it, else its bytes as they were when
// the first thread asked.
struct variable {
  construct make = nullptr;
  construct_copy make_copy = nullptr;
  destroy end = nullptr;
  construct_all make_all = nullptr;
  construct_copies make_copies = nullptr;
  destroy_all end_all = nullptr;
  std::size_t length = 0; // of a vector
  std::vector<char> bytes;
};

// Ownership: `lock` guards the map; what it holds stays where it is.
struct all_variables {
  std::mutex lock;
  std::map<void*, variable> known;
};
all_variables& variables() {
  static auto* const all = new all_variables; // never freed: threads end after exit() has run
  return *all;
}

struct copies final : copies_of_variables {
  struct copy {
    std::unique_ptr<char[]> memory;
    const variable* of;
  };
  std::unordered_map<void*, copy> by_original;

  ~copies() override {
    for (auto& [original, c] : by_original) {
      if (c.of->end_all != nullptr)
        c.of->end_all(c.memory.get(), c.of->length);
      else if (c.of->end != nullptr)
        c.of->end(c.memory.get());
    }
  }
};

const variable& variable_at(void* original, std::size_t bytes) {
  all_variables& all = variables();
  const std::scoped_lock held(all.lock);
  variable& v = all.known[original];
  if (v.bytes.empty()) {
    const char* const first = static_cast<const char*>(original);
    v.bytes.assign(first, first + bytes);
  }
  return v;
}

void begin(const variable& v, void* copy, void* original) {
  if (v.make_all != nullptr)
    v.make_all(copy, v.length);
  else if (v.make_copies != nullptr)
    v.make_copies(copy, original, v.length);
  else if (v.make != nullptr)
    v.make(copy);
  else if (v.make_copy != nullptr)
    v.make_copy(copy, original);
  else
    std::memcpy(copy, v.bytes.data(), v.bytes.size());
}

void* copy_of(thread& t, void* original, std::size_t bytes) {
  if (t.id == 0) {
    static_cast<void>(variable_at(original, bytes)); // before the caller writes to it
    return original;
  }
  if (t.copies == nullptr)
    t.copies = std::make_unique<copies>();
  auto& mine = static_cast<copies&>(*t.copies).by_original;
  if (const auto found = mine.find(original); found != mine.end())
    return found->second.memory.get();
  const variable& v = variable_at(original, bytes);
  auto memory = std::make_unique<char[]>(bytes); // aligned for anything that operator new is for
  void* const made = memory.get();
  mine.emplace(original, copies::copy{std::move(memory), &v});
  begin(v, made, original); // the program's code, which may ask for others
  return made;
}

} // namespace

KMP_EXPORT void* __kmpc_threadprivate(ident*, int, void* original, std::size_t bytes) {
  return copy_of(caller(), original, bytes);
}
// `cache` is for a runtime that looks for copies by the numbers of threads.
KMP_EXPORT void* __kmpc_threadprivate_cached(ident*, int, void* original, std::size_t bytes,
                                             void*** /*cache*/) {
  return copy_of(caller(), original, bytes);
}
KMP_EXPORT void __kmpc_threadprivate_register(ident*, void* original, construct make,
                                              construct_copy make_copy, destroy end) {
  all_variables& all = variables();
  const std::scoped_lock held(all.lock);
  variable& v = all.known[original];
  v.make = make;
  v.make_copy = make_copy;
  v.end = end;
}
KMP_EXPORT void __kmpc_threadprivate_register_vec(ident*, void* original, construct_all make,
                                                  construct_copies make_copies, destroy_all end,
                                                  std::size_t length) {
  all_variables& all = variables();
  const std::scoped_lock held(all.lock);
  variable& v = all.known[original];
  v.make_all = make;
  v.make_copies = make_copies;
  v.end_all = end;
  v.length = length;
}
