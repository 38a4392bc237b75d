// SPDX-License-Identifier: MIT
// Calls for all of a communicator, a window or a file, by threads of Weft.
#include <mpi.h>

#include <string>
#include <unistd.h>
#include <vector>

#include "tests/mpi/calls.hpp"

void communicators() {
  weft::thread makes([] {
    MPI_Comm half = MPI_COMM_NULL, grid = MPI_COMM_NULL, made = MPI_COMM_NULL;
    int members = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Comm_size(half, &members));
    CHECK(members == (ranks + 1 - rank % 2) / 2);
    const int sizes[] = {ranks}, wraps[] = {1};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, wraps, 0, &grid));
    int around[2] = {-1, -1};
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, around, 1, MPI_INT, grid));
    CHECK(around[0] == (rank + ranks - 1) % ranks && around[1] == (rank + 1) % ranks);
    MPI_Group all;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Comm_create(MPI_COMM_WORLD, all, &made));
    OK(MPI_Barrier(made));
    OK(MPI_Group_free(&all));
    for (MPI_Comm* c : {&half, &grid, &made})
      OK(MPI_Comm_free(c));
  });
  makes.join();
}

// Threads make communicators of all ranks, each from one of its own, and of this rank alone, one at a time: a
// call that waits for what another thread of the rank does lets that thread go on.
void made_at_once() {
  constexpr int threads = 4, rounds = 10;
  int level = MPI_THREAD_SINGLE;
  OK(MPI_Query_thread(&level));
  if (level !=
      MPI_THREAD_MULTIPLE) // calls that have no twin wait for each other, in another order in each rank
    return;
  std::vector<MPI_Comm> from;
  for (int i = 0; i < threads; ++i)
    from.push_back(dup_world());
  weft::mutex one_at_a_time;
  in_threads(threads, [&](int i) {
    MPI_Group all;
    OK(MPI_Comm_group(from[static_cast<std::size_t>(i)], &all));
    for (int r = 0; r < rounds; ++r) {
      MPI_Comm made = MPI_COMM_NULL, alone = MPI_COMM_NULL;
      OK(MPI_Comm_create_group(from[static_cast<std::size_t>(i)], all, i, &made));
      OK(MPI_Barrier(made));
      {
        const std::scoped_lock held(one_at_a_time);
        OK(MPI_Comm_dup(MPI_COMM_SELF, &alone));
      }
      OK(MPI_Barrier(alone));
      OK(MPI_Comm_free(&alone));
      OK(MPI_Comm_free(&made));
    }
    OK(MPI_Group_free(&all));
  });
  for (MPI_Comm& c : from)
    OK(MPI_Comm_free(&c));
}

// In each of the two halves a leader; the two halves meet, and become one again.
void intercommunicators() {
  in_threads(1, [](int) {
    MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL, all = MPI_COMM_NULL, whole = dup_world();
    OK(MPI_Comm_split(whole, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, whole, 1 - rank % 2, 5, &between));
    int members = 0, sum = 0;
    OK(MPI_Comm_remote_size(between, &members));
    CHECK(members == ranks / 2);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between));
    CHECK(sum == ranks / 2 * (ranks / 2 - 1) + (rank % 2 == 0 ? ranks / 2 : 0)); // of the other half
    OK(MPI_Intercomm_merge(between, rank % 2, &all));
    OK(MPI_Comm_size(all, &members));
    CHECK(members == ranks);
    for (MPI_Comm* c : {&half, &between, &all, &whole})
      OK(MPI_Comm_free(c));
  });
}

namespace {

// The neighbours' `ring`, in which the caller gets `wanted`; `by_all`: by all forms of the call.
void exchange_in(MPI_Comm ring, const int (&wanted)[2], bool by_all) {
  const int sent[] = {10 * rank, 10 * rank + 1}, ones[] = {1, 1}, places[] = {0, 1};
  const MPI_Aint bytes[] = {0, static_cast<MPI_Aint>(sizeof(int))};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT};
  const auto is_right = [&wanted](const int(&got)[2]) { return got[0] == wanted[0] && got[1] == wanted[1]; };
  int got[2] = {-1, -1};
  OK(MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, ring));
  CHECK(is_right(got));
  if (!by_all)
    return;
  got[0] = got[1] = -1;
  OK(MPI_Neighbor_alltoallv(sent, ones, places, MPI_INT, got, ones, places, MPI_INT, ring));
  CHECK(is_right(got));
  got[0] = got[1] = -1;
  OK(MPI_Neighbor_alltoallw(sent, ones, bytes, types, got, ones, bytes, types, ring));
  CHECK(is_right(got));
}

} // namespace

