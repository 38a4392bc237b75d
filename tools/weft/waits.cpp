// SPDX-License-Identifier: MIT
// The owner of a mutex comes from the marks of weft/sync/mutex_word.hpp: the word names the stack of whoever
// tried last to take it; a waiter remembers the mark that it displaced; who does not wait for the mutex has
// it.
#include "tools/weft/waits.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace weft::tool {
namespace {

// As the library's names of kinds of waits.
bool is(const layout& table, const unit_info& u, const char* kind) {
  return u.announced && table.name_of("wait", u.wait_kind) == kind;
}

} // namespace

std::string hexadecimal(address at) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(at));
  return text;
}

std::string title(const process_units& units, std::size_t unit) {
  const std::string& name = units.units()[unit].name;
  return "#" + std::to_string(unit + 1) + (name.empty() ? "" : " \"" + name + "\"");
}

waits::waits(target& of, const layout& table, const process_units& units)
    : target_(of), table_(table), units_(units), waits_(units.units().size()) {
  for (std::size_t i = 0; i < waits_.size(); ++i)
    explain(i);
  find_joins();
  find_hosts();
}

void waits::explain(std::size_t index) {
  const unit_info& u = units_.units()[index];
  wait_info& w = waits_[index];
  if (u.state == "suspended") {
    w.what = "resume()";
  } else if (u.state == "blocked") {
    w.what = "?";
  }
  if (!u.announced)
    return;
  w.what = table_.name_of("wait", u.wait_kind);
  if (is(table_, u, "end of")) {
    w.on = units_.at(u.object);
    w.what += w.on != nobody ? " " + title(units_, w.on) : " " + hexadecimal(u.object);
  } else if (u.object != 0) {
    w.what += " " + hexadecimal(u.object);
  }
  if (is(table_, u, "mutex"))
    find_owner(index);
  if (is(table_, u, "MCS mutex") || w.what.starts_with("shared mutex"))
    w.owner = "not recorded";
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
      if (i == inner || waits_[i].on != nobody)
        continue;
      waits_[i].what = "end of " + title(units_, inner) + ", on its own stack";
      waits_[i].on = inner;
    }
  }
}

// Of the units on one stack it is the outermost, which waits for the others: right for circles in any case.
std::size_t waits::unit_by_mark(std::uint32_t mark) const {
  std::size_t found = nobody;
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const unit_info& u = units_.units()[i];
    const std::uint32_t offset = mark - 1 - static_cast<std::uint32_t>(u.stack_low);
    if (u.stack == 0 || u.state == "finished" || offset >= u.stack_top - u.stack_low)
      continue;
    const bool owns_stack = target_.get<address>(u.stack + table_.number("stack.owner")).value_or(0) == u.at;
    if (found == nobody || owns_stack)
      found = i;
  }
  return found;
}

std::size_t waits::waiter_on_stack(address stack, address mutex) const {
  for (std::size_t i = 0; i < waits_.size(); ++i) {
    const unit_info& u = units_.units()[i];
    if (u.stack == stack && u.object == mutex && is(table_, u, "mutex"))
      return i;
  }
  return nobody;
}

std::string waits::kernel_thread_by_mark(std::uint32_t mark) const {
  constexpr std::uint32_t most = 8 << 20; // of a kernel thread's stack, above where it is now
  for (const kernel_thread& t : target_.kernel_threads()) {
    if (mark - 1 - static_cast<std::uint32_t>(t.sp) < most)
      return "kernel thread " + std::to_string(t.id) + "?";
  }
  return "?";
}

void waits::find_owner(std::size_t index) {
  const address mutex = units_.units()[index].object;
  std::uint32_t mark = target_.get<std::uint32_t>(mutex).value_or(0);
  std::vector<std::size_t> seen;
  wait_info& w = waits_[index];
  if (mark == 0) { // it has just been released
    w.owner = "nobody";
    return;
  }
  for (;;) {
    const std::size_t holder = mark % 2 != 0 ? unit_by_mark(mark) : nobody;
    if (holder == nobody) {
      w.owner = kernel_thread_by_mark(mark);
      return;
    }
    const std::size_t waiter = waiter_on_stack(units_.units()[holder].stack, mutex);
    const bool again = std::find(seen.begin(), seen.end(), waiter) != seen.end();
    if (waiter == nobody || again || units_.units()[waiter].displaced == 0) {
      w.on = holder;
      return;
    }
    seen.push_back(waiter);
    mark = units_.units()[waiter].displaced;
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
