// SPDX-License-Identifier: MIT
// Waits for requests, tests, probes.
#include "front/mpi/wait.hpp"

namespace weft::mpi {
namespace {

wait_name one_of(const char* call, int count) noexcept {
  return {call, wait_name::way::none, 0, 0, static_cast<std::uint32_t>(count)};
}

wait_name message_from(const char* call, int source, int tag) noexcept {
  return {call, wait_name::way::from, shown_peer(source), shown_tag(tag)};
}

// A test that has found nothing is mostly one of many.
int after_test(int code, int flag) {
  if (code == MPI_SUCCESS && flag == 0)
    let_others_progress();
  return code;
}

template <class Test>
int test(int* flag, Test call) {
  int code = MPI_SUCCESS;
  with_room([&] {
    const engine_section in;
    code = call();
  });
  return after_test(code, *flag);
}

} // namespace
} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_API int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Wait(request, status);
  return wait_for(*request, status, MPI_COMM_NULL, {"MPI_Wait"});
}

WEFT_API int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (goes_past_layer())
    return PMPI_Waitall(count, requests, statuses);
  return wait_for_all(count, requests, statuses, {"MPI_Waitall"});
}

WEFT_API int MPI_Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Waitany(count, requests, which, status);
  return wait_until(one_of("MPI_Waitany", count),
                    [=](int& flag) { return PMPI_Testany(count, requests, which, &flag, status); });
}

WEFT_API int MPI_Waitsome(int count, MPI_Request requests[], int* done, int which[], MPI_Status statuses[]) {
  if (goes_past_layer())
    return PMPI_Waitsome(count, requests, done, which, statuses);
  return wait_until(one_of("MPI_Waitsome", count), [=](int& flag) {
    const int code = PMPI_Testsome(count, requests, done, which, statuses);
    flag = *done != 0 ? 1 : 0; // MPI_UNDEFINED too
    return code;
  });
}

WEFT_API int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Probe(source, tag, comm, status);
  return wait_until(message_from("MPI_Probe", source, tag),
                    [=](int& flag) { return PMPI_Iprobe(source, tag, comm, &flag, status); });
}

WEFT_API int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Mprobe(source, tag, comm, message, status);
  return wait_until(message_from("MPI_Mprobe", source, tag),
                    [=](int& flag) { return PMPI_Improbe(source, tag, comm, &flag, message, status); });
}

WEFT_API int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Test(request, flag, status);
  return test(flag, [=] { return PMPI_Test(request, flag, status); });
}

WEFT_API int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (goes_past_layer())
    return PMPI_Testall(count, requests, flag, statuses);
  return test(flag, [=] { return PMPI_Testall(count, requests, flag, statuses); });
}

WEFT_API int MPI_Testany(int count, MPI_Request requests[], int* which, int* flag, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Testany(count, requests, which, flag, status);
  return test(flag, [=] { return PMPI_Testany(count, requests, which, flag, status); });
}

WEFT_API int MPI_Testsome(int count, MPI_Request requests[], int* done, int which[], MPI_Status statuses[]) {
  if (goes_past_layer())
    return PMPI_Testsome(count, requests, done, which, statuses);
  return test(done, [=] { return PMPI_Testsome(count, requests, done, which, statuses); });
}

WEFT_API int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Iprobe(source, tag, comm, flag, status);
  return test(flag, [=] { return PMPI_Iprobe(source, tag, comm, flag, status); });
}

WEFT_API int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                         MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Improbe(source, tag, comm, flag, message, status);
  return test(flag, [=] { return PMPI_Improbe(source, tag, comm, flag, message, status); });
}

WEFT_API int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Request_get_status(request, flag, status);
  return test(flag, [=] { return PMPI_Request_get_status(request, flag, status); });
}

WEFT_API int MPI_Win_test(MPI_Win window, int* flag) {
  if (goes_past_layer())
    return PMPI_Win_test(window, flag);
  return test(flag, [=] { return PMPI_Win_test(window, flag); });
}

#if MPI_VERSION >= 4
WEFT_API int MPI_Parrived(MPI_Request request, int part, int* flag) {
  if (goes_past_layer())
    return PMPI_Parrived(request, part, flag);
  return test(flag, [=] { return PMPI_Parrived(request, part, flag); });
}
#endif

} // extern "C"
