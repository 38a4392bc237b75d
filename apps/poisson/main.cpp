// SPDX-License-Identifier: MIT
// poisson.ENGINE FORM N STEPS PARTS [CHECKSUM]: one rank. Rank 0 prints one JSON object. The exit status is 1
// if all values together do not have the checksum.
#include <mpi.h>
#include <weft/weft.hpp>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "apps/poisson/forms.hpp"

namespace {

using namespace poisson;

struct form {
  const char* name;
  outcome (*run)(const problem&);
  bool by_weft;
};
constexpr form forms[] = {{"loop", &by_a_loop, false},
                          {"pthreads", &by_kernel_threads, false},
                          {"tasklets", &by_tasklets, true},
                          {"waits", &by_tasklets_with_waits, true},
                          {"strips", &by_strips, true}};

const form* find_form(const char* name) {
  for (const form& f : forms) {
    if (std::strcmp(f.name, name) == 0) {
      return &f;
    }
  }
  return nullptr;
}

int run(int count, char** words) {
  const form* const f = count >= 5 ? find_form(words[1]) : nullptr;
  problem p;
  MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
  if (f != nullptr) {
    p.n = std::atoi(words[2]);
    p.steps = std::atoi(words[3]);
    p.parts = std::atoi(words[4]);
  }
  if (f == nullptr || p.steps < 1 || p.parts < 1 || p.n < 2 * p.ranks || p.n < p.ranks * p.parts) {
    std::fprintf(stderr, "usage: poisson loop|pthreads|tasklets|waits|strips N STEPS PARTS [CHECKSUM]; N is "
                         "at least twice the ranks, and the parts of all ranks\n");
    return 2;
  }
  outcome result;
  if (f->by_weft) {
    const weft::runtime::scope running; // main() is a thread from here on
    result = f->run(p);
  } else {
    result = f->run(p);
  }
  std::uint64_t sum = 0;
  MPI_Allreduce(&result.checksum, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  if (p.rank == 0) {
    std::printf("{\"form\": \"%s\", \"seconds\": %.6f, \"checksum\": \"%016" PRIx64 "\"}\n", f->name,
                result.seconds, sum);
  }
  if (count > 5 && std::strtoull(words[5], nullptr, 16) != sum) {
    std::fprintf(stderr, "poisson: the checksum is %016" PRIx64 ", not %s\n", sum, words[5]);
    return 1;
  }
  return 0;
}

} // namespace

int main(int count, char** words) {
  int granted = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &granted);
  const int status = run(count, words);
  MPI_Finalize();
  return status;
}
