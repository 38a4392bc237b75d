// SPDX-License-Identifier: MIT
// Sends and receives that are no single twin with the same arguments.
#include "front/mpi/translate.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace weft::mpi {
namespace {

// The calls that are needed, for each size of counts.
struct small_counts {
  using count = int;
  static constexpr auto receive = &PMPI_Irecv;
  static constexpr auto send = &PMPI_Isend;
  static constexpr auto receive_message = &PMPI_Imrecv;
  static constexpr auto packed_size = &PMPI_Pack_size;
  static constexpr auto pack = &PMPI_Pack;
};
#if MPI_VERSION >= 4
struct large_counts {
  using count = MPI_Count;
  static constexpr auto receive = &PMPI_Irecv_c;
  static constexpr auto send = &PMPI_Isend_c;
  static constexpr auto receive_message = &PMPI_Imrecv_c;
  static constexpr auto packed_size = &PMPI_Pack_size_c;
  static constexpr auto pack = &PMPI_Pack_c;
};
#endif

// The bytes of `count` elements, packed: what is sent while the buffer is received into.
template <class Calls>
class packed_copy {
 public:
  using count = typename Calls::count;
  // Returns an MPI code.
  int make(const void* from, count n, MPI_Datatype type, MPI_Comm comm) {
    const engine_section in;
    count bytes = 0;
    int code = Calls::packed_size(n, type, comm, &bytes);
    if (code != MPI_SUCCESS)
      return code;
    bytes_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes) + 1]);
    if (bytes_ == nullptr)
      return MPI_ERR_NO_MEM;
    return Calls::pack(from, n, type, bytes_.get(), bytes, &used_, comm);
  }
  [[nodiscard]] const void* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] count size() const noexcept { return used_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  count used_ = 0;
};

template <class Calls>
struct place {
  void* buffer;
  typename Calls::count count;
  MPI_Datatype type;
  int rank, tag;
};

template <class Calls>
int send_and_receive(const char* call, const place<Calls>& from, const place<Calls>& into, MPI_Comm comm,
                     MPI_Status* status) {
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int code = MPI_SUCCESS;
  with_room([&] {
    const engine_section in;
    code = Calls::receive(into.buffer, into.count, into.type, into.rank, into.tag, comm, &both[0]);
    if (code != MPI_SUCCESS)
      return;
    code = Calls::send(from.buffer, from.count, from.type, from.rank, from.tag, comm, &both[1]);
    if (code != MPI_SUCCESS) {
      PMPI_Cancel(&both[0]);
      PMPI_Wait(&both[0], MPI_STATUS_IGNORE);
    }
  });
  if (code != MPI_SUCCESS)
    return code;
  const int received = wait_for(both[0], status, comm,
                                {call, wait_name::way::from, shown_peer(into.rank), shown_tag(into.tag)});
  const int sent = is_complete_send(both[1]) ? MPI_SUCCESS
                                             : wait_for(both[1], MPI_STATUS_IGNORE, comm,
                                                        {call, wait_name::way::to, from.rank, from.tag});
  return received != MPI_SUCCESS ? received : sent;
}

template <class Calls>
int replace(const char* call, void* buffer, typename Calls::count count, MPI_Datatype type, int to, int tag,
            int source, int into_tag, MPI_Comm comm, MPI_Status* status) {
  packed_copy<Calls> sent;
  int code = MPI_SUCCESS;
  with_room([&] { code = sent.make(buffer, count, type, comm); });
  if (code != MPI_SUCCESS)
    return code == MPI_ERR_NO_MEM ? raise(comm, code) : code;
  return send_and_receive<Calls>(call, {const_cast<void*>(sent.data()), sent.size(), MPI_PACKED, to, tag},
                                 {buffer, count, type, source, into_tag}, comm, status);
}

} // namespace
} // namespace weft::mpi

using namespace weft::mpi;

#define WEFT_MPI_BOTH_WAYS(c, calls, Count)                                                                  \
  WEFT_API int MPI_Mrecv##c(void* into, Count count, MPI_Datatype type, MPI_Message* message,                \
                            MPI_Status* status) {                                                            \
    if (goes_past_layer())                                                                                   \
      return PMPI_Mrecv##c(into, count, type, message, status);                                              \
    return by_twin({"MPI_Mrecv" #c}, MPI_COMM_NULL, status, [=](MPI_Request* request) {                      \
      return calls::receive_message(into, count, type, message, request);                                    \
    });                                                                                                      \
  }                                                                                                          \
  WEFT_API int MPI_Sendrecv##c(const void* from, Count count, MPI_Datatype type, int to, int tag,            \
                               void* into, Count most, MPI_Datatype into_type, int source, int into_tag,     \
                               MPI_Comm comm, MPI_Status* status) {                                          \
    if (goes_past_layer())                                                                                   \
      return PMPI_Sendrecv##c(from, count, type, to, tag, into, most, into_type, source, into_tag, comm,     \
                              status);                                                                       \
    return send_and_receive<calls>("MPI_Sendrecv" #c, {const_cast<void*>(from), count, type, to, tag},       \
                                   {into, most, into_type, source, into_tag}, comm, status);                 \
  }                                                                                                          \
  WEFT_API int MPI_Sendrecv_replace##c(void* buffer, Count count, MPI_Datatype type, int to, int tag,        \
                                       int source, int into_tag, MPI_Comm comm, MPI_Status* status) {        \
    if (goes_past_layer())                                                                                   \
      return PMPI_Sendrecv_replace##c(buffer, count, type, to, tag, source, into_tag, comm, status);         \
    return replace<calls>("MPI_Sendrecv_replace" #c, buffer, count, type, to, tag, source, into_tag, comm,   \
                          status);                                                                           \
  }

extern "C" {

WEFT_MPI_BOTH_WAYS(, small_counts, int)
#if MPI_VERSION >= 4
WEFT_MPI_BOTH_WAYS(_c, large_counts, MPI_Count)
#endif

} // extern "C"
