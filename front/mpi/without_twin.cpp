// SPDX-License-Identifier: MIT
// Calls that wait for others and have no twin: communicators, windows, files. They block a spare kernel
// thread. And MPI_Alltoallv, MPI_Alltoallw: their twins in Open MPI 4.1 hang with types of no bytes, where
// the blocking calls do not.
#include "front/mpi/translate.hpp"

using namespace weft::mpi;

#define WEFT_MPI_ELSEWHERE(blocking, ...)                                                                    \
  if (goes_past_layer())                                                                                     \
    return blocking(__VA_ARGS__);                                                                            \
  return elsewhere([=] { return blocking(__VA_ARGS__); })

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define WEFT_MPI_TWIN_OR_ELSEWHERE(blocking, twin, ...) WEFT_MPI_ELSEWHERE(blocking, __VA_ARGS__)
#else
#define WEFT_MPI_TWIN_OR_ELSEWHERE(blocking, twin, ...)                                                      \
  if (goes_past_layer())                                                                                     \
    return blocking(__VA_ARGS__);                                                                            \
  return by_twin(comm, MPI_STATUS_IGNORE, [=](MPI_Request* r) { return twin(__VA_ARGS__, r); })
#endif

extern "C" {

WEFT_API int MPI_Alltoallv(const void* s, const int* sn, const int* sd, MPI_Datatype st, void* r_,
                           const int* rn, const int* rd, MPI_Datatype rt, MPI_Comm comm) {
  WEFT_MPI_TWIN_OR_ELSEWHERE(PMPI_Alltoallv, PMPI_Ialltoallv, s, sn, sd, st, r_, rn, rd, rt, comm);
}

WEFT_API int MPI_Alltoallw(const void* s, const int* sn, const int* sd, const MPI_Datatype* st, void* r_,
                           const int* rn, const int* rd, const MPI_Datatype* rt, MPI_Comm comm) {
  WEFT_MPI_TWIN_OR_ELSEWHERE(PMPI_Alltoallw, PMPI_Ialltoallw, s, sn, sd, st, r_, rn, rd, rt, comm);
}

WEFT_API int MPI_Neighbor_alltoallw(const void* s, const int* sn, const MPI_Aint* sd, const MPI_Datatype* st,
                                    void* r_, const int* rn, const MPI_Aint* rd, const MPI_Datatype* rt,
                                    MPI_Comm comm) {
  WEFT_MPI_TWIN_OR_ELSEWHERE(PMPI_Neighbor_alltoallw, PMPI_Ineighbor_alltoallw, s, sn, sd, st, r_, rn, rd, rt,
                             comm);
}

// --- communicators ---

WEFT_API int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_dup_with_info, comm, info, made);
}
WEFT_API int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_split, comm, colour, key, made);
}
WEFT_API int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_split_type, comm, type, key, info, made);
}
WEFT_API int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_create, comm, group, made);
}
WEFT_API int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_create_group, comm, group, tag, made);
}
WEFT_API int MPI_Intercomm_create(MPI_Comm local, int leader, MPI_Comm peers, int remote, int tag,
                                  MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Intercomm_create, local, leader, peers, remote, tag, made);
}
WEFT_API int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Intercomm_merge, comm, high, made);
}
WEFT_API int MPI_Comm_disconnect(MPI_Comm* comm) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_disconnect, comm);
}
WEFT_API int MPI_Cart_create(MPI_Comm comm, int n, const int* sizes, const int* wraps, int reorder,
                             MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Cart_create, comm, n, sizes, wraps, reorder, made);
}
WEFT_API int MPI_Cart_sub(MPI_Comm comm, const int* keeps, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Cart_sub, comm, keeps, made);
}
WEFT_API int MPI_Graph_create(MPI_Comm comm, int n, const int* index, const int* edges, int reorder,
                              MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Graph_create, comm, n, index, edges, reorder, made);
}
WEFT_API int MPI_Dist_graph_create(MPI_Comm comm, int n, const int* sources, const int* degrees,
                                   const int* targets, const int* weights, MPI_Info info, int reorder,
                                   MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Dist_graph_create, comm, n, sources, degrees, targets, weights, info, reorder,
                     made);
}
WEFT_API int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in, const int* sources, const int* in_weights,
                                            int out, const int* targets, const int* out_weights,
                                            MPI_Info info, int reorder, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Dist_graph_create_adjacent, comm, in, sources, in_weights, out, targets,
                     out_weights, info, reorder, made);
}
WEFT_API int MPI_Comm_accept(const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_accept, port, info, root, comm, made);
}
WEFT_API int MPI_Comm_connect(const char* port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_connect, port, info, root, comm, made);
}
WEFT_API int MPI_Comm_spawn(const char* command, char** words, int most, MPI_Info info, int root,
                            MPI_Comm comm, MPI_Comm* made, int* codes) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_spawn, command, words, most, info, root, comm, made, codes);
}
WEFT_API int MPI_Comm_spawn_multiple(int count, char** commands, char*** words, const int* most,
                                     const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* made,
                                     int* codes) {
  WEFT_MPI_ELSEWHERE(PMPI_Comm_spawn_multiple, count, commands, words, most, infos, root, comm, made, codes);
}

