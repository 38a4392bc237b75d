// SPDX-License-Identifier: MIT
// graph500.ENGINE FORM SCALE ROOTS WORKERS [remember] [DAMAGE]: one rank of a breadth-first search of 2^SCALE
// vertices from so many roots, on so many workers. Rank 0 checks each tree and prints one JSON object. The
// exit status is 1 if a tree is wrong. FORM: <technique>.<B> (docs/guide/techniques.md), or call.<B>: visits
// by calls. remember: a rank does not send what it has sent before. DAMAGE: what judge::damage() does to each
// tree before the checks.
#include <mpi.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/graph500/judge.hpp"
#include "apps/graph500/search.hpp"
#include "bench/peer/weft_creators.hpp"

namespace {

using namespace graph500;
namespace bench = weft::bench;

struct job {
  std::string form_name;
  bench::graph500::form form;
  unsigned scale = 0;
  std::size_t roots = 0;
  unsigned workers = 0;
  bool remembers = false;
  std::string damage; // empty: none
  int rank = 0, ranks = 1;

  // Errors: std::logic_error for words that are not as the head of this file says.
  job(int count, char** words)
      : form_name(count > 1 ? words[1] : ""), form(form_name), scale(number(count, words, 2, 30)),
        roots(number(count, words, 3, 1U << scale)), workers(number(count, words, 4, 1024)),
        remembers(count > 5 && std::string_view(words[5]) == "remember"),
        damage(count > 5 + remembers ? words[5 + remembers] : "") {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto names = bench::technique_names();
    if (count > 6 + remembers || form.buffer_length == 0 ||
        (form.technique != "call" && std::find(names.begin(), names.end(), form.technique) == names.end())) {
      throw std::invalid_argument("no such form");
    }
  }

 private:
  static unsigned number(int count, char** words, int place, unsigned most) {
    const unsigned long value = count > place ? std::stoul(words[place]) : 0;
    if (value < 1 || value > most) {
      throw std::out_of_range("numbers");
    }
    return static_cast<unsigned>(value);
  }
};

// The part of the graph that a rank has, made by itself: each draws all edges and keeps its own.
graph make_part(const job& j) {
  const division part{static_cast<vertex>(j.rank), static_cast<vertex>(j.ranks)};
  std::vector<edge> edges;
  bench::graph500::draw_edges(j.scale, [&](edge e) {
    if (part.owner(e.from) == part.rank || part.owner(e.to) == part.rank) {
      edges.push_back(e);
    }
  });
  return {std::size_t{1} << j.scale, edges, part};
}

// The whole tree, in rank 0.
parents gather(const parents& own, const job& j) {
  const std::size_t vertices = std::size_t{1} << j.scale;
  std::vector<int> counts, places;
  for (int rank = 0, place = 0; rank < j.ranks; place += counts.back(), ++rank) {
    const division of{static_cast<vertex>(rank), static_cast<vertex>(j.ranks)};
    counts.push_back(static_cast<int>(of.count(vertices)));
    places.push_back(place);
  }
  parents parts(j.rank == 0 ? vertices : 0), tree(parts.size());
  MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_UINT32_T, parts.data(), counts.data(),
              places.data(), MPI_UINT32_T, 0, MPI_COMM_WORLD);
  for (vertex v = 0; v < tree.size(); ++v) {
    const division of{v % static_cast<vertex>(j.ranks), static_cast<vertex>(j.ranks)};
    tree[v] = parts[static_cast<std::size_t>(places[of.rank]) + of.place(v)];
  }
  return tree;
}

struct outcome {
  std::vector<double> seconds; // of each search, by rank 0's clock
  double seconds_of_an_edge = 0;
  search_facts facts; // of all ranks
  std::string fault;
};

void check_tree(const judge& j, const job& of, parents tree, vertex root, outcome& result) {
  if (!of.damage.empty()) {
    j.damage(tree, root, of.damage);
  }
  const std::string fault = j.fault_of(tree, root);
  if (!fault.empty()) {
    result.fault = fault;
  }
  result.seconds_of_an_edge += result.seconds.back() / static_cast<double>(j.traversed(tree));
}

