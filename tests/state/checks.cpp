// SPDX-License-Identifier: MIT
#include "tests/state/checks.hpp"

#include <cerrno>
#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace weft::thread_state {

namespace {

constexpr int rounding_modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// Of a kernel thread, or of a TLS block: read and written through functions that no compiler sees into, as
// the address of a thread-local variable may not be kept across a call that switches.
thread_local unsigned mine = 0;
thread_local pid_t kernel_thread = 0;

[[gnu::noinline]] unsigned read_mine() {
  asm volatile("" ::: "memory");
  return mine;
}
[[gnu::noinline]] void write_mine(unsigned value) {
  asm volatile("" ::: "memory");
  mine = value;
}
// Whose block this is: the kernel thread that read it first.
[[gnu::noinline]] pid_t owner_of_block() {
  asm volatile("" ::: "memory");
  if (kernel_thread == 0)
    kernel_thread = ::gettid();
  return kernel_thread;
}
[[gnu::noinline]] int read_errno() {
  asm volatile("" ::: "memory");
  return errno;
}
[[gnu::noinline]] void write_errno(int value) {
  asm volatile("" ::: "memory");
  errno = value;
}

// The quotient depends on the rounding mode.
double third() {
  volatile double one = 1.0;
  volatile double three = 3.0;
  return one / three;
}

} // namespace

promises promises_of(preemption kind) noexcept {
  promises p;
  switch (kind) {
  case preemption::signal_yield:
    p.thread_local_if_preempted = false;
    p.runtime_of_the_language = false;
    break;
  case preemption::bound_tls:
    p.thread_local_for_life = true;
    break;
  default:
    break;
  }
  return p;
}

void compute(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i)
    asm volatile("");
}

void check_registers(course& c, unsigned who, unsigned round) {
  std::uint64_t a = who * 7919U + round, b = a * 31, d = b ^ 0x5555, e = d + who, f = e * 3, g = f - round,
                h = g ^ a;
  double x = static_cast<double>(a) / 3, y = x * 1.5, z = y + static_cast<double>(b), w = z - x;
  asm volatile(""
               : "+r"(a), "+r"(b), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)); // not to be computed again
  asm volatile("" : "+x"(x), "+x"(y), "+x"(z), "+x"(w));
  move(c, round);
  const std::uint64_t a2 = who * 7919U + round;
  c.check(a == a2 && b == a * 31 && d == (b ^ 0x5555) && e == d + who && f == e * 3 && g == f - round &&
              h == (g ^ a),
          "integers in registers or on the stack");
  c.check(x == static_cast<double>(a2) / 3 && y == x * 1.5 && z == y + static_cast<double>(b) && w == z - x,
          "floating-point values in registers or on the stack");
}

void check_floating_point(course& c, unsigned who, unsigned round) {
  const int mode = rounding_modes[who % 4];
  std::fesetround(mode); // MXCSR and the x87 control word
  const double before = third();
  move(c, round);
  c.check(std::fegetround() == mode, "the x87 rounding mode");
  c.check(third() == before, "the rounding mode of MXCSR");
  compute(2000);
  c.check(std::fegetround() == mode && third() == before, "the rounding mode, across a preemption");
}

void check_exceptions(course& c, unsigned who, unsigned round) {
  const unsigned thrown = who * 100'000 + round % 100'000;
  unsigned caught = 0;
  try {
    try {
      throw std::runtime_error(std::to_string(thrown));
    } catch (const std::runtime_error&) {
      move(c, round); // while it is handled
      try {
        throw thrown + 1;
      } catch (const unsigned inner) {
        move(c, round + 1); // while two are
        c.check(inner == thrown + 1, "the inner of two caught exceptions");
      }
      c.check(std::current_exception() != nullptr, "the outer of two caught exceptions");
      throw;
    }
  } catch (const std::exception& e) {
    caught = static_cast<unsigned>(std::strtoul(e.what(), nullptr, 10));
  }
  c.check(caught == thrown, "an exception that was thrown again after a migration");
  c.check(std::current_exception() == nullptr, "no exception is left");
}

void check_unwinding(course& c, unsigned /*who*/, unsigned round) {
  struct moves {
    course& c;
    unsigned round;
    int flying;
    ~moves() {
      c.check(std::uncaught_exceptions() == flying, "uncaught_exceptions() before a migration");
      move(c, round); // while one flies
      c.check(std::uncaught_exceptions() == flying, "uncaught_exceptions() after a migration");
    }
  };
  try {
    const moves at_end{c, round, 1};
    throw round;
  } catch (const unsigned caught) {
    c.check(caught == round, "an exception that flew across a migration");
  }
  c.check(std::uncaught_exceptions() == 0, "uncaught_exceptions() afterwards");
}

void check_memory(course& c, unsigned who, unsigned round) {
  const std::size_t size = 16 + (round * 37U + who * 101U) % 4000;
  const int byte = static_cast<int>(1 + who % 100);
  char* const first = static_cast<char*>(std::malloc(size));
  c.check(first != nullptr, "malloc");
  if (first == nullptr)
    return;
  std::memset(first, byte, size);
  move(c, round);
  char* const larger = static_cast<char*>(std::realloc(first, size * 2)); // elsewhere than where it is from
  c.check(larger != nullptr && larger[0] == byte && larger[size - 1] == byte,
          "memory that was allocated before a migration");
  move(c, round + 1);
  c.check(larger[size / 2] == byte, "memory that was reallocated before a migration");
  std::free(larger);
}

void check_thread_locals(course& c, unsigned who, unsigned round) {
  const unsigned value = who * 1'000'000 + round;
  write_mine(value);
  compute(4000);
  if (c.kept.thread_local_if_preempted)
    c.check(read_mine() == value, "a thread-local variable, across a preemption");
  const pid_t owner = owner_of_block();
  move(c, round);
  if (c.kept.thread_local_for_life) {
    c.check(read_mine() == value && owner_of_block() == owner,
            "a thread-local variable of one's own, across a migration");
  } else if (c.changes_kernel_thread) {
    const no_preemption between; // its worker may have gone to another kernel thread when it is back
    c.check(owner_of_block() == ::gettid(), "thread-local variables are those of the kernel thread");
  }
}

void check_errno(course& c, unsigned who, unsigned round) {
  move(c, round);
  const int value = static_cast<int>(1000 + who);
  write_errno(value);
  compute(4000);
  c.check(read_errno() == value, "errno, across a preemption");
}

} // namespace weft::thread_state
