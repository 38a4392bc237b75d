// SPDX-License-Identifier: MIT
#include "tests/random/shrink.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/random/model.hpp"

namespace weft::random_programs {

namespace {

// Removes what `goes` is true of, bodies included.
template <class F>
void remove_if(code& c, const F& goes) {
  std::erase_if(c, goes);
  for (instruction& i : c)
    remove_if(i.body, goes);
}

// Threads that cannot be without the one: who is spawned or joined by it.
std::set<unsigned> dependents_of(const program& p, unsigned thread) {
  std::set<unsigned> gone{thread};
  for (std::size_t before = 0; before != gone.size();) {
    before = gone.size();
    for_each_instruction(p, [&](const instruction& i, unsigned t) {
      if ((i.what == op::spawn || i.what == op::join) && gone.count(t) != 0)
        gone.insert(i.a);
    });
  }
  return gone;
}

program without_thread(const program& p, unsigned thread) {
  const std::set<unsigned> gone = dependents_of(p, thread);
  std::vector<std::uint8_t> number(p.threads.size());
  program smaller = p;
  smaller.threads.clear();
  for (unsigned t = 0; t < p.threads.size(); ++t) {
    if (gone.count(t) != 0)
      continue;
    number[t] = static_cast<std::uint8_t>(smaller.threads.size());
    smaller.threads.push_back(p.threads[t]);
  }
  for (thread_spec& t : smaller.threads) {
    t.joiner = t.joiner < number.size() ? number[t.joiner] : std::uint8_t{0};
    remove_if(t.body, [&](const instruction& i) { return names_thread(i.what) && gone.count(i.a) != 0; });
    for (instruction& i : t.body) {
      if (names_thread(i.what))
        i.a = number[i.a];
    }
  }
  return smaller;
}

// What uses the same object; suspend and resume go by the thread.
bool same_object(const instruction& i, unsigned t, const instruction& example, unsigned of) {
  constexpr op groups[][3] = {{op::release, op::acquire, op::acquire},   {op::count_down, op::wait, op::wait},
                              {op::arrive, op::arrive, op::arrive},      {op::set, op::get, op::get},
                              {op::send, op::receive, op::receive},      {op::raise, op::spin, op::spin},
                              {op::stop, op::await_stop, op::await_stop}};
  if (example.what == op::suspend)
    return (i.what == op::suspend && t == of) || (i.what == op::resume && i.a == of);
  for (const auto& group : groups) {
    const auto in_group = [&](op what) {
      return std::find(std::begin(group), std::end(group), what) != std::end(group);
    };
    if (in_group(example.what))
      return in_group(i.what) && i.a == example.a;
  }
  return i.what == example.what && !names_thread(i.what);
}

class shrinker {
 public:
  using test = std::function<bool(const program&)>;
  shrinker(program p, const test& fails, std::chrono::milliseconds within)
      : best_(std::move(p)), fails_(fails), end_(clock_type::now() + within) {}

  program shrink() {
    for (bool smaller = true; smaller && !over();) {
      smaller = drop_threads();
      smaller |= drop_objects();
      smaller |= drop_pieces();
      smaller |= drop_inner();
      smaller |= make_plainer();
    }
    return std::move(best_);
  }

 private:
  using clock_type = std::chrono::steady_clock;
  [[nodiscard]] bool over() const { return clock_type::now() >= end_; }

  bool take(program&& candidate) {
    if (over() || !why_invalid(candidate).empty() || !fails_(candidate))
      return false;
    best_ = std::move(candidate);
    return true;
  }
  template <class Change>
  bool take_if(const Change& change) {
    program candidate = best_;
    return change(candidate) && take(std::move(candidate));
  }

  bool drop_threads() {
    bool any = false;
    for (unsigned t = static_cast<unsigned>(best_.threads.size()); t-- > 1;) {
      if (t < best_.threads.size())
        any |= take(without_thread(best_, t));
    }
    return any;
  }

