// SPDX-License-Identifier: MIT
// The owner of a mutex comes from the marks of weft/sync/mutex_word.hpp: the word names the stack of whoever
// tried last to take it; a waiter remembers the mark that it displaced; who does not wait for the mutex has
// it. An MCS mutex and a shared mutex begin with their owner's mark; readers leave none.
#include "tools/weft/waits.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "tools/weft/kernel_calls.hpp"
#include "weft/os/clock.hpp"

namespace weft::tool {
namespace {

constexpr const char* no_mark = "nobody";

// As the library's names of kinds of waits.
bool is(const layout& table, const unit_info& u, const char* kind) {
  return u.announced && table.name_of("wait", u.wait_kind) == kind;
}

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

} // namespace

std::string shorten(const std::string& text, std::size_t most) {
  return text.size() > most ? text.substr(0, most - 3) + "..." : text;
}

std::string hexadecimal(address at) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(at));
  return text;
}

std::string title(const process_units& units, std::size_t unit) {
  const unit_info& u = units.units()[unit];
  const std::string number = "#" + std::to_string(unit + 1);
  if (!u.name.empty())
    return number + " \"" + u.name + "\"";
  constexpr std::size_t most = 40; // of a function's name, which is the next best
  return number + (u.function.empty() || u.function == "-" ? "" : " (" + shorten(u.function, most) + ")");
}

waits::waits(target& of, const layout& table, const process_units& units)
    : target_(of), table_(table), units_(units), waits_(units.units().size()), descriptors_(of.process()),
      now_(os::now_ns()) {
  index_stacks();
  for (std::size_t i = 0; i < waits_.size(); ++i)
    explain(i);
  find_joins();
  find_hosts();
}

void waits::explain(std::size_t index) {
  const unit_info& u = units_.units()[index];
  wait_info& w = waits_[index];
  if (u.state == "running" || u.state == "away")
    return explain_running(u, w);
  if (u.state == "suspended") {
    w.what = "resume()";
  } else if (u.state == "blocked") {
    w.what = "?";
  }
  if (!u.announced)
    return;
  w.what = table_.name_of("wait", u.wait_kind);
  if (is(table_, u, "sleep")) {
    w.what += until(static_cast<std::int64_t>(u.object));
  } else if (is(table_, u, "I/O")) {
    w.what = call_of(u.object);
  } else if (is(table_, u, "messages")) {
    w.what = message_call_of(u.object);
  } else if (is(table_, u, "end of")) {
    w.on = units_.at(u.object);
    w.what += w.on != nobody ? " " + title(units_, w.on) : " " + hexadecimal(u.object);
  } else if (u.object != 0) {
    w.what += " " + hexadecimal(u.object);
  }
  const bool shared = w.what.starts_with("shared mutex");
  if (shared || is(table_, u, "mutex") || is(table_, u, "MCS mutex")) {
    const owner& o = owner_of(u.object);
    w.on = o.unit;
    w.owner = shared && o.other == no_mark ? "readers, or nobody" : o.other;
  }
}

// ", 12.3 s more", of a clock that goes on; of a core, where it would stand then.
std::string waits::until(std::int64_t at) const {
  char text[64] = "";
  if (at == std::numeric_limits<std::int64_t>::max())
    return text;
  if (target_.process() != 0) {
    std::snprintf(text, sizeof text, ", %.1f s more", std::max(seconds(at - now_), 0.0));
  } else {
    std::snprintf(text, sizeof text, " until %.1f s of CLOCK_MONOTONIC", seconds(at));
  }
  return text;
}

// "recv of 7 (tcp 127.0.0.1:80, peer 127.0.0.1:4711), for 3.2 s", from a unit::io_wait.
std::string waits::call_of(address record) {
  const auto call = target_.get<std::uint32_t>(record + table_.number("io.call"));
  const auto descriptor = target_.get<std::int32_t>(record + table_.number("io.descriptor"));
  const auto since = target_.get<std::int64_t>(record + table_.number("io.since"));
  if (!call || !descriptor || !since)
    return "I/O";
  std::string text = table_.name_of("call", *call) + " of " + std::to_string(*descriptor);
  if (const std::string what = descriptors_.describe(*descriptor); !what.empty())
    text += " (" + what + ")";
  return text + for_how_long(*since);
}

