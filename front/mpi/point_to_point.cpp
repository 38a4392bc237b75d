// SPDX-License-Identifier: MIT
// Sends and receives. Who calls issues the twin, so that messages keep the order of the program's calls.
#include "front/mpi/translate.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace weft::mpi {
namespace {

// The bytes of `count` elements, packed: what is sent while the buffer is received into.
class packed_copy {
 public:
  // Returns an MPI code.
  int make(const void* from, int count, MPI_Datatype type, MPI_Comm comm) {
    const engine_section in;
    int bytes = 0;
    int code = PMPI_Pack_size(count, type, comm, &bytes);
    if (code != MPI_SUCCESS)
      return code;
    bytes_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes) + 1]);
    if (bytes_ == nullptr)
      return MPI_ERR_NO_MEM;
    return PMPI_Pack(from, count, type, bytes_.get(), bytes, &used_, comm);
  }
  [[nodiscard]] const void* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] int size() const noexcept { return used_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  int used_ = 0;
};

struct place {
  void* buffer;
  int count;
  MPI_Datatype type;
  int rank, tag;
};

int send_and_receive(const place& from, const place& into, MPI_Comm comm, MPI_Status* status) {
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  {
    const engine_section in;
    int code = PMPI_Irecv(into.buffer, into.count, into.type, into.rank, into.tag, comm, &both[0]);
    if (code != MPI_SUCCESS)
      return code;
    code = PMPI_Isend(from.buffer, from.count, from.type, from.rank, from.tag, comm, &both[1]);
    if (code != MPI_SUCCESS) {
      PMPI_Cancel(&both[0]);
      PMPI_Wait(&both[0], MPI_STATUS_IGNORE);
      return code;
    }
  }
  const int received = wait_for(both[0], status, comm);
  const int sent = wait_for(both[1], MPI_STATUS_IGNORE, comm);
  return received != MPI_SUCCESS ? received : sent;
}

} // namespace
} // namespace weft::mpi

using namespace weft::mpi;

extern "C" {

WEFT_API int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (goes_past_layer())
    return PMPI_Send(from, count, type, to, tag, comm);
  return by_twin(comm, MPI_STATUS_IGNORE,
                 [=](MPI_Request* r) { return PMPI_Isend(from, count, type, to, tag, comm, r); });
}

WEFT_API int MPI_Ssend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (goes_past_layer())
    return PMPI_Ssend(from, count, type, to, tag, comm);
  return by_twin(comm, MPI_STATUS_IGNORE,
                 [=](MPI_Request* r) { return PMPI_Issend(from, count, type, to, tag, comm, r); });
}

WEFT_API int MPI_Rsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (goes_past_layer())
    return PMPI_Rsend(from, count, type, to, tag, comm);
  return by_twin(comm, MPI_STATUS_IGNORE,
                 [=](MPI_Request* r) { return PMPI_Irsend(from, count, type, to, tag, comm, r); });
}

WEFT_API int MPI_Recv(void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Recv(into, count, type, from, tag, comm, status);
  return by_twin(comm, status,
                 [=](MPI_Request* r) { return PMPI_Irecv(into, count, type, from, tag, comm, r); });
}

WEFT_API int MPI_Mrecv(void* into, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Mrecv(into, count, type, message, status);
  return by_twin(MPI_COMM_NULL, status,
                 [=](MPI_Request* r) { return PMPI_Imrecv(into, count, type, message, r); });
}

WEFT_API int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int to, int tag, void* into,
                          int most, MPI_Datatype into_type, int source, int into_tag, MPI_Comm comm,
                          MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Sendrecv(from, count, type, to, tag, into, most, into_type, source, into_tag, comm, status);
  return send_and_receive({const_cast<void*>(from), count, type, to, tag},
                          {into, most, into_type, source, into_tag}, comm, status);
}

WEFT_API int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int tag, int source,
                                  int into_tag, MPI_Comm comm, MPI_Status* status) {
  if (goes_past_layer())
    return PMPI_Sendrecv_replace(buffer, count, type, to, tag, source, into_tag, comm, status);
  packed_copy sent;
  if (const int code = sent.make(buffer, count, type, comm); code != MPI_SUCCESS)
    return code == MPI_ERR_NO_MEM ? raise(comm, code) : code;
  return send_and_receive({const_cast<void*>(sent.data()), sent.size(), MPI_PACKED, to, tag},
                          {buffer, count, type, source, into_tag}, comm, status);
}

} // extern "C"
