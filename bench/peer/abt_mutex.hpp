// SPDX-License-Identifier: MIT
// A mutex of abt.h for a thread that tries and yields until it has it.
#pragma once

#include <abt.h>

namespace weft::bench {

class abt_mutex {
 public:
  abt_mutex() { ABT_mutex_create(&mutex_); }
  ~abt_mutex() { ABT_mutex_free(&mutex_); }
  abt_mutex(const abt_mutex&) = delete;
  abt_mutex& operator=(const abt_mutex&) = delete;

  bool try_lock() { return ABT_mutex_trylock(mutex_) == ABT_SUCCESS; }
  void unlock() { ABT_mutex_unlock(mutex_); }

 private:
  ABT_mutex mutex_;
};

} // namespace weft::bench
