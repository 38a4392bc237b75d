// SPDX-License-Identifier: MIT
// The walk: workers by their list; descriptors by the slabs of their depot, less what stands in a list of
// free objects; calls that were forked, whose descriptors lie in their creators' frames, by the stacks.
#include "tools/weft/units.hpp"

#include "tools/weft/functions.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace weft::tool {

class process_units::reader {
 public:
  reader(target& of, const layout& table, process_units& into)
      : target_(of), table_(table), into_(into), functions_(of, table) {}

  void run() {
    read_workers();
    add(primary_);
    read_slabs();
    for (const worker_info& w : into_.workers_)
      add(w.current);
    read_stacks();
    for (const unit_info& u : into_.units_) {
      accounted_.insert(u.join_word); // the joiner waits for it
      if (u.worker == nobody && pointer(u.stack, "stack.owner") != u.at)
        accounted_.insert(pointer(u.stack, "stack.owner")); // waits for it on its own stack
    }
    for (std::size_t i = 0; i < into_.units_.size(); ++i) // may add to them
      look_for_hosted(i);
  }

 private:
  std::uint64_t n(const char* name) const { return table_.number(name); }
  std::optional<address> pointer(address at) { return target_.get<address>(at); }
  address pointer(address object, const char* field) { return pointer(object + n(field)).value_or(0); }

  // What is linked by a field. A list that was caught half changed, or that a broken process has bent into a
  // circle, ends at the first one that was there before.
  std::vector<address> list(address first, const char* next) {
    std::vector<address> found;
    std::unordered_set<address> seen;
    for (address at = first; at != 0 && seen.insert(at).second; at = pointer(at, next))
      found.push_back(at);
    return found;
  }

  void read_workers() {
    const std::vector<address> workers =
        list(pointer(table_.root("root.workers")).value_or(0), "worker.next");
    if (workers.empty())
      throw failure("Weft has not been used in this process yet, or has been stopped: there are no workers");
    for (const address w : workers) {
      if (target_.get<bool>(w + n("worker.ended")).value_or(true))
        continue;
      worker_info info;
      info.at = w;
      info.number = target_.get<unsigned>(w + n("worker.number")).value_or(0);
      info.kernel_thread = target_.get<int>(w + n("worker.kernel_thread")).value_or(0);
      info.asleep = pointer(w, "worker.sleeps_until") != 0;
      info.current = pointer(w, "worker.current");
      pools_[pointer(w, "worker.main_pool")] = static_cast<int>(info.number);
      pools_[w + n("worker.local")] = static_cast<int>(info.number);
      if (info.current == w + n("worker.loop_unit"))
        info.current = 0;
      into_.workers_.push_back(info);
    }
    std::sort(into_.workers_.begin(), into_.workers_.end(),
              [](const worker_info& a, const worker_info& b) { return a.number < b.number; });
  }

  // Objects that are not handed out.
  void collect(std::unordered_set<address>& free, address list, std::uint64_t link) {
    while (list != 0 && free.insert(list).second)
      list = pointer(list + link).value_or(0);
  }

  void read_slabs() {
    const address depot = pointer(table_.root("root.descriptors")).value_or(0);
    if (depot == 0)
      return;
    const std::uint64_t link = pointer(depot, "depot.link");
    std::unordered_set<address> free;
    for (const address c : list(pointer(depot, "depot.caches"), "cache.next"))
      collect(free, pointer(c, "cache.free"), link);
    std::vector<address> slabs;
    for (const address h : list(pointer(depot, "depot.estates"), "estate.next")) {
      collect(free, pointer(h, "estate.remote"), link);
      collect(free, pointer(h, "estate.orphans"), link);
      const std::vector<address> mine = list(pointer(h, "estate.slabs"), "slab.next");
      slabs.insert(slabs.end(), mine.begin(), mine.end());
    }
    std::sort(slabs.begin(), slabs.end());
    const std::uint64_t first = pointer(depot, "depot.first");
    std::vector<std::byte> bytes(n("slab.size"));
    for (const address s : slabs) {
      const auto carved = target_.get<std::uint32_t>(s + n("slab.carved"));
      const std::size_t used = first + carved.value_or(0) * n("unit.size");
      if (!carved || used > bytes.size() || !target_.read(s, bytes.data(), used)) {
        into_.unreadable_.push_back(s);
        continue;
      }
      for (std::uint64_t at = first; at < used; at += n("unit.size")) {
        if (!free.contains(s + at))
          add(s + at, bytes.data() + at);
      }
    }
  }

