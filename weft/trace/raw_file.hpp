// SPDX-License-Identifier: MIT
// The raw form of a trace: what the rings held, in the machine's byte order, for the tool weft and for who
// wants to look at it later. Little is done to write it, so that a traced process is not held up.
//
// Version 1, every part a multiple of 8 bytes, without gaps:
//
//   header    raw_header
//   counters  raw_header::counters times raw_counter
//   tracks    raw_header::tracks times: raw_track, then its names (name_entry), then its events (record),
//             oldest first
//
// A reader refuses what it does not understand; a change of any of these makes another version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "weft/base/export.hpp"
#include "weft/trace/recording.hpp"

namespace weft::trace {

class output_file;

struct raw_header {
  static constexpr std::uint32_t version_now = 1;
  static constexpr std::uint32_t order_mark = 0x01020304;

  char magic[8]; // "weft-trc"
  std::uint32_t version;
  std::uint32_t order; // order_mark, as the writer's machine stores it
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::int32_t process;
  std::uint32_t counters;
  std::uint32_t tracks;
  std::uint32_t record_bytes;
  char program[recording::program_bytes];
};
static_assert(sizeof(raw_header) == 112);

struct raw_counter {
  char name[24]; // as in trace::counters; a reader passes over those it does not know
  std::uint64_t value;
};

struct raw_track {
  std::uint32_t number;
  std::uint32_t id;
  std::uint32_t outside; // 1: the kernel threads that are no workers
  std::uint32_t names;
  std::uint64_t events;
  std::uint64_t dropped;
};
static_assert(sizeof(raw_track) == 32 && sizeof(name_entry) % 8 == 0 && sizeof(record) % 8 == 0);

// Contexts: as output_file. Errors: at its close().
WEFT_API void write_raw(output_file& out, const recording& what) noexcept;

// The bytes that write_raw() puts.
[[nodiscard]] WEFT_API std::uint64_t raw_bytes(const recording& what) noexcept;

// Reads the raw form from memory that starts at a multiple of 8; `result` refers to it and does not copy.
// Null, or a sentence why it is no trace; whatever the bytes are, nothing outside them is looked at, and a
// result keeps the invariants of a track. Contexts: thread, foreign kernel thread. Switches: never. Errors:
// std::bad_alloc.
[[nodiscard]] WEFT_API const char* parse_raw(std::span<const std::byte> bytes, recording& result);

// Reads a whole file into memory, which the result keeps. Errors, with the path in their text:
// std::system_error, the file cannot be read; std::runtime_error, it is no trace, and why; std::bad_alloc.
[[nodiscard]] WEFT_API recording read_raw(const char* path);

} // namespace weft::trace
