// SPDX-License-Identifier: MIT
// The names of the threading techniques: what a thread is created with, and what stands in its traits. Names
// and figures are those of "Analyzing the Performance Trade-Off in Implementing User-Level Threads"; the
// types stand in weft/technique.
#pragma once

#include <cstdint>

namespace weft::unit {

// -lazy: the stack is taken at the start instead of at the creation (the paper's LSA, "-L"). -eager_release:
// it is given back at the end instead of at the join (ESR, "-E").
enum class technique_id : std::uint8_t {
  automatic,            // as the runtime chooses
  full,                 // Full (Fig. 6): saved when left into, loaded when it ends
  full_lazy,            // Full-L
  roc,                  // RoC (Fig. 11): who starts it is saved, and returned to
  roc_lazy,             // RoC-L
  ss,                   // SS (Fig. 13): who starts it is not saved, and returned to
  ss_lazy,              // SS-L
  sc,                   // SC (Fig. 15): on the stack of who starts it
  inline_join,          // ours: on the stack of who joins it; else as full_lazy
  c_full,               // C-Full (Fig. 7), child first: the creator is saved, the child runs at once
  c_full_eager_release, // C-Full-E
  c_roc,                // C-RoC (Fig. 18): the creator is saved, and returned to
  c_roc_eager_release,  // C-RoC-E
};
inline constexpr unsigned technique_count = 13;

// As the paper writes it.
constexpr const char* to_string(technique_id t) noexcept {
  constexpr const char* names[technique_count] = {"automatic", "Full",  "Full-L", "RoC",         "RoC-L",
                                                  "SS",        "SS-L",  "SC",     "inline join", "C-Full",
                                                  "C-Full-E",  "C-RoC", "C-RoC-E"};
  return static_cast<unsigned>(t) < technique_count ? names[static_cast<unsigned>(t)] : "unknown";
}

constexpr bool is_child_first(technique_id t) noexcept {
  return t >= technique_id::c_full;
}
// Whether it has its stack from its creation on. (Child-first techniques start then.)
constexpr bool has_stack_at_creation(technique_id t) noexcept {
  return t == technique_id::full || t == technique_id::roc || t == technique_id::ss;
}
// Whether it keeps its stack until it is joined.
constexpr bool keeps_stack(technique_id t) noexcept {
  return t == technique_id::c_full || t == technique_id::c_roc;
}

} // namespace weft::unit
