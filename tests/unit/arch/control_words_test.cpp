// SPDX-License-Identifier: MIT
// FP control (rounding mode everywhere; flush-to-zero and the like where the CPU has them) belongs to the
// context: it survives every form of the switch and does not leak into the other side.
#include <array>
#include <cfenv>
#include <cstdint>

#include "tests/unit/arch/fixture.hpp"

namespace {

using namespace weft::arch;
using weft::arch::test::native_context;
using weft::arch::test::partner;
using weft::arch::test::stack;

// The portable port knows of <cfenv>'s rounding mode only.
#if defined(__aarch64__) && !defined(WEFT_ARCH_PORTABLE)
#define WEFT_TEST_FPCR 1
#elif defined(__powerpc64__) && !defined(WEFT_ARCH_PORTABLE)
#define WEFT_TEST_FPSCR 1
#endif

// The word: MXCSR, FPCR, or the low byte of FPSCR. The second: x87 control word, or decimal rounding mode.
struct control {
  int rounding;
  std::uint32_t word;
  std::uint16_t second;
  // The flags in MXCSR's low six bits are nobody's after a switch.
  bool operator==(const control& other) const {
#if defined(__x86_64__)
    constexpr std::uint32_t flags = 0x3f;
#else
    constexpr std::uint32_t flags = 0;
#endif
    return rounding == other.rounding && ((word ^ other.word) & ~flags) == 0 && second == other.second;
  }
};

[[gnu::noinline]] control now() {
  control c{std::fegetround(), 0, 0};
#if defined(__x86_64__)
  asm volatile("stmxcsr %0\nfnstcw %1" : "=m"(c.word), "=m"(c.second));
#elif WEFT_TEST_FPCR
  std::uint64_t fpcr;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  c.word = static_cast<std::uint32_t>(fpcr);
#elif WEFT_TEST_FPSCR
  std::uint64_t fpscr;
  asm volatile("mffs 0\nmfvsrd %0, 0" : "=r"(fpscr) : : "fr0");
  c.word = fpscr & 0xff;
  c.second = fpscr >> 32 & 7;
#endif
  return c;
}

[[gnu::noinline]] void set(const control& c) {
  std::fesetround(c.rounding);
#if defined(__x86_64__)
  asm volatile("ldmxcsr %0\nfldcw %1" : : "m"(c.word), "m"(c.second));
#elif WEFT_TEST_FPCR
  asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{c.word}));
#elif WEFT_TEST_FPSCR
  const std::uint64_t fpscr = c.word | std::uint64_t{c.second} << 32;
  asm volatile("mtvsrd 0, %0\nmtfsf 3, 0\nmtfsf 1, 0, 0, 1" : : "r"(fpscr) : "fr0");
#endif
}

// Three states that differ from the default and from each other in each word.
#if defined(__x86_64__)
constexpr control ordinary{FE_TONEAREST, 0x1f80, 0x037f};
constexpr control upward{FE_UPWARD, 0x1f80 | 0x4000 | 0x8000, 0x037f | 0x0800}; // flush to zero
constexpr control downward{FE_DOWNWARD, 0x1f80 | 0x2000 | 0x0040,
                           0x007f | 0x0400};                                  // denormals are zero; 24 bits
constexpr control only_mxcsr{FE_TONEAREST, 0x1f80 | 0x8000 | 0x0020, 0x037f}; // and a raised flag
constexpr control only_x87{FE_TONEAREST, 0x1f80, 0x027f};                     // 53 bits
constexpr std::array states{ordinary, upward, downward, only_mxcsr, only_x87};
#elif WEFT_TEST_FPCR
constexpr control ordinary{FE_TONEAREST, 0, 0};
constexpr control upward{FE_UPWARD, FE_UPWARD | 1U << 24, 0};       // flush to zero
constexpr control downward{FE_DOWNWARD, FE_DOWNWARD | 1U << 25, 0}; // default NaN
constexpr control only_flush{FE_TONEAREST, 1U << 24, 0};
constexpr std::array states{ordinary, upward, downward, only_flush};
#elif WEFT_TEST_FPSCR
constexpr control ordinary{FE_TONEAREST, 0, 0};
constexpr control upward{FE_UPWARD, FE_UPWARD | 4, 1};   // non-IEEE mode; decimals toward zero
constexpr control downward{FE_DOWNWARD, FE_DOWNWARD, 3}; // decimals down
constexpr control only_decimal{FE_TONEAREST, 0, 2};
constexpr std::array states{ordinary, upward, downward, only_decimal};
#else
constexpr control ordinary{FE_TONEAREST, 0, 0};
constexpr control upward{FE_UPWARD, 0, 0};
constexpr control downward{FE_DOWNWARD, 0, 0};
constexpr std::array states{ordinary, upward, downward};
#endif

class control_words : public testing::Test {
 protected:
  void SetUp() override {
    for (const control& state : states) {
      set(state);
      const bool kept = now() == state;
      set(ordinary);
      if (!kept) {
        GTEST_SKIP() << "this emulator does not keep FP control words at all (valgrind)";
      }
    }
  }
  void TearDown() override { set(ordinary); }
  native_context here;
};

