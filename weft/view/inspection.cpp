// SPDX-License-Identifier: MIT
// The table by which a process is read from outside without debug information. All in it is constant; the
// roots are addresses of variables. Offsets are taken from the types themselves, so it cannot be wrong about
// them.
#include "weft/view/inspection.hpp"

#include <cstddef>
#include <mutex>
#include <new>

#include "weft/memory/inspection.hpp"
#include "weft/unit/extension.hpp"
#include "weft/unit/wait_record.hpp"
#include "weft/workers/worker.hpp"

namespace weft::sched {
namespace {

constinit std::mutex workers_lock;
constinit worker* workers = nullptr; // under the lock; linked by next_of_process
// The depot of descriptors, once there is a worker.
constinit memory::object_depot* descriptors = nullptr; // under the lock

} // namespace

constinit base::atomic<unit::descriptor*> inspection::primary{nullptr};

void inspection::enter(worker& w) noexcept {
  const std::scoped_lock held(workers_lock);
  descriptors = &memory::object_cache<unit::descriptor>::process_depot();
  w.next_of_process = workers;
  workers = &w;
  asm volatile("" : : "r"(weft_debug_layout)); // a linker that drops what nobody uses keeps the table
}

void inspection::leave(worker& w) noexcept {
  const std::scoped_lock held(workers_lock);
  worker** place = &workers;
  while (*place != nullptr && *place != &w) // in the child of fork() it may have been forgotten
    place = &(*place)->next_of_process;
  if (*place != nullptr)
    *place = w.next_of_process;
}

void inspection::keep_only(worker* w) noexcept {
  ::new (static_cast<void*>(&workers_lock)) std::mutex; // its holder may not be there any more
  workers = w;
  if (w != nullptr)
    w->next_of_process = nullptr;
}

void for_each_worker(void (*action)(worker& w, void* argument), void* argument) {
  const std::scoped_lock held(workers_lock);
  for (worker* w = workers; w != nullptr; w = w->next_of_process)
    action(*w, argument);
}

} // namespace weft::sched

namespace {

using weft::memory::object_estate;
using weft::memory::object_slab;
using weft::memory::stack_record;
using weft::memory::stack_slab;
using weft::sched::worker;
using weft::unit::descriptor;
using weft::unit::io_wait;
using weft::unit::message_wait;
using weft::unit::state;
using weft::unit::technique_id;
using weft::unit::wait_kind;
using weft::unit::wait_record;
using units = weft::memory::inspection;
namespace arch = weft::arch;
namespace unit = weft::unit;

template <class Number>
constexpr std::uint64_t number(Number n) noexcept {
  return static_cast<std::uint64_t>(n);
}

// sp, fp and resume stand in this order in every context that can be walked.
constexpr std::size_t resume_offset() noexcept {
  if constexpr (arch::has_walkable_contexts) {
    static_assert(3 * sizeof(void*) <= sizeof(arch::context));
  }
  return 2 * sizeof(void*);
}

} // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored                                                                               \
    "-Winvalid-offsetof" // not standard layout; each has one fixed place all the same

