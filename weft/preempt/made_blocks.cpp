// SPDX-License-Identifier: MIT
#include "weft/preempt/made_blocks.hpp"

#include <dlfcn.h>
#include <linux/futex.h>
#include <locale.h>
#include <pthread.h>
#include <resolv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "weft/arch/user_mode.hpp"
#include "weft/base/assert.hpp"
#include "weft/base/atomic.hpp"
#include "weft/base/fence.hpp"
#include "weft/base/immortal.hpp"
#include "weft/base/knob.hpp"
#include "weft/base/spin_lock.hpp"
#include "weft/carrier/user_mode.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/futex.hpp"
#include "weft/os/own_heap.hpp"
#include "weft/preempt/creator.hpp"
#include "weft/preempt/libc_blocks.hpp"
#include "weft/preempt/libc_threads.hpp"
#include "weft/preempt/spares.hpp"

namespace weft::preempt {
namespace {

enum : unsigned { made, by_donors };
constexpr const char* block_sources[] = {"made", "donors"};
constinit base::choice_knob blocks_knob{
    "WEFT_PREEMPTION_BLOCKS", made, block_sources,
    "where threads of bound_tls have their thread-local storage from: made for them, or a kernel thread's, "
    "as where libc is not known"};
const base::knob_list blocks_knobs{blocks_knob};

// As many threads as have a spare each that goes on with one alone (spares.hpp), if a cooperative thread
// waits for what a preempted one holds. A spare is kept by who has gone on alone and waits for the same lock:
// 64 that were all preempted on the way to one arena of malloc's, of which there are eight a CPU, are not to
// be expected. Each costs 9 KiB, and the kernel its own stack.
constexpr std::size_t most_spares = 64;

// `block` is first: what belongs to a block stands where it does.
struct made_block : os::on_own_heap {
  sched::tls_block block;
  std::byte* variables = nullptr; // what the thread pointer points to
  std::jmp_buf way_out{};
  made_block* made_before = nullptr;

  static made_block& of(sched::tls_block& b) noexcept { return reinterpret_cast<made_block&>(b); }
};

// How the thread-locals of all libraries begin, but for those that are made at their first use: what a block
// that has been used is renewed from. Ownership: set() is the creator's; anyone may copy meanwhile. Ordering:
// a sequence lock; a copy that has seen half of a change is made again.
class image {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0}; // not of all that there are
  // relaxed: who copies looks at `changes_`
  [[nodiscard]] bool is_of(libraries now) const noexcept { return libraries_.load_relaxed() == now.changes; }
  // From a block that was never used; `low`: where its thread-locals begin; `changes`: which libraries are in
  // it. False: out of memory.
  bool set(const libc_blocks& known, std::byte* fresh, std::ptrdiff_t low, std::uint64_t changes) noexcept {
    const std::size_t most = static_cast<std::size_t>(-known.low) / sizeof(std::uint64_t);
    if (words_ == nullptr) {
      auto* const room = static_cast<base::atomic<std::uint64_t>*>(os::own_allocate(most * sizeof *words_));
      if (room == nullptr)
        return false;
      words_ = room;
    }
    const std::uint32_t before = changes_.load_relaxed();
    changes_.store_relaxed(before + 1);
    base::release_fence(); // the odd number before any word; pairs with the fence in copy_to()
    const std::size_t count = static_cast<std::size_t>(-low) / sizeof(std::uint64_t);
    for (std::size_t k = 0; k != count; ++k)
      words_[k].store_relaxed(at<std::uint64_t>(fresh, low + place(k)));
    low_.store_relaxed(low);
    libraries_.store_relaxed(changes);
    changes_.store_release(before + 2); // pairs with the acquire in copy_to()
    return true;
  }
  // All but libc's own.
  void copy_to(const libc_blocks& known, std::byte* block) const noexcept {
    for (;;) {
      const std::uint32_t before = changes_.load_acquire(); // pairs with the release in set()
      if (before % 2 == 0) {
        const std::ptrdiff_t low = low_.load_relaxed();
        copy(block, low, low, std::max(low, known.libc_low));
        copy(block, low, std::max(low, known.libc_end), 0);
        base::acquire_fence(); // the words before the second look; pairs with the fence in set()
        if (changes_.load_relaxed() == before)
          return;
      }
      base::backend::yield_kernel_thread(); // once for each library that is loaded
    }
  }

