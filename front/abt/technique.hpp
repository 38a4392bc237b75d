// SPDX-License-Identifier: MIT
// The techniques of abtx.h and those of the core.
#pragma once

#include <iterator>
#include <optional>

#include "front/abt/abtx.h"
#include "weft/door/unit.hpp"

namespace weft::abt {

struct technique_name {
  ABTX_technique ours;
  technique_id core;
};

inline constexpr technique_name techniques[] = {
    {ABTX_TECHNIQUE_DEFAULT, technique_id::automatic},
    {ABTX_TECHNIQUE_FULL_LAZY, technique_id::full_lazy},
    {ABTX_TECHNIQUE_INLINE_JOIN, technique_id::inline_join},
    {ABTX_TECHNIQUE_FULL, technique_id::full},
    {ABTX_TECHNIQUE_ROC, technique_id::roc},
    {ABTX_TECHNIQUE_ROC_LAZY, technique_id::roc_lazy},
    {ABTX_TECHNIQUE_SS, technique_id::ss},
    {ABTX_TECHNIQUE_SS_LAZY, technique_id::ss_lazy},
    {ABTX_TECHNIQUE_SC, technique_id::sc},
    {ABTX_TECHNIQUE_C_FULL, technique_id::c_full},
    {ABTX_TECHNIQUE_C_FULL_EAGER_RELEASE, technique_id::c_full_eager_release},
    {ABTX_TECHNIQUE_C_ROC, technique_id::c_roc},
    {ABTX_TECHNIQUE_C_ROC_EAGER_RELEASE, technique_id::c_roc_eager_release},
};
static_assert(std::size(techniques) == door::technique_count);

// Nothing for what the core does not know: tasklets' own, and any number that a caller in C may pass.
__attribute__((no_sanitize("undefined"))) inline std::optional<technique_id>
core_technique(ABTX_technique t) noexcept {
  for (const technique_name& n : techniques) {
    if (n.ours == t)
      return n.core;
  }
  return std::nullopt;
}

inline ABTX_technique technique_of(technique_id id) noexcept {
  for (const technique_name& n : techniques) {
    if (n.core == id)
      return n.ours;
  }
  return ABTX_TECHNIQUE_DEFAULT;
}

} // namespace weft::abt
