// SPDX-License-Identifier: MIT
// Which pools and schedulers a group's workers get, by its arrangement (workers/group.hpp).
#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "weft/arrange/packing.hpp"
#include "weft/arrange/priority.hpp"
#include "weft/topology/machine.hpp"
#include "weft/workers/group.hpp"

namespace weft::sched {
namespace {

// Distances from worker `self` to the others in the order nearest first, and that order.
std::vector<std::pair<int, std::size_t>> neighbours(std::size_t self, std::size_t workers) {
  const auto& machine = topology::machine::here();
  const std::vector<unsigned> ranks = machine.spread(static_cast<unsigned>(workers));
  std::vector<std::pair<int, std::size_t>> result;
  for (std::size_t other = 0; other < workers; ++other) {
    if (other != self)
      result.emplace_back(static_cast<int>(machine.between(ranks[self], ranks[other])), other);
  }
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

std::shared_ptr<packing_board> group::board_for(arrangement pools) {
  return pools == arrangement::packing ? std::make_shared<packing_board>() : nullptr;
}

std::shared_ptr<pool> group::make_main_pool() const {
  std::shared_ptr<pool> made;
  if (steals()) {
    made = std::make_shared<deque_pool>(this);
  } else if (options_.pools == arrangement::priorities) {
    made = std::make_shared<class_pool>(options_.technique);
  } else if (options_.pools == arrangement::one_pool || options_.pools == arrangement::packing) {
    made = make_pool(order::fifo, access::mpmc);
  } else {
    made = std::make_shared<owned_fifo>();
  }
  made->set_default_technique(options_.technique);
  return made;
}

std::shared_ptr<scheduler> group::scheduler_for(std::size_t index,
                                                const std::vector<std::shared_ptr<pool>>& mains) const {
  switch (options_.pools) {
  case arrangement::one_pool:
    return std::make_shared<fifo_scheduler>(std::vector{mains.front()});
  case arrangement::pool_per_worker:
    return std::make_shared<fifo_scheduler>(std::vector{mains[index]});
  case arrangement::priorities:
    return scheduler_of_classes(index, mains);
  case arrangement::custom:
    return options_.make_scheduler(static_cast<unsigned>(index));
  case arrangement::packing: {
    std::vector<std::shared_ptr<pool>> own_first(mains);
    std::rotate(own_first.begin(), own_first.begin() + static_cast<std::ptrdiff_t>(index), own_first.end());
    return std::make_shared<packing_scheduler>(std::move(own_first), static_cast<unsigned>(index), *this,
                                               *board_);
  }
  case arrangement::stealing: {
    std::vector<std::shared_ptr<pool>> pools{mains[index]};
    for (std::size_t i = 0; i < mains.size(); ++i) {
      if (i != index)
        pools.push_back(mains[i]);
    }
    return std::make_shared<random_stealing_scheduler>(std::move(pools));
  }
  case arrangement::hierarchical: {
    std::vector<std::shared_ptr<pool>> pools{mains[index]};
    std::vector<int> distances;
    for (const auto& [distance, other] : neighbours(index, mains.size())) {
      pools.push_back(mains[other]);
      distances.push_back(distance);
    }
    return std::make_shared<hierarchical_scheduler>(std::move(pools), std::move(distances));
  }
  }
  return nullptr;
}

} // namespace weft::sched