// One line a name.
// clang-format off
extern "C" [[gnu::used]] constinit const weft_debug_entry weft_debug_layout[] = {
  {"version", 1, nullptr},

  {"root.workers", 0, &weft::sched::workers},
  {"root.primary", 0, &weft::sched::inspection::primary},
  {"root.descriptors", 0, &weft::sched::descriptors},
  {"root.stacks", 0, &units::stacks},

  {"context.walkable", number(arch::has_walkable_contexts), nullptr},
  {"context.sp", 0, nullptr},
  {"context.fp", sizeof(void*), nullptr},
  {"context.resume", resume_offset(), nullptr},
  {"dwarf.sp", arch::dwarf_sp, nullptr},
  {"dwarf.fp", arch::dwarf_fp, nullptr},

  {"unit.size", sizeof(descriptor), nullptr},
  {"unit.align", alignof(descriptor), nullptr},
  {"unit.link", offsetof(descriptor, link), nullptr},
  {"unit.state", offsetof(descriptor, state), nullptr},
  {"unit.last_worker", offsetof(descriptor, last_worker), nullptr},
  {"unit.own_pool", offsetof(descriptor, own_pool), nullptr},
  {"unit.join", offsetof(descriptor, join), nullptr},
  {"unit.operations", offsetof(descriptor, operations), nullptr},
  {"unit.stack", offsetof(descriptor, stack), nullptr},
  {"unit.extension", offsetof(descriptor, extension), nullptr},
  {"unit.traits", offsetof(descriptor, traits), nullptr},
  {"operations.run", offsetof(unit::operations, run), nullptr},
  {"operations.name", offsetof(unit::operations, name), nullptr},
  {"operations.label", offsetof(unit::operations, label), nullptr},
  {"operations.name_at", offsetof(unit::operations, name_at), nullptr},
  {"extension.name", offsetof(unit::extension, name), nullptr},
  {"extension.name_size", unit::name_size, nullptr},

  {"trait.kind_mask", unit::kind_mask, nullptr},
  {"trait.technique_mask", unit::technique_mask, nullptr},
  {"trait.embedded", unit::embedded, nullptr},
  {"trait.suspended", unit::suspended, nullptr},
  {"trait.extended", unit::extended, nullptr},
  {"trait.away", unit::away, nullptr},
  {"kind.thread", unit::kind_thread, nullptr},
  {"kind.tasklet", unit::kind_tasklet, nullptr},
  {"kind.scheduler", unit::kind_scheduler, nullptr},
  {"kind.loop", unit::kind_loop, nullptr},

  {"worker.current", offsetof(worker, current), nullptr},
  {"worker.number", offsetof(worker, number), nullptr},
  {"worker.kernel_thread", offsetof(worker, carried.kernel_thread_id), nullptr},
  {"worker.ended", offsetof(worker, ended), nullptr},
  {"worker.sleeps_until", offsetof(worker, timing.sleeps_until), nullptr},
  {"worker.main_pool", offsetof(worker, main_pool), nullptr},
  {"worker.local", offsetof(worker, local), nullptr},
  {"worker.loop_unit", offsetof(worker, loop_unit), nullptr},
  {"worker.kept_since", offsetof(worker, ticking.silent.kept_since), nullptr},
  {"worker.cost_of_tick", static_cast<std::size_t>(weft::sched::silence::cost_of_tick), nullptr},
  {"worker.silent_cpu", offsetof(worker, ticking.silent.cpu_ns), nullptr},
  {"worker.next", offsetof(worker, next_of_process), nullptr},

  {"depot.first", units::depot_first, nullptr},
  {"depot.link", units::depot_link, nullptr},
  {"depot.estates", units::depot_estates, nullptr},
  {"depot.caches", units::depot_caches, nullptr},
  {"estate.remote", offsetof(object_estate, remote), nullptr},
  {"estate.slabs", offsetof(object_estate, slabs), nullptr},
  {"estate.orphans", offsetof(object_estate, orphans), nullptr},
  {"estate.next", offsetof(object_estate, next_all), nullptr},
  {"slab.size", object_slab::bytes, nullptr},
  {"slab.next", offsetof(object_slab, next), nullptr},
  {"slab.carved", offsetof(object_slab, carved), nullptr},
  {"cache.free", units::cache_free, nullptr},
  {"cache.next", units::cache_next, nullptr},

  {"stack.size", sizeof(stack_record), nullptr},
  {"stack.low", offsetof(stack_record, low), nullptr},
  {"stack.nominal", offsetof(stack_record, size), nullptr},
  {"stack.owner", offsetof(stack_record, owner), nullptr},
  {"stacks.slabs", units::stacks_slabs, nullptr},
  {"stack_slab.base", units::slab_base, nullptr},
  {"stack_slab.stride", units::slab_stride, nullptr},
  {"stack_slab.capacity", units::slab_capacity, nullptr},
  {"stack_slab.stored", units::slab_stored, nullptr},
  {"stack_slab.next", units::slab_next, nullptr},
  {"stack_slab.colours", stack_slab::colours, nullptr},
  {"stack_slab.colour_size", stack_slab::colour_bytes, nullptr},

  {"wait.kind", offsetof(wait_record, kind), nullptr},
  {"wait.displaced", offsetof(wait_record, displaced), nullptr},
  {"wait.object", offsetof(wait_record, object), nullptr},
  {"message.call", offsetof(message_wait, call), nullptr},
  {"message.where", offsetof(message_wait, where), nullptr},
  {"message.peer", offsetof(message_wait, peer), nullptr},
  {"message.tag", offsetof(message_wait, tag), nullptr},
  {"message.requests", offsetof(message_wait, requests), nullptr},
  {"message.from", number(message_wait::way::from), nullptr},
  {"message.to", number(message_wait::way::to), nullptr},
  {"message.any", number(static_cast<std::uint32_t>(message_wait::any)), nullptr},
  {"io.call", offsetof(io_wait, call), nullptr},
  {"io.descriptor", offsetof(io_wait, descriptor), nullptr},
  {"io.since", offsetof(io_wait, since), nullptr},

  {"state:fresh", number(state::fresh), nullptr},
  {"state:posted", number(state::posted), nullptr},
  {"state:ready", number(state::ready), nullptr},
  {"state:running", number(state::running), nullptr},
  {"state:blocked", number(state::blocked), nullptr},
  {"state:finished", number(state::finished), nullptr},
  {"state:suspended", number(state::suspended), nullptr},

  {"technique:automatic", number(technique_id::automatic), nullptr},
  {"technique:Full", number(technique_id::full), nullptr},
  {"technique:Full-L", number(technique_id::full_lazy), nullptr},
  {"technique:RoC", number(technique_id::roc), nullptr},
  {"technique:RoC-L", number(technique_id::roc_lazy), nullptr},
  {"technique:SS", number(technique_id::ss), nullptr},
  {"technique:SS-L", number(technique_id::ss_lazy), nullptr},
  {"technique:SC", number(technique_id::sc), nullptr},
  {"technique:inline join", number(technique_id::inline_join), nullptr},
  {"technique:C-Full", number(technique_id::c_full), nullptr},
  {"technique:C-Full-E", number(technique_id::c_full_eager_release), nullptr},
  {"technique:C-RoC", number(technique_id::c_roc), nullptr},
  {"technique:C-RoC-E", number(technique_id::c_roc_eager_release), nullptr},

  {"wait:something", number(wait_kind::unknown), nullptr},
  {"wait:mutex", number(wait_kind::mutex), nullptr},
  {"wait:MCS mutex", number(wait_kind::mcs_mutex), nullptr},
  {"wait:shared mutex", number(wait_kind::shared_mutex), nullptr},
  {"wait:shared mutex (reader)", number(wait_kind::shared_reader), nullptr},
  {"wait:condition variable", number(wait_kind::condition), nullptr},
  {"wait:semaphore", number(wait_kind::semaphore), nullptr},
  {"wait:latch", number(wait_kind::latch), nullptr},
  {"wait:barrier", number(wait_kind::barrier), nullptr},
  {"wait:future", number(wait_kind::future), nullptr},
  {"wait:full channel", number(wait_kind::full_channel), nullptr},
  {"wait:empty channel", number(wait_kind::empty_channel), nullptr},
  {"wait:task group", number(wait_kind::task_group), nullptr},
  {"wait:end of", number(wait_kind::join), nullptr},
  {"wait:sleep", number(wait_kind::sleep), nullptr},
  {"wait:place", number(wait_kind::place), nullptr},
  {"wait:delegator", number(wait_kind::delegator), nullptr},
  {"wait:ABT_eventual", number(wait_kind::eventual), nullptr},
  {"wait:ABT_future", number(wait_kind::abt_future), nullptr},
  {"wait:ABT_barrier", number(wait_kind::abt_barrier), nullptr},
  {"wait:ABT_cond", number(wait_kind::abt_condition), nullptr},
  {"wait:I/O", number(wait_kind::io), nullptr},
  {"wait:blocking call", number(wait_kind::blocking_call), nullptr},
  {"wait:messages", number(wait_kind::messages), nullptr},

  // Numbers of io::operation, which stands above this room; weft/io/request.cpp holds it to them.
  {"call:read", 0, nullptr},
  {"call:write", 1, nullptr},
  {"call:recv", 2, nullptr},
  {"call:send", 3, nullptr},
  {"call:accept", 4, nullptr},
  {"call:connect", 5, nullptr},
  {"call:poll", 6, nullptr},
  {"call:open", 7, nullptr},
  {"call:fsync", 8, nullptr},
  {"call:fdatasync", 9, nullptr},
  {"", 0, nullptr},
};
// clang-format on
#pragma GCC diagnostic pop
