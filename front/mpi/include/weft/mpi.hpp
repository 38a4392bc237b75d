// SPDX-License-Identifier: MIT
// MPI requests in the manner of C++, for threads of Weft: with time limits and stop tokens, as futures, with
// continuations. Over the calls of <mpi.h>, which suspend the thread where Weft's layer is there
// (docs/guide/mpi.md). Errors that a call returns (MPI_ERRORS_RETURN) are thrown as std::system_error of
// mpi_category(), its value is MPI's code.
#pragma once

#include "weft/future.hpp"
#include "weft/sleep.hpp"
#include "weft/thread.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <mpi.h>

namespace weft::mpi {

/// *Contexts*: all. *Switches*: never.
[[nodiscard]] inline const std::error_category& mpi_category() noexcept {
  struct category final : std::error_category {
    [[nodiscard]] const char* name() const noexcept override { return "MPI"; }
    [[nodiscard]] std::string message(int code) const override {
      char text[MPI_MAX_ERROR_STRING] = "";
      int length = 0;
      return MPI_Error_string(code, text, &length) == MPI_SUCCESS ? text : "unknown MPI error";
    }
  };
  static const category only{};
  return only;
}

/// For what a call returns. *Errors*: std::system_error for all but MPI_SUCCESS.
inline void check(int code) {
  if (code != MPI_SUCCESS)
    throw std::system_error(code, mpi_category());
}

/// Until the request is through: it is null then, or an inactive persistent one. *Contexts*: as MPI_Wait:
/// thread, foreign kernel thread. *Switches*: may. *Errors*: check().
inline MPI_Status wait(MPI_Request& request) {
  MPI_Status status{};
  check(MPI_Wait(&request, &status));
  return status;
}
inline void wait_all(std::span<MPI_Request> requests) {
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
}
/// The place of the one that is through; requests.size(): all are null.
inline std::size_t wait_any(std::span<MPI_Request> requests) {
  int which = MPI_UNDEFINED;
  check(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &which, MPI_STATUS_IGNORE));
  return which == MPI_UNDEFINED ? requests.size() : static_cast<std::size_t>(which);
}

/// The same with an end: false if the time has passed or a stop was requested; the request is open then, and
/// may be cancelled. Looks again and again: every 5 us at first, every millisecond at last.
template <class Rep, class Period>
[[nodiscard]] bool wait_for(MPI_Request& request, const std::chrono::duration<Rep, Period>& length,
                            const std::stop_token& stop = {}, MPI_Status* status = MPI_STATUS_IGNORE) {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + length;
  constexpr std::chrono::nanoseconds least{5'000}, longest{1'000'000};
  for (std::chrono::nanoseconds pause = least;; pause = std::min(2 * pause, longest)) {
    int flag = 0;
    check(MPI_Test(&request, &flag, status));
    if (flag != 0)
      return true;
    if (stop.stop_requested() || clock::now() >= end)
      return false;
    this_thread::sleep_for(pause);
  }
}

/// Runs `then(status)` in a thread of its own when the request is through; or `then(error)` with a
/// std::exception_ptr where that can be called so, else an error ends the process. The request is the
/// function's from now on. *Contexts*: all but signal handlers. *Switches*: never. *Errors*: as weft::thread.
template <class Then>
void run_when(MPI_Request request, Then then) {
  thread waits([request, then = std::move(then)]() mutable {
    MPI_Status status{};
    if constexpr (std::is_invocable_v<Then&, std::exception_ptr>) {
      try {
        status = wait(request);
      } catch (...) {
        return static_cast<void>(then(std::current_exception()));
      }
    } else {
      status = wait(request);
    }
    static_cast<void>(then(status));
  });
  waits.detach();
}

/// Its status, when it is through. *Contexts*, *Switches*, *Errors*: as run_when(); an error of MPI's is the
/// future's.
[[nodiscard]] inline future<MPI_Status> as_future(MPI_Request request) {
  promise<MPI_Status> result;
  future<MPI_Status> later = result.get_future();
  struct keeper {
    promise<MPI_Status> result;
    void operator()(const MPI_Status& s) { result.set_value(s); }
    void operator()(std::exception_ptr e) { result.set_exception(std::move(e)); }
  };
  run_when(request, keeper{std::move(result)});
  return later;
}

} // namespace weft::mpi