  template <class T>
  T field(const std::byte* bytes, const char* name) const {
    T value;
    std::memcpy(&value, bytes + n(name), sizeof value);
    return value;
  }

  void add(address at) {
    std::vector<std::byte> bytes(n("unit.size"));
    if (at != 0 && target_.read(at, bytes.data(), bytes.size()))
      add(at, bytes.data());
  }

  void add(address at, const std::byte* bytes) {
    const auto traits = field<std::uint64_t>(bytes, "unit.traits");
    unit_info u;
    u.at = at;
    u.kind = kind_of(traits & n("trait.kind_mask"));
    if (u.kind.empty() || into_.places_.contains(at))
      return;
    u.state = table_.name_of("state", field<std::uint8_t>(bytes, "unit.state"));
    const std::uint64_t technique_mask = n("trait.technique_mask");
    u.technique = table_.name_of("technique", (traits & technique_mask) / (technique_mask & -technique_mask));
    u.last_worker = static_cast<int>(field<std::uint32_t>(bytes, "unit.last_worker")) - 1;
    if (const auto own = pools_.find(field<address>(bytes, "unit.own_pool")); own != pools_.end())
      u.pool_of = own->second;
    u.join_word = field<address>(bytes, "unit.join");
    u.operations = field<address>(bytes, "unit.operations");
    u.function = functions_.of(at, u.operations);
    u.stack = field<address>(bytes, "unit.stack");
    if (const auto extension = field<address>(bytes, "unit.extension");
        extension != 0 && (traits & n("trait.extended")) != 0)
      u.name = target_.text(extension + n("extension.name"), n("extension.name_size"));
    if (u.name.empty() && at == primary_)
      u.name = "main";
    read_stack(u);
    for (std::size_t i = 0; i < into_.workers_.size(); ++i) {
      if (into_.workers_[i].current == at) {
        u.worker = i;
        u.state = "running";
      }
    }
    u.sp = field<address>(bytes, "context.sp");
    u.fp = field<address>(bytes, "context.fp");
    u.pc = field<address>(bytes, "context.resume");
    u.has_context = n("context.walkable") != 0 && u.worker == nobody && u.stack != 0 && u.sp >= u.stack_low &&
                    u.sp <= u.stack_top && u.state != "fresh" && u.state != "finished" &&
                    u.state != "running";
    if (u.state == "running" && u.worker == nobody && (traits & n("trait.away")) != 0)
      u.state = "away"; // in the kernel, or just out of it, without a worker
    if (u.state == "blocked" && (traits & n("trait.suspended")) != 0)
      u.state = "suspended"; // the other way to suspend
    if (u.state == "blocked")
      read_announcement(u, bytes);
    into_.places_[at] = into_.units_.size();
    into_.units_.push_back(std::move(u));
  }

  std::string kind_of(std::uint64_t kind) const {
    for (const char* name : {"kind.thread", "kind.tasklet", "kind.scheduler"}) {
      if (n(name) == kind)
        return name + std::strlen("kind.");
    }
    return {};
  }

  void read_stack(unit_info& u) {
    if (u.stack == 0)
      return;
    u.stack_low = pointer(u.stack, "stack.low");
    u.stack_top =
        u.stack; // the record stands there, but for the primary thread's, which is on no stack of ours
    if (u.at == primary_)
      u.stack_top = u.stack_low + pointer(u.stack, "stack.nominal");
  }

