// SPDX-License-Identifier: MIT
#include "front/mpi/wait.hpp"

#include "front/mpi/patience.hpp"
#include "front/mpi/table.hpp"
#include "front/mpi/transfers.hpp"
#include "weft/blocking.hpp"
#include "weft/door/caller.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/section.hpp"
#include "weft/door/workers.hpp"
#include "weft/thread.hpp"

#include <new>
#include <sched.h>
#include <system_error>
#include <vector>

namespace weft::mpi {
namespace {

// Without a look at the clock, and with others that wait.
constexpr int tests_in_a_row = 16;

// Where callers take turns, nobody may wait in the engine: the turn would be his meanwhile.
template <class Look>
int look_again_and_again(Look look) {
  constexpr std::int64_t pause = 20'000;
  for (;;) {
    int flag = 0;
    const int code = [&] {
      const engine_section in;
      return look(flag);
    }();
    if (code != MPI_SUCCESS || flag != 0)
      return code;
    door::block_for(pause);
  }
}

// True: it is over, with `code`. False: the caller is to be suspended, since others want the worker, or wait
// too, whom a look serves as well, or it takes long.
template <class Look>
bool is_over_in_place(Look look, int& code) {
  std::int64_t begin = 0;
  for (int i = 1;; ++i) {
    int flag = 0;
    {
      const engine_section in;
      code = look(flag);
    }
    if (code != MPI_SUCCESS || flag != 0)
      return true;
    if (door::others_are_ready_here())
      return false;
    if (i % tests_in_a_row != 0)
      continue;
    const std::int64_t now = door::now();
    begin = begin != 0 ? begin : now;
    const next_step next = table_is_empty() ? next_step_after(now - begin) : next_step::suspend;
    if (next == next_step::suspend)
      return false;
    if (next == next_step::give_way)
      ::sched_yield();
  }
}

// Completions of one request leave the field of errors alone.
void hand_over(const MPI_Status& from, MPI_Status* to) noexcept {
  if (to == MPI_STATUS_IGNORE)
    return;
  const int kept = to->MPI_ERROR;
  *to = from;
  to->MPI_ERROR = kept;
}

} // namespace

bool can_be_suspended() noexcept {
  const door::runtime_section in;
  return door::who() == door::caller::thread && !is_in_look();
}

int raise(MPI_Comm comm, int code) {
  if (code == MPI_SUCCESS)
    return code;
  const engine_section in;
  PMPI_Comm_call_errhandler(comm != MPI_COMM_NULL ? comm : MPI_COMM_WORLD, code);
  return code;
}

// A request of the program's may be inactive, which a look does not see. And most messages that are sent are
// copied at once: to be suspended for them costs more than a test.
bool is_served_by_looks(MPI_Request request, MPI_Comm comm, const wait_name& shown) noexcept {
  const bool is_programs = comm == MPI_COMM_NULL, is_sent = shown.where == wait_name::way::to;
  return !is_programs && !is_sent && request != MPI_REQUEST_NULL && !table_is_empty() && can_be_suspended() &&
         door::others_are_ready_here();
}

bool is_over_at_once(MPI_Request& request, MPI_Status* status, int& code) {
  const auto test = [&](int& flag) { return PMPI_Test(&request, &flag, status); };
  if (!can_be_suspended()) {
    if (!engine_is_shared()) {
      code = look_again_and_again(test);
    } else {
      const engine_section in;
      code = PMPI_Wait(&request, status);
    }
    return true;
  }
  return is_over_in_place(test, code);
}

int wait_longer(MPI_Request& request, MPI_Status* status, MPI_Comm comm, const wait_name& shown) {
  joint j;
  entry e;
  e.request = request;
  wait_in_table(j, &e, 1, shown); // SWITCH: may resume on another worker
  request = e.request;
  hand_over(e.status, status);
  return raise(comm, e.code);
}

int wait_for(MPI_Request& request, MPI_Status* status, MPI_Comm comm, const wait_name& shown) {
  int code = MPI_SUCCESS;
  bool is_over = false;
  if (!is_served_by_looks(request, comm, shown))
    with_room([&] { is_over = is_over_at_once(request, status, code); });
  return is_over ? code : wait_longer(request, status, comm, shown); // SWITCH: may resume on another worker
}

namespace {

// Tests each once; `open` gets those that are not through. Whether one failed.
bool test_each(int count, MPI_Request* requests, MPI_Status* statuses, std::vector<int>& open) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status own{};
    MPI_Status* const status = statuses != MPI_STATUSES_IGNORE ? &statuses[i] : &own;
    int flag = 0;
    const engine_section in;
    const int code = PMPI_Test(&requests[i], &flag, status);
    if (statuses != MPI_STATUSES_IGNORE)
      status->MPI_ERROR = code;
    failed = failed || code != MPI_SUCCESS;
    if (code == MPI_SUCCESS && flag == 0)
      open.push_back(i);
  }
  return failed;
}

} // namespace

