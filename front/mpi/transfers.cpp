// SPDX-License-Identifier: MIT
#include "front/mpi/transfers.hpp"

#include "weft/door/atomic.hpp"
#include "weft/door/process.hpp"

#include <mutex>
#include <set>

namespace weft::mpi {
namespace {

// One that ends in a test stays here. The next request of that name then waits in the engine too, once, which
// is right and slower.
struct transfers {
  std::mutex lock;
  std::set<MPI_Request> known;
  door::atomic<bool> has_any{false};
};

transfers& all() noexcept {
  return door::immortal<transfers>();
}

} // namespace

void note_transfer(MPI_Request request) {
  transfers& t = all();
  const std::scoped_lock held(t.lock);
  t.known.insert(request);
  t.has_any.store_relaxed(true); // relaxed, here and below: who waits for it has its request from this call
}

bool take_transfers(int count, const MPI_Request* requests) {
  transfers& t = all();
  if (!t.has_any.load_relaxed())
    return false;
  const std::scoped_lock held(t.lock);
  bool found = false;
  for (int i = 0; i < count; ++i)
    found = t.known.erase(requests[i]) != 0 || found;
  t.has_any.store_relaxed(!t.known.empty());
  return found;
}

} // namespace weft::mpi