  bool drop_objects() {
    bool any = false;
    for (unsigned t = 0; t < best_.threads.size(); ++t) {
      for (std::size_t k = 0; k < best_.threads[t].body.size();) {
        const instruction example = best_.threads[t].body[k];
        const bool smaller = !names_thread(example.what) && take_if([&](program& p) {
          for (unsigned u = 0; u < p.threads.size(); ++u)
            remove_if(p.threads[u].body, [&](const instruction& i) { return same_object(i, u, example, t); });
          return true;
        });
        any |= smaller;
        k += smaller ? 0 : 1;
      }
    }
    return any;
  }

  // Halves, quarters, ... of each thread's list.
  bool drop_pieces() {
    bool any = false;
    for (unsigned t = 0; t < best_.threads.size(); ++t) {
      for (std::size_t length = std::max<std::size_t>(best_.threads[t].body.size() / 2, 1);; length /= 2) {
        for (std::size_t at = 0; at < best_.threads[t].body.size();) {
          const bool smaller = take_if([&](program& p) {
            code& c = p.threads[t].body;
            const auto first = c.begin() + static_cast<std::ptrdiff_t>(at);
            c.erase(first, c.begin() + static_cast<std::ptrdiff_t>(std::min(at + length, c.size())));
            return true;
          });
          any |= smaller;
          at += smaller ? 0 : length;
        }
        if (length <= 1)
          break;
      }
    }
    return any;
  }

  // Bodies: without one of their instructions, or in place of what they are the body of.
  bool drop_inner() {
    bool any = false;
    for (unsigned t = 0; t < best_.threads.size(); ++t) {
      for (std::size_t k = 0; k < best_.threads[t].body.size(); ++k) {
        for (std::size_t j = best_.threads[t].body[k].body.size(); j-- > 0;) {
          any |= take_if([&](program& p) {
            code& inner = p.threads[t].body[k].body;
            inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(j));
            return true;
          });
        }
        any |= take_if([&](program& p) { return unwrap(p.threads[t].body, k); });
      }
    }
    return any;
  }
  static bool unwrap(code& c, std::size_t k) {
    code inner = c[k].body;
    if (inner.empty())
      return false;
    c.erase(c.begin() + static_cast<std::ptrdiff_t>(k));
    c.insert(c.begin() + static_cast<std::ptrdiff_t>(k), inner.begin(), inner.end());
    return true;
  }

  template <class T>
  bool reset(T& field, T to) {
    return std::exchange(field, to) != to;
  }

  bool make_plainer() {
    bool any = take_if([this](program& p) { return reset(p.where.workers, 1U); });
    any |= take_if([this](program& p) { return reset(p.where.pools, 0U); });
    any |= take_if([this](program& p) { return reset(p.where.side, 0U); });
    for (unsigned l = 0; l < locks; ++l)
      any |= take_if([&](program& p) { return reset(p.lock[l], lock_kind::mutex); });
    for (unsigned t = 0; t < best_.threads.size(); ++t) {
      any |= take_if([&](program& p) { return reset<std::uint8_t>(p.threads[t].technique, 0); });
      any |= take_if([&](program& p) { return reset<std::uint8_t>(p.threads[t].preemption, 0); });
      any |= take_if([&](program& p) { return reset<std::uint8_t>(p.threads[t].pool, 0); });
      any |= take_if([&](program& p) { return reset(p.threads[t].kind, unit_kind::thread); });
      any |= take_if([&](program& p) { return reset(p.threads[t].detached, false); });
      for (std::size_t k = 0; k < best_.threads[t].body.size(); ++k) {
        any |= take_if([&](program& p) { return reset<std::uint8_t>(p.threads[t].body[k].way, 0); });
        if (is_done_by_others(best_.threads[t].body[k].what))
          any |= take_if([&](program& p) { return reset(p.threads[t].body[k].n, 1L); });
      }
    }
    return any;
  }

  program best_;
  const test& fails_;
  const clock_type::time_point end_;
};

} // namespace

program shrink(program p, const std::function<bool(const program&)>& fails,
               std::chrono::milliseconds within) {
  return shrinker(std::move(p), fails, within).shrink();
}

} // namespace weft::random_programs
