// SPDX-License-Identifier: MIT
#include "weft/memory/stack_options.hpp"

#include "weft/base/knob.hpp"
#include "weft/memory/guard_choice.hpp"
#include "weft/os/mapping.hpp"

namespace weft::memory {
namespace {

constexpr const char* guard_words[] = {"auto", "madvise", "mprotect", "canary", "none"};
constexpr const char* page_words[] = {"normal", "huge", "transparent"};
constexpr stack_options defaults{};

constinit base::integer_knob size_knob{"WEFT_STACK_SIZE",
                                       static_cast<std::int64_t>(defaults.default_size),
                                       {stack_options::min_size, stack_options::max_size},
                                       base::knob_scale::bytes,
                                       "stack of a thread that does not ask for another size"};
constinit base::integer_knob reserve_knob{"WEFT_STACK_RESERVE",
                                          static_cast<std::int64_t>(defaults.reserve),
                                          {0, std::int64_t{1} << 30},
                                          base::knob_scale::bytes,
                                          "address space below each stack's nominal size, for inline joins"};
constinit base::choice_knob guard_knob{"WEFT_GUARD", 0, guard_words, "what stops a stack overflow"};
constinit base::integer_knob guard_size_knob{
    "WEFT_GUARD_SIZE",
    static_cast<std::int64_t>(defaults.guard_bytes),
    {4 << 10, stack_options::max_guard_bytes},
    base::knob_scale::bytes,
    "guard below each stack; a frame larger than it can jump over it"};
constinit base::choice_knob pages_knob{"WEFT_STACK_PAGES", 0, page_words, "memory pages under stacks"};
constinit base::boolean_knob inline_knob{"WEFT_INLINE_JOIN", true,
                                         "a thread that has not started runs on the stack of its joiner"};
const base::knob_list stack_knobs{size_knob,  reserve_knob,    inline_knob,
                                  guard_knob, guard_size_knob, pages_knob};

} // namespace

stack_options stack_options::from_knobs() noexcept {
  stack_options options;
  options.default_size = os::round_up_to_page(static_cast<std::size_t>(size_knob.get()));
  options.reserve = static_cast<std::size_t>(reserve_knob.get());
  options.inline_joins = inline_knob.get();
  options.guard_bytes = os::round_up_to_page(static_cast<std::size_t>(guard_size_knob.get()));
  options.guard = static_cast<guard_mode>(guard_knob.get());
  options.pages = static_cast<stack_pages>(pages_knob.get());
  return options;
}

void stack_options::set_default_size(std::size_t bytes) noexcept {
  size_knob.set(static_cast<std::int64_t>(bytes));
}

void set_default_guard(guard_mode mode) noexcept {
  guard_knob.set(static_cast<unsigned>(mode));
}

} // namespace weft::memory
