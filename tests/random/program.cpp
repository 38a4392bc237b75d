// SPDX-License-Identifier: MIT
#include "tests/random/program.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace weft::random_programs {

namespace {

constexpr const char* op_names[op_count] = {
    "add",    "compute",  "yield",   "sleep",      "give_way", "set_key",     "get_key",
    "move",   "call",     "post",    "fork",       "group",    "hand_over",   "nest",
    "errand", "time_out", "lock",    "try_lock",   "share",    "permit",      "handle",
    "keep",   "release",  "acquire", "count_down", "wait",     "arrive",      "set",
    "get",    "send",     "receive", "raise",      "spin",     "stop",        "await_stop",
    "resume", "suspend",  "spawn",   "join",       "cancel",   "ask_to_move", "exit"};

void write(std::ostream& out, const code& c, unsigned depth) {
  const std::string indent(2 + 2 * depth, ' ');
  for (const instruction& i : c) {
    out << indent << name_of(i.what) << ' ' << unsigned{i.a} << ' ' << i.n << ' ' << unsigned{i.way};
    if (has_body(i.what)) {
      out << " {\n";
      write(out, i.body, depth + 1);
      out << indent << '}';
    }
    out << '\n';
  }
}

class reader {
 public:
  explicit reader(const std::string& text) : in_(text) {}

  program read() {
    program p;
    expect("program");
    p.seed = number<std::uint64_t>();
    expect("workers");
    p.where.workers = number<unsigned>();
    expect("pools");
    p.where.pools = number<unsigned>();
    p.where.side = number<unsigned>();
    expect("locks");
    for (auto& k : p.lock)
      k = static_cast<lock_kind>(below(lock_kinds));
    expect("semaphores");
    for (auto& k : p.semaphore)
      k = static_cast<semaphore_kind>(below(semaphore_kinds));
    expect("channels");
    for (auto& k : p.capacity)
      k = static_cast<std::uint8_t>(below(256));
    for (std::string word = next(); word == "thread"; word = next())
      p.threads.push_back(read_thread());
    if (p.threads.empty() || p.threads.size() > most_threads)
      fail("1 to 24 threads");
    return p;
  }

 private:
  thread_spec read_thread() {
    thread_spec t;
    t.kind = static_cast<unit_kind>(below(3));
    t.technique = static_cast<std::uint8_t>(below(13));
    t.preemption = static_cast<std::uint8_t>(below(5));
    t.pool = static_cast<std::uint8_t>(below(pools));
    t.joiner = static_cast<std::uint8_t>(below(most_threads));
    t.detached = below(2) != 0;
    t.cancellable = below(2) != 0;
    expect("{");
    t.body = read_code();
    return t;
  }

  code read_code() {
    code c;
    for (std::string word = next(); word != "}"; word = next()) {
      const auto* const found = std::find(std::begin(op_names), std::end(op_names), word);
      if (found == std::end(op_names))
        fail("an instruction instead of \"" + word + '"');
      instruction i;
      i.what = static_cast<op>(found - std::begin(op_names));
      i.a = static_cast<std::uint8_t>(below(most_threads));
      i.n = number<long>();
      i.way = static_cast<std::uint8_t>(below(256));
      if (has_body(i.what)) {
        expect("{");
        i.body = read_code();
      }
      c.push_back(std::move(i));
    }
    return c;
  }

  // The end of the text reads as "".
  std::string next() {
    std::string word;
    in_ >> word;
    ++words_;
    return word;
  }
  void expect(const char* wanted) {
    if (const std::string found = next(); found != wanted)
      fail(std::string(wanted) + " instead of \"" + found + '"');
  }
  template <class Number>
  Number number() {
    Number n{};
    if (!(in_ >> n))
      fail("a number");
    ++words_;
    return n;
  }
  unsigned below(unsigned limit) {
    const auto n = number<unsigned>();
    if (n >= limit)
      fail("a number below " + std::to_string(limit));
    return n;
  }
  [[noreturn]] void fail(const std::string& wanted) const {
    throw std::runtime_error("word " + std::to_string(words_) + " of the program: expected " + wanted);
  }

  std::istringstream in_;
  unsigned words_ = 0;
};

std::size_t size_of(const code& c) noexcept {
  std::size_t sum = 0;
  for (const instruction& i : c)
    sum += 1 + size_of(i.body);
  return sum;
}

} // namespace

const char* name_of(op what) noexcept {
  return op_names[static_cast<unsigned>(what)];
}

bool has_body(op what) noexcept {
  return what >= op::lock && what <= op::keep;
}

bool is_done_by_others(op what) noexcept {
  return what >= op::fork && what <= op::errand;
}

bool names_thread(op what) noexcept {
  return what == op::give_way || what == op::resume || (what >= op::spawn && what <= op::ask_to_move);
}

bool may_wait(op what) noexcept {
  switch (what) {
  case op::acquire:
  case op::wait:
  case op::arrive:
  case op::get:
  case op::send: // bounded
  case op::receive:
  case op::spin:
  case op::await_stop:
  case op::suspend:
  case op::join:
    return true;
  default:
    return false;
  }
}

bool is_cancellation_point(op what) noexcept {
  return what == op::yield || what == op::give_way || what == op::move;
}

std::size_t size_of(const program& p) noexcept {
  std::size_t sum = 0;
  for (const thread_spec& t : p.threads)
    sum += size_of(t.body);
  return sum;
}

std::string to_text(const program& p) {
  std::ostringstream out;
  out << "program " << p.seed << " workers " << p.where.workers << " pools " << p.where.pools << ' '
      << p.where.side;
  out << "\nlocks";
  for (const lock_kind k : p.lock)
    out << ' ' << static_cast<unsigned>(k);
  out << " semaphores";
  for (const semaphore_kind k : p.semaphore)
    out << ' ' << static_cast<unsigned>(k);
  out << " channels";
  for (const unsigned k : p.capacity)
    out << ' ' << k;
  out << '\n';
  for (const thread_spec& t : p.threads) {
    out << "thread " << static_cast<unsigned>(t.kind) << ' ' << unsigned{t.technique} << ' '
        << unsigned{t.preemption} << ' ' << unsigned{t.pool} << ' ' << unsigned{t.joiner} << ' ' << t.detached
        << ' ' << t.cancellable << " {\n";
    write(out, t.body, 0);
    out << "}\n";
  }
  return out.str();
}

program from_text(const std::string& text) {
  return reader(text).read();
}

} // namespace weft::random_programs
