// SPDX-License-Identifier: MIT
// Units that stand for schedulers.
#include "weft/workers/stacked.hpp"

#include <new>
#include <system_error>

#include "weft/sched/switch.hpp"

namespace weft::sched {
namespace {

using holder = std::shared_ptr<scheduler>;

holder*& holder_of(descriptor& u) noexcept {
  return *std::launder(reinterpret_cast<holder**>(u.closure));
}

} // namespace

descriptor& push_scheduler(pool& into, holder child) {
  if (child == nullptr) {
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "weft: a null scheduler cannot be pushed");
  }
  auto kept = std::make_unique<holder>(std::move(child));
  descriptor& u = allocate_unit_slowly();
  static constexpr unit::operations none{nullptr, nullptr, nullptr};
  unit::initialise(u, none, &into, unit::kind_scheduler | unit::not_cancellable);
  ::new (u.closure) holder*(kept.release());
  into.push(u);
  return u;
}

holder scheduler_of_unit(descriptor& u) noexcept {
  return *holder_of(u);
}

void end_scheduler_unit(worker& w, descriptor& u) noexcept {
  delete holder_of(u);
  end_without_stack(w, u);
}

} // namespace weft::sched
