// SPDX-License-Identifier: MIT
// Dependences among the children of one task. Only the task that makes them uses its table, so that needs no
// lock; what a task has to start when it ends stands in the task itself, under its lock.
#pragma once

#include "front/openmp/task.hpp"

#include <unordered_map>
#include <vector>

namespace weft::openmp {

/// In place of an address: omp_all_memory, which each address is a part of.
inline void* const all_memory = reinterpret_cast<void*>(~std::uintptr_t{0});

/// For each address the last task that writes there, and those that read what it wrote; the last task that
/// writes all memory. All are held.
class dependences {
 public:
  dependences() = default;
  ~dependences();
  dependences(const dependences&) = delete;
  dependences& operator=(const dependences&) = delete;

  /// Who must end before a task that reads, or writes, at the address: appended to `list`.
  void find(void* address, bool writes, std::vector<task*>& list) const;
  void note(void* address, bool writes, task& k);

 private:
  struct accesses {
    task* writer = nullptr;
    std::vector<task*> readers;
  };
  void forget() noexcept;

  std::unordered_map<void*, accesses> at_;
  task* writer_of_all_ = nullptr;
};

/// `k` waits for the children of `maker` that its list names: k.blockers counts them. `depend`: as the ABI
/// has it. *Contexts*: in user mode, `maker` runs on the caller. *Switches*: never. *Errors*: std::bad_alloc.
void add_dependences(task& maker, task& k, void** depend);
/// Waits for those that a child with this list would wait for. *Switches*: may.
void await_dependences(thread& t, void** depend);

/// Tells a tool what the list says; and that a thread waits for the tasks in one. Only if tool::is_on.
void tell_dependences(task& k, void** depend);
/// The list of a taskwait, from its making to its end.
void await_dependences_and_tell(thread& t, void** depend);

/// What an omp_depend_t holds: GOMP_depobj's two words.
struct depend_object {
  void* address;
  std::uintptr_t kind; // 1: in
};

} // namespace weft::openmp
