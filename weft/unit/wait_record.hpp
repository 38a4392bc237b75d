// SPDX-License-Identifier: MIT
// What a blocked thread waits for, for debuggers and `weft ps`: nothing in the library reads it
// (suspended_thread reads by the same link what lies behind its own records). It lies in the frame of the
// wait. The descriptor, which is in no container meanwhile, names it in the two words of its link, so it
// costs two stores where a switch is paid anyway, and no room.
#pragma once

#include <cstdint>

#include "weft/unit/descriptor.hpp"

namespace weft::unit {

// Numbers are for the reader's table (view/inspection.cpp): append only.
enum class wait_kind : std::uint32_t {
  unknown,
  mutex,         // object: its mutex_word
  mcs_mutex,     // object: the mutex
  shared_mutex,  // object, here and below: the primitive
  shared_reader, // a shared_mutex, to read
  condition,     // a condition variable
  semaphore,
  latch,
  barrier,
  future,        // the shared state
  full_channel,  // to send
  empty_channel, // to receive
  task_group,
  join,  // object: the unit
  sleep, // object: when it ends, in nanoseconds of the monotonic clock
  place, // a suspended_thread
  delegator,
  eventual, // of the C API, as the rest
  abt_future,
  abt_barrier,
  abt_condition,
  io,            // object: an io_wait
  blocking_call, // on a spare kernel thread; no object
  messages,      // object: a message_wait
};

// A call of weft::io that waits.
struct io_wait {
  std::uint32_t call; // an io::operation, by its number in the reader's table
  std::int32_t descriptor;
  std::int64_t since; // nanoseconds of the monotonic clock, to some milliseconds
};

// A call of a message library's that waits: "MPI_Recv from 3, tag 7".
struct message_wait {
  enum class way : std::uint32_t { none, from, to }; // none: nothing is said of a peer and a tag
  static constexpr std::int32_t any = INT32_MIN;     // a peer, a tag

  const char* call; // its name, a constant
  way where = way::none;
  std::int32_t peer = any;
  std::int32_t tag = any;
  std::uint32_t requests = 0; // that it waits for; 0: nothing is said of them
};

struct wait_record {
  wait_kind kind = wait_kind::unknown;
  std::uint32_t displaced =
      0; // mutex: what the failed attempt found in the word and replaced by its own mark
  const void* object = nullptr;
};

// Names `record` in the descriptor of the running thread while this lives. Ownership: the thread, until it is
// published; whoever makes it ready may write over the link.
class announced_wait {
 public:
  announced_wait(descriptor& u, const wait_record& record) noexcept : unit_(u) {
    const auto address = reinterpret_cast<std::uintptr_t>(&record);
    u.link.next = reinterpret_cast<queue::link*>(address);
    u.link.prev = reinterpret_cast<queue::link*>(~address); // no list has such links
  }
  announced_wait(const announced_wait&) = delete;
  announced_wait& operator=(const announced_wait&) = delete;
  ~announced_wait() { unit_.link.prev = nullptr; }

 private:
  descriptor& unit_;
};

} // namespace weft::unit
