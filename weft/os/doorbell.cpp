// SPDX-License-Identifier: MIT
#include "weft/os/doorbell.hpp"

#include "weft/base/spin_lock.hpp"
#include "weft/os/fault.hpp"

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <new>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace weft::os {
namespace {

constinit base::spin_lock stock_lock;
constinit doorbell* stock = nullptr;

} // namespace

doorbell::lease doorbell::take() {
  {
    const std::scoped_lock held(stock_lock);
    if (doorbell* const idle = stock) {
      stock = std::exchange(idle->next_idle_, nullptr);
      return lease(idle);
    }
  }
  int error = fault(fault_site::descriptor);
  const int made = error == 0 ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
  if (made < 0) {
    error = error != 0 ? error : errno;
    throw std::system_error(error, std::system_category(), "weft: no eventfd to call idle workers with");
  }
  auto* const fresh = new (std::nothrow) doorbell(made);
  if (fresh == nullptr) {
    ::close(made);
    throw std::bad_alloc();
  }
  return lease(fresh);
}

void doorbell::recycler::operator()(doorbell* bell) const noexcept {
  const std::scoped_lock held(stock_lock);
  bell->next_idle_ = std::exchange(stock, bell);
}

void doorbell::ring() noexcept {
  const int before = errno;
  const std::uint64_t one = 1;
  // It cannot fail but for a full counter: then the descriptor is readable already.
  static_cast<void>(::write(descriptor_, &one, sizeof one) + 0);
  errno = before;
}

void forget_doorbells() noexcept {
  static_cast<void>(stock_lock.try_lock()); // it may be held by a kernel thread that is not there any more
  stock_lock.unlock();
  stock = nullptr;
}

} // namespace weft::os