void neighbours() {
  in_threads(1, [](int) {
    MPI_Comm ring = MPI_COMM_NULL;
    const int near[] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks}, ones[] = {1, 1}, places[] = {0, 1};
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, MPI_UNWEIGHTED, 2, near, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &ring));
    exchange_in(ring, {10 * near[0] + 1, 10 * near[1]}, true);
    int got[2] = {-1, -1};
    OK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, got, ones, places, MPI_INT, ring));
    CHECK(got[0] == near[0] && got[1] == near[1]);
    OK(MPI_Comm_free(&ring));
  });
}

// Of two ranks each is the other's neighbour on both sides: what one sends down comes from above.
void small_rings() {
#ifdef OPEN_MPI
  constexpr bool by_all = true;
#else
  constexpr bool by_all = false; // MPICH 4.0.2 mixes them up in the other two, without the layer too
#endif
  in_threads(1, [](int) {
    MPI_Comm pair = MPI_COMM_NULL, ring = MPI_COMM_NULL;
    const int size = 2, is_ring = 1, other = rank ^ 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair));
    OK(MPI_Cart_create(pair, 1, &size, &is_ring, 0, &ring));
    exchange_in(ring, {10 * other + 1, 10 * other}, by_all);
    for (MPI_Comm* c : {&ring, &pair})
      OK(MPI_Comm_free(c));
  });
}

#if MPI_VERSION >= 4
void large_counts() {
  const int other = 1 - rank;
  std::vector<MPI_Comm> comms;
  for (int i = 0; i < 8; ++i)
    comms.push_back(dup_world());
  in_threads(8, [other, &comms](int i) {
    const MPI_Count n = 3000, one = 1;
    std::vector<int> sent(3000, rank + i), got(3000);
    MPI_Status status;
    if (rank == 0) {
      OK(MPI_Send_c(sent.data(), n, MPI_INT, other, i, MPI_COMM_WORLD));
    } else {
      MPI_Message message = MPI_MESSAGE_NULL;
      OK(MPI_Mprobe(other, i, MPI_COMM_WORLD, &message, &status));
      OK(MPI_Mrecv_c(got.data(), n, MPI_INT, &message, &status));
      CHECK(got[2999] == other + i);
      OK(MPI_Ssend_c(sent.data(), n, MPI_INT, other, i, MPI_COMM_WORLD));
    }
    if (rank == 0)
      OK(MPI_Recv_c(got.data(), n, MPI_INT, other, i, MPI_COMM_WORLD, &status));
    CHECK(got[0] == other + i && status.MPI_TAG == i);
    OK(MPI_Sendrecv_c(sent.data(), n, MPI_INT, other, i, got.data(), n, MPI_INT, other, i, MPI_COMM_WORLD,
                      &status));
    CHECK(got[2999] == other + i);
    OK(MPI_Sendrecv_replace_c(got.data(), n, MPI_INT, other, i, other, i, MPI_COMM_WORLD, &status));
    CHECK(got[2999] == rank + i);
    MPI_Comm c = comms[static_cast<std::size_t>(i)];
    int sum = 0, all[2] = {-1, -1};
    OK(MPI_Allreduce_c(&rank, &sum, one, MPI_INT, MPI_SUM, c));
    CHECK(sum == 1);
    const MPI_Count ones[] = {1, 1};
    const MPI_Aint places[] = {1, 0};
    OK(MPI_Allgatherv_c(&rank, one, MPI_INT, all, ones, places, MPI_INT, c));
    CHECK(all[0] == 1 && all[1] == 0);
    OK(MPI_Alltoallv_c(all, ones, places, MPI_INT, got.data(), ones, places, MPI_INT, c));
    CHECK(got[0] == rank && got[1] == rank);
  });
  for (MPI_Comm& c : comms)
    OK(MPI_Comm_free(&c));
}
#endif

