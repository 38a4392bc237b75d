// SPDX-License-Identifier: MIT
// The calls of the two lists. By their twins where they have one: who calls issues it, so that messages keep
// the order of the program's calls. Others block a spare kernel thread. The twins themselves, and others that
// do not wait, are what they are in the engine, with room for it.
#include "front/mpi/table.hpp"
#include "front/mpi/transfers.hpp"
#include "front/mpi/translate.hpp"

using namespace weft::mpi;

#define WEFT_MPI_OPEN(...) __VA_ARGS__ // arguments in brackets, without them

// `is_for_itself`: not by the twin, on a spare kernel thread.
#define WEFT_MPI_BY_TWIN(call, blocking, twin, parameters, arguments, is_for_itself)                         \
  WEFT_API int call parameters {                                                                             \
    if (goes_past_layer())                                                                                   \
      return blocking arguments;                                                                             \
    if (is_for_itself)                                                                                       \
      return elsewhere([=] { return blocking arguments; });                                                  \
    return by_twin({#call}, comm, MPI_STATUS_IGNORE,                                                         \
                   [=](MPI_Request* request) { return twin(WEFT_MPI_OPEN arguments, request); });            \
  }
#define WEFT_MPI_SEND(call, blocking, twin, parameters, arguments)                                           \
  WEFT_API int call parameters {                                                                             \
    if (goes_past_layer())                                                                                   \
      return blocking arguments;                                                                             \
    return message_by_twin({#call, wait_name::way::to, to, tag}, comm, t, MPI_STATUS_IGNORE,                 \
                           [=](MPI_Request* request) { return twin(WEFT_MPI_OPEN arguments, request); });    \
  }
#define WEFT_MPI_RECEIVE(call, blocking, twin, parameters, arguments)                                        \
  WEFT_API int call(WEFT_MPI_OPEN parameters, MPI_Status* status) {                                          \
    if (goes_past_layer())                                                                                   \
      return blocking(WEFT_MPI_OPEN arguments, status);                                                      \
    return message_by_twin({#call, wait_name::way::from, shown_peer(from), shown_tag(tag)}, comm, t, status, \
                           [=](MPI_Request* request) { return twin(WEFT_MPI_OPEN arguments, request); });    \
  }
#define WEFT_MPI_ROOMY(call, engines, parameters, arguments, least)                                          \
  WEFT_API int call parameters {                                                                             \
    if (goes_past_layer())                                                                                   \
      return engines arguments;                                                                              \
    return call_engine([=] { return engines arguments; }, least);                                            \
  }
#define WEFT_MPI_TWIN_ITSELF(call, engines, parameters, arguments, least)                                    \
  WEFT_MPI_ROOMY(call, engines, (WEFT_MPI_OPEN parameters, MPI_Request * request),                           \
                 (WEFT_MPI_OPEN arguments, request), least)
#define WEFT_MPI_TRANSFER(call, engines, parameters, arguments)                                              \
  WEFT_API int call(WEFT_MPI_OPEN parameters, MPI_Request* request) {                                        \
    if (goes_past_layer())                                                                                   \
      return engines(WEFT_MPI_OPEN arguments, request);                                                      \
    const int code = call_engine([=] { return engines(WEFT_MPI_OPEN arguments, request); });                 \
    if (code == MPI_SUCCESS)                                                                                 \
      note_transfer(*request);                                                                               \
    return code;                                                                                             \
  }
#define WEFT_MPI_ELSEWHERE(call, blocking, parameters, arguments)                                            \
  WEFT_API int call parameters {                                                                             \
    if (goes_past_layer())                                                                                   \
      return blocking arguments;                                                                             \
    return elsewhere([=] { return blocking arguments; });                                                    \
  }
// Opens a window, or closes one.
#define WEFT_MPI_WINDOW(call, blocking, parameters, arguments, more)                                         \
  WEFT_API int call parameters {                                                                             \
    if (goes_past_layer())                                                                                   \
      return blocking arguments;                                                                             \
    const int code = elsewhere([=] { return blocking arguments; });                                          \
    if (code == MPI_SUCCESS)                                                                                 \
      count_windows(more);                                                                                   \
    return code;                                                                                             \
  }

// Twins of Open MPI 4 that hang with types of no bytes, or mix up what a rank that is the neighbour on both
// sides has sent, where the blocking calls do not. In all ranks alike.
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define FRAIL_TWIN(name, twin, parameters, arguments) ELSEWHERE(name, parameters, arguments)
#else
#define FRAIL_TWIN(name, twin, parameters, arguments) TWIN(name, twin, parameters, arguments)
#endif

extern "C" {

#define TWIN(name, twin, parameters, arguments)                                                              \
  WEFT_MPI_BY_TWIN(MPI_##name, PMPI_##name, PMPI_##twin, parameters, arguments, false)                       \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin, PMPI_##twin, parameters, arguments, room)
// Where the process is alone, the call itself: the twin may be carried out within one call then, as often as
// it takes, while it keeps out the thread for which it waits (MPI_Comm_idup of MPICH).
#define TWIN_BESIDE_OTHERS(name, twin, parameters, arguments)                                                \
  WEFT_MPI_BY_TWIN(MPI_##name, PMPI_##name, PMPI_##twin, parameters, arguments, is_of_this_process(comm))    \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin, PMPI_##twin, parameters, arguments, room)
#define TWIN_TO(name, twin, parameters, arguments)                                                           \
  WEFT_MPI_SEND(MPI_##name, PMPI_##name, PMPI_##twin, parameters, arguments)                                 \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin, PMPI_##twin, parameters, arguments, room_for_message(t))
#define TWIN_FROM(name, twin, parameters, arguments)                                                         \
  WEFT_MPI_RECEIVE(MPI_##name, PMPI_##name, PMPI_##twin, parameters, arguments)                              \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin, PMPI_##twin, parameters, arguments, room_for_message(t))
#define ROOMY(name, parameters, arguments)                                                                   \
  WEFT_MPI_ROOMY(MPI_##name, PMPI_##name, parameters, arguments, room)
#define TRANSFER(name, parameters, arguments)                                                                \
  WEFT_MPI_TRANSFER(MPI_##name, PMPI_##name, parameters, arguments)
#define ELSEWHERE(name, parameters, arguments)                                                               \
  WEFT_MPI_ELSEWHERE(MPI_##name, PMPI_##name, parameters, arguments)
#define OPENS_WINDOW(name, parameters, arguments)                                                            \
  WEFT_MPI_WINDOW(MPI_##name, PMPI_##name, parameters, arguments, 1)
#define CLOSES_WINDOW(name, parameters, arguments)                                                           \
  WEFT_MPI_WINDOW(MPI_##name, PMPI_##name, parameters, arguments, -1)
#define COUNT int
#define PLACE int
#define LARGE_PLACE MPI_Aint
#include "front/mpi/counted_calls.inc"
#include "front/mpi/other_calls.inc"
#undef TWIN
#undef TWIN_BESIDE_OTHERS
#undef TWIN_TO
#undef TWIN_FROM
#undef ROOMY
#undef TRANSFER
#undef ELSEWHERE
#undef OPENS_WINDOW
#undef COUNT
#undef PLACE

#if MPI_VERSION >= 4
#define TWIN(name, twin, parameters, arguments)                                                              \
  WEFT_MPI_BY_TWIN(MPI_##name##_c, PMPI_##name##_c, PMPI_##twin##_c, parameters, arguments, false)           \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin##_c, PMPI_##twin##_c, parameters, arguments, room)
#define TWIN_TO(name, twin, parameters, arguments)                                                           \
  WEFT_MPI_SEND(MPI_##name##_c, PMPI_##name##_c, PMPI_##twin##_c, parameters, arguments)                     \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin##_c, PMPI_##twin##_c, parameters, arguments, room_for_message(t))
#define TWIN_FROM(name, twin, parameters, arguments)                                                         \
  WEFT_MPI_RECEIVE(MPI_##name##_c, PMPI_##name##_c, PMPI_##twin##_c, parameters, arguments)                  \
  WEFT_MPI_TWIN_ITSELF(MPI_##twin##_c, PMPI_##twin##_c, parameters, arguments, room_for_message(t))
#define ROOMY(name, parameters, arguments)                                                                   \
  WEFT_MPI_ROOMY(MPI_##name##_c, PMPI_##name##_c, parameters, arguments, room)
#define TRANSFER(name, parameters, arguments)                                                                \
  WEFT_MPI_TRANSFER(MPI_##name##_c, PMPI_##name##_c, parameters, arguments)
#define ELSEWHERE(name, parameters, arguments)                                                               \
  WEFT_MPI_ELSEWHERE(MPI_##name##_c, PMPI_##name##_c, parameters, arguments)
#define OPENS_WINDOW(name, parameters, arguments)                                                            \
  WEFT_MPI_WINDOW(MPI_##name##_c, PMPI_##name##_c, parameters, arguments, 1)
#define COUNT MPI_Count
#define PLACE MPI_Aint
#include "front/mpi/counted_calls.inc"
#endif

} // extern "C"
