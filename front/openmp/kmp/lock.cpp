// SPDX-License-Identifier: MIT
// Locks as compilers call them, each with a description of its place in the source. They are omp_..._lock()
// of LLVM's omp.h.
#include "front/openmp/gomp/functions.hpp"
#include "front/openmp/kmp/abi.hpp"

using weft::openmp::kmp::ident;

extern "C" {
void omp_init_nest_lock_of_llvm(void*);
void omp_destroy_nest_lock_of_llvm(void*);
void omp_set_nest_lock_of_llvm(void*);
void omp_unset_nest_lock_of_llvm(void*);
int omp_test_nest_lock_of_llvm(void*);
}

KMP_EXPORT void __kmpc_init_lock(ident*, int, void* lock) {
  omp_init_lock(lock);
}
KMP_EXPORT void __kmpc_init_lock_with_hint(ident*, int, void* lock, std::uintptr_t hint) {
  omp_init_lock_with_hint(lock, static_cast<int>(hint));
}
KMP_EXPORT void __kmpc_destroy_lock(ident*, int, void* lock) {
  omp_destroy_lock(lock);
}
KMP_EXPORT void __kmpc_set_lock(ident*, int, void* lock) {
  omp_set_lock(lock);
}
KMP_EXPORT void __kmpc_unset_lock(ident*, int, void* lock) {
  omp_unset_lock(lock);
}
KMP_EXPORT int __kmpc_test_lock(ident*, int, void* lock) {
  return omp_test_lock(lock);
}

KMP_EXPORT void __kmpc_init_nest_lock(ident*, int, void* lock) {
  omp_init_nest_lock_of_llvm(lock);
}
KMP_EXPORT void __kmpc_init_nest_lock_with_hint(ident*, int, void* lock, std::uintptr_t) {
  omp_init_nest_lock_of_llvm(lock);
}
KMP_EXPORT void __kmpc_destroy_nest_lock(ident*, int, void* lock) {
  omp_destroy_nest_lock_of_llvm(lock);
}
KMP_EXPORT void __kmpc_set_nest_lock(ident*, int, void* lock) {
  omp_set_nest_lock_of_llvm(lock);
}
KMP_EXPORT void __kmpc_unset_nest_lock(ident*, int, void* lock) {
  omp_unset_nest_lock_of_llvm(lock);
}
KMP_EXPORT int __kmpc_test_nest_lock(ident*, int, void* lock) {
  return omp_test_nest_lock_of_llvm(lock);
}
