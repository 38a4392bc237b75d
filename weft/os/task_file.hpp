// SPDX-License-Identifier: MIT
// What the kernel tells of one kernel thread of the process: /proc/self/task/ID/*.
#pragma once

#include <cstddef>
#include <span>

namespace weft::os {

// Reads the beginning of that file of the kernel thread `id` into `text`, which a 0 ends. Returns how many
// bytes there were; 0: the kernel does not tell, or the thread is gone. Allocates nothing. Contexts: all
// but signal handlers. Switches: never.
std::size_t read_task_file(int id, const char* file, std::span<char> text) noexcept;

} // namespace weft::os