 private:
  static std::ptrdiff_t place(std::size_t word) noexcept {
    return static_cast<std::ptrdiff_t>(word * sizeof(std::uint64_t));
  }
  void copy(std::byte* block, std::ptrdiff_t low, std::ptrdiff_t from, std::ptrdiff_t to) const noexcept {
    const base::atomic<std::uint64_t>* word = words_ + (from - low) / place(1);
    for (; from < to; from += place(1), ++word)
      at<std::uint64_t>(block, from) = word->load_relaxed();
  }

  base::atomic<std::uint32_t> changes_{0};
  base::atomic<std::uint64_t> libraries_{none};
  base::atomic<std::ptrdiff_t> low_{0};
  base::atomic<std::uint64_t>* words_ = nullptr; // before the first number is known
};

// What is known of libc is the process's for good, in a child of fork() too.
struct knowledge {
  base::atomic<const libc_blocks*> libc{nullptr};
  base::atomic<const char*> why_not{nullptr};
};
constinit knowledge known_blocks;

// Ownership: lists and counts, `lock_`, a leaf that is held for a few instructions. Blocks are made by the
// creator alone, for malloc's lock and the loader's are taken then: whose owner may have been preempted, and
// goes on only if no worker waits for the creator.
class made_blocks {
 public:
  [[nodiscard]] bool is_known() const noexcept {
    // acquire: pairs with the releases in find_out()
    return known_blocks.libc.load_acquire() != nullptr || known_blocks.why_not.load_acquire() != nullptr;
  }
  void await_known() noexcept {
    while (!is_known()) {
      const std::uint32_t turns = turns_.load_acquire(); // pairs with the release in make()
      if (is_known())
        return;
      ask_creator(made_blocks_wanted);
      os::futex_wait(&turns_, turns);
    }
  }

  sched::tls_block* bind(bool first) {
    // One that has come since the creator looked has found it too early, and is for the next thread.
    const bool is_old = !image_.is_of(libraries_now());
    if (is_old && (first || asked_.load_acquire())) // acquire: pairs with the release in make()
      return ask(first);
    if (sched::tls_block* const block = take(first)) {
      if (renew(*block))
        return block;
      // While a library is being loaded there is no image with it. What is below it in this block may be the
      // last thread's, and the loader may have written what it wants to before that thread.
      take_back(block);
      first = true; // its share of `wanted_` went with the block
    }
    if (const int error = error_.exchange_relaxed(0)) {
      if (!first)
        wanted_.fetch_sub_relaxed(1);
      throw std::system_error(error, std::generic_category(), "weft: no memory for thread-local storage");
    }
    return ask(first);
  }
  void await() noexcept {
    constexpr std::int64_t look_again = 10'000'000; // whoever was faster may have taken what was made
    const std::uint32_t turns = turns_.load_acquire();
    if (asked_.load_acquire())
      os::futex_wait_until(&turns_, turns, os::now_ns() + look_again);
  }
  void take_back(sched::tls_block* first) noexcept {
    const std::scoped_lock held(lock_);
    while (first != nullptr) {
      sched::tls_block* const next = std::exchange(first->next, free_);
      free_ = first;
      ++free_count_;
      first = next;
    }
  }
  // False: libraries have changed since the image was made. One may have come during the copy, and its
  // variables have been written over by those of one that has gone.
  bool renew(sched::tls_block& block) noexcept {
    const libc_blocks& known = *known_blocks.libc.load_relaxed(); // relaxed: whoever has a block has seen it
    std::byte* const variables = made_block::of(block).variables;
    image_.copy_to(known, variables);
    at<int>(variables, known.error) = 0;
    at<int>(variables, known.resolver_error) = 0;
    return image_.is_of(libraries_now());
  }

  // The creator's turn.
  void make() noexcept {
    if (!is_known())
      find_out();
    int error = 0;
    if (const libc_blocks* const known = known_blocks.libc.load_relaxed()) {
      error = renew_image(*known);
      for (std::size_t left = error == 0 ? missing() : 0; left != 0 && error == 0; --left)
        error = make_one(*known);
    }
    if (error != 0)
      error_.store_relaxed(error);
    asked_.store_release(false); // pairs with the acquires of who waits: what was made is there
    turns_.fetch_add_release(1); // pairs with the acquires of who waits
    os::futex_wake(&turns_, INT_MAX);
    reserve();
  }
  void forget_spares() noexcept {
    reserved_.store_relaxed(0);
    has_no_spares_.store_relaxed(false);
    asked_.store_relaxed(false); // the creator has ended
  }
  // Those that are free are leaked.
  void forget_after_fork() noexcept {
    made_block* const all = last_made_;
    ::new (static_cast<void*>(this)) made_blocks;
    last_made_ = all;
  }
  // In a child of fork(): that of its only thread, or any that was made. Null: there are none.
  [[nodiscard]] std::byte* of_only_thread() const noexcept {
    const made_block* found = nullptr;
    sched::descriptor* const u = sched::on_worker() ? sched::here().current : nullptr;
    if (u != nullptr && sched::user_mode::has_bound_block(*u)) {
      void* const own = sched::user_mode::enter_bound_block(*u);
      void* const variables = arch::thread_pointer();
      sched::user_mode::leave_bound_block(own);
      for (found = last_made_; found != nullptr && found->variables != variables;)
        found = found->made_before;
    }
    if (found == nullptr)
      found = last_made_;
    return found != nullptr ? found->variables : nullptr;
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_.load_relaxed(); }

