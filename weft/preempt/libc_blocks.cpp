// SPDX-License-Identifier: MIT
// What a TLS block needs beside what the loader writes there, found out and tried.
#include "weft/preempt/libc_blocks.hpp"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <resolv.h>
#include <sched.h>

#include <algorithm>
#include <csetjmp>

#include "weft/arch/user_mode.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/preempt/libc_names.hpp"
#include "weft/preempt/libc_threads.hpp"

extern "C" {
// glibc 2.35: where a kernel thread's area for restartable sequences stands, from the thread pointer.
extern const std::ptrdiff_t __rseq_offset __attribute__((weak));
}

namespace weft::preempt {
namespace {

constexpr std::ptrdiff_t word = sizeof(void*);

// --- the loader's tables, as it describes them to debuggers ---

// Of the process: a library in each slot.
struct library_slot {
  std::size_t generation;
  const void* owner;
};
struct library_list {
  std::size_t count;
  const library_list* next;
};

std::byte* tp() noexcept {
  return static_cast<std::byte*>(arch::thread_pointer());
}
libc_slot* slots_of(std::byte* block) noexcept {
  return at<libc_slot*>(block, names_of_libc().slots_of_thread->offset);
}
std::size_t count_of(const libc_slot* slots) noexcept {
  return reinterpret_cast<std::size_t>(slots[-1].variables);
}
std::size_t generation_of(const libc_slot* slots) noexcept {
  return reinterpret_cast<std::size_t>(slots[0].variables);
}

const library_list* library_slots() noexcept {
  const libc_names& n = names_of_libc();
  return __atomic_load_n(
      reinterpret_cast<const library_list* const*>(n.loader + n.libraries_of_loader->offset),
      __ATOMIC_RELAXED);
}

// --- from the block of this kernel thread, which libc has made ---

[[gnu::noinline]] std::ptrdiff_t place_of_error() noexcept {
  return reinterpret_cast<std::byte*>(&errno) - tp();
}
[[gnu::noinline]] std::ptrdiff_t place_of_resolver_error() noexcept {
  return reinterpret_cast<std::byte*>(&h_errno) - tp();
}
[[gnu::noinline]] std::ptrdiff_t place_of_resolver() noexcept {
  return reinterpret_cast<std::byte*>(::__res_state()) - tp();
}

// The one word of this block of which that is true; 0: of none, or of several.
template <class Is>
std::ptrdiff_t only_word(std::ptrdiff_t low, std::ptrdiff_t end, Is is) noexcept {
  std::ptrdiff_t found = 0;
  for (std::ptrdiff_t place = low; place + word <= end; place += word) {
    if (!is(at<std::byte>(tp(), place)))
      continue;
    if (found != 0)
      return 0;
    found = place;
  }
  return found;
}

// It is empty: its head is linked to itself, in both directions. The kernel would say where it is, too, but a
// program's filter may keep it from that call.
bool find_robust_list(libc_blocks& b) noexcept {
  b.robust = only_word(b.list + 3 * word, b.end, [](const std::byte& w) {
    const auto* const place = reinterpret_cast<const std::byte* const*>(&w);
    return place[0] == &w && place[-1] == &w;
  });
  return b.robust != 0;
}

// It is on this kernel thread's stack, where libc has begun it.
bool find_way_out(libc_blocks& b) noexcept {
  void* low = nullptr;
  std::size_t bytes = 0;
  if (os::this_kernel_thread_stack(&low, &bytes) != 0)
    return false;
  const auto* begin = static_cast<std::byte*>(low);
  b.way_out = only_word(b.list, b.end, [&](const std::byte& w) {
    const std::byte* const value = reinterpret_cast<std::byte* const&>(w);
    return value > begin && value < std::min<const std::byte*>(begin + bytes, tp());
  });
  return b.way_out != 0;
}

bool find_resolver(libc_blocks& b) noexcept {
  b.resolver = place_of_resolver();
  const std::byte* const state = tp() + b.resolver;
  b.resolver_address = only_word(b.libc_low, b.libc_end, [&](const std::byte& w) {
    return reinterpret_cast<std::byte* const&>(w) == state;
  });
  return b.resolver > 0 && b.resolver + static_cast<std::ptrdiff_t>(sizeof(struct __res_state)) <= b.end &&
         b.resolver_address != 0;
}

bool find_values(libc_blocks& b) noexcept {
  const described_member& all = *names_of_libc().values_of_thread;
  b.values = all.offset;
  b.has_values = b.values + static_cast<std::ptrdiff_t>(key_groups) * word;
  b.first_values = at<std::byte*>(tp(), b.values) - tp();
  return all.bits == key_groups * word * 8 && b.first_values > 0 &&
         b.first_values + static_cast<std::ptrdiff_t>(keys_in_group * sizeof(libc_value)) <= b.values;
}

// Neighbours come and go meanwhile.
bool is_in_list_of_threads(std::ptrdiff_t place) noexcept {
  for (int looks = 0; looks < 100; ++looks) {
    auto* const me = tp() + place;
    auto* const next = __atomic_load_n(&at<std::byte*>(me, 0), __ATOMIC_ACQUIRE);
    if (next != nullptr && next != me && __atomic_load_n(&at<std::byte*>(next, word), __ATOMIC_ACQUIRE) == me)
      return true;
  }
  return false;
}

// Null, or what is not as it should be.
const char* look_at_own_block(libc_blocks& b) noexcept {
  const libc_names& n = names_of_libc();
  if (n.missing != nullptr)
    return n.missing;
  b.allocate = n.allocate;
  b.initialise = n.initialise;
  b.free = n.free;
  b.run_destructors = n.run_destructors;
  b.end = *n.bytes_for_thread;
  b.list = n.list_of_thread->offset;
  b.id = n.id_of_thread->offset;
  b.cancels = n.cancels_of_thread->offset;
  b.slots = n.slots_of_thread->offset;
  constexpr std::ptrdiff_t most = 1 << 16;
  if (b.end <= 0 || b.end > most || b.list <= b.slots || std::max({b.list, b.id, b.cancels}) >= b.end)
    return "the size of a thread's block";
  std::size_t bytes = 0, alignment = 0;
  n.static_size(&bytes, &alignment);
  b.low = b.end - static_cast<std::ptrdiff_t>(bytes);
  if (b.low >= 0 || -b.low > most * 256 || b.low % word != 0)
    return "the size of thread-locals";
  if (at<std::byte*>(tp(), 0) != tp() || at<pid_t>(tp(), b.id) != os::this_kernel_thread_id())
    return "the id of a thread";
  if (!is_in_list_of_threads(b.list))
    return "the list of threads";
  const libc_slot* const mine = slots_of(tp());
  if (n.libc_tls_slot == 0 || n.libc_tls_slot > count_of(mine))
    return "the table of thread-locals";
  b.libc_low = static_cast<std::byte*>(mine[n.libc_tls_slot].variables) - tp();
  b.libc_end = b.libc_low + static_cast<std::ptrdiff_t>(n.libc_tls_bytes);
  b.error = place_of_error();
  b.resolver_error = place_of_resolver_error();
  const auto is_libcs = [&](std::ptrdiff_t place) { return place >= b.libc_low && place < b.libc_end; };
  if (b.libc_low < b.low || b.libc_end > 0 || b.libc_low % word != 0 || b.libc_end % word != 0 ||
      !is_libcs(b.error) || !is_libcs(b.resolver_error))
    return "libc's own thread-locals";
  if (!find_robust_list(b))
    return "the list of robust mutexes";
  if (!find_values(b))
    return "values of keys";
  if (!find_way_out(b))
    return "the way out of a thread";
  if (!find_resolver(b))
    return "the resolver's state";
  return nullptr;
}

// --- a trial ---

// Two addresses to look for; never called.
int trial_marks = 0;
void mark_one(void*) {
  trial_marks += 1;
}
void mark_two(void*) {
  trial_marks += 2;
}

struct trial {
  libc_blocks& known;
  std::byte* block;
  std::uint32_t id;
  const char* failed;
};

const char* try_mutexes(const trial& t) noexcept {
  pthread_mutexattr_t kind;
  ::pthread_mutexattr_init(&kind);
  ::pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  ::pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_t m;
  ::pthread_mutex_init(&m, &kind);
  if (::pthread_mutex_lock(&m) != 0 || static_cast<std::uint32_t>(m.__data.__owner) != t.id ||
      ::pthread_mutex_lock(&m) != EDEADLK)
    return "the owner of a mutex";
  auto* const head = t.block + t.known.robust;
  if (at<std::byte*>(head, 0) == head || ::pthread_mutex_unlock(&m) != 0 || at<std::byte*>(head, 0) != head)
    return "the list of robust mutexes";
  ::pthread_mutex_destroy(&m);
  ::pthread_mutexattr_destroy(&kind);
  return nullptr;
}

// Where the keys stand: at the two numbers, with the two functions that were given.
const libc_key* find_keys(pthread_key_t one, pthread_key_t two) noexcept {
  const auto data = names_of_libc().libc_data;
  const auto* const begin = reinterpret_cast<const std::uintptr_t*>(data.data());
  const std::size_t words = data.size() / sizeof *begin;
  const auto has = [&](std::size_t place, void (*function)(void*)) {
    return place < words &&
           __atomic_load_n(begin + place, __ATOMIC_RELAXED) == reinterpret_cast<std::uintptr_t>(function);
  };
  constexpr std::size_t in_key = sizeof(libc_key) / sizeof(std::uintptr_t);
  for (std::size_t place = in_key * one + 1; place < words; ++place) {
    const std::size_t first = place - 1 - in_key * one;
    if (has(place, &mark_one) && has(first + in_key * two + 1, &mark_two))
      return reinterpret_cast<const libc_key*>(begin + first);
  }
  return nullptr;
}

const char* try_keys(const trial& t) noexcept {
  pthread_key_t one, two;
  if (::pthread_key_create(&one, &mark_one) != 0 || ::pthread_key_create(&two, &mark_two) != 0)
    return "no key to be had";
  const bool had_values = at<bool>(t.block, t.known.has_values);
  ::pthread_setspecific(one, t.block);
  const auto* const first = reinterpret_cast<const libc_value*>(t.block + t.known.first_values);
  const libc_value* const group =
      one < keys_in_group
          ? first
          : at<const libc_value*>(
                t.block, t.known.values + static_cast<std::ptrdiff_t>(one / keys_in_group * sizeof(void*)));
  t.known.keys = find_keys(one, two);
  const bool found = t.known.keys != nullptr && group != nullptr && !had_values &&
                     at<bool>(t.block, t.known.has_values) && group[one % keys_in_group].data == t.block &&
                     group[one % keys_in_group].number == t.known.keys[one].number;
  ::pthread_setspecific(one, nullptr);
  ::pthread_key_delete(one);
  ::pthread_key_delete(two);
  return found ? nullptr : "keys";
}

const char* try_all(trial& t) noexcept {
  if (reinterpret_cast<std::byte*>(::pthread_self()) != t.block ||
      t.block + t.known.error != tp() + place_of_error())
    return "the thread pointer";
  if (place_of_resolver() != t.known.resolver)
    return "the resolver's state";
  if (::sched_getcpu() < 0)
    return "the number of the CPU";
  if (const char* failed = try_mutexes(t))
    return failed;
  // Not destructors of thread-locals: to enter one takes the loader's lock, which a library's constructor
  // that creates the first thread holds. Their list is one of libc's thread-locals, whose place is known.
  return try_keys(t);
}

// What the compiler knows of thread-locals must not live across it.
[[gnu::noinline]] void try_on(trial& t) noexcept {
  void* const own = arch::thread_pointer();
  arch::set_thread_pointer(t.block);
  t.failed = try_all(t);
  arch::set_thread_pointer(own);
}

const char* try_block(libc_blocks& b) noexcept {
  static std::jmp_buf nowhere;
  const libraries before = libraries_now();
  auto* const block = static_cast<std::byte*>(b.allocate(nullptr));
  if (block == nullptr)
    return "no memory";
  const libc_slot* const slots = slots_of(block);
  // A library that comes or goes meanwhile is no reason.
  if (generation_of(slots) != before.newest && libraries_now().changes == before.changes)
    return "the table of libraries";
  if (static_cast<std::byte*>(slots[names_of_libc().libc_tls_slot].variables) != block + b.libc_low)
    return "the table of thread-locals";
  keep_apart(b, block);
  if (!complete_block(b, block, lowest_block_id, &nowhere))
    return "a thread that is detached";
  trial t{b, block, lowest_block_id, nullptr};
  try_on(t);
  return t.failed; // the block stays: what malloc has there would be lost with it anyway
}

} // namespace

const libc_blocks* learn_libc_blocks(const char*& why) noexcept {
  static libc_blocks learned;
  why = look_at_own_block(learned);
  if (why == nullptr)
    why = try_block(learned);
  return why == nullptr ? &learned : nullptr;
}

// The generation of a slot is that of the last change to it.
libraries libraries_now() noexcept {
  libraries now{0, 0, 0};
  bool first = true;
  for (const library_list* list = library_slots(); list != nullptr;
       list = __atomic_load_n(&list->next, __ATOMIC_ACQUIRE)) {
    const auto* const slots = reinterpret_cast<const library_slot*>(list + 1);
    for (std::size_t k = first ? 1 : 0; k != list->count; ++k) { // slot 0 is nobody's
      const std::uint64_t generation = __atomic_load_n(&slots[k].generation, __ATOMIC_RELAXED);
      const bool is_there = __atomic_load_n(&slots[k].owner, __ATOMIC_RELAXED) != nullptr;
      if (generation == 0 && !is_there)
        return now; // never used, and what comes takes the first
      ++now.slots;
      now.changes = std::max(now.changes, generation);
      if (is_there)
        now.newest = std::max(now.newest, generation);
    }
    first = false;
  }
  return now;
}

bool complete_block(const libc_blocks& known, std::byte* block, std::uint32_t id, void* way_out) noexcept {
  // The ABI's words: guards of the stack and of pointers, whether there are several threads, and itself.
  for (std::ptrdiff_t place = 0; place + word <= known.list; place += word) {
    std::byte* const value = at<std::byte*>(tp(), place);
    if (place != known.slots)
      at<std::byte*>(block, place) = value == tp() ? block : value;
  }
  at<std::uint32_t>(block, known.id) = id;
  std::byte* const robust = block + known.robust;
  at<std::byte*>(robust, -word) = at<std::byte*>(robust, 0) = robust;
  at<std::byte*>(robust, word) = at<std::byte*>(tp() + known.robust, word); // from an entry to its mutex
  at<std::byte*>(block, known.values) = block + known.first_values;
  at<void*>(block, known.way_out) = way_out;
  at<std::byte*>(block, known.resolver_address) = block + known.resolver;
  if (&__rseq_offset != nullptr) {
    constexpr std::int32_t no_area = -2; // whoever wants the number of the CPU asks the kernel
    at<std::int32_t>(block, __rseq_offset + static_cast<std::ptrdiff_t>(sizeof(std::uint32_t))) = no_area;
  }
  // Nobody can join it: its end is Weft's to tell.
  return ::pthread_detach(reinterpret_cast<pthread_t>(block)) == 0;
}

} // namespace weft::preempt
