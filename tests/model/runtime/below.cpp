// SPDX-License-Identifier: MIT
// What the shipped sources under machine.hpp call of the rooms that are not there.
#include "tests/model/runtime/below.hpp"
#include "tests/model/checker/model.hpp"
#include "tests/model/checker/quarantine.hpp"
#include "weft/arch/user_mode.hpp"
#include "weft/carrier/kick.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/memory/fork.hpp"
#include "weft/memory/object_depot.hpp"
#include "weft/os/fault.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/os/mapping.hpp"
#include "weft/os/signal.hpp"
#include "weft/park/watcher_rest.hpp"
#include "weft/workers/group.hpp"
#include "weft/workers/worker.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

namespace weft {
namespace {

[[noreturn]] void not_modelled(const char* what) {
  model::fail(std::string("not modelled here: ") + what);
}

alignas(64) constinit sched::worker_face others{};

// Of this execution, and part of its state, where executions are merged. Else mappings are kept from one
// execution to the next, by size.
void* map_in_execution(std::size_t bytes, std::size_t alignment) {
  return ::operator new(bytes, std::align_val_t(alignment));
}
std::map<std::size_t, std::vector<void*>>& free_mappings() {
  static auto& all = *new std::map<std::size_t, std::vector<void*>>;
  return all;
}

// The same, for what is never unmapped: free again when the next execution begins.
struct taken {
  std::size_t bytes;
  void* at;
};
std::vector<taken>& taken_now() {
  static auto& all = *new std::vector<taken>;
  return all;
}

} // namespace

namespace model::runtime {

void begin_execution() {
  for (const taken& t : taken_now())
    free_mappings()[t.bytes].push_back(t.at);
  taken_now().clear();
}

void* take_for_this_execution(std::size_t bytes, std::size_t alignment) {
  if (quarantine::merges())
    return map_in_execution(bytes, alignment); // zeros, as all there
  auto& kept = free_mappings()[bytes];
  void* at = nullptr;
  if (kept.empty()) {
    at = std::aligned_alloc(alignment, bytes);
  } else {
    at = kept.back();
    kept.pop_back();
  }
  std::memset(at, 0, bytes);
  taken_now().push_back({bytes, at});
  return at;
}

} // namespace model::runtime

namespace os {

constinit std::atomic<bool> fault_armed{false};
int fault_now(fault_site) noexcept {
  return 0;
}
std::size_t memory_page_bytes() noexcept {
  return 4096;
}
int map(std::size_t bytes, page_access, void** result) noexcept {
  if (model::quarantine::merges()) {
    *result = map_in_execution(bytes, 4096);
    return 0;
  }
  auto& kept = free_mappings()[bytes];
  if (kept.empty()) {
    *result = std::aligned_alloc(4096, bytes);
  } else {
    *result = kept.back();
    kept.pop_back();
  }
  return 0;
}
int map_aligned(std::size_t bytes, std::size_t alignment, page_access, void** result) noexcept {
  *result = model::runtime::take_for_this_execution(bytes, alignment);
  return 0;
}
int unmap(void* at, std::size_t bytes) noexcept {
  if (model::quarantine::merges()) {
    ::operator delete(at, std::align_val_t(4096));
    return 0;
  }
  free_mappings()[bytes].push_back(at);
  return 0;
}
int protect(void*, std::size_t, page_access) noexcept {
  return 0;
}
int advise_no_huge(void*, std::size_t) noexcept {
  return 0;
}
std::size_t signal_stack_bytes(std::size_t) noexcept {
  return 32 << 10;
}
void sleep_ns(std::int64_t) noexcept {
  model::relax();
}
pid_t this_kernel_thread_id() noexcept {
  return static_cast<pid_t>(model::self()) + 1;
}
bool is_on_signal_stack() noexcept {
  return false; // no handler runs on one
}

} // namespace os

namespace memory {
void register_depot(object_depot&) noexcept {} // for fork(), which does not happen here
} // namespace memory

namespace sched {

extern "C" {
__thread worker_face* weft_current_worker __attribute__((tls_model("initial-exec"))) = &others;
__thread worker* weft_worker_here __attribute__((tls_model("initial-exec"))) = nullptr;
}
constinit base::atomic<std::uint32_t> listeners_to_units{0};

bool worker::is_here() const noexcept {
  return arch::thread_pointer() == carried.own_thread_pointer.load_relaxed();
}
worker_face& face_of_others() noexcept {
  return others;
}
void tell_ready(descriptor&) noexcept {
  not_modelled("a tool that watches");
}
void worker::note_slowly(trace::event, const void*, std::uint32_t) noexcept {
  not_modelled("a recording");
}
void worker::call(std::uint32_t bits) noexcept {
  ask(bits);
}
void worker::refresh_births() noexcept {}
void owned_fifo::do_forget() {} // for fork()
void owned_ordered::do_forget() {}
void shared_pool::do_forget() {}
void group::primary_stays(worker&) noexcept {} // there is no primary thread
void group::primary_has_left() noexcept {}
void primary_comes_back() noexcept {}
descriptor& group::primary_unit() noexcept {
  static constinit descriptor none{};
  return none;
}
constinit park::watcher_rest rest_of_monitor; // of the monitor, which is not here
void group::adopt(descriptor&) const noexcept {
  not_modelled("a group that adopts");
}
void kick_owner(worker&) noexcept {
  not_modelled("classes of priority");
}
bool enters_user_mode(worker&, const descriptor&) noexcept {
  not_modelled("classes of priority");
}
bool others_wait_in_classes(worker&) noexcept {
  not_modelled("classes of priority");
}

} // namespace sched
} // namespace weft
