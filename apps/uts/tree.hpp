// SPDX-License-Identifier: MIT
// The trees of the Unbalanced Tree Search benchmark (Olivier et al., LCPC 2006), by its published
// generator: a node is a SHA-1 digest, its i-th child the digest of (node, i). The published counts of
// each tree are its test.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "apps/uts/sha1.hpp"

namespace weft::uts {

/// What one tree holds; the sum of two counts is the count of two disjoint parts.
struct counts {
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t max_depth = 0;

  counts& operator+=(const counts& other) noexcept {
    nodes += other.nodes;
    leaves += other.leaves;
    max_depth = max_depth > other.max_depth ? max_depth : other.max_depth;
    return *this;
  }
  bool operator==(const counts&) const = default;
};

enum class tree_kind { geometric_fixed, binomial };

struct node {
  sha1_digest state;
  std::uint32_t depth;
};

/// Parameters of one tree, with the benchmark's own letters in brackets.
class tree {
 public:
  /// A geometric tree of fixed shape [-t 1 -a 3]: mean `branching` [-b] children above depth `depth_limit`
  /// [-d].
  static tree geometric(std::string_view name, double branching, std::uint32_t depth_limit,
                        std::uint32_t seed, counts published);
  /// A binomial tree [-t 0]: the root has `root_children` [-b]; others have `children` [-m] with
  /// `probability` [-q].
  static tree binomial(std::string_view name, int root_children, double probability, int children,
                       std::uint32_t seed, counts published);

  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] std::string_view parameters() const noexcept { return parameters_; }
  [[nodiscard]] const counts& published() const noexcept { return published_; }

  [[nodiscard]] node root() const noexcept;
  [[nodiscard]] int child_count(const node& parent) const noexcept;
  [[nodiscard]] static node child(const node& parent, int index) noexcept;
  /// About how many nodes a node is worth to somebody who looks for work: the mean of a geometric tree below
  /// it. In a binomial one all nodes with children have the same prospects, however deep: some hundred for
  /// each, since few of them have most.
  [[nodiscard]] std::uint64_t likely_size(const node& n) const noexcept;

 private:
  tree_kind kind_ = tree_kind::geometric_fixed;
  std::uint32_t depth_limit_ = 0;
  double branching_ = 0;
  double log_of_miss_ = 0; // geometric: log(1 - p), p = 1 / (1 + branching)
  double probability_ = 0;
  int root_children_ = 0;
  int children_ = 0;
  std::uint32_t seed_ = 0;
  counts published_;
  std::string_view name_;
  std::string_view parameters_;

  friend std::span<const tree> published_trees();
};

/// No node but the root of a binomial tree has more children than this (MAXNUMCHILDREN of the benchmark).
inline constexpr int most_children = 100;

/// T1, T1L, T3L, and "mini" (T1 cut at depth 6, whose counts are our own), in this order.
std::span<const tree> published_trees();

/// The tree of that name, or null.
const tree* find_tree(std::string_view name);

} // namespace weft::uts
