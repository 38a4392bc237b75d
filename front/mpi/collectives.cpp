// SPDX-License-Identifier: MIT
// Collective calls: each by its twin.
#include "front/mpi/translate.hpp"

using namespace weft::mpi;

// One call. `...`: the arguments of both.
#define WEFT_MPI_BY_TWIN(blocking, twin, ...)                                                                \
  if (goes_past_layer())                                                                                     \
    return blocking(__VA_ARGS__);                                                                            \
  return by_twin(comm, MPI_STATUS_IGNORE, [=](MPI_Request* r) { return twin(__VA_ARGS__, r); })

extern "C" {

WEFT_API int MPI_Barrier(MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Barrier, PMPI_Ibarrier, comm);
}

WEFT_API int MPI_Bcast(void* b, int n, MPI_Datatype t, int root, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Bcast, PMPI_Ibcast, b, n, t, root, comm);
}

WEFT_API int MPI_Gather(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt, int root,
                        MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Gather, PMPI_Igather, s, sn, st, r_, rn, rt, root, comm);
}

WEFT_API int MPI_Gatherv(const void* s, int sn, MPI_Datatype st, void* r_, const int* rn, const int* rd,
                         MPI_Datatype rt, int root, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Gatherv, PMPI_Igatherv, s, sn, st, r_, rn, rd, rt, root, comm);
}

WEFT_API int MPI_Scatter(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt, int root,
                         MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Scatter, PMPI_Iscatter, s, sn, st, r_, rn, rt, root, comm);
}

WEFT_API int MPI_Scatterv(const void* s, const int* sn, const int* sd, MPI_Datatype st, void* r_, int rn,
                          MPI_Datatype rt, int root, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Scatterv, PMPI_Iscatterv, s, sn, sd, st, r_, rn, rt, root, comm);
}

WEFT_API int MPI_Allgather(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt,
                           MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Allgather, PMPI_Iallgather, s, sn, st, r_, rn, rt, comm);
}

WEFT_API int MPI_Allgatherv(const void* s, int sn, MPI_Datatype st, void* r_, const int* rn, const int* rd,
                            MPI_Datatype rt, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Allgatherv, PMPI_Iallgatherv, s, sn, st, r_, rn, rd, rt, comm);
}

WEFT_API int MPI_Alltoall(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt,
                          MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Alltoall, PMPI_Ialltoall, s, sn, st, r_, rn, rt, comm);
}

WEFT_API int MPI_Reduce(const void* s, void* r_, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Reduce, PMPI_Ireduce, s, r_, n, t, op, root, comm);
}

WEFT_API int MPI_Allreduce(const void* s, void* r_, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Allreduce, PMPI_Iallreduce, s, r_, n, t, op, comm);
}

WEFT_API int MPI_Reduce_scatter(const void* s, void* r_, const int* n, MPI_Datatype t, MPI_Op op,
                                MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Reduce_scatter, PMPI_Ireduce_scatter, s, r_, n, t, op, comm);
}

WEFT_API int MPI_Reduce_scatter_block(const void* s, void* r_, int n, MPI_Datatype t, MPI_Op op,
                                      MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Reduce_scatter_block, PMPI_Ireduce_scatter_block, s, r_, n, t, op, comm);
}

WEFT_API int MPI_Scan(const void* s, void* r_, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Scan, PMPI_Iscan, s, r_, n, t, op, comm);
}

WEFT_API int MPI_Exscan(const void* s, void* r_, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Exscan, PMPI_Iexscan, s, r_, n, t, op, comm);
}

WEFT_API int MPI_Neighbor_allgather(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt,
                                    MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Neighbor_allgather, PMPI_Ineighbor_allgather, s, sn, st, r_, rn, rt, comm);
}

WEFT_API int MPI_Neighbor_allgatherv(const void* s, int sn, MPI_Datatype st, void* r_, const int* rn,
                                     const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Neighbor_allgatherv, PMPI_Ineighbor_allgatherv, s, sn, st, r_, rn, rd, rt, comm);
}

WEFT_API int MPI_Neighbor_alltoall(const void* s, int sn, MPI_Datatype st, void* r_, int rn, MPI_Datatype rt,
                                   MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Neighbor_alltoall, PMPI_Ineighbor_alltoall, s, sn, st, r_, rn, rt, comm);
}

WEFT_API int MPI_Neighbor_alltoallv(const void* s, const int* sn, const int* sd, MPI_Datatype st, void* r_,
                                    const int* rn, const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  WEFT_MPI_BY_TWIN(PMPI_Neighbor_alltoallv, PMPI_Ineighbor_alltoallv, s, sn, sd, st, r_, rn, rd, rt, comm);
}

WEFT_API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  WEFT_MPI_BY_TWIN(PMPI_Comm_dup, PMPI_Comm_idup, comm, made);
}

} // extern "C"