// Each pair of states, through a form that goes there and a form that comes back.
template <class Go, class Return>
void check_all_pairs(context& here, Go go, Return come_back) {
  for (const control& mine : states) {
    for (const control& its : states) {
      control seen{};
      set(ordinary);
      partner other{[&](partner& self) {
        set(its);
        self.leave();
        seen = now();
        come_back(self);
      }};
      other.resume(here);
      set(mine);
      go(here, other);
      const control after = now();
      set(ordinary);
      EXPECT_EQ(seen, its) << mine.word << " " << its.word;
      EXPECT_EQ(after, mine) << mine.word << " " << its.word;
      if (!other.finished) {
        other.resume(here);
      }
    }
  }
}

void nothing(void*) {}

TEST_F(control_words, survive_swap) {
  check_all_pairs(
      here, [](context& from, partner& to) { swap(from, to.own); },
      [](partner& self) { swap(self.own, *self.back); });
}

int leave_by_return(context& from, context& to) {
  return swap_and_return(from, to);
}

TEST_F(control_words, survive_swap_and_return) {
  check_all_pairs(
      here, [](context& from, partner& to) { leave_by_return(from, to.own); },
      [](partner& self) { leave_by_return(self.own, *self.back); });
}

TEST_F(control_words, survive_swap_publishing_and_return) {
  weft::base::atomic<std::uint8_t> word{0};
  check_all_pairs(
      here, [&](context& from, partner& to) { swap_publishing_and_return(from, to.own, word, 1); },
      [&](partner& self) { swap_publishing_and_return(self.own, *self.back, word, 1); });
}

TEST_F(control_words, survive_swap_with) {
  check_all_pairs(
      here, [](context& from, partner& to) { swap_with(from, to.own, &nothing, nullptr); },
      [](partner& self) { swap_with(self.own, *self.back, &nothing, nullptr); });
}

TEST_F(control_words, survive_cond_swap) {
  check_all_pairs(
      here,
      [](context& from, partner& to) {
        const control before = now();
        const bool refused = cond_swap(from, to.own, [](void*) { return false; }, nullptr);
        const control after = now();
        EXPECT_FALSE(refused);
        EXPECT_EQ(before, after);
        set(before);
        (void)cond_swap(from, to.own, [](void*) { return true; }, nullptr);
      },
      [](partner& self) { (void)cond_swap(self.own, *self.back, [](void*) { return true; }, nullptr); });
}

TEST_F(control_words, survive_restore) {
  check_all_pairs(
      here, [](context& from, partner& to) { swap(from, to.own); },
      [](partner& self) {
        self.finished = true;
        restore(*self.back);
      });
}

TEST_F(control_words, survive_restore_with) {
  check_all_pairs(
      here, [](context& from, partner& to) { swap(from, to.own); },
      [](partner& self) {
        self.finished = true;
        restore_with(*self.back, &nothing, nullptr);
      });
}

struct visitor {
  control seen{};
  context* back;
};

[[noreturn]] void visit(void* argument) {
  sanitizer::first_arrival();
  auto& v = *static_cast<visitor*>(argument);
  v.seen = now();
  set(downward);
  restore(*v.back);
}

TEST_F(control_words, of_a_saved_start_are_the_savers) {
  stack memory;
  context fresh{};
  visitor v{{}, &here};
  set(upward);
  save(here, fresh, memory.top(), stack::size(), &visit, &v);
  const control after = now();
  set(ordinary);
  EXPECT_EQ(v.seen, upward);
  EXPECT_EQ(after, upward);
}

TEST_F(control_words, of_a_made_context_are_the_makers) {
  stack memory;
  context fresh{};
  visitor v{{}, &here};
  set(upward);
  make(fresh, memory.top(), stack::size(), &visit, &v);
  set(ordinary);
  swap(here, fresh);
  const control after = now();
  set(ordinary);
  EXPECT_EQ(v.seen, upward);
  EXPECT_EQ(after, ordinary);
}

TEST_F(control_words, under_call_on_are_the_callers) {
  control seen{};
  control in_below{};
  partner below{[&](partner& self) {
    set(downward);
    self.leave();
    in_below = now();
  }};
  below.resume(here);
  set(upward);
  call_on(below.own, [](void* out) { *static_cast<control*>(out) = now(); }, &seen);
  const control after = now();
  below.resume(here);
  set(ordinary);
  EXPECT_EQ(seen, upward);
  EXPECT_EQ(after, upward);
  EXPECT_EQ(in_below, downward);
}

// The words are what arithmetic obeys, not only what can be read back.
TEST_F(control_words, govern_arithmetic) {
  volatile double one = 1.0;
  volatile double three = 3.0;
  volatile double up = 0;
  volatile double down = 0;
  partner other{[&](partner& self) {
    std::fesetround(FE_UPWARD);
    self.leave();
    up = one / three;
  }};
  other.resume(here);
  std::fesetround(FE_DOWNWARD);
  other.resume(here);
  down = one / three;
  std::fesetround(FE_TONEAREST);
  EXPECT_GT(up, down);
}

} // namespace