 private:
  void find_out() noexcept {
    const char* why = "WEFT_PREEMPTION_BLOCKS says so";
    const libc_blocks* found = nullptr;
    if (blocks_knob.get() == made) {
      found = learn_libc_blocks(why);
      if (found == nullptr)
        base::warn("threads of bound_tls take a kernel thread each, as this libc differs from those that are "
                   "known: %s",
                   why);
    }
    if (found != nullptr) {
      known_blocks.libc.store_release(found); // pairs with the acquire in is_known()
    } else {
      known_blocks.why_not.store_release(why); // the same
    }
  }
  sched::tls_block* ask(bool first) noexcept {
    wanted_.fetch_add_relaxed(first ? 1 : 0);
    if (!asked_.exchange_acq_rel(true)) // pairs with the release in make()
      ask_creator(made_blocks_wanted);
    return nullptr;
  }
  sched::tls_block* take(bool first) noexcept {
    bool lacks_spare = false;
    sched::tls_block* block = nullptr;
    {
      const std::scoped_lock held(lock_);
      block = free_;
      if (block == nullptr)
        return nullptr;
      free_ = std::exchange(block->next, nullptr);
      --free_count_;
      wanted_.fetch_sub_relaxed(first ? 0 : 1);
      lacks_spare = wants_spare(count_.load_relaxed() - free_count_);
    }
    if (lacks_spare && !asked_.exchange_acq_rel(true)) // as in ask()
      ask_creator(made_blocks_wanted);
    return block;
  }
  [[nodiscard]] bool wants_spare(std::size_t out) const noexcept {
    return reserved_.load_relaxed() < std::min(out, most_spares) && !has_no_spares_.load_relaxed();
  }
  // The more there are the more are made at once: a program that starts many waits seldom.
  std::size_t missing() noexcept {
    constexpr std::size_t least = 4, most = 64, share = 4;
    const std::scoped_lock held(lock_);
    const std::size_t wanted = wanted_.load_relaxed();
    if (free_count_ >= wanted)
      return 0;
    return wanted - free_count_ + std::clamp(count_.load_relaxed() / share, least, most);
  }
  // Other ones in each process, as mutexes may be shared.
  std::uint32_t next_id() noexcept {
    constexpr std::uint32_t mask = lowest_block_id - 1, spread = 0x9e3779b1;
    const std::uint32_t first = static_cast<std::uint32_t>(::getpid()) * spread;
    return lowest_block_id | ((first + static_cast<std::uint32_t>(count_.load_relaxed())) & mask);
  }
  enum class lives : std::uint8_t { for_good, for_a_look };
  // As they begin. Where libraries that come later have theirs is zero, not as malloc gave it. Null: out of
  // memory. One that lives for good is in libc's lists before it is written, so that a library which comes
  // meanwhile is in it either way.
  static std::byte* allocate_variables(const libc_blocks& known, lives how_long) noexcept {
    auto* const variables = static_cast<std::byte*>(known.allocate(nullptr));
    if (variables == nullptr)
      return nullptr;
    std::memset(variables + known.low, 0, static_cast<std::size_t>(-known.low));
    if (how_long == lives::for_good)
      join_libcs_threads(known, variables);
    known.initialise(variables, true);
    return variables;
  }
  int make_one(const libc_blocks& known) noexcept {
    auto* const fresh = new (std::nothrow) made_block;
    if (fresh == nullptr)
      return ENOMEM;
    std::byte* const variables = allocate_variables(known, lives::for_good);
    if (variables == nullptr) {
      delete fresh;
      return ENOMEM;
    }
    arch::point_above_all_stacks(fresh->way_out);
    if (!complete_block(known, variables, next_id(), &fresh->way_out))
      return EINVAL; // libc knows it: it stays
    fresh->variables = variables;
    fresh->block.is_made = true;
    describe(*fresh);
    fresh->made_before = std::exchange(last_made_, fresh);
    count_.fetch_add_relaxed(1);
    take_back(&fresh->block);
    return 0;
  }
  [[gnu::noinline]] static void describe(made_block& fresh) noexcept {
    void* const own = arch::thread_pointer();
    arch::set_thread_pointer(fresh.variables);
    sched::describe_tls_block(fresh.block);
    arch::set_thread_pointer(own);
  }
  int renew_image(const libc_blocks& known) noexcept {
    const libraries now = libraries_now();
    if (image_.is_of(now))
      return 0;
    std::byte* const fresh = allocate_variables(known, lives::for_a_look);
    if (fresh == nullptr)
      return ENOMEM;
    const auto* const slots = at<const libc_slot*>(fresh, known.slots);
    const auto count = reinterpret_cast<std::uintptr_t>(slots[-1].variables);
    std::ptrdiff_t low = 0;
    for (std::uintptr_t k = 1; k <= count; ++k) {
      const auto* const variables = static_cast<const std::byte*>(slots[k].variables);
      if (variables != not_made && variables != nullptr && variables >= fresh + known.low &&
          variables < fresh)
        low = std::min(low, variables - fresh);
    }
    low &= -static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
    // One that is being loaded may not be in it yet.
    const bool is_whole = reinterpret_cast<std::uintptr_t>(slots[0].variables) >= now.newest;
    const bool is_set = image_.set(known, fresh, low, is_whole ? now.changes : image::none);
    known.free(fresh, true);
    return is_set ? 0 : ENOMEM;
  }
  // After the blocks, for which somebody waits.
  void reserve() noexcept {
    const auto out = [this] {
      const std::scoped_lock held(lock_);
      return count_.load_relaxed() - free_count_;
    };
    while (wants_spare(out())) {
      if (reserve_spare() != 0)
        return has_no_spares_.store_relaxed(true);
      reserved_.fetch_add_relaxed(1);
    }
  }

