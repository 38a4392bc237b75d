// SPDX-License-Identifier: MIT
// The techniques of abtx.h and those of the core.
#pragma once

#include <iterator>
#include <optional>

#include "front/abt/abtx.h"
#include "weft/unit/technique_id.hpp"

namespace weft::abt {

struct technique_name {
  ABTX_technique ours;
  unit::technique_id core;
};

inline constexpr technique_name techniques[] = {
    {ABTX_TECHNIQUE_DEFAULT, unit::technique_id::automatic},
    {ABTX_TECHNIQUE_FULL_LAZY, unit::technique_id::full_lazy},
    {ABTX_TECHNIQUE_INLINE_JOIN, unit::technique_id::inline_join},
    {ABTX_TECHNIQUE_FULL, unit::technique_id::full},
    {ABTX_TECHNIQUE_ROC, unit::technique_id::roc},
    {ABTX_TECHNIQUE_ROC_LAZY, unit::technique_id::roc_lazy},
    {ABTX_TECHNIQUE_SS, unit::technique_id::ss},
    {ABTX_TECHNIQUE_SS_LAZY, unit::technique_id::ss_lazy},
    {ABTX_TECHNIQUE_SC, unit::technique_id::sc},
    {ABTX_TECHNIQUE_C_FULL, unit::technique_id::c_full},
    {ABTX_TECHNIQUE_C_FULL_EAGER_RELEASE, unit::technique_id::c_full_eager_release},
    {ABTX_TECHNIQUE_C_ROC, unit::technique_id::c_roc},
    {ABTX_TECHNIQUE_C_ROC_EAGER_RELEASE, unit::technique_id::c_roc_eager_release},
};
static_assert(std::size(techniques) == unit::technique_count);

// Nothing for what the core does not know: tasklets' own, and any number that a caller in C may pass.
__attribute__((no_sanitize("undefined"))) inline std::optional<unit::technique_id>
core_technique(ABTX_technique t) noexcept {
  for (const technique_name& n : techniques) {
    if (n.ours == t)
      return n.core;
  }
  return std::nullopt;
}

inline ABTX_technique technique_of(unit::technique_id id) noexcept {
  for (const technique_name& n : techniques) {
    if (n.core == id)
      return n.ours;
  }
  return ABTX_TECHNIQUE_DEFAULT;
}

} // namespace weft::abt
