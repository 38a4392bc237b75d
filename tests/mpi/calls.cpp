// SPDX-License-Identifier: MIT
// MPI calls of many threads of Weft, in each rank.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/mpi/calls.hpp"
#include "weft/mpi.hpp"

namespace {

// A thread receives what another one of its rank sends later: without the layer the worker waits for ever.
void self() {
  int got = 0;
  weft::thread receives([&got] { OK(MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE)); });
  weft::thread sends([] {
    const int sent = 42;
    OK(MPI_Ssend(&sent, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
  });
  receives.join();
  sends.join();
  CHECK(got == 42);
}

void exchange() {
  const int other = 1 - rank;
  in_threads(100, [other](int i) {
    for (int round = 0; round < 10; ++round) {
      int sent = 1000 * rank + i + round, got = -1;
      MPI_Status status;
      if (rank == 0) {
        OK(MPI_Send(&sent, 1, MPI_INT, other, i, MPI_COMM_WORLD));
        OK(MPI_Recv(&got, 1, MPI_INT, other, i, MPI_COMM_WORLD, &status));
      } else {
        OK(MPI_Recv(&got, 1, MPI_INT, other, i, MPI_COMM_WORLD, &status));
        OK(MPI_Ssend(&sent, 1, MPI_INT, other, i, MPI_COMM_WORLD));
      }
      int count = 0;
      OK(MPI_Get_count(&status, MPI_INT, &count));
      CHECK(got == 1000 * other + i + round && status.MPI_SOURCE == other && status.MPI_TAG == i &&
            count == 1);
    }
  });
}

// All wait before anything is sent, and are answered from the last to the first.
void many() {
  constexpr int count = 1000;
  if (rank == 1) {
    int go = 0;
    OK(MPI_Recv(&go, 1, MPI_INT, 0, count, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = count - 1; i >= 0; --i)
      OK(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD));
    return;
  }
  std::atomic<int> waiting{0};
  std::atomic<long> sum{0};
  weft::thread goes([&waiting] {
    while (waiting < count)
      weft::this_thread::yield();
    const int go = 1;
    OK(MPI_Send(&go, 1, MPI_INT, 1, count, MPI_COMM_WORLD));
  });
  in_threads(count, [&](int i) {
    int got = -1;
    ++waiting;
    OK(MPI_Recv(&got, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(got == i);
    sum += got;
  });
  goes.join();
  CHECK(sum == long{count} * (count - 1) / 2);
}

void use_collectives(MPI_Comm c, int salt) {
  const int sum_of_ranks = ranks * (ranks - 1) / 2;
  std::vector<int> each(static_cast<std::size_t>(ranks)), sent(static_cast<std::size_t>(ranks)),
      counts(each.size(), 1), places(each.size());
  std::iota(places.begin(), places.end(), 0);
  for (int i = 0; i < ranks; ++i)
    sent[static_cast<std::size_t>(i)] = 100 * rank + i + salt;
  const int mine = rank + salt;
  int got = rank == 0 ? salt : -1;
  OK(MPI_Barrier(c));
  OK(MPI_Bcast(&got, 1, MPI_INT, 0, c));
  CHECK(got == salt);
  OK(MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, c));
  CHECK(got == sum_of_ranks + ranks * salt);
  OK(MPI_Reduce(&mine, &got, 1, MPI_INT, MPI_MAX, 0, c));
  CHECK(rank != 0 || got == ranks - 1 + salt);
  OK(MPI_Scan(&mine, &got, 1, MPI_INT, MPI_SUM, c));
  CHECK(got == rank * (rank + 1) / 2 + (rank + 1) * salt);
  OK(MPI_Exscan(&mine, &got, 1, MPI_INT, MPI_SUM, c));
  CHECK(rank == 0 || got == rank * (rank - 1) / 2 + rank * salt);
  OK(MPI_Gather(&mine, 1, MPI_INT, each.data(), 1, MPI_INT, 0, c));
  CHECK(rank != 0 || each[static_cast<std::size_t>(ranks - 1)] == ranks - 1 + salt);
  OK(MPI_Gatherv(&mine, 1, MPI_INT, each.data(), counts.data(), places.data(), MPI_INT, 0, c));
  OK(MPI_Scatter(each.data(), 1, MPI_INT, &got, 1, MPI_INT, 0, c));
  CHECK(got == mine);
  OK(MPI_Scatterv(each.data(), counts.data(), places.data(), MPI_INT, &got, 1, MPI_INT, 0, c));
  CHECK(got == mine);
  OK(MPI_Allgather(&mine, 1, MPI_INT, each.data(), 1, MPI_INT, c));
  CHECK(each[0] == salt);
  OK(MPI_Allgatherv(&mine, 1, MPI_INT, each.data(), counts.data(), places.data(), MPI_INT, c));
  OK(MPI_Alltoall(sent.data(), 1, MPI_INT, each.data(), 1, MPI_INT, c));
  for (int i = 0; i < ranks; ++i)
    CHECK(each[static_cast<std::size_t>(i)] == 100 * i + rank + salt);
  OK(MPI_Alltoallv(sent.data(), counts.data(), places.data(), MPI_INT, each.data(), counts.data(),
                   places.data(), MPI_INT, c));
  CHECK(each[0] == rank + salt);
  OK(MPI_Reduce_scatter_block(sent.data(), &got, 1, MPI_INT, MPI_SUM, c));
  CHECK(got == 100 * sum_of_ranks + ranks * (rank + salt));
  OK(MPI_Reduce_scatter(sent.data(), &got, counts.data(), MPI_INT, MPI_SUM, c));
  CHECK(got == 100 * sum_of_ranks + ranks * (rank + salt));
}

// One communicator a thread. And by main() at last, a kernel thread perhaps.
void collectives() {
  constexpr int count = 8;
  std::vector<MPI_Comm> comms;
  for (int i = 0; i < count; ++i)
    comms.push_back(dup_world());
  in_threads(count, [&comms](int i) {
    for (int round = 0; round < 5; ++round)
      use_collectives(comms[static_cast<std::size_t>(i)], 10 * i + round);
  });
  use_collectives(MPI_COMM_WORLD, 3);
  for (MPI_Comm& c : comms)
    OK(MPI_Comm_free(&c));
}

int forks(int n) {
  if (n < 2)
    return n;
  auto other = weft::fork([n] { return forks(n - 1); });
  const int mine = forks(n - 2);
  return other.join() + mine;
}

// Workers look at what is under way at any depth of what they run, where next to nothing is left of a stack.
void beside_forks() {
  std::atomic<bool> ended{false};
  weft::thread computes([&ended] {
    for (; !ended; weft::this_thread::yield())
      CHECK(forks(14) == 377);
  });
  for (int i = 0; i < 2; ++i)
    collectives();
  ended = true;
  computes.join();
}

void requests() {
  const int other = 1 - rank;
  in_threads(20, [other](int i) {
    constexpr int n = 8;
    int sent[n], got[n];
    for (int way = 0; way < 5; ++way) {
      MPI_Request r[2 * n];
      for (int k = 0; k < n; ++k) {
        sent[k] = 100 * i + k;
        OK(MPI_Irecv(&got[k], 1, MPI_INT, other, 100 * i + k, MPI_COMM_WORLD, &r[k]));
      }
      for (int k = n - 1; k >= 0; --k)
        OK(MPI_Isend(&sent[k], 1, MPI_INT, other, 100 * i + k, MPI_COMM_WORLD, &r[n + k]));
      if (way == 0) {
        MPI_Status s[2 * n];
        OK(MPI_Waitall(2 * n, r, s));
        CHECK(s[3].MPI_TAG == 100 * i + 3 && s[3].MPI_SOURCE == other);
      } else if (way == 1) {
        OK(MPI_Waitall(2 * n, r, MPI_STATUSES_IGNORE));
      } else if (way == 2) {
        for (int done = 0; done < 2 * n; ++done) {
          int which = -1;
          OK(MPI_Waitany(2 * n, r, &which, MPI_STATUS_IGNORE));
          CHECK(which >= 0 && which < 2 * n && r[which] == MPI_REQUEST_NULL);
        }
        int which = 0;
        OK(MPI_Waitany(2 * n, r, &which, MPI_STATUS_IGNORE));
        CHECK(which == MPI_UNDEFINED);
      } else if (way == 3) {
        int which[2 * n], some = 0;
        for (int done = 0; done < 2 * n; done += some)
          OK(MPI_Waitsome(2 * n, r, &some, which, MPI_STATUSES_IGNORE));
        OK(MPI_Waitsome(2 * n, r, &some, which, MPI_STATUSES_IGNORE));
        CHECK(some == MPI_UNDEFINED);
      } else {
        for (int flag = 0; flag == 0;)
          OK(MPI_Testall(2 * n, r, &flag, MPI_STATUSES_IGNORE));
      }
      for (int k = 0; k < n; ++k)
        CHECK(got[k] == 100 * i + k && r[k] == MPI_REQUEST_NULL);
    }
    MPI_Request none = MPI_REQUEST_NULL;
    OK(MPI_Wait(&none, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(1, &none, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE));
  });
}

void probes() {
  const int other = 1 - rank;
  in_threads(20, [other](int i) {
    std::vector<int> sent(static_cast<std::size_t>(i + 1), i), got;
    if (rank == 0) {
      for (int k = 0; k < 3; ++k)
        OK(MPI_Send(sent.data(), i + 1, MPI_INT, other, i, MPI_COMM_WORLD));
      return;
    }
    MPI_Status status;
    int count = 0, flag = 0;
    OK(MPI_Probe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == i + 1 && status.MPI_SOURCE == other);
    got.assign(static_cast<std::size_t>(count), -1);
    OK(MPI_Recv(got.data(), count, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Message message = MPI_MESSAGE_NULL;
    OK(MPI_Mprobe(other, i, MPI_COMM_WORLD, &message, &status));
    OK(MPI_Mrecv(got.data(), count, MPI_INT, &message, &status));
    while (flag == 0)
      OK(MPI_Iprobe(other, i, MPI_COMM_WORLD, &flag, &status));
    OK(MPI_Recv(got.data(), count, MPI_INT, other, i, MPI_COMM_WORLD, &status));
    CHECK(got == sent);
  });
}

void persistent() {
  const int other = 1 - rank;
  in_threads(10, [other](int i) {
    int sent = 0, got = -1;
    MPI_Request r[2];
    OK(MPI_Recv_init(&got, 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Send_init(&sent, 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[1]));
    for (int round = 0; round < 10; ++round) {
      sent = 100 * i + round;
      OK(MPI_Startall(2, r));
      if (round % 2 == 0) {
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
      } else {
        OK(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
      }
      CHECK(got == sent && r[0] != MPI_REQUEST_NULL);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
  });
}

void both_ways() {
  const int other = 1 - rank;
  in_threads(30, [other](int i) {
    std::vector<double> sent(5000, rank + i), got(5000);
    MPI_Status status;
    OK(MPI_Sendrecv(sent.data(), 5000, MPI_DOUBLE, other, i, got.data(), 5000, MPI_DOUBLE, other, i,
                    MPI_COMM_WORLD, &status));
    CHECK(got[4999] == other + i && status.MPI_TAG == i);
    OK(MPI_Sendrecv_replace(sent.data(), 5000, MPI_DOUBLE, other, i, other, i, MPI_COMM_WORLD, &status));
    CHECK(sent == got);
  });
}

// What is not contiguous: MPICH packs it with a frame of 128 KiB, more than threads of the default size have.
// Calls that do not block pack too.
void gaps() {
  const int other = 1 - rank;
  static constexpr int count = 500;
  MPI_Datatype each_second = MPI_DATATYPE_NULL;
  OK(MPI_Type_vector(count, 1, 2, MPI_INT, &each_second));
  OK(MPI_Type_commit(&each_second));
  std::vector<MPI_Comm> comms;
  for (int i = 0; i < 16; ++i)
    comms.push_back(dup_world());
  in_threads(16, [&](int i) {
    const MPI_Comm mine = comms[static_cast<std::size_t>(i)];
    std::vector<int> sent(2 * count), got(2 * count), packed(count);
    const auto holds = [&got](int value) {
      for (int k = 0; k < 2 * count; ++k) {
        if (got[static_cast<std::size_t>(k)] != (k % 2 == 0 ? value + k : -1))
          return false;
      }
      return true;
    };
    for (int way = 0; way < 8; ++way) {
      const int value = 10'000 * (i + way);
      std::iota(sent.begin(), sent.end(), value);
      got.assign(got.size(), -1);
      MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      int place = 0;
      if (way == 0) {
        OK(MPI_Irecv(got.data(), 1, each_second, other, 0, mine, &r[0]));
        OK(MPI_Isend(sent.data(), 1, each_second, other, 0, mine, &r[1]));
      } else if (way == 1) {
        OK(MPI_Irecv(got.data(), 1, each_second, other, 0, mine, &r[0]));
        OK(MPI_Ssend(sent.data(), 1, each_second, other, 0, mine));
      } else if (way == 2) {
        OK(MPI_Isend(sent.data(), 1, each_second, other, 0, mine, &r[0]));
        OK(MPI_Recv(got.data(), 1, each_second, other, 0, mine, MPI_STATUS_IGNORE));
      } else if (way == 3) {
        OK(MPI_Sendrecv(sent.data(), 1, each_second, other, 0, got.data(), 1, each_second, other, 0, mine,
                        MPI_STATUS_IGNORE));
      } else if (way == 4) {
        OK(MPI_Recv_init(got.data(), 1, each_second, other, 0, mine, &r[0]));
        OK(MPI_Send_init(sent.data(), 1, each_second, other, 0, mine, &r[1]));
        OK(MPI_Start(&r[1]));
        OK(MPI_Startall(1, r));
      } else if (way == 5) {
        OK(MPI_Ibcast(rank == 0 ? sent.data() : got.data(), 1, each_second, 0, mine, &r[0]));
      } else if (way == 6) {
        OK(MPI_Pack(sent.data(), 1, each_second, packed.data(), 4 * count, &place, mine));
        OK(MPI_Isend(packed.data(), place, MPI_PACKED, other, 0, mine, &r[0]));
        OK(MPI_Irecv(got.data(), 1, each_second, other, 0, mine, &r[1]));
      } else {
        OK(MPI_Isend(sent.data(), 1, each_second, other, 0, mine, &r[0]));
        MPI_Message message = MPI_MESSAGE_NULL;
        OK(MPI_Mprobe(other, 0, mine, &message, MPI_STATUS_IGNORE));
        OK(MPI_Imrecv(got.data(), 1, each_second, &message, &r[1]));
      }
      OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
      CHECK(holds(value) || (way == 5 && rank == 0));
      for (MPI_Request& each : r) {
        if (each != MPI_REQUEST_NULL)
          OK(MPI_Request_free(&each));
      }
    }
  });
  for (MPI_Comm& c : comms)
    OK(MPI_Comm_free(&c));
  OK(MPI_Type_free(&each_second));
}

std::atomic<int> handler_calls{0};
void handle(MPI_Comm*, int*, ...) {
  ++handler_calls;
}

void expect_truncated(int code) {
  int kind = MPI_SUCCESS;
  OK(MPI_Error_class(code, &kind));
  CHECK(kind == MPI_ERR_TRUNCATE);
}

#if defined(MPIR_ERRORS_THROW_EXCEPTIONS)
// What MPICH's interface for C++ does with handlers: it makes one of a function in C++, and says by which
// other one that is to be called.
extern "C" void MPII_Errhandler_set_cxx(MPI_Errhandler handler, void (*by)());

std::atomic<int> cpp_calls{0};
void call_cpp(int kind, MPI_Comm* comm, int* code, void (*in_cpp)()) {
  CHECK(kind == 0 && *comm == MPI_COMM_WORLD && *code != MPI_SUCCESS);
  CHECK(in_cpp == reinterpret_cast<void (*)()>(&handle));
  ++cpp_calls;
}

void errors_in_cpp() {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL, now = MPI_ERRHANDLER_NULL;
  OK(MPI_Comm_create_errhandler(&handle, &made));
  MPII_Errhandler_set_cxx(made, reinterpret_cast<void (*)()>(&call_cpp));
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, made));
  const int before = handler_calls;
  OK(MPI_Send(nullptr, 1, MPI_INT, 77777, 0,
              MPI_COMM_WORLD)); // after such a handler nobody is to call it again
  CHECK(cpp_calls == 1 && handler_calls == before);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPIR_ERRORS_THROW_EXCEPTIONS));
  OK(MPI_Errhandler_free(&made));
  OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now));
  CHECK(now == MPIR_ERRORS_THROW_EXCEPTIONS);
  CHECK(MPI_Send(nullptr, 1, MPI_INT, 77777, 0, MPI_COMM_WORLD) != MPI_SUCCESS); // the interface throws then
}
#endif

// Errors that are found while a request is tested, on anybody's stack, are the waiting thread's.
void errors() {
  const int other = 1 - rank;
  MPI_Comm returns = dup_world(), calls = dup_world();
  OK(MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN));
  MPI_Errhandler ours = MPI_ERRHANDLER_NULL, now = MPI_ERRHANDLER_NULL;
  OK(MPI_Comm_create_errhandler(&handle, &ours));
  OK(MPI_Comm_set_errhandler(calls, ours));
  OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now));
  CHECK(now == MPI_ERRORS_ARE_FATAL);
  for (MPI_Comm c : {returns, calls}) {
    std::atomic<bool> waits{false};
    const int before = handler_calls;
    if (rank == 0) {
      weft::thread receives([&] {
        int small = 0;
        waits = true;
        const int code = MPI_Recv(&small, 1, MPI_INT, other, 1, c, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS);
        expect_truncated(code);
      });
      while (!waits)
        weft::this_thread::yield();
      int go = 1;
      OK(MPI_Send(&go, 1, MPI_INT, other, 2, MPI_COMM_WORLD));
      receives.join();
      CHECK(c != calls || handler_calls > before);
    } else {
      int much[4] = {1, 2, 3, 4}, go = 0;
      OK(MPI_Recv(&go, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      ::usleep(3000); // the other one waits in the table by now
      OK(MPI_Send(much, 4, MPI_INT, other, 1, c));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  // The program's handlers of the two that have one of the layer's.
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, ours));
  OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now));
  CHECK(now == ours);
  OK(MPI_Errhandler_free(&now));
  const int before = handler_calls;
  CHECK(MPI_Send(nullptr, 1, MPI_INT, 77777, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(handler_calls > before);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK(MPI_Send(nullptr, 1, MPI_INT, 77777, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
#if defined(MPIR_ERRORS_THROW_EXCEPTIONS)
  errors_in_cpp();
#endif
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Errhandler_free(&ours));
  OK(MPI_Comm_free(&returns));
  OK(MPI_Comm_free(&calls));
}

// What lies in the buffer is large, so that giving the buffer back waits for who receives it.
void buffered() {
  constexpr int count = 1 << 18;
  std::vector<int> got(count);
  weft::thread sends([] {
    std::vector<int> sent(count, 7);
    std::vector<char> room(sizeof(int) * count + MPI_BSEND_OVERHEAD);
    OK(MPI_Buffer_attach(room.data(), static_cast<int>(room.size())));
    OK(MPI_Bsend(sent.data(), count, MPI_INT, 0, 1, MPI_COMM_SELF));
    char* back = nullptr;
    int bytes = 0;
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == room.data() && bytes == static_cast<int>(room.size()));
  });
  weft::thread receives(
      [&got] { OK(MPI_Recv(got.data(), count, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)); });
  sends.join();
  receives.join();
  CHECK(got[0] == 7 && got[count - 1] == 7);
}

void in_cpp() {
  using namespace std::chrono_literals;
  const int other = 1 - rank;
  weft::thread uses([other] {
    int got[4] = {-1, -1, -1, -1};
    MPI_Request r[4];
    for (int i = 0; i < 4; ++i)
      OK(MPI_Irecv(&got[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &r[i]));
    CHECK(!weft::mpi::wait_for(r[0], 5ms));
    std::stop_source stop;
    stop.request_stop();
    CHECK(!weft::mpi::wait_for(r[0], 100s, stop.get_token()));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 4; ++i) {
      const int sent = 10 * rank + i;
      OK(MPI_Send(&sent, 1, MPI_INT, other, i, MPI_COMM_WORLD));
    }
    CHECK(weft::mpi::wait_for(r[0], 100s) && got[0] == 10 * other);
    weft::future<MPI_Status> later = weft::mpi::as_future(r[1]);
    CHECK(later.get().MPI_SOURCE == other && got[1] == 10 * other + 1);
    std::atomic<bool> called{false};
    weft::mpi::run_when(r[2], [&called](const MPI_Status& s) { called = s.MPI_TAG == 2; });
    while (!called)
      weft::this_thread::yield();
    CHECK(weft::mpi::wait_any({&r[3], 1}) == 0 && weft::mpi::wait_any({&r[3], 1}) == 1);
    MPI_Comm returns = MPI_COMM_NULL;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &returns));
    OK(MPI_Comm_set_errhandler(returns, MPI_ERRORS_RETURN));
    try {
      weft::mpi::check(MPI_Send(nullptr, 1, MPI_INT, 77777, 0, returns));
      CHECK(false);
    } catch (const std::system_error& e) {
      CHECK(e.code().category() == weft::mpi::mpi_category() && std::strlen(e.what()) > 4);
    }
    OK(MPI_Comm_free(&returns));
  });
  uses.join();
}

