// SPDX-License-Identifier: MIT
// SHA-1 by the standard's vectors, the generator by the published counts, and what the demo writes by its
// form.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>

#include "apps/uts/adapter.hpp"
#include "apps/uts/json.hpp"
#include "apps/uts/plot.hpp"
#include "apps/uts/ranks.hpp"
#include "apps/uts/results.hpp"
#include "apps/uts/run.hpp"
#include "apps/uts/timeline.hpp"

namespace weft::uts {
namespace {

counts counts_of(const json::value& report) {
  return {static_cast<std::uint64_t>(report.number_at("nodes")),
          static_cast<std::uint64_t>(report.number_at("leaves")),
          static_cast<std::uint64_t>(report.number_at("max_depth"))};
}

// Every element that is opened is closed, in order; void elements and the head's declarations aside.
std::string unbalanced_element(const std::string& html) {
  static const std::set<std::string> without_end = {"!DOCTYPE", "meta", "br"};
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) {
      return "< without >";
    }
    const std::string inside = html.substr(at + 1, end - at - 1);
    const bool closing = inside[0] == '/';
    const std::string name = inside.substr(closing, inside.find_first_of(" />", 1) - closing);
    at = end;
    if (closing) {
      if (open.empty() || open.back() != name) {
        return "/" + name;
      }
      open.pop_back();
    } else if (inside.back() != '/' && !without_end.contains(name)) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : open.back();
}

json::value small_trace() {
  return json::parse(R"({"traceEvents":[
    {"ph":"M","pid":1,"tid":0,"name":"thread_name","args":{"name":"worker 0"}},
    {"ph":"X","pid":1,"tid":0,"ts":100,"dur":50,"name":"outer"},
    {"ph":"X","pid":1,"tid":0,"ts":110,"dur":10,"name":"inner"},
    {"ph":"B","pid":1,"tid":1,"ts":105,"name":"inner"},
    {"ph":"E","pid":1,"tid":1,"ts":125},
    {"ph":"i","pid":1,"tid":1,"ts":106,"name":"steal"}]})");
}

results some_results() {
  results r;
  r.machine = this_machine();
  r.weft_built = true;
  for (const adapter& a : adapters()) {
    measurement m;
    m.input = find_tree("T1");
    m.runtime = &a;
    m.seconds = {1.5, 0.5, 1};
    m.peak_bytes = 5 << 20;
    m.found = m.input->published();
    r.measurements.push_back(m);
  }
  r.blocked.emplace().result.threads = 1000;
  timeline_measurement& t = r.timeline.emplace();
  t.input = find_tree("mini");
  t.trace = small_trace();
  return r;
}

TEST(Sha1, StandardVectors) {
  EXPECT_EQ(sha1_short("abc"), (sha1_digest{0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d}));
  EXPECT_EQ(sha1_short(""), (sha1_digest{0xda39a3ee, 0x5e6b4b0d, 0x3255bfef, 0x95601890, 0xafd80709}));
  EXPECT_EQ(sha1_short("The quick brown fox jumps over the lazy dog"),
            (sha1_digest{0x2fd4e1c6, 0x7a2d28fc, 0xed849ee1, 0xbb76e739, 0x1b93eb12}));
  EXPECT_THROW(sha1_short(std::string(56, 'a')), std::length_error);
}

TEST(Sha1, FormsAgree) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed) + ", form " + std::string(sha1_form()));
  std::mt19937 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    sha1_block block;
    for (std::uint32_t& word : block) {
      word = random();
    }
    ASSERT_EQ(sha1_compress(block), sha1_compress_portable(block));
  }
}

TEST(Tree, NodesAreDigestsOfBytes) {
  const node root = find_tree("T1")->root();
  EXPECT_EQ(root.state, sha1_short(std::string(19, '\0') + '\x13'));
  std::string bytes;
  for (const std::uint32_t word : root.state) {
    for (const int shift : {24, 16, 8, 0}) {
      bytes += static_cast<char>(word >> shift);
    }
  }
  const node third = tree::child(root, 3);
  EXPECT_EQ(third.state, sha1_short(bytes + std::string(3, '\0') + '\3'));
  EXPECT_EQ(third.depth, 1u);
}

TEST(Tree, SerialCountIsThePublishedOne) {
  EXPECT_EQ(counts_of(run_count("T1", "serial", 1)), find_tree("T1")->published());
}

TEST(Tree, BinomialRootHasAllItsChildren) {
  const tree& t = *find_tree("T3L");
  EXPECT_EQ(t.child_count(t.root()), 2000);
  int with_children = 0;
  for (int i = 0; i < 2000; ++i) {
    const int children = t.child_count(tree::child(t.root(), i));
    EXPECT_TRUE(children == 0 || children == 5);
    with_children += children == 5;
  }
  EXPECT_NEAR(with_children, 400, 100); // five standard deviations and more; the tree is always the same
}

