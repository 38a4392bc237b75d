// SPDX-License-Identifier: MIT
// The generator: the arithmetic is the benchmark's, in double, down to the order of operations.

#include "apps/uts/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::uts {
namespace {

constexpr std::uint32_t positive_mask = 0x7fffffff;

// A number in [0, 1) from the last word of the state.
double probability_of(const node& n) noexcept {
  return (n.state[4] & positive_mask) / 2147483648.0;
}

} // namespace

tree tree::geometric(std::string_view name, double branching, std::uint32_t depth_limit, std::uint32_t seed,
                     counts published) {
  tree t;
  t.kind_ = tree_kind::geometric_fixed;
  t.name_ = name;
  t.depth_limit_ = depth_limit;
  t.branching_ = branching;
  t.log_of_miss_ = std::log(1 - 1.0 / (1.0 + branching));
  t.seed_ = seed;
  t.published_ = published;
  return t;
}

tree tree::binomial(std::string_view name, int root_children, double probability, int children,
                    std::uint32_t seed, counts published) {
  tree t;
  t.kind_ = tree_kind::binomial;
  t.name_ = name;
  t.root_children_ = root_children;
  t.probability_ = probability;
  t.children_ = children;
  t.seed_ = seed;
  t.published_ = published;
  return t;
}

node tree::root() const noexcept {
  // 16 zero bytes, the seed, the end mark, and the length of 160 bits.
  return {sha1_compress({0, 0, 0, 0, seed_, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 160}), 0};
}

node tree::child(const node& parent, int index) noexcept {
  const sha1_digest& s = parent.state;
  const auto i = static_cast<std::uint32_t>(index);
  return {sha1_compress({s[0], s[1], s[2], s[3], s[4], i, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 192}),
          parent.depth + 1};
}

int tree::child_count(const node& parent) const noexcept {
  if (kind_ == tree_kind::binomial) {
    if (parent.depth == 0) {
      return root_children_;
    }
    return probability_of(parent) < probability_ ? children_ : 0;
  }
  if (parent.depth >= depth_limit_) {
    return 0;
  }
  const double children = std::floor(std::log(1 - probability_of(parent)) / log_of_miss_);
  return std::min(static_cast<int>(children), most_children);
}

std::uint64_t tree::likely_size(const node& n) const noexcept {
  if (kind_ == tree_kind::binomial) {
    constexpr std::uint64_t of_inner_node = 256;
    return child_count(n) == 0 ? 1 : of_inner_node;
  }
  double level = 1, sum = 1;
  for (std::uint32_t depth = n.depth; depth < depth_limit_; ++depth) {
    level *= branching_;
    sum += level;
  }
  return static_cast<std::uint64_t>(sum);
}

std::span<const tree> published_trees() {
  static const std::array<tree, 4> trees = [] {
    std::array<tree, 4> all = {
        tree::geometric("T1", 4, 10, 19, {4'130'071, 3'305'118, 10}),
        tree::geometric("T1L", 4, 13, 29, {102'181'082, 81'746'377, 13}),
        tree::binomial("T3L", 2000, 0.200014, 5, 7, {111'345'631, 89'076'904, 17'844}),
        tree::geometric("mini", 4, 6, 19, {16'000, 12'839, 6}),
    };
    all[0].parameters_ = "-t 1 -a 3 -d 10 -b 4 -r 19";
    all[1].parameters_ = "-t 1 -a 3 -d 13 -b 4 -r 29";
    all[2].parameters_ = "-t 0 -b 2000 -q 0.200014 -m 5 -r 7";
    all[3].parameters_ = "-t 1 -a 3 -d 6 -b 4 -r 19";
    return all;
  }();
  return trees;
}

const tree* find_tree(std::string_view name) {
  for (const tree& t : published_trees()) {
    if (t.name() == name) {
      return &t;
    }
  }
  return nullptr;
}

} // namespace weft::uts