// --- windows ---

WEFT_API int MPI_Win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm,
                            MPI_Win* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_create, base, bytes, unit, info, comm, made);
}
WEFT_API int MPI_Win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                              MPI_Win* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_allocate, bytes, unit, info, comm, base, made);
}
WEFT_API int MPI_Win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                     MPI_Win* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_allocate_shared, bytes, unit, info, comm, base, made);
}
WEFT_API int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* made) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_create_dynamic, info, comm, made);
}
WEFT_API int MPI_Win_free(MPI_Win* window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_free, window);
}
WEFT_API int MPI_Win_fence(int asserts, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_fence, asserts, window);
}
WEFT_API int MPI_Win_start(MPI_Group group, int asserts, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_start, group, asserts, window);
}
WEFT_API int MPI_Win_complete(MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_complete, window);
}
WEFT_API int MPI_Win_post(MPI_Group group, int asserts, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_post, group, asserts, window);
}
WEFT_API int MPI_Win_wait(MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_wait, window);
}
WEFT_API int MPI_Win_lock(int type, int rank, int asserts, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_lock, type, rank, asserts, window);
}
WEFT_API int MPI_Win_lock_all(int asserts, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_lock_all, asserts, window);
}
WEFT_API int MPI_Win_unlock(int rank, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_unlock, rank, window);
}
WEFT_API int MPI_Win_unlock_all(MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_unlock_all, window);
}
WEFT_API int MPI_Win_flush(int rank, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_flush, rank, window);
}
WEFT_API int MPI_Win_flush_all(MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_flush_all, window);
}
WEFT_API int MPI_Win_flush_local(int rank, MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_flush_local, rank, window);
}
WEFT_API int MPI_Win_flush_local_all(MPI_Win window) {
  WEFT_MPI_ELSEWHERE(PMPI_Win_flush_local_all, window);
}

// --- files. Transfers too: they go to a disk, and the engines' twins of them do the work in the call ---

WEFT_API int MPI_File_open(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* made) {
  WEFT_MPI_ELSEWHERE(PMPI_File_open, comm, name, mode, info, made);
}
WEFT_API int MPI_File_close(MPI_File* file) {
  WEFT_MPI_ELSEWHERE(PMPI_File_close, file);
}
WEFT_API int MPI_File_sync(MPI_File file) {
  WEFT_MPI_ELSEWHERE(PMPI_File_sync, file);
}
WEFT_API int MPI_File_set_size(MPI_File file, MPI_Offset bytes) {
  WEFT_MPI_ELSEWHERE(PMPI_File_set_size, file, bytes);
}
WEFT_API int MPI_File_preallocate(MPI_File file, MPI_Offset bytes) {
  WEFT_MPI_ELSEWHERE(PMPI_File_preallocate, file, bytes);
}
WEFT_API int MPI_File_set_view(MPI_File file, MPI_Offset at, MPI_Datatype element, MPI_Datatype type,
                               const char* form, MPI_Info info) {
  WEFT_MPI_ELSEWHERE(PMPI_File_set_view, file, at, element, type, form, info);
}

#define WEFT_MPI_FILE_CALLS(suffix)                                                                          \
  WEFT_API int MPI_File_read##suffix(MPI_File f, void* b, int n, MPI_Datatype t, MPI_Status* s) {            \
    WEFT_MPI_ELSEWHERE(PMPI_File_read##suffix, f, b, n, t, s);                                               \
  }                                                                                                          \
  WEFT_API int MPI_File_write##suffix(MPI_File f, const void* b, int n, MPI_Datatype t, MPI_Status* s) {     \
    WEFT_MPI_ELSEWHERE(PMPI_File_write##suffix, f, b, n, t, s);                                              \
  }
#define WEFT_MPI_FILE_CALLS_AT(suffix)                                                                       \
  WEFT_API int MPI_File_read##suffix(MPI_File f, MPI_Offset at, void* b, int n, MPI_Datatype t,              \
                                     MPI_Status* s) {                                                        \
    WEFT_MPI_ELSEWHERE(PMPI_File_read##suffix, f, at, b, n, t, s);                                           \
  }                                                                                                          \
  WEFT_API int MPI_File_write##suffix(MPI_File f, MPI_Offset at, const void* b, int n, MPI_Datatype t,       \
                                      MPI_Status* s) {                                                       \
    WEFT_MPI_ELSEWHERE(PMPI_File_write##suffix, f, at, b, n, t, s);                                          \
  }
WEFT_MPI_FILE_CALLS()
WEFT_MPI_FILE_CALLS(_all)
WEFT_MPI_FILE_CALLS(_shared)
WEFT_MPI_FILE_CALLS(_ordered)
WEFT_MPI_FILE_CALLS_AT(_at)
WEFT_MPI_FILE_CALLS_AT(_at_all)

} // extern "C"