// Each request by itself: MPICH 4.0.2's Testall aborts on persistent collectives that have been started.
int wait_for_all(int count, MPI_Request* requests, MPI_Status* statuses, const wait_name& shown) {
  if (take_transfers(count, requests))
    // SWITCH: may resume on another worker
    return elsewhere([=] { return PMPI_Waitall(count, requests, statuses); });
  if (count <= 0 || !can_be_suspended()) {
    if (count > 0 && !engine_is_shared())
      return look_again_and_again([=](int& flag) { return PMPI_Testall(count, requests, &flag, statuses); });
    const engine_section in;
    return PMPI_Waitall(count, requests, statuses);
  }
  std::vector<int> open;
  bool failed = false;
  with_room([&] { failed = test_each(count, requests, statuses, open); });
  if (!open.empty()) {
    joint j;
    std::vector<entry> entries(open.size());
    for (std::size_t i = 0; i < open.size(); ++i)
      entries[i].request = requests[open[i]];
    wait_name more = shown;
    more.requests = static_cast<std::uint32_t>(open.size());
    wait_in_table(j, entries.data(), entries.size(), more); // SWITCH: may resume on another worker
    for (std::size_t i = 0; i < open.size(); ++i) {
      const entry& e = entries[i];
      requests[open[i]] = e.request;
      failed = failed || e.code != MPI_SUCCESS;
      if (statuses == MPI_STATUSES_IGNORE)
        continue;
      statuses[open[i]] = e.status;
      statuses[open[i]].MPI_ERROR = e.code;
    }
  }
  return failed ? raise(MPI_COMM_NULL, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

int wait_until_asked(int (*ask)(void* with, int& flag), void* with, const wait_name& shown) {
  const auto look = [=](int& flag) { return ask(with, flag); };
  if (!can_be_suspended())
    return look_again_and_again(look);
  int code = MPI_SUCCESS;
  bool is_over = false;
  with_room([&] { is_over = is_over_in_place(look, code); });
  if (is_over)
    return code;
  struct question {
    int (*ask)(void*, int&);
    void* with;
  } q{ask, with};
  joint j;
  entry e;
  e.with = &q;
  e.ask = [](entry& self) {
    int flag = 0;
    const question& asked = *static_cast<question*>(self.with);
    self.code = asked.ask(asked.with, flag);
    return flag != 0 || self.code != MPI_SUCCESS;
  };
  wait_in_table(j, &e, 1, shown); // SWITCH: may resume on another worker
  return e.code; // the engine has called a handler, or that of MPI_COMM_WORLD where we stand in
}

int call_elsewhere(int (*call)(void* with), void* with) {
  const auto in_engine = [=] {
    const engine_section in;
    return call(with);
  };
  if (!can_be_suspended())
    return in_engine();
  try {
    return weft::blocking(in_engine);  // SWITCH: may resume on another worker
  } catch (const std::system_error&) { // no spare thread
  } catch (const std::bad_alloc&) {
  }
  int code = MPI_SUCCESS;
  with_room([&] { code = in_engine(); });
  return code;
}

void let_others_progress() {
  if (!can_be_suspended())
    return;
  look_after_test();
  weft::this_thread::yield(); // SWITCH: may resume on another worker
}

} // namespace weft::mpi