  void read_announcement(unit_info& u, const std::byte* bytes) {
    const auto* link = bytes + n("unit.link");
    address words[2]; // next, prev
    std::memcpy(words, link, sizeof words);
    if (words[0] != ~words[1])
      return;
    const auto kind = target_.get<std::uint32_t>(words[0] + n("wait.kind"));
    if (!kind)
      return;
    u.announced = true;
    u.wait_kind = *kind;
    u.displaced = target_.get<std::uint32_t>(words[0] + n("wait.displaced")).value_or(0);
    u.object = pointer(words[0], "wait.object");
  }

  // Units on stacks that are handed out: a forked call that somebody else runs, or that has left its
  // joiner's.
  void read_stacks() {
    const address depot = pointer(table_.root("root.stacks")).value_or(0);
    if (depot == 0)
      return;
    for (const address s : list(pointer(depot, "stacks.slabs"), "stack_slab.next")) {
      const address base = pointer(s, "stack_slab.base");
      const std::uint64_t stride = pointer(s, "stack_slab.stride");
      const std::uint32_t capacity = target_.get<std::uint32_t>(s + n("stack_slab.capacity")).value_or(0);
      for (std::uint32_t i = 0; i < capacity; ++i) {
        const auto stored = target_.get<std::uint64_t>(s + n("stack_slab.stored") + i / 64 * 8);
        if (stored && (*stored >> (i % 64) & 1) == 0)
          add_owner(base + (i + 1) * stride - n("stack.size") -
                    i % n("stack_slab.colours") * n("stack_slab.colour_size"));
      }
    }
  }

  // The owner of a stack that is free may be anything: then it does not name the stack.
  void add_owner(address record) {
    const address owner = pointer(record, "stack.owner");
    if (owner != 0 && owner % n("unit.align") == 0 && pointer(owner, "unit.stack") == record)
      add(owner);
  }

  // A thread that neither runs nor says what it waits for may be the host of a forked call, whose descriptor
  // is in its frames: one that names this stack.
  void look_for_hosted(std::size_t index) {
    const unit_info u = into_.units_[index];
    const bool unexplained = u.state == "blocked" && !u.announced && !accounted_.contains(u.at);
    if (u.worker != nobody || u.stack == 0 || (u.state != "running" && !unexplained))
      return;
    constexpr std::size_t most = 256 << 10; // of a stack; from its top
    constexpr std::size_t page = 4096;
    const std::uint64_t align = n("unit.align");
    const std::uint64_t size = n("unit.size");
    std::vector<std::byte> bytes(page + size);
    const address from = std::max(u.stack_low, u.stack_top - std::min<address>(u.stack_top, most));
    for (address at = (from + page - 1) / page * page; at + size < u.stack_top; at += page) {
      const std::size_t length = std::min<std::size_t>(bytes.size(), u.stack_top - at);
      if (!target_.read(at, bytes.data(), length))
        continue;
      for (std::size_t i = 0; i + size <= length; i += align) {
        const std::byte* candidate = bytes.data() + i;
        const auto traits = field<std::uint64_t>(candidate, "unit.traits");
        if (field<address>(candidate, "unit.stack") == u.stack && (traits & n("trait.embedded")) != 0 &&
            field<std::uint8_t>(candidate, "unit.state") == blocked_)
          add(at + i, candidate);
      }
    }
  }

  target& target_;
  const layout& table_;
  process_units& into_;
  functions functions_;
  std::unordered_map<address, int> pools_; // of workers, by number
  std::unordered_set<address> accounted_;  // it is known what they wait for
  const address primary_ = pointer(table_.root("root.primary")).value_or(0);
  const std::uint64_t blocked_ = table_.number("state:blocked");
};

process_units::process_units(target& of, const layout& table) {
  reader(of, table, *this).run();
}

std::size_t process_units::at(address descriptor) const {
  const auto found = places_.find(descriptor);
  return found == places_.end() ? nobody : found->second;
}

} // namespace weft::tool
