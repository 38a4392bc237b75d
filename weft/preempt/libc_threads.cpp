// SPDX-License-Identifier: MIT
// Blocks behind the last entry of libc's list of threads whose stacks are not libc's. libc changes its lists
// under a lock that nobody else can have. It adds at the front, and takes out who ends. The last one is
// `main`, which stays there when it has ended, or a block of ours, which stays too: so libc never writes to
// its `next` or to the list's `prev`, and whoever walks along the list goes by `next`.
#include "weft/preempt/libc_threads.hpp"

#include <sched.h>
#include <unistd.h>

#include "weft/preempt/libc_names.hpp"

namespace weft::preempt {
namespace {

struct entry {
  entry* next;
  entry* previous;
};

entry& entry_of(const libc_blocks& known, std::byte* block) noexcept {
  return at<entry>(block, known.list);
}

// Null: this libc does not say where it is.
entry* list_at(const described_member* place) noexcept {
  return place == nullptr ? nullptr : &at<entry>(names_of_libc().loader, place->offset);
}

entry* last_of(const entry& list) noexcept {
  return __atomic_load_n(&list.previous, __ATOMIC_RELAXED); // it is ours to write, once `main` is there
}

// Whose id is the process' is `main`, or the thread that has forked, whose block may be one of ours.
bool stays(const libc_blocks& known, entry* e) noexcept {
  std::byte* const block = reinterpret_cast<std::byte*>(e) - known.list;
  const auto id = __atomic_load_n(&at<std::uint32_t>(block, known.id), __ATOMIC_RELAXED);
  return is_id_of_block(id) || id == static_cast<std::uint32_t>(::getpid());
}

// Debuggers read a core's threads from these lists, those of their lowest priority and above: no kernel
// thread has the id of a block. libc looks at neither word of a thread that nobody has set a priority of.
void hide_from_debuggers(std::byte* block) noexcept {
  constexpr int below_the_lowest = -21; // TD_THR_LOWEST_PRIORITY
  const libc_names& n = names_of_libc();
  if (n.policy_of_thread == nullptr || n.priority_of_thread == nullptr)
    return;
  at<int>(block, n.policy_of_thread->offset) = SCHED_BATCH; // one that has priorities, for a debugger
  at<int>(block, n.priority_of_thread->offset) = below_the_lowest;
}

} // namespace

void keep_apart(const libc_blocks& known, std::byte* block) noexcept {
  entry& own = entry_of(known, block);
  own.next = own.previous = &own;
}

void join_libcs_threads(const libc_blocks& known, std::byte* block) noexcept {
  entry* const list = list_at(names_of_libc().list_of_user_stacks);
  entry* const last = list != nullptr ? last_of(*list) : nullptr;
  if (last == nullptr || last == list || !stays(known, last) ||
      __atomic_load_n(&last->next, __ATOMIC_RELAXED) != list)
    return keep_apart(known, block);
  hide_from_debuggers(block);
  entry& own = entry_of(known, block);
  own.next = list;
  own.previous = last;
  __atomic_store_n(&last->next, &own, __ATOMIC_RELEASE); // whoever comes along finds a whole entry
  __atomic_store_n(&list->previous, &own, __ATOMIC_RELAXED);
}

// libc knows of the kernel thread alone, which may stand in either list.
void lead_libcs_threads(const libc_blocks& known, std::byte* block) noexcept {
  entry* const list = list_at(names_of_libc().list_of_user_stacks);
  if (list == nullptr || list->next != list)
    return join_libcs_threads(known, block);
  entry& own = entry_of(known, block);
  own.next = own.previous = list;
  list->next = list->previous = &own;
}

} // namespace weft::preempt
