// SPDX-License-Identifier: MIT
// Storage that belongs to a thread of Weft, wherever it runs: what `thread_local` cannot be, since that
// belongs to the kernel thread.
#pragma once

#include <system_error>

#include "weft/carrier/runtime_section.hpp"
#include "weft/unit/extension.hpp"
#include "weft/workers/worker.hpp"

namespace weft {

// A pointer of each thread's own, null to begin with; deleted when its thread ends. As
// boost::thread_specific_ptr. The primary thread does not end: what it has put into a thread_specific is
// deleted with that, if main, or a static destructor on main's stack, destroys it; else never. Whoever
// destroys a thread_specific has his own value deleted; values that other threads still have are forgotten,
// not deleted. A value that a destructor of a value sets is deleted in turn, four times over. Contexts:
// thread, tasklet. Errors: the constructor throws std::system_error when all 1024 keys are taken; reset()
// throws std::system_error(operation_not_permitted) on a kernel thread that is no worker.
template <class T>
class thread_specific {
 public:
  thread_specific() : thread_specific([](void* value) { delete static_cast<T*>(value); }) {}
  explicit thread_specific(void (*destructor)(void*)) : destructor_(destructor), key_(make_key(destructor)) {}
  ~thread_specific() {
    if (T* const mine = sched::on_worker() ? get() : nullptr; mine != nullptr && destructor_ != nullptr) {
      reset();
      destructor_(mine);
    }
    const sched::runtime_section in;
    unit::delete_key(key_);
  }
  thread_specific(const thread_specific&) = delete;
  thread_specific& operator=(const thread_specific&) = delete;

  [[nodiscard]] T* get() const noexcept {
    return static_cast<T*>(unit::get_local(*sched::here().current, key_));
  }
  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  explicit operator bool() const noexcept { return get() != nullptr; }

  // The old value is not deleted: it is returned.
  T* reset(T* value = nullptr) {
    if (!sched::on_worker()) {
      throw std::system_error(std::make_error_code(std::errc::operation_not_permitted),
                              "weft: not on a Weft thread");
    }
    T* old = get();
    const sched::runtime_section in;
    unit::set_local(*sched::here().current, key_, value);
    return old;
  }

 private:
  static unit::local_key make_key(void (*destructor)(void*)) {
    const sched::runtime_section in;
    return unit::make_key(destructor);
  }

  void (*destructor_)(void*);
  unit::local_key key_;
};

} // namespace weft