  image image_;
  base::atomic<bool> asked_{false};       // the creator has a turn before it, or under way
  base::atomic<std::uint32_t> wanted_{0}; // who asked and waits
  base::atomic<int> error_{0};            // for whoever asks next
  base::atomic<std::uint32_t> turns_{0};  // a futex
  base::atomic<std::size_t> count_{0};
  base::atomic<std::size_t> reserved_{0}; // spares
  base::atomic<bool> has_no_spares_{false};
  base::spin_lock lock_;
  sched::tls_block* free_ = nullptr;
  std::size_t free_count_ = 0;
  made_block* last_made_ = nullptr; // the creator's
};

made_blocks& process_blocks() noexcept {
  return base::immortal<made_blocks>();
}

// --- the end of a thread, on its block ---

libc_value* group_of(const libc_blocks& known, std::byte* variables, std::size_t group) noexcept {
  const auto offset = static_cast<std::ptrdiff_t>(group * sizeof(void*));
  return group == 0 ? &at<libc_value>(variables, known.first_values)
                    : at<libc_value*>(variables, known.values + offset);
}

// A destructor may set values: what is left after the rounds that POSIX asks for is forgotten.
void destroy_values(const libc_blocks& known, std::byte* variables) noexcept {
  if (!at<bool>(variables, known.has_values))
    return;
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && at<bool>(variables, known.has_values);
       ++round) {
    at<bool>(variables, known.has_values) = false;
    for (std::size_t group = 0; group != key_groups; ++group) {
      libc_value* const values = group_of(known, variables, group);
      for (std::size_t k = 0; values != nullptr && k != keys_in_group; ++k) {
        void* const data = std::exchange(values[k].data, nullptr);
        if (data == nullptr)
          continue;
        const libc_key& key = known.keys[group * keys_in_group + k];
        const auto number = __atomic_load_n(&key.number, __ATOMIC_RELAXED);
        const auto destroy = __atomic_load_n(&key.destructor, __ATOMIC_RELAXED);
        if (number == values[k].number && destroy != nullptr)
          destroy(data);
      }
    }
  }
  std::memset(group_of(known, variables, 0), 0, keys_in_group * sizeof(libc_value));
  for (std::size_t group = 1; group != key_groups; ++group) {
    std::free(group_of(known, variables, group));
    at<void*>(variables, known.values + static_cast<std::ptrdiff_t>(group * sizeof(void*))) = nullptr;
  }
  at<bool>(variables, known.has_values) = false;
}

