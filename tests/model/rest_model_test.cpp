// SPDX-License-Identifier: MIT
// Whoever looks at workers rests while they stand still, and misses none that goes on.
#include "tests/model/checker/model.hpp"
#include "tests/model/expect.hpp"
#include "tests/model/mutations.hpp"
#include "weft/park/watcher_rest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace weft {
namespace {

using model::bounds;
using model::exactly;
using model::expect_every_weakening_is_found;
using model::expect_passes;

/// Workers that go on, once each; the watcher ends when it has seen all.
void workers_go_on(unsigned count) {
  park::watcher_rest rest;
  std::array<base::atomic<bool>, 2> still{true, true};
  std::array<base::atomic<bool>, 2> seen{false, false};
  std::array<std::unique_ptr<model::thread>, 2> workers;
  for (unsigned i = 0; i < count; ++i) {
    workers[i] = std::make_unique<model::thread>([&, i] {
      still[i].store_relaxed(false);
      rest.rouse();
    });
  }
  const auto all_still = [&] {
    for (unsigned i = 0; i < count; ++i) {
      if (!still[i].load_relaxed() && !seen[i].load_relaxed())
        return false;
    }
    return true;
  };
  for (unsigned left = count; left != 0;) {
    if (all_still())
      rest.rest(all_still);
    for (unsigned i = 0; i < count; ++i) {
      if (!still[i].load_relaxed() && !seen[i].load_relaxed()) {
        seen[i].store_relaxed(true);
        --left;
      }
    }
  }
}

TEST(rest_model, one_worker) {
  expect_passes({}, [] { workers_go_on(1); });
}
TEST(rest_model, two_workers) {
  expect_passes(bounds(2, 2), [] { workers_go_on(2); });
}

TEST(rest_weakened, watcher_and_workers) {
  expect_every_weakening_is_found({{exactly(2, 2), [] { workers_go_on(1); }}}, {});
}

} // namespace
} // namespace weft