// "MPI_Recv from 3, tag 7", "MPI_Waitall, 5 requests", "MPI_Barrier", from a unit::message_wait.
std::string waits::message_call_of(address record) {
  const auto get = [&](const char* field) {
    return target_.get<std::uint32_t>(record + table_.number(field));
  };
  const auto name = target_.get<address>(record + table_.number("message.call"));
  const auto where = get("message.where"), peer = get("message.peer"), tag = get("message.tag"),
             requests = get("message.requests");
  constexpr std::size_t longest_name = 64;
  const std::string call = name ? target_.text(*name, longest_name) : "";
  if (call.empty() || !where || !peer || !tag || !requests)
    return "messages";
  if (*requests != 0)
    return call + ", " + std::to_string(*requests) + (*requests == 1 ? " request" : " requests");
  const auto shown = [this](std::uint32_t n) {
    return n == table_.number("message.any") ? "any" : std::to_string(static_cast<std::int32_t>(n));
  };
  const bool is_from = *where == table_.number("message.from");
  if (!is_from && *where != table_.number("message.to"))
    return call;
  return call + (is_from ? " from " : " to ") + shown(*peer) + ", tag " + shown(*tag);
}

std::string waits::for_how_long(std::int64_t since) const {
  char time[64];
  if (target_.process() != 0) {
    std::snprintf(time, sizeof time, ", for %.1f s", std::max(seconds(now_ - since), 0.0));
  } else {
    std::snprintf(time, sizeof time, " since %.1f s of CLOCK_MONOTONIC", seconds(since));
  }
  return time;
}

// A worker's is known; who is away stands on one with its own stack.
const kernel_thread* waits::kernel_thread_of(const unit_info& u) const {
  const pid_t carries = u.worker != nobody ? units_.workers()[u.worker].kernel_thread : 0;
  for (const kernel_thread& t : target_.kernel_threads()) {
    if (carries != 0 ? t.id == carries : t.sp >= u.stack_low && t.sp < u.stack_top)
      return &t;
  }
  return nullptr;
}

// In a system call, whether it keeps its worker or not. Since when, the monitor has noted where it looks at
// the worker; of another wait its note does not hold: the kernel thread has computed for longer since than a
// tick takes.
void waits::explain_running(const unit_info& u, wait_info& w) {
  const kernel_thread* const on = kernel_thread_of(u);
  if (on == nullptr)
    return;
  w.what = describe_kernel_call(on->call, descriptors_);
  if (w.what.empty() || u.worker == nobody)
    return;
  const address worker = units_.workers()[u.worker].at;
  const auto since = target_.get<std::int64_t>(worker + table_.number("worker.kept_since"));
  const auto computed = target_.get<std::int64_t>(worker + table_.number("worker.silent_cpu"));
  const auto cost = static_cast<std::int64_t>(table_.number("worker.cost_of_tick"));
  if (since && *since != 0 && computed && on->cpu_ns - *computed < cost)
    w.what += for_how_long(*since);
}

// The join word of a unit names the thread that waits for its end.
void waits::find_joins() {
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const address word = units_.units()[i].join_word;
    const std::size_t joiner = word != 0 && word % 2 == 0 ? units_.at(word) : nobody;
    if (joiner == nobody || units_.units()[joiner].worker != nobody || units_.units()[joiner].announced)
      continue;
    waits_[joiner].what = "end of " + title(units_, i);
    waits_[joiner].on = i;
  }
}

