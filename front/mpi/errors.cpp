// SPDX-License-Identifier: MIT
// Error handlers. Engines call that of MPI_COMM_WORLD or MPI_COMM_SELF for errors that they find while they
// test many requests, which is in a look at the table, on anybody's stack. So a handler of ours stands there,
// which is silent in a look and does else what the program's would do; who waits for the request then calls
// the handler of its communicator (raise()).
#include "front/mpi/engine.hpp"
#include "front/mpi/process.hpp"
#include "weft/door/process.hpp"

#include <dlfcn.h>
#include <map>
#include <mutex>

namespace weft::mpi {
namespace {

using handler_function = MPI_Comm_errhandler_function*;

// MPICH's C++ interface: a function in C++ is called by another one, which makes an object of the
// communicator. A handler that throws is none of these: it returns, and who has called the interface gets the
// exception.
using call_in_cpp = void (*)(int kind, MPI_Comm* comm, int* code, handler_function in_cpp);
constexpr int kind_of_comm = 0;
#if defined(MPIR_ERRORS_THROW_EXCEPTIONS)
bool is_thrown(MPI_Errhandler h) noexcept {
  return h == MPIR_ERRORS_THROW_EXCEPTIONS;
}
#else
bool is_thrown(MPI_Errhandler) noexcept {
  return false;
}
#endif

struct handlers {
  std::mutex lock;
  MPI_Errhandler guard = MPI_ERRHANDLER_NULL;
  MPI_Errhandler of_world = MPI_ERRORS_ARE_FATAL, of_self = MPI_ERRORS_ARE_FATAL; // the program's
  struct function {
    handler_function call = nullptr;
    call_in_cpp by = nullptr;
  };
  std::map<MPI_Errhandler, function> functions;
};

handlers& all() noexcept {
  return door::immortal<handlers>();
}

bool is_predefined(MPI_Errhandler h) noexcept {
  return h == MPI_ERRORS_ARE_FATAL || h == MPI_ERRORS_RETURN || h == MPI_ERRHANDLER_NULL || is_thrown(h);
}

bool is_self(MPI_Comm c) noexcept {
  return c == MPI_COMM_SELF;
}

// A communicator that was made of one of the two has the guard too, and means the handler of the first.
void act(MPI_Comm* comm, int* code, ...) {
  if (is_in_look())
    return;
  handlers::function function;
  MPI_Errhandler means = MPI_ERRORS_ARE_FATAL;
  {
    handlers& h = all();
    const std::scoped_lock held(h.lock);
    means = is_self(*comm) ? h.of_self : h.of_world;
    if (const auto found = h.functions.find(means); found != h.functions.end())
      function = found->second;
  }
  if (function.by != nullptr) {
    function.by(kind_of_comm, comm, code, function.call);
    *code = MPI_SUCCESS; // as the engine has it after such a one, or the interface would call it again
    return;
  }
  if (function.call != nullptr)
    return function.call(comm, code);
  if (means == MPI_ERRORS_RETURN || is_thrown(means))
    return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(*code, text, &length);
  door::warn("MPI: %s", text);
  PMPI_Abort(*comm, *code);
}

bool is_guarded(MPI_Comm c) noexcept {
  return c == MPI_COMM_WORLD || c == MPI_COMM_SELF;
}

int keep(MPI_Comm comm, MPI_Errhandler h) {
  handlers& known = all();
  const std::scoped_lock held(known.lock);
  (is_self(comm) ? known.of_self : known.of_world) = h;
  return MPI_SUCCESS;
}

int create(handler_function function, MPI_Errhandler* made) {
  const int code = PMPI_Comm_create_errhandler(function, made);
  if (code == MPI_SUCCESS) {
    handlers& known = all();
    const std::scoped_lock held(known.lock);
    known.functions[*made] = {function, nullptr};
  }
  return code;
}

int set(MPI_Comm comm, MPI_Errhandler h) {
  return is_on() && is_guarded(comm) && h != MPI_ERRHANDLER_NULL ? keep(comm, h)
                                                                 : PMPI_Comm_set_errhandler(comm, h);
}

// What is asked for is the caller's to free, so a handler of the program's is given out as often as it is
// set.
int get(MPI_Comm comm, MPI_Errhandler* h) {
  if (const int code = PMPI_Comm_get_errhandler(comm, h); code != MPI_SUCCESS || !is_on())
    return code;
  handlers& known = all();
  MPI_Errhandler means = MPI_ERRHANDLER_NULL;
  {
    const std::scoped_lock held(known.lock);
    if (*h != known.guard)
      return MPI_SUCCESS;
    means = is_self(comm) ? known.of_self : known.of_world;
  }
  PMPI_Errhandler_free(h);
  if (is_predefined(means)) {
    *h = means;
    return MPI_SUCCESS;
  }
  // Engines count references, and count one up where a handler is got: by a communicator of ours.
  MPI_Comm own = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &own);
  PMPI_Comm_set_errhandler(own, means);
  const int code = PMPI_Comm_get_errhandler(own, h);
  PMPI_Comm_free(&own);
  return code;
}

#if defined(MPIR_ERRORS_THROW_EXCEPTIONS)
void note_cpp(MPI_Errhandler h, call_in_cpp by) {
  handlers& known = all();
  const std::scoped_lock held(known.lock);
  if (const auto found = known.functions.find(h); found != known.functions.end())
    found->second.by = by;
}
#endif

} // namespace

void guard_error_handlers() {
  handlers& known = all();
  if (PMPI_Comm_create_errhandler(&act, &known.guard) != MPI_SUCCESS)
    return;
  for (MPI_Comm c : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(c, &before);
    keep(c, before);
    PMPI_Comm_set_errhandler(c, known.guard);
  }
}

} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_API int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* made) {
  return create(function, made);
}

WEFT_API int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  return set(comm, handler);
}

WEFT_API int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
  return get(comm, handler);
}

#if defined(MPIR_ERRORS_THROW_EXCEPTIONS)
// The C++ interface says of a handler that it is one of its own.
WEFT_API void MPII_Errhandler_set_cxx(MPI_Errhandler handler, void (*by)()) {
  static const auto next =
      reinterpret_cast<void (*)(MPI_Errhandler, void (*)())>(::dlsym(RTLD_NEXT, "MPII_Errhandler_set_cxx"));
  note_cpp(handler, reinterpret_cast<call_in_cpp>(by));
  if (next != nullptr)
    next(handler, by);
}
#endif

} // extern "C"
