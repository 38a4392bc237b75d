// SPDX-License-Identifier: MIT
// The sequential back end: a page whose threads are calls. A program runs in one order, always the same,
// under any debugger or checker; and a wait that no other thread can end is found.
#pragma once

#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "weft/compose/closure.hpp"
#include "weft/compose/here.hpp"
#include "weft/compose/shared_state.hpp"
#include "weft/compose/unit.hpp"
#include "weft/memory/object_cache.hpp"
#include "weft/trace/event.hpp"

namespace weft::compose {

// A worker part: fork() runs the thread to its end before it returns. Members: as cooperative_worker's; the
// context, the ready queue, the scheduler, the stack source and the idle strategy of the page are not asked.
// Errors: a wait that nobody has ended when it begins, and that no active event source can end, throws
// std::system_error(resource_deadlock_would_occur) in the thread that would wait; nothing has changed then.
template <class P>
class sequential_worker : public face {
 public:
  using unit = compose::unit<P>;
  static constexpr bool schedules = false;

  sequential_worker(shared_state<P>& s, unsigned n) : shared(s), number(n) {}

  template <class Technique, class Callable>
  static unit& fork(const attributes<P>& a, Callable&& c) {
    static_assert(P::techniques::template has<Technique>,
                  "this technique is not in the page's technique_set");
    using closure = closure_of<unit, std::remove_cvref_t<Callable>>;
    sequential_worker& w = here();
    unit* u = w.units_.allocate();
    if (u == nullptr)
      throw std::bad_alloc();
    try {
      closure::fill(*u, std::forward<Callable>(c));
    } catch (...) {
      w.units_.free(u);
      throw;
    }
    w.call(*u, &closure::run, a);
    return *u;
  }
  static void join_and_free(unit& u) {
    sequential_worker& w = here();
    if (u.end.load_relaxed() != unit::ended) // relaxed: one kernel thread
      throw_deadlock("weft: sequential: a thread waits for itself or for its creator");
    w.units_.free(&u);
  }
  static void detach(unit& u) { here().units_.free(&u); }
  static void yield() { here().shared.sources.poll(); }

  template <class F>
  static bool suspend(F&& f) {
    sequential_worker& w = here();
    w.resumed_ = false;
    w.recorder.note(trace::event::stop_wait, w.current);
    if (!f(*w.current))
      return false;
    while (!w.resumed_ && w.shared.sources.active())
      w.shared.sources.poll();
    if (!w.resumed_)
      throw_deadlock("weft: sequential: nobody is left who could end this wait");
    w.recorder.note(trace::event::run, w.current);
    return true;
  }
  // Only the caller can be suspended: it called this from the function of its suspend(), or a source did.
  static void resume(unit&) noexcept {
    face& f = current_face();
    if (f.page == &page_mark<P>)
      static_cast<sequential_worker&>(f).resumed_ = true;
  }
  static void resume_now(unit& u) { resume(u); }
  template <class F>
  static bool suspend_for(unit&, F&&) {
    throw_deadlock("weft: sequential: nobody can be suspended here while another one runs");
  }
  static void require_can_wait() {
    if (!here().shared.sources.active())
      throw_deadlock("weft: sequential: nobody is left who could end this wait");
  }

  template <class Main>
  static auto run(Main&& main, const run_options&) {
    outcome<std::invoke_result_t<Main&>> result;
    shared_state<P> s(1);
    const run_registration<P> registered(s);
    sequential_worker& w = *s.workers.front();
    face* const outer = &current_face();
    weft_compose_here = &w;
    unit root{};
    w.current = &root;
    w.page = &page_mark<P>;
    result.make(main);
    weft_compose_here = outer;
    return result.take();
  }

  static sequential_worker& here() { return checked_worker<P, sequential_worker>(); }

  unit* current = nullptr;
  shared_state<P>& shared;
  typename P::template ready_queue<unit> queue; // always empty
  const unsigned number;
  [[no_unique_address]] typename P::recorder recorder;

 private:
  void call(unit& u, void (*body)(unit&), const attributes<P>& a) {
    unit* const parent = current;
    u.floor = nullptr;
    u.run = body;
    u.end.store_relaxed(unit::running); // relaxed: one kernel thread, here and below
    u.attributes = a;
    recorder.note(trace::event::run, &u);
    current = &u;
    body(u);
    current = parent;
    recorder.note(trace::event::stop_end, &u);
    u.end.store_relaxed(unit::ended);
  }
  [[noreturn, gnu::cold]] static void throw_deadlock(const char* what) {
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur), what);
  }

  bool resumed_ = false; // since the suspend() that is under way
  memory::object_cache<unit> units_;
};

} // namespace weft::compose
