// SPDX-License-Identifier: MIT
// libdw walks "threads" of a process; here these are units: thread n is unit n - 1.
#include "tools/weft/backtrace.hpp"

#include <algorithm>

namespace weft::tool {
namespace {

struct registers {
  std::vector<kernel_thread::dwarf_register> values;
  address pc = 0;
};

// What the callbacks need; libdw keeps the pointer for the target's life.
struct callback_state {
  target* of;
  registers start;
};
thread_local callback_state current;

pid_t no_more_threads(Dwfl*, void*, void**) {
  return 0;
}
bool get_thread(Dwfl*, pid_t, void* all, void** one) {
  *one = all;
  return true;
}
bool read_word(Dwfl*, Dwarf_Addr from, Dwarf_Word* result, void* state) {
  const auto word = static_cast<callback_state*>(state)->of->get<std::uint64_t>(from);
  *result = word.value_or(0);
  return word.has_value();
}
bool set_registers(Dwfl_Thread* thread, void* state) {
  const registers& start = static_cast<callback_state*>(state)->start;
  for (const auto& r : start.values) {
    const Dwarf_Word value = r.value;
    if (!dwfl_thread_state_registers(thread, r.number, 1, &value))
      return false;
  }
  dwfl_thread_state_register_pc(thread, start.pc);
  return true;
}
constexpr Dwfl_Thread_Callbacks callbacks = {&no_more_threads, &get_thread, &read_word,
                                             &set_registers,   nullptr,     nullptr};

struct walk_state {
  target* of;
  std::size_t most;
  std::vector<frame> frames;
  bool complete = false;
};

int on_frame(Dwfl_Frame* f, void* argument) {
  auto& state = *static_cast<walk_state*>(argument);
  Dwarf_Addr pc = 0;
  bool is_activation = false;
  if (!dwfl_frame_pc(f, &pc, &is_activation))
    return DWARF_CB_ABORT;
  frame next{pc, state.of->describe(pc, !is_activation)};
  if (next.at.function == "weft_arch_thread_base" || next.at.function == "weft_arch_thread_return") {
    state.complete = true;
    return DWARF_CB_ABORT;
  }
  if (state.frames.size() == state.most)
    return DWARF_CB_ABORT;
  state.frames.push_back(std::move(next));
  return DWARF_CB_OK;
}

} // namespace

unwinder::unwinder(target& of, const layout& table, const process_units& units)
    : target_(of), table_(table), units_(units) {
  current.of = &of;
  if (!dwfl_attach_state(of.modules(), of.core(), 1, &callbacks, &current))
    throw failure(std::string("libdw cannot walk these stacks: ") + dwfl_errmsg(-1));
}

std::vector<frame> unwinder::walk(std::size_t index, std::size_t most, bool& complete) {
  const unit_info& u = units_.units()[index];
  complete = false;
  current.start = {};
  if (u.has_context) {
    current.start.values = {{static_cast<int>(table_.number("dwarf.sp")), u.sp},
                            {static_cast<int>(table_.number("dwarf.fp")), u.fp}};
    current.start.pc = u.pc;
  } else if (u.worker != nobody) {
    for (const kernel_thread& t : target_.kernel_threads()) {
      if (t.id == units_.workers()[u.worker].kernel_thread) {
        current.start.values = t.registers;
        current.start.pc = t.pc;
      }
    }
  }
  if (current.start.values.empty())
    return {};
  walk_state state{&target_, most, {}};
  // An error ends a walk as its end does: main()'s has no base of ours.
  const int ended =
      dwfl_getthread_frames(target_.modules(), static_cast<pid_t>(index + 1), &on_frame, &state);
  complete = state.complete || ended == 0;
  return std::move(state.frames);
}

} // namespace weft::tool
