// SPDX-License-Identifier: MIT
// MPI_Init to MPI_Finalize.
#include "front/mpi/process.hpp"

#include "front/mpi/table.hpp"
#include "front/mpi/wait.hpp"
#include "weft/door/caller.hpp"
#include "weft/door/deadline.hpp"
#include "weft/door/process.hpp"
#include "weft/door/section.hpp"
#include "weft/door/workers.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace weft::mpi {

constinit detail::settled detail::of_process;

namespace {

bool& on = detail::of_process.is_on;
int asked_level = MPI_THREAD_SINGLE; // what the program is told of
const void* first_caller = nullptr;  // the unit that has called MPI_Init; null: a kernel thread

bool says_no(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "0") == 0;
}

bool says_yes(const char* variable) noexcept {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

const void* calling_unit() noexcept {
  const door::runtime_section in;
  return door::unit_here();
}

// Several kernel threads may call: workers, and those of the program.
int level_to_ask_for() noexcept {
  const char* const value = std::getenv("WEFT_MPI_LEVEL"); // for tests of what engines grant elsewhere
  return value != nullptr && std::strcmp(value, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                                   : MPI_THREAD_MULTIPLE;
}

void make_main_a_thread() noexcept {
  try {
    if (says_yes("WEFT_MPI_MAIN") && !runtime::running())
      runtime::start();
  } catch (const std::exception& e) {
    door::warn("MPI: main() is no thread of Weft: %s", e.what());
  }
}

// The request of sends that are complete at once, if the engine has one for all of them: two that live at a
// time are the same. They are kept, so that none of another send's is called so. MPICH 3 counts its users.
void find_complete_send() noexcept {
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION >= 40000000
  MPI_Request two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (MPI_Request& r : two)
    PMPI_Isend(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &r);
  if (two[0] == two[1]) {
    detail::of_process.has_complete_send = two[0] != MPI_REQUEST_NULL;
    detail::of_process.complete_send = two[0];
  } else {
    PMPI_Waitall(2, two, MPI_STATUSES_IGNORE);
  }
#endif
}

int begin(int* count, char*** words, int asked, int* provided) {
  on = !says_no("WEFT_MPI");
  if (on)
    make_main_a_thread();
  int granted = MPI_THREAD_SINGLE;
  const int code = PMPI_Init_thread(count, words, on ? std::max(level_to_ask_for(), asked) : asked, &granted);
  if (code != MPI_SUCCESS)
    return code;
  if (on && granted < MPI_THREAD_SERIALIZED) {
    door::warn("MPI: the library grants no calls from several kernel threads: Weft's layer is off");
    on = false;
  }
  detail::of_process.level.store_release(granted);
  asked_level = std::min(asked, granted);
  first_caller = calling_unit();
  if (provided != nullptr)
    *provided = on ? asked_level : granted;
  if (on) {
    find_complete_send();
    guard_error_handlers();
    find_ranks_without_layer();
  }
  return code;
}

// --- marks ---

constexpr std::int64_t patience_with_others = 5'000'000'000;

// In the tree of all ranks, where i's children are 2i + 1 and 2i + 2: the first one that did not send its
// mark; -1: all have.
class marks {
 public:
  marks() {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    PMPI_Comm_size(MPI_COMM_WORLD, &size_);
    int* largest = nullptr;
    int is_there = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &is_there);
    tag_ = is_there != 0 ? *largest : 32767;
  }
  int exchange() {
    const int parent = (rank_ - 1) / 2;
    for (const int child : {2 * rank_ + 1, 2 * rank_ + 2}) {
      if (child < size_ && !receive(child))
        return child;
    }
    if (rank_ != 0) {
      send(parent);
      if (!receive(parent))
        return parent;
    }
    for (const int child : {2 * rank_ + 1, 2 * rank_ + 2}) {
      if (child < size_)
        send(child);
    }
    return -1;
  }

 private:
  static constexpr int mark = 0x77656674;

  // It is small: the engine keeps it if nobody receives it.
  void send(int to) const {
    MPI_Request r = MPI_REQUEST_NULL;
    PMPI_Isend(&mark, 1, MPI_INT, to, tag_, MPI_COMM_WORLD, &r);
    PMPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  bool receive(int from) const {
    constexpr std::int64_t pause = 100'000;
    int got = 0, flag = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    PMPI_Irecv(&got, 1, MPI_INT, from, tag_, MPI_COMM_WORLD, &r);
    for (const door::deadline end = door::now() + patience_with_others; flag == 0 && !door::passed(end);) {
      PMPI_Test(&r, &flag, MPI_STATUS_IGNORE);
      if (flag == 0)
        door::block_for(pause);
    }
    return flag != 0 && got == mark;
  }

  int rank_ = 0, size_ = 1, tag_ = 0;
};

} // namespace

void find_ranks_without_layer() {
  if (says_no("WEFT_MPI_MARK"))
    return;
  const int missing = marks().exchange();
  if (missing < 0)
    return;
  door::warn(
      "MPI: rank %d runs without Weft's layer, or has not come to MPI_Init: every rank must have it, since "
      "collective calls do not match without it",
      missing);
  door::block_for(200'000'000); // launchers may end the job before they have passed on what it said
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_API int MPI_Init(int* count, char*** words) {
  return begin(count, words, MPI_THREAD_SINGLE, nullptr);
}

WEFT_API int MPI_Init_thread(int* count, char*** words, int asked, int* provided) {
  return begin(count, words, asked, provided);
}

WEFT_API int MPI_Query_thread(int* provided) {
  if (!is_on())
    return PMPI_Query_thread(provided);
  *provided = asked_level;
  return MPI_SUCCESS;
}

WEFT_API int MPI_Is_thread_main(int* flag) {
  if (!is_on() || first_caller == nullptr)
    return PMPI_Is_thread_main(flag);
  *flag = first_caller == calling_unit() ? 1 : 0;
  return MPI_SUCCESS;
}

// By the kernel thread that MPI began on, which some engines want. Nobody waits in the table any more: a
// program may not end MPI with requests open.
WEFT_API int MPI_Finalize(void) {
  return PMPI_Finalize();
}

} // extern "C"