void windows() {
  weft::thread uses([] {
    int* memory = nullptr;
    MPI_Win w = MPI_WIN_NULL;
    OK(MPI_Win_allocate(static_cast<MPI_Aint>(sizeof(int)), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                        &memory, &w));
    *memory = -1;
    OK(MPI_Win_fence(0, w));
    OK(MPI_Put(&rank, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, w));
    OK(MPI_Win_fence(0, w));
    CHECK(*memory == 1 - rank);
    int got = -1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, w));
    OK(MPI_Get(&got, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, w));
    OK(MPI_Win_unlock(1 - rank, w));
    CHECK(got == rank);
    MPI_Request r = MPI_REQUEST_NULL;
    const int one = 1;
    got = -1;
    OK(MPI_Win_lock_all(0, w));
    OK(MPI_Rget(&got, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, w, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK(got == rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Accumulate(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_flush_local(1 - rank, w));
    OK(MPI_Win_flush(1 - rank, w));
    OK(MPI_Fetch_and_op(&one, &got, MPI_INT, 1 - rank, 0, MPI_SUM, w));
    OK(MPI_Win_flush_all(w));
    CHECK(got == rank + 1);
    OK(MPI_Win_unlock_all(w));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    // Who has posted waits until the other one has put.
    MPI_Group all = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
    const int peer = 1 - rank;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 1, &peer, &other));
    for (int round = 0; round < 2; ++round) {
      if (rank == round) {
        OK(MPI_Win_post(other, 0, w));
        for (int flag = 0; round == 1 && flag == 0;)
          OK(MPI_Win_test(w, &flag));
        if (round == 0)
          OK(MPI_Win_wait(w));
        CHECK(*memory == 100 + peer);
      } else {
        const int put = 100 + rank;
        OK(MPI_Win_start(other, 0, w));
        OK(MPI_Put(&put, 1, MPI_INT, peer, 0, 1, MPI_INT, w));
        OK(MPI_Win_complete(w));
      }
    }
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&other));
    OK(MPI_Win_free(&w));
  });
  uses.join();
}

// Collective transfers under way together, each larger than a step of what carries it out: ranks that test
// them in different order begin messages that do not match.
void many_transfers(MPI_File f) {
  constexpr int pieces = 8, size = 1 << 20;
  std::vector<std::vector<char>> sent(pieces), got(pieces, std::vector<char>(size));
  std::vector<MPI_Request> requests(pieces, MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(pieces);
  const auto place = [](int i, int of) { return static_cast<MPI_Offset>(size) * (i * ranks + of); };
  for (int i = 0; i < pieces; ++i) {
    sent[i].assign(size, static_cast<char>(10 * i + rank));
    OK(MPI_File_iwrite_at_all(f, place(i, rank), sent[i].data(), size, MPI_CHAR, &requests[i]));
  }
  OK(MPI_Waitall(pieces, requests.data(), MPI_STATUSES_IGNORE));
  OK(MPI_File_sync(f));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = 0; i < pieces; ++i)
    OK(MPI_File_iread_at_all(f, place(i, 1 - rank), got[i].data(), size, MPI_CHAR, &requests[i]));
  OK(MPI_Waitall(pieces, requests.data(), statuses.data()));
  for (int i = 0; i < pieces; ++i) {
    int count = -1;
    OK(MPI_Get_count(&statuses[i], MPI_CHAR, &count));
    CHECK(count == size && got[i] == std::vector<char>(size, static_cast<char>(10 * i + 1 - rank)));
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
  OK(MPI_Barrier(MPI_COMM_WORLD));
}

void files() {
  const std::string name = "/tmp/weft_mpi_" + std::to_string(::getppid());
  weft::thread uses([&name] {
    std::string common = name;
    common.resize(64);
    OK(MPI_Bcast(common.data(), 64, MPI_CHAR, 0, MPI_COMM_WORLD));
    MPI_File f = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, common.c_str(),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    int got = -1;
    OK(MPI_File_write_at_all(f, static_cast<MPI_Offset>(sizeof(int)) * rank, &rank, 1, MPI_INT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_read_at(f, static_cast<MPI_Offset>(sizeof(int)) * (1 - rank), &got, 1, MPI_INT,
                        MPI_STATUS_IGNORE));
    CHECK(got == 1 - rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    // In the order of ranks, by the pointer that all share; and in two steps.
    const int sent = 50 + rank;
    MPI_Offset at = -1, bytes = -1;
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(f, &sent, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position_shared(f, &at));
    CHECK(at == static_cast<MPI_Offset>(sizeof(int)) * ranks);
    OK(MPI_File_set_size(f, static_cast<MPI_Offset>(sizeof(int)) * ranks));
    OK(MPI_File_get_size(f, &bytes));
    CHECK(bytes == at);
    MPI_Status status;
    int count = -1;
    OK(MPI_File_read_at_all_begin(f, static_cast<MPI_Offset>(sizeof(int)) * (1 - rank), &got, 1, MPI_INT));
    OK(MPI_File_read_at_all_end(f, &got, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(got == 50 + 1 - rank && count == 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    many_transfers(f);
    OK(MPI_File_close(&f));
    CHECK(rank != 0 || MPI_File_delete(common.c_str(), MPI_INFO_NULL) != MPI_SUCCESS); // closing did that
  });
  uses.join();
}
