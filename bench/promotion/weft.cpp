// SPDX-License-Identifier: MIT
// promotion on x86-64: what Weft does ("flag") and what it rejected ("patch"). Where return addresses are
// kept twice (shadow stacks) a patched one ends the process, so it is refused.
#include "bench/promotion/workload.hpp"

#include <cstdio>

#include "weft/arch/arch.hpp"

namespace bench = weft::bench;

namespace {

#if defined(__x86_64__)

constexpr bool can_patch = true;

// int call(function): calls function(where its return address stands). 1: it came back to `promoted`.
asm(".text\n"
    ".p2align 4\n"
    "bench_call_patchable:\n"
    "  subq $8, %rsp\n"
    "  movq %rdi, %rax\n"
    "  leaq -8(%rsp), %rdi\n"
    "  call *%rax\n"
    "  xorl %eax, %eax\n"
    "  addq $8, %rsp\n"
    "  ret\n"
    "bench_promoted:\n"
    "  movl $1, %eax\n"
    "  addq $8, %rsp\n"
    "  ret\n");
extern "C" int bench_call_patchable(void (*function)(void** return_address));
extern "C" const char bench_promoted[];

[[gnu::noinline]] void patch(void** return_address) {
  *return_address = const_cast<char*>(bench_promoted);
}

#else

constexpr bool can_patch = false;
int bench_call_patchable(void (*)(void**)) {
  return 0;
}
void patch(void**) {}

#endif

[[gnu::noinline]] void leave_address(void** return_address) {
  asm volatile("" : : "r"(return_address)); // a call that is not optimised away
}

[[gnu::noinline]] void set_flag(volatile bool* deviated) {
  *deviated = true;
}
[[gnu::noinline]] void leave_flag(volatile bool* deviated) {
  asm volatile("" : : "r"(deviated));
}

bool call_flagged(void (*volatile& function)(volatile bool*)) {
  volatile bool deviated = false;
  function(&deviated);
  return deviated;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, bench::promotion::defaults(),
                      {"flag.0", "flag.100", "patch.0", "patch.100"});
  const bool deviates = rec.form_is("flag.100") || rec.form_is("patch.100");
  if (rec.form_is("flag.0") || rec.form_is("flag.100")) {
    void (*volatile function)(volatile bool*) = deviates ? &set_flag : &leave_flag;
    return bench::promotion::run(rec, deviates, [&] { return call_flagged(function); });
  }
  if (!can_patch || weft::arch::shadow_stack_active()) {
    std::fputs("promotion: return addresses cannot be patched here\n", stderr);
    return 77;
  }
  void (*volatile function)(void**) = deviates ? &patch : &leave_address;
  return bench::promotion::run(rec, deviates, [&] { return bench_call_patchable(function) != 0; });
}
