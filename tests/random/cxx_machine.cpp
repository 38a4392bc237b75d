// SPDX-License-Identifier: MIT
#include "tests/random/cxx_machine.hpp"

namespace weft::random_programs {

// Of a wait with an end: a time that passes, or a stop, may come between the look for a permit and what the
// place makes of its answer. Then the wait says so, and the permit is taken all the same.
void place_semaphore::acquire(unsigned way, const std::stop_token& not_stopped) {
  if (way == 0)
    return place_.wait_with([this] { return permits_.fetch_sub(1) <= 0; });
  const bool by_time = way == 1;
  for (;;) {
    long found = 0;
    bool asked = false;
    const auto ask = [&] {
      asked = true;
      found = permits_.fetch_sub(1);
      return found <= 0;
    };
    const wait_result how = by_time ? place_.wait_with_until(ask, sync::deadline_of(impatience))
                                    : place_.wait_with_until(ask, sync::deadline_of(never), not_stopped);
    if (how == wait_result::notified || found > 0)
      return;
    long waiting = -1;
    if (asked && !permits_.compare_exchange_strong(waiting, 0))
      return late_.acquire(); // somebody is about to find the place empty
  }
}

cxx_machine::cxx_machine(const program& p, std::array<pool*, pools> places, std::array<key_type*, keys> own,
                         record& r)
    : program_(p), places_(places), keys_(own), record_(r) {
  for (unsigned l = 0; l < latches; ++l)
    latches_[l].emplace(downs_of(p, l));
  for (unsigned b = 0; b < barriers; ++b)
    barriers_[b].emplace(std::max(parties_of(p, b), 1L));
  for (unsigned f = 0; f < futures; ++f)
    futures_[f] = promises_[f].get_future().share();
  for (unsigned c = 0; c < channels; ++c) {
    if (is_unbounded(c)) {
      channels_[c].emplace();
    } else {
      channels_[c].emplace(p.capacity[c]);
    }
  }
  long leaving = 0;
  for_each_instruction(p, [&](const instruction& i, unsigned) {
    if (i.what == op::spawn)
      leaving += p.threads[i.a].detached || p.threads[i.a].kind == unit_kind::foreign ? 1 : 0;
  });
  leaving_.emplace(leaving);
}

bool cxx_machine::waits_in_vain(unsigned way) {
  switch (way) {
  case 0:
    return never_comes_.try_acquire_for(impatience);
  case 1: {
    mutex lock;
    condition_variable nobody_notifies;
    std::unique_lock held(lock);
    return nobody_notifies.wait_for(held, impatience) != std::cv_status::timeout;
  }
  case 2: {
    channel<long> empty;
    return empty.receive_for(impatience).status != channel_status::timed_out;
  }
  case 3: {
    promise<long> p;
    const future<long> f = p.get_future();
    return f.wait_for(impatience) != std::future_status::timeout;
  }
  case 4: {
    barrier<> of_two(2);
    auto token = of_two.arrive();
    return of_two.wait_for(token, impatience);
  }
  default:
    return never_down_.wait_for(impatience);
  }
}

void cxx_machine::wait(unsigned a, unsigned way) {
  if (way == 0)
    return latches_[a]->wait();
  while (!(way == 1 ? latches_[a]->wait_for(impatience) : latches_[a]->wait(not_stopped_.get_token()))) {
  }
}

void cxx_machine::arrive(unsigned a, unsigned way) {
  barrier<>& b = *barriers_[a];
  if (way == 0)
    return b.arrive_and_wait();
  auto token = b.arrive();
  if (way == 1) {
    while (!b.wait_for(token, impatience)) {
    }
  } else {
    b.wait(std::move(token));
  }
}

void cxx_machine::set(unsigned a, long n, unsigned way) {
  if (way == 0)
    return promises_[a].set_value(n);
  promises_[a].set_exception(std::make_exception_ptr(sent_exception{n}));
}

long cxx_machine::get(unsigned a, unsigned way) {
  if (way == 1) {
    while (futures_[a].wait_for(impatience) != std::future_status::ready) {
    }
  }
  try {
    return futures_[a].get();
  } catch (const sent_exception& e) {
    return e.value;
  }
}

void cxx_machine::send(unsigned a, stamped value, unsigned way) {
  channel<stamped>& c = *channels_[a];
  if (way == 0) {
    static_cast<void>(c.send(value));
  } else {
    growing_patience patience;
    while (c.send_for(stamped(value), patience.next()) != channel_status::ok) {
    }
  }
}

stamped cxx_machine::receive(unsigned a, unsigned way) {
  channel<stamped>& c = *channels_[a];
  if (way == 0)
    return *c.receive();
  for (growing_patience patience;;) {
    if (auto got = c.receive_for(patience.next()))
      return *got;
  }
}

bool cxx_machine::await_stop(unsigned a, unsigned way) {
  const std::stop_token stop = stops_[a].get_token();
  switch (way) {
  case 0:
    return never_comes_.acquire(stop);
  case 1:
    return this_thread::sleep_for(never, stop);
  case 2: {
    mutex lock;
    condition_variable nobody_notifies;
    std::unique_lock held(lock);
    return nobody_notifies.wait(held, stop, [] { return false; });
  }
  default:
    return never_down_.wait_for(never, stop);
  }
}

thread_attributes cxx_machine::attributes_of(const thread_spec& spec) const {
  thread_attributes a;
  a.technique = static_cast<technique_id>(spec.technique);
  a.preemption = static_cast<preemption>(spec.preemption);
  a.pool = spec.pool == 0 ? nullptr : places_[spec.pool];
  return a;
}

thread* cxx_machine::handle_of(unsigned t) {
  slots_[t].there.wait();
  return std::get_if<thread>(&slots_[t].handle);
}

void cxx_machine::join(unsigned t, unsigned way) {
  slots_[t].there.wait();
  if (thread* const one = handle_of(t)) {
    if (way == 1) {
      while (!one->try_join_for(impatience)) {
      }
      return;
    }
    return one->join();
  }
  if (auto* const small = std::get_if<tasklet>(&slots_[t].handle))
    return small->join();
  std::get<light::thread>(slots_[t].handle).join();
}

void cxx_machine::cancel(unsigned t) {
  if (thread* const one = handle_of(t))
    return one->cancel();
  std::get<tasklet>(slots_[t].handle).cancel();
}

void cxx_machine::ask_to_move(unsigned t, unsigned where) {
  thread* const one = handle_of(t);
  if (one == nullptr)
    return;
  try {
    one->migrate_to(*places_[where]);
  } catch (const std::system_error&) { // it has ended
  }
}

void cxx_machine::yield_to(unsigned t) {
  if (thread* const one = handle_of(t))
    return this_thread::yield_to(*one);
  this_thread::yield();
}

void cxx_machine::resume(unsigned t) {
  slots_[t].there.wait();
  sched::resume(*slots_[t].unit);
}

void cxx_machine::wait_for_the_rest() {
  leaving_->wait();
  for (slot& s : slots_) {
    if (auto* const foreign = std::get_if<std::thread>(&s.handle))
      foreign->join();
  }
}

} // namespace weft::random_programs