// visit_all(s) makes a level's visits and joins them.
template <class VisitAll>
outcome run(const job& j, VisitAll visit_all) {
  const graph part = make_part(j);
  std::unique_ptr<judge> all;
  std::vector<vertex> roots;
  if (j.rank == 0) {
    all = std::make_unique<judge>(j.scale);
    roots = bench::graph500::draw_roots(all->whole(), j.roots + 1);
  }
  roots.resize(j.roots + 1);
  MPI_Bcast(roots.data(), static_cast<int>(roots.size()), MPI_UINT32_T, 0, MPI_COMM_WORLD);
  search s(part, j.form.buffer_length, j.remembers);
  outcome result;
  for (std::size_t k = 0; k < roots.size(); ++k) {
    s.start(roots[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (; s.begin_level(); s.end_level()) {
      visit_all(s);
    }
    result.seconds.push_back(MPI_Wtime() - begin); // an MPI_Iallreduce has ended in all ranks
    const parents tree = gather(s.own_parents(), j);
    if (j.rank == 0) {
      check_tree(*all, j, tree, roots[k], result);
    }
    if (k == 0) { // a warm-up, but for its tree
      s.take_facts();
      result.seconds.clear();
      result.seconds_of_an_edge = 0;
    }
  }
  const search_facts own = s.take_facts();
  const std::uint64_t mine[] = {own.visits, own.promoted, own.messages};
  std::uint64_t sums[3] = {};
  MPI_Reduce(mine, sums, 3, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  result.facts = {sums[0], sums[1], sums[2]};
  return result;
}

outcome run_form(const job& j) {
  outcome result;
  const bool by_calls = j.form.technique == "call";
  const auto run_with = [&](auto& creators) {
    result = run(j, [&](search& s) {
      creators.run([&](std::size_t, auto& units) {
        using unit = typename std::remove_reference_t<decltype(units)>::value_type;
        if (by_calls) {
          s.create_visits([&s](std::size_t, vertex u, vertex v) { s.visit(u, v); }, [](std::size_t) {});
        } else {
          s.create_visits(
              [&](std::size_t k, vertex u, vertex v) { units[k] = unit([&s, u, v] { s.visit(u, v); }); },
              [&](std::size_t k) { units[k].join(); });
        }
      });
    });
    return 0;
  };
  bench::with_creators(j.workers, by_calls ? "Full" : j.form.technique, bench::graph500::batch, run_with);
  return result;
}

void report(const job& j, const outcome& r) {
  const auto searches = static_cast<double>(r.seconds.size());
  std::printf(
      "{\"form\": \"%s\", \"scale\": %u, \"ranks\": %d, \"workers\": %u, \"remembers\": %s, \"mteps\": %.4f, "
      "\"promoted\": %.6f, \"visits\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"seconds\": [",
      j.form_name.c_str(), j.scale, j.ranks, j.workers, j.remembers ? "true" : "false",
      searches / r.seconds_of_an_edge / 1e6,
      static_cast<double>(r.facts.promoted) / static_cast<double>(std::max<std::uint64_t>(r.facts.visits, 1)),
      r.facts.visits, r.facts.messages);
  for (std::size_t k = 0; k < r.seconds.size(); ++k) {
    std::printf("%s%.6f", k == 0 ? "" : ", ", r.seconds[k]);
  }
  std::printf("]}\n");
}

int run_rank(int count, char** words) {
  try {
    const job j(count, words);
    const outcome result = run_form(j);
    if (j.rank != 0) {
      return 0;
    }
    if (result.fault.empty()) {
      report(j, result);
      return 0;
    }
    std::fprintf(stderr, "graph500: %s\n", result.fault.c_str());
    return 1;
  } catch (const std::logic_error&) {
    std::fprintf(stderr, "usage: graph500 TECHNIQUE.B|call.B SCALE ROOTS WORKERS [remember] [DAMAGE]\n");
    return 2;
  }
}

} // namespace

int main(int count, char** words) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &granted);
  const int status = run_rank(count, words);
  MPI_Finalize();
  return status;
}
