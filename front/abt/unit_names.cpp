// SPDX-License-Identifier: MIT
// A hash table of names in 64 parts, each under a lock of its own and growing by itself.
#include "front/abt/unit_names.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <new>

#include "front/abt/object.hpp"
#include "weft/door/atomic.hpp"

namespace weft::abt {
namespace {

constexpr unsigned shard_bits = 6;
constexpr unsigned first_bits = 3; // of the lists that a shard begins with: so it is two lines

std::uint64_t hash_of(ABT_unit name) noexcept {
  // Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, 6.4): addresses differ in their
  // middle bits, the highest ones of the product depend on all of them.
  return (reinterpret_cast<std::uintptr_t>(name) >> 3) * 0x9e3779b97f4a7c15;
}

// Ownership: `lock_`. Invariants: a name with the hash h stands in the list that the 64 - shift_ bits of h
// behind those for the shard say; there are half as many lists as there may be names (`most_`), or memory was
// short.
class alignas(64) shard {
 public:
  constexpr shard() noexcept = default;

  void add(std::uint64_t hash, unit_name& n) noexcept {
    const std::scoped_lock held(lock_);
    if (++count_ > most_) [[unlikely]]
      grow();
    unit_name*& head = list(hash);
    n.next = head;
    head = &n;
  }
  // Null: it does not stand here.
  unit_name* take(std::uint64_t hash, ABT_unit name) noexcept {
    const std::scoped_lock held(lock_);
    for (unit_name** at = &list(hash); *at != nullptr; at = &(*at)->next) {
      unit_name* const found = *at;
      if (found->name != name)
        continue;
      *at = found->next;
      --count_;
      return found;
    }
    return nullptr;
  }
  door::descriptor* find(std::uint64_t hash, ABT_unit name) noexcept {
    const std::scoped_lock held(lock_);
    for (const unit_name* n = list(hash); n != nullptr; n = n->next) {
      if (n->name == name)
        return n->unit;
    }
    return nullptr;
  }

 private:
  unit_name*& list(std::uint64_t hash) noexcept { return lists_[hash << shard_bits >> shift_]; }

  [[gnu::noinline]] void grow() noexcept {
    const unsigned bits = 64 - shift_;
    const unsigned more = bits + 2;
    auto* const wide = new (std::nothrow) unit_name* [std::size_t{1} << more] {};
    if (wide == nullptr)
      return; // longer lists
    unit_name** const before = lists_;
    const std::size_t lists_before = std::size_t{1} << bits;
    lists_ = wide;
    shift_ = 64 - more;
    most_ = std::size_t{2} << more;
    for (std::size_t i = 0; i < lists_before; ++i) {
      while (unit_name* n = before[i]) {
        before[i] = n->next;
        unit_name*& head = list(hash_of(n->name));
        n->next = head;
        head = n;
      }
    }
    if (before != first_.data())
      delete[] before;
  }

  door::spin_lock lock_;
  unsigned shift_ = 64 - first_bits;
  std::size_t count_ = 0;
  std::size_t most_ = std::size_t{2} << first_bits;
  std::array<unit_name*, std::size_t{1} << first_bits> first_{};
  unit_name** lists_ = first_.data();
};

static_assert(sizeof(shard) == 128);
constinit std::array<shard, std::size_t{1} << shard_bits> shards; // has no destructor: units may end late

shard& shard_of(std::uint64_t hash) noexcept {
  return shards[hash >> (64 - shard_bits)];
}

} // namespace

void remember(ABT_unit name, door::descriptor& u, unit_name& own) {
  unit_name* n = &own;
  if (own.taken.exchange(true, std::memory_order_acquire)) [[unlikely]] { // acquire: pairs with forget()
    n = make_owned<unit_name>().release();
    n->allocated = true;
  }
  n->name = name;
  n->unit = &u;
  const std::uint64_t hash = hash_of(name);
  shard_of(hash).add(hash, *n);
}

void forget(ABT_unit name) noexcept {
  const std::uint64_t hash = hash_of(name);
  unit_name* const n = shard_of(hash).take(hash, name);
  if (n == nullptr)
    return;
  if (n->allocated) [[unlikely]]
    return destroy(n);
  n->taken.store(false, std::memory_order_release); // pairs with remember(): the next one may write it
}

door::descriptor* unit_named(ABT_unit name) noexcept {
  const std::uint64_t hash = hash_of(name);
  return shard_of(hash).find(hash, name);
}

} // namespace weft::abt