// As the kernel does for a kernel thread that has ended: who waits for such a mutex is told.
void abandon_mutexes(const libc_blocks& known, std::byte* variables) noexcept {
  std::byte* const head = variables + known.robust;
  const auto to_word = at<std::ptrdiff_t>(head, sizeof(void*));
  const auto id = at<std::uint32_t>(variables, known.id);
  constexpr std::uintptr_t inherits = 1; // a mark in the address
  for (auto entry = at<std::uintptr_t>(head, 0); entry != reinterpret_cast<std::uintptr_t>(head);) {
    auto* const mutex = reinterpret_cast<std::byte*>(entry & ~inherits);
    entry = at<std::uintptr_t>(mutex, 0);
    auto* const owner = &at<std::uint32_t>(mutex, to_word);
    std::uint32_t seen = __atomic_load_n(owner, __ATOMIC_RELAXED);
    while ((seen & FUTEX_TID_MASK) == id &&
           // release: what the owner did; pairs with the acquire of libc's lock
           !__atomic_compare_exchange_n(owner, &seen, (seen & FUTEX_WAITERS) | FUTEX_OWNER_DIED, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    if ((seen & FUTEX_WAITERS) != 0)
      static_cast<void>(::syscall(SYS_futex, owner, FUTEX_WAKE, 1, nullptr, nullptr, 0)); // as libc waits
  }
  at<std::byte*>(head, 0) = head;
  at<std::byte*>(head, -std::ptrdiff_t{sizeof(void*)}) = head;
}

// Thread-locals of libraries that came later, or with too many: they are made at their first use.
void free_dynamic(const libc_blocks& known, std::byte* variables) noexcept {
  auto* const slots = at<libc_slot*>(variables, known.slots);
  const auto there = reinterpret_cast<std::uintptr_t>(slots[-1].variables);
  const std::uintptr_t used = std::min(there, libraries_now().slots); // the rest would be a few cache lines
  for (std::uintptr_t k = 1; k <= used; ++k) {
    if (slots[k].from_malloc == nullptr)
      continue;
    slots[k].variables = not_made;
    std::free(std::exchange(slots[k].from_malloc, nullptr));
  }
}

} // namespace

bool blocks_are_made() noexcept {
  process_blocks().await_known();
  return known_blocks.libc.load_acquire() != nullptr; // pairs with the release in find_out()
}

const char* why_no_blocks_are_made() noexcept {
  return known_blocks.why_not.load_acquire(); // pairs with the release in find_out()
}

sched::tls_block* bind_made(bool first) {
  return process_blocks().bind(first);
}

void await_made() noexcept {
  process_blocks().await();
}

void take_back_made(sched::tls_block* first) noexcept {
  process_blocks().take_back(first);
}

bool renew_made(sched::tls_block& block) noexcept {
  return process_blocks().renew(block);
}

// Since then setlocale() may have been called, and the last thread have left another locale behind.
void begin_on_made(sched::tls_block&) noexcept {
  ::uselocale(LC_GLOBAL_LOCALE);
}

// In libc's order. What it keeps for its own use, malloc's cache above all, is for the next thread.
void end_on_made(sched::tls_block& block) noexcept {
  const libc_blocks& known = *known_blocks.libc.load_relaxed(); // relaxed: whoever has a block has seen it
  std::byte* const variables = made_block::of(block).variables;
  known.run_destructors();
  destroy_values(known, variables);
  if (::dlerror() != nullptr)
    ::dlerror(); // frees it
  struct __res_state& resolver = at<struct __res_state>(variables, known.resolver);
  if (resolver.nscount != 0) {
    ::res_nclose(&resolver);
    resolver.nscount = 0;
    resolver.options = 0; // it is asked for anew
  }
  free_dynamic(known, variables);
  abandon_mutexes(known, variables);
  at<std::uint32_t>(variables, known.cancels) = 0;
  ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  ::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, nullptr);
}

void make_blocks() noexcept {
  process_blocks().make();
}

void forget_spares_of_made() noexcept {
  process_blocks().forget_spares();
}

void forget_made_after_fork() noexcept {
  const libc_blocks* const known = known_blocks.libc.load_relaxed(); // relaxed: there is one kernel thread
  if (std::byte* const block = process_blocks().of_only_thread())
    lead_libcs_threads(*known, block);
  process_blocks().forget_after_fork();
}

std::size_t made_block_count() noexcept {
  return process_blocks().count();
}

} // namespace weft::preempt
