// SPDX-License-Identifier: MIT
// What a guard below a stack costs by each means of the kernel's, and what the stack's first page costs: for
// docs/design/stacks.md. usage: decisions.guards [STACKS]; prints one JSON object: ns a stack, the least and
// the median of seven series taken in turn; null: this kernel does not know it. `mappings`: of the process,
// more than before, a stack.
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "bench/decisions/series.hpp"

namespace decisions = weft::bench::decisions;

namespace {

constexpr std::size_t page = 4096, stride = 8 * page; // a guard and seven pages
constexpr int guard_install = 102;                    // MADV_GUARD_INSTALL, Linux 6.13
constexpr std::size_t guards_a_call = 32;

class region {
 public:
  explicit region(std::size_t stacks)
      : bytes_(stacks * stride),
        base_(static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    if (base_ == MAP_FAILED) {
      std::perror("mmap");
      std::exit(1);
    }
  }
  ~region() { ::munmap(base_, bytes_); }
  region(const region&) = delete;
  region& operator=(const region&) = delete;
  [[nodiscard]] std::byte* stack(std::size_t i) const { return base_ + i * stride; }

 private:
  std::size_t bytes_;
  std::byte* base_;
};

long mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

// guard(i) of each; false: one has failed.
template <class Guard>
bool all_of(std::size_t stacks, Guard guard) {
  std::size_t i = 0;
  while (i < stacks && guard(i))
    ++i;
  return i == stacks;
}

bool by_madvise(const region& r, std::size_t stacks) {
  return all_of(stacks, [&r](std::size_t i) { return ::madvise(r.stack(i), page, guard_install) == 0; });
}
bool by_process_madvise(const region& r, std::size_t stacks) {
  static const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  std::array<iovec, guards_a_call> pages;
  for (std::size_t i = 0; i < stacks; i += guards_a_call) {
    const std::size_t count = std::min(guards_a_call, stacks - i);
    for (std::size_t k = 0; k < count; ++k)
      pages[k] = {r.stack(i + k), page};
    if (::syscall(SYS_process_madvise, self, pages.data(), count, guard_install, 0) !=
        static_cast<long>(count * page))
      return false;
  }
  return true;
}
bool by_mprotect(const region& r, std::size_t stacks) {
  return all_of(stacks, [&r](std::size_t i) { return ::mprotect(r.stack(i), page, PROT_NONE) == 0; });
}
bool by_touch(const region& r, std::size_t stacks) {
  return all_of(stacks, [&r](std::size_t i) {
    *reinterpret_cast<volatile char*>(r.stack(i) + stride - 1) = 1;
    return true;
  });
}
// They go at the end of the process.
bool by_mapping(const region&, std::size_t stacks) {
  return all_of(stacks, [](std::size_t) {
    return ::mmap(nullptr, stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                  0) != MAP_FAILED;
  });
}

struct form {
  std::string_view name;
  bool (*guard)(const region&, std::size_t stacks);
  decisions::series ns = {};
  double mappings = 0;
  bool is_known = true;
};

void measure(form& f, std::size_t stacks) {
  const region r(stacks);
  const long before = mappings();
  const auto start = std::chrono::steady_clock::now();
  f.is_known = f.guard(r, stacks) && f.is_known;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  f.ns.add(took.count() / static_cast<double>(stacks));
  f.mappings = static_cast<double>(mappings() - before) / static_cast<double>(stacks);
}

} // namespace

int main(int count, char** words) {
  const long asked = count > 1 ? std::atol(words[1]) : 4096;
  if (asked < 1 || asked > 4096) // a mapping each must stay within vm.max_map_count
    return std::fprintf(stderr, "usage: %s [STACKS], up to 4096\n", words[0]), 2;
  const auto stacks = static_cast<std::size_t>(asked);
  std::array forms = {
      form{"madvise, one call a stack", &by_madvise},
      form{"process_madvise, 32 a call", &by_process_madvise},
      form{"mprotect", &by_mprotect},
      form{"first touch", &by_touch},
      form{"one mapping a stack", &by_mapping},
  };
  for (int i = 0; i < 7; ++i) {
    for (form& f : forms)
      measure(f, f.guard == &by_mapping ? std::min<std::size_t>(stacks, 1024) : stacks);
  }
  std::printf("{");
  for (const form& f : forms) {
    std::printf("%s\"%s\": ", &f == forms.data() ? "" : ", ", f.name.data());
    if (!f.is_known) {
      std::printf("null");
      continue;
    }
    std::printf("{");
    f.ns.print();
    std::printf(", \"mappings\": %.2f}", f.mappings);
  }
  std::puts("}");
  return 0;
}