TEST(Adapters, UnknownNamesAreErrors) {
  EXPECT_EQ(counts_of(run_count("mini", "serial", 1)), find_tree("mini")->published());
  EXPECT_THROW(run_count("mini", "none", 1), std::runtime_error);
  EXPECT_THROW(run_count("none", "serial", 1), std::runtime_error);
}

TEST(Json, ReadsWhatItWrites) {
  const std::string text = R"({"a":[1,-2.5,true,false,null,"x\"\\\u0007é"],"b":{},"c":[]})";
  EXPECT_EQ(json::parse(text).dump(), text);
  EXPECT_EQ(json::parse(json::parse(text).dump(true)).dump(), text);
  const std::string exact = "[8555555515.5255,0.1,1e+22,9007199254740993.5,5e-324,-0]";
  EXPECT_EQ(json::parse(json::parse(exact).dump()).dump(), json::parse(exact).dump());
  EXPECT_EQ(json::parse("[8555555515.5255,0.1,5e-324]").dump(), "[8555555515.5255,0.1,5e-324]");
  EXPECT_EQ(json::parse(R"("\u20ac\ud83d\ude00")").text(), "€😀");
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\"}", "nul", "1 2", "\"a", "\"\\x\"", "\"\\u12\"", "inf", "+1", "\"\n\""}) {
    EXPECT_THROW(json::parse(text), std::runtime_error) << text;
  }
}

TEST(Timeline, SelfTimeOfNestedEvents) {
  const timeline t = read_timeline(small_trace());
  ASSERT_EQ(t.lanes.size(), 2u);
  EXPECT_EQ(t.lanes[0].name, "worker 0");
  ASSERT_EQ(t.lanes[0].stretches.size(), 3u); // outer, inner, outer
  EXPECT_EQ(t.length, 50);
  ASSERT_EQ(t.kinds.size(), 2u);
  EXPECT_EQ(t.kinds[0].name, "outer");
  EXPECT_EQ(t.kinds[0].total, 40);
  EXPECT_EQ(t.kinds[1].total, 30);
  ASSERT_EQ(t.instants.size(), 1u);
  EXPECT_EQ(t.instants[0].number, 1u);
}

TEST(Page, IsWellFormedAndSelfContained) {
  const std::string html = to_html(some_results());
  EXPECT_EQ(unbalanced_element(html), "");
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "<link"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("checks passed"), std::string::npos);
}

TEST(Page, ShowsAFailure) {
  results r = some_results();
  r.measurements[0].failure = "<wrong>";
  const std::string html = to_html(r);
  EXPECT_EQ(unbalanced_element(html), "");
  EXPECT_NE(html.find("1 of "), std::string::npos);
  EXPECT_NE(html.find("&lt;wrong&gt;"), std::string::npos);
  EXPECT_EQ(to_json(r).number_at("failed_checks"), 1);
}

TEST(Results, AreJsonWithTheMedian) {
  const json::value all = json::parse(to_json(some_results()).dump(true));
  ASSERT_NE(all.find("counts"), nullptr);
  EXPECT_EQ(all.find("counts")->items().front().number_at("median_seconds"), 1);
  EXPECT_EQ(all.number_at("failed_checks"), 0);
}

// The mean of a geometric tree below a node; in a binomial one a leaf has nothing to give.
TEST(tree, says_what_a_node_is_worth) {
  const tree& mini = *find_tree("mini");
  const node root = mini.root();
  EXPECT_EQ(mini.likely_size(root), 5461U); // 1 + 4 + ... + 4^6
  EXPECT_EQ(mini.likely_size({root.state, 6}), 1U);
  const tree& deep = *find_tree("T3L");
  std::set<std::uint64_t> sizes;
  for (int i = 0; i < 100; ++i) {
    const node n = tree::child(deep.root(), i);
    EXPECT_EQ(deep.likely_size(n) == 1, deep.child_count(n) == 0);
    sizes.insert(deep.likely_size(n));
  }
  EXPECT_EQ(sizes.size(), 2U);
}

TEST(ranks, model_has_its_limits) {
  const counts million{1'000'000, 0, 0};
  const steal_facts free{1e-7, 10'000, 0};
  EXPECT_NEAR(modelled_speedup(million, free, 8, 4, 0), 32, 1e-9); // nobody waits
  const steal_facts dear{1e-7, 10'000, 1e-3};                      // as long as its work takes one worker
  EXPECT_NEAR(modelled_speedup(million, dear, 1, 1, 0), 0.5, 1e-9);
  EXPECT_LT(modelled_speedup(million, dear, 8, 4, 1e-3), modelled_speedup(million, dear, 8, 4, 0));
  EXPECT_LT(modelled_speedup(million, dear, 8, 4, 0), modelled_speedup(million, free, 8, 4, 0));
}

} // namespace
} // namespace weft::uts