void levels() {
  int level = -1, is_main = 0;
  OK(MPI_Query_thread(&level));
  CHECK(level == MPI_THREAD_MULTIPLE || level == MPI_THREAD_SERIALIZED);
  OK(MPI_Is_thread_main(&is_main));
  CHECK(is_main != 0);
}

struct named {
  const char* name;
  void (*run)();
};
constexpr named cases[] = {{"self", self},
                           {"exchange", exchange},
                           {"many", many},
                           {"collectives", collectives},
                           {"beside_forks", beside_forks},
                           {"requests", requests},
                           {"probes", probes},
                           {"persistent", persistent},
                           {"both_ways", both_ways},
                           {"gaps", gaps},
                           {"errors", errors},
                           {"communicators", communicators},
                           {"made_at_once", made_at_once},
                           {"intercommunicators", intercommunicators},
                           {"neighbours", neighbours},
                           {"small_rings", small_rings},
                           {"buffered", buffered},
#if MPI_VERSION >= 4
                           {"large_counts", large_counts},
#endif
                           {"windows", windows},
                           {"files", files},
                           {"in_cpp", in_cpp},
                           {"levels", levels}};

} // namespace

int main(int count, char** words) {
  int provided = -1;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (const named& c : cases) {
    if (count > 1 && std::strcmp(c.name, words[1]) == 0) {
      c.run();
      std::printf("%s: right\n", c.name);
      std::fflush(stdout);
    }
  }
  return MPI_Finalize();
}
