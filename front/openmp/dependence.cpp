// SPDX-License-Identifier: MIT
#include "front/openmp/dependence.hpp"

#include "front/openmp/team.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft::openmp {
namespace {

struct access {
  void* address;
  bool writes;
  tool::dependence_type as_told = tool::reads;
};

// Of the kinds that omp_depend_t objects have: in, out, inout, mutexinoutset, inoutset.
tool::dependence_type type_of(std::uintptr_t kind) noexcept {
  constexpr tool::dependence_type types[] = {tool::reads,    tool::reads,
                                             tool::writes,   tool::reads_and_writes,
                                             tool::excludes, tool::reads_and_writes_together};
  return kind < std::size(types) ? types[kind] : tool::reads_and_writes;
}

// Two forms. The old one: the number of addresses, that of those that are written, the addresses, written
// ones first. The other: 0, the number of all, of those written, of mutexinoutset, of those read, the
// addresses in that order, and then pointers to objects that say themselves what they are. mutexinoutset is
// taken for inout: such tasks then run in the order of their making.
template <class Action>
void for_each_access(void** depend, Action action) {
  const auto number = [depend](unsigned i) { return reinterpret_cast<std::uintptr_t>(depend[i]); };
  if (number(0) != 0) {
    const std::uintptr_t all = number(0);
    for (std::uintptr_t i = 0; i < all; ++i)
      action(access{depend[2 + i], i < number(1), i < number(1) ? tool::reads_and_writes : tool::reads});
    return;
  }
  const std::uintptr_t all = number(1);
  const std::uintptr_t out = number(2);
  const std::uintptr_t written = out + number(3);
  const std::uintptr_t plain = written + number(4);
  for (std::uintptr_t i = 0; i < plain; ++i)
    action(access{depend[5 + i], i < written,
                  i < out       ? tool::reads_and_writes
                  : i < written ? tool::excludes
                                : tool::reads});
  for (std::uintptr_t i = plain; i < all; ++i) {
    const auto& object = *static_cast<const depend_object*>(depend[5 + i]);
    action(access{object.address, object.kind != 1, type_of(object.kind)});
  }
}

dependences& table_of(task& maker) {
  if (maker.table == nullptr)
    maker.table = std::make_unique<dependences>();
  return *maker.table;
}

std::vector<task*> tasks_before(task& maker, void** depend) {
  std::vector<task*> list;
  dependences& table = table_of(maker);
  for_each_access(depend, [&](const access& a) { table.find(a.address, a.writes, list); });
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

// `link` is the waiting task's. False: there is nothing to wait for, the other one has ended.
bool wait_for(task& other, task& k, successor& link) noexcept {
  const locked held(other.lock);
  if (other.ended.load_relaxed()) // relaxed: under the lock
    return false;
  k.blockers.fetch_add_relaxed(1); // relaxed: the caller has one more until all are noted
  link = {&k, other.successors};
  other.successors = &link;
  return true;
}

std::vector<tool::dependence> as_told(void** depend) {
  std::vector<tool::dependence> list;
  for_each_access(depend, [&list](const access& a) {
    const bool is_all = a.address == all_memory;
    tool::dependence& d = list.emplace_back();
    d.variable.pointer = is_all ? nullptr : a.address;
    d.type = is_all ? tool::all_memory_inout : a.as_told;
  });
  return list;
}

} // namespace

dependences::~dependences() {
  forget();
}

void dependences::forget() noexcept {
  for (auto& [address, a] : at_) {
    if (a.writer != nullptr)
      release(*a.writer);
    for (task* reader : a.readers)
      release(*reader);
  }
  at_.clear();
  if (writer_of_all_ != nullptr)
    release(*std::exchange(writer_of_all_, nullptr));
}

void dependences::find(void* address, bool writes, std::vector<task*>& list) const {
  if (writer_of_all_ != nullptr)
    list.push_back(writer_of_all_);
  if (address == all_memory) {
    for (const auto& [one, a] : at_) {
      if (a.writer != nullptr)
        list.push_back(a.writer);
      list.insert(list.end(), a.readers.begin(), a.readers.end());
    }
    return;
  }
  const auto found = at_.find(address);
  if (found == at_.end())
    return;
  if (found->second.writer != nullptr)
    list.push_back(found->second.writer);
  if (writes)
    list.insert(list.end(), found->second.readers.begin(), found->second.readers.end());
}

void dependences::note(void* address, bool writes, task& k) {
  if (address == all_memory) {
    k.hold();
    forget(); // all of them come before this one
    writer_of_all_ = &k;
    return;
  }
  accesses& a = at_[address];
  if (a.writer == &k) // named twice
    return;
  if (!writes) {
    a.readers.push_back(&k);
    return k.hold();
  }
  for (task* reader : a.readers)
    release(*reader);
  a.readers.clear();
  if (a.writer != nullptr)
    release(*a.writer);
  a.writer = &k;
  k.hold();
}

void add_dependences(task& maker, task& k, void** depend) {
  const std::vector<task*> before = tasks_before(maker, depend);
  if (!before.empty())
    k.links = new successor[before.size()];
  for (std::size_t i = 0; i < before.size(); ++i) {
    // The table holds the other one.
    if (wait_for(*before[i], k, k.links[i]) && tool::is_on) [[unlikely]]
      tool::depends(*before[i], k);
  }
  dependences& table = table_of(maker);
  for_each_access(depend, [&](const access& a) { table.note(a.address, a.writes, k); });
}

void tell_dependences(task& k, void** depend) {
  const std::vector<tool::dependence> list = as_told(depend);
  tool::has_dependences(k, list.data(), static_cast<int>(list.size()));
}

void await_dependences_and_tell(thread& t, void** depend) {
  const std::vector<tool::dependence> list = as_told(depend);
  const tool::taskwait_with_dependences told(t, list.data(), static_cast<int>(list.size()));
  await_dependences(t, depend); // SWITCH: may resume on another worker
}

namespace {

// Else its end wakes who waits for it. The lock: who finds it over sees what it did.
bool is_over_or_tells(task& k) noexcept {
  const locked held(k.lock);
  k.is_awaited = true;
  return k.ended.load_relaxed(); // relaxed: under the lock
}

} // namespace

void await_dependences(thread& t, void** depend) {
  if (t.current->table == nullptr)
    return;
  for (task* const other : tasks_before(*t.current, depend)) {
    const door::atomic<bool>& ended = other->ended;
    if (!is_over_or_tells(*other)) // acquire below: as the lock here
      await(t, helping::descendants, [&ended] { return ended.load_acquire(); }); // SWITCH: may resume
  }
}

} // namespace weft::openmp
