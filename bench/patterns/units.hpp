// SPDX-License-Identifier: MIT
// The patterns with units that are created and joined one by one, as the paper's listing has it. A library
// gives
//   outer, leaf                      handles: of units that may wait, and of those that need not
//   create(outer&, worker, piece&)   a unit that calls piece.run(piece), for this worker
//   create(leaf&, worker, piece&)    the same
//   create_here(leaf&, piece&)       one for the worker of the caller
//   join(outer&), join(leaf&)
//   newest_first                     whether units are best joined in reverse
#pragma once

#include <memory>

#include "bench/patterns/workload.hpp"

namespace weft::bench::patterns {

template <class Library>
class units {
  using outer = typename Library::outer;
  using leaf = typename Library::leaf;

 public:
  // Calls run(*this) on a unit of the library's.
  struct piece {
    void (*run)(piece&);
    units* self;
    work* data;
    std::size_t first, last;
  };
  static void call(void* p) { // for libraries in C
    auto& self = *static_cast<piece*>(p);
    self.run(self);
  }

  // What one creates and joins.
  template <class Handle>
  struct batch {
    explicit batch(std::size_t count) : handles(count), pieces(count) {}
    std::vector<Handle> handles;
    std::vector<piece> pieces;
  };

  units(Library& library, const options& o)
      : library_(library), leaves_(std::max<std::size_t>(o.n, o.workers)), outers_(o.workers) {
    // What a part creates: its elements, or the parts of a row.
    for (unsigned k = 0; k < o.workers; ++k)
      inner_.push_back(std::make_unique<batch<leaf>>(std::max<std::size_t>(o.n / o.workers + 1, o.workers)));
  }

  template <class Created>
  void per_worker(work& w, Created&& created) {
    create_parts(leaves_, w, &scale_part);
    created();
    join_all(leaves_, w.workers);
  }

  void for_loop(work& w) {
    create_parts(leaves_, w, &scale_part);
    join_all(leaves_, w.workers);
  }

  void single(work& w) {
    unsigned turn = 0;
    for (std::size_t i = 0; i < w.n; ++i) {
      leaves_.pieces[i] = {&scale_element, this, &w, i, i};
      library_.create(leaves_.handles[i], turn, leaves_.pieces[i]);
      turn = turn + 1 == w.workers ? 0 : turn + 1;
    }
    join_all(leaves_, w.n);
  }

  void parallel(work& w) {
    create_parts(outers_, w, &tasks_of_part);
    join_all(outers_, w.workers);
  }

  void nested(work& w) {
    create_parts(outers_, w, &rows_of_part);
    join_all(outers_, w.workers);
  }

 private:
  template <class Handle>
  void create_parts(batch<Handle>& b, work& w, void (*run)(piece&)) {
    for (unsigned k = 0; k < w.workers; ++k) {
      b.pieces[k] = {run, this, &w, w.begin_of(k), w.begin_of(k + 1)};
      library_.create(b.handles[k], k, b.pieces[k]);
    }
  }

  template <class Handle>
  void join_all(batch<Handle>& b, std::size_t count) {
    if (library_.newest_first) {
      for (std::size_t i = count; i-- > 0;)
        library_.join(b.handles[i]);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        library_.join(b.handles[i]);
    }
  }

  static void scale_part(piece& p) { p.data->scale(p.first, p.last); }
  static void scale_element(piece& p) { p.data->scale_one(p.first); }

  batch<leaf>& inner_of(piece& part) {
    return *inner_[static_cast<std::size_t>(&part - outers_.pieces.data())];
  }

  static void tasks_of_part(piece& p) {
    const std::size_t count = p.last - p.first;
    batch<leaf>& b = p.self->inner_of(p);
    for (std::size_t i = 0; i < count; ++i) {
      b.pieces[i] = {&scale_element, p.self, p.data, p.first + i, p.first + i};
      p.self->library_.create_here(b.handles[i], b.pieces[i]);
    }
    p.self->join_all(b, count);
  }

  static void rows_of_part(piece& p) {
    work& w = *p.data;
    batch<leaf>& b = p.self->inner_of(p);
    for (std::size_t row = p.first; row < p.last; ++row) {
      for (unsigned k = 0; k < w.workers; ++k) {
        b.pieces[k] = {&scale_part, p.self, &w, row * w.n + w.begin_of(k), row * w.n + w.begin_of(k + 1)};
        p.self->library_.create_here(b.handles[k], b.pieces[k]);
      }
      p.self->join_all(b, w.workers);
    }
  }

  Library& library_;
  batch<leaf> leaves_;
  batch<outer> outers_;
  std::vector<std::unique_ptr<batch<leaf>>> inner_;
};

} // namespace weft::bench::patterns