// Units that share a stack: all but the innermost wait for that one, which runs or says what it waits for.
void waits::find_hosts() {
  std::map<address, std::vector<std::size_t>> sharing;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    if (const address stack = units_.units()[i].stack; stack != 0)
      sharing[stack].push_back(i);
  }
  for (const auto& [stack, members] : sharing) {
    if (members.size() < 2)
      continue;
    const auto rank = [this](std::size_t i) {
      const unit_info& u = units_.units()[i];
      return u.worker != nobody ? 2 : u.announced || u.state == "suspended" || waits_[i].on != nobody ? 1 : 0;
    };
    const std::size_t inner = *std::max_element(
        members.begin(), members.end(), [&rank](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    for (const std::size_t i : members) {
      if (i == inner)
        continue;
      waits_[i].hosts = true;
      if (waits_[i].on != nobody)
        continue;
      waits_[i].what = "end of " + title(units_, inner) + ", on its own stack";
      waits_[i].on = inner;
    }
  }
}

// Of the units on one stack it is the outermost, which waits for the others: right for circles in any case.
void waits::index_stacks() {
  std::map<address, stack_range> by_record;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const unit_info& u = units_.units()[i];
    if (u.stack == 0 || u.state == "finished")
      continue;
    const stack_range range{static_cast<std::uint32_t>(u.stack_low), u.stack_top - u.stack_low, i};
    const auto [place, fresh] = by_record.try_emplace(u.stack, range);
    if (!fresh && target_.get<address>(u.stack + table_.number("stack.owner")) == u.at)
      place->second.unit = i;
    if (is(table_, u, "mutex"))
      on_mutexes_[{u.stack, u.object}] = i;
  }
  for (const auto& [record, range] : by_record) {
    stacks_.push_back(range);
    largest_stack_ = std::max(largest_stack_, range.size);
  }
  std::sort(stacks_.begin(), stacks_.end(),
            [](const stack_range& a, const stack_range& b) { return a.low < b.low; });
}

// A mark is half of an address, and stacks that lie apart may share halves, most likely with main()'s, which
// may reach over megabytes: it is of the one of whose top it is nearest.
std::size_t waits::unit_by_mark(std::uint32_t mark) const {
  const std::uint32_t at = mark - 1;
  auto next = std::upper_bound(stacks_.begin(), stacks_.end(), at,
                               [](std::uint32_t a, const stack_range& s) { return a < s.low; });
  std::size_t found = nobody;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t seen = 0; seen < stacks_.size(); ++seen) {
    next = std::prev(next == stacks_.begin() ? stacks_.end() : next); // the last may go beyond 2^32
    const std::uint32_t from_low = at - next->low;
    if (from_low >= largest_stack_)
      break;
    if (from_low < next->size && next->size - from_low < least) {
      found = next->unit;
      least = next->size - from_low;
    }
  }
  return found;
}

std::string waits::kernel_thread_by_mark(std::uint32_t mark) const {
  constexpr std::uint32_t most = 8 << 20; // of a kernel thread's stack, above where it is now
  for (const kernel_thread& t : target_.kernel_threads()) {
    if (mark - 1 - static_cast<std::uint32_t>(t.sp) < most)
      return "kernel thread " + std::to_string(t.id) + "?";
  }
  return "?";
}

const waits::owner& waits::owner_of(address mutex) {
  const auto [place, fresh] = owners_.try_emplace(mutex);
  if (fresh)
    place->second = follow_marks(mutex);
  return place->second;
}

waits::owner waits::follow_marks(address mutex) const {
  std::uint32_t mark = target_.get<std::uint32_t>(mutex).value_or(0);
  if (mark == 0)
    return {nobody, no_mark}; // it has just been released
  mark |= 1;                  // also where it is offered to a waiter
  std::unordered_set<std::size_t> seen;
  for (;;) {
    const std::size_t holder = mark % 2 != 0 ? unit_by_mark(mark) : nobody;
    if (holder == nobody)
      return {nobody, kernel_thread_by_mark(mark)};
    const auto waiter = on_mutexes_.find({units_.units()[holder].stack, mutex});
    if (waiter == on_mutexes_.end() || !seen.insert(waiter->second).second)
      return {holder, {}};
    const std::uint32_t displaced = units_.units()[waiter->second].displaced;
    if (displaced == 0)
      return {holder, {}};
    mark = displaced;
  }
}

std::vector<std::vector<std::size_t>> waits::circles() const {
  enum : char { fresh, on_path, done };
  std::vector<char> marks(waits_.size(), fresh);
  std::vector<std::vector<std::size_t>> found;
  for (std::size_t start = 0; start < waits_.size(); ++start) {
    std::vector<std::size_t> path;
    std::size_t at = start;
    for (; at != nobody && marks[at] == fresh; at = waits_[at].on) {
      marks[at] = on_path;
      path.push_back(at);
    }
    if (at != nobody && marks[at] == on_path)
      found.emplace_back(std::find(path.begin(), path.end(), at), path.end());
    for (const std::size_t i : path)
      marks[i] = done;
  }
  return found;
}

} // namespace weft::tool
