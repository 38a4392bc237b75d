// SPDX-License-Identifier: MIT
#include "weft/trace/raw_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include "weft/os/interruptible.hpp"
#include "weft/trace/output_file.hpp"

namespace weft::trace {
namespace {

constexpr char magic[8] = {'w', 'e', 'f', 't', '-', 't', 'r', 'c'};

std::uint32_t counter_count() {
  std::uint32_t count = 0;
  const counters none;
  counters::for_each(none, [&count](const char*, const counter&) { ++count; });
  return count;
}

template <class T>
void put(output_file& out, std::span<const T> all) noexcept {
  out.put(all.data(), all.size_bytes());
}

// What is left of the bytes; nothing is given out that is not there.
class source {
 public:
  explicit source(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  // Null: they are not there.
  template <class T>
  const T* take(std::uint64_t count = 1) noexcept {
    if (count > left_.size() / sizeof(T)) {
      return nullptr;
    }
    const auto* found = reinterpret_cast<const T*>(left_.data());
    left_ = left_.subspan(static_cast<std::size_t>(count) * sizeof(T));
    return found;
  }
  [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

 private:
  std::span<const std::byte> left_;
};

template <std::size_t Size>
bool is_terminated(const char (&text)[Size]) noexcept {
  return std::memchr(text, '\0', Size) != nullptr;
}

const char* check_header(const raw_header& h) noexcept {
  if (!std::equal(std::begin(magic), std::end(magic), h.magic)) {
    return "it does not begin as a trace does";
  }
  if (h.order != raw_header::order_mark) {
    return "it comes from a machine of another byte order";
  }
  if (h.version != raw_header::version_now || h.record_bytes != sizeof(record)) {
    return "it has a version that this reader does not know";
  }
  if (!is_terminated(h.program) || h.begin_ns < 0 || h.end_ns < h.begin_ns) {
    return "its header is damaged";
  }
  return nullptr;
}

const char* check_events(const recording& all, std::span<const record> events) noexcept {
  auto earliest = static_cast<std::uint64_t>(all.begin_ns);
  const auto latest = static_cast<std::uint64_t>(all.end_ns);
  for (const record& r : events) {
    if (static_cast<unsigned>(r.what) >= event_count) {
      return "it holds an event that does not exist";
    }
    if (r.time_ns < earliest || r.time_ns > latest) {
      return "the times of its events are damaged";
    }
    earliest = r.time_ns;
  }
  return nullptr;
}

const char* parse_counters(source& bytes, std::uint32_t count, counters& totals) noexcept {
  const auto* found = bytes.take<raw_counter>(count);
  if (found == nullptr) {
    return "it ends within its counters";
  }
  for (const raw_counter& c : std::span(found, count)) {
    if (!is_terminated(c.name)) {
      return "the name of a counter is damaged";
    }
    counters::for_each(totals, [&c](const char* name, counter& value) {
      if (std::strcmp(name, c.name) == 0) {
        value = c.value;
      }
    });
  }
  return nullptr;
}

const char* parse_track(source& bytes, recording& all) {
  const auto* t = bytes.take<raw_track>();
  const auto* names = t != nullptr ? bytes.take<name_entry>(t->names) : nullptr;
  const auto* events = names != nullptr ? bytes.take<record>(t->events) : nullptr;
  if (events == nullptr) {
    return "it ends within a track: the writer was stopped, or the file was cut";
  }
  const std::span names_here(names, t->names);
  const std::span events_here(events, static_cast<std::size_t>(t->events));
  if (!std::all_of(names_here.begin(), names_here.end(),
                   [](const name_entry& n) { return is_terminated(n.text); })) {
    return "the name of a unit is damaged";
  }
  if (!all.tracks.empty() && all.tracks.back().id >= t->id) {
    return "its tracks are not in order";
  }
  if (const char* wrong = check_events(all, events_here)) {
    return wrong;
  }
  all.tracks.push_back({t->number, t->id, t->outside != 0, t->dropped, {}, events_here, names_here});
  return nullptr;
}

// Reads to the end; whoever writes meanwhile makes it longer or shorter, not wrong.
int read_all(int file, std::vector<std::uint64_t>& words, std::size_t& bytes) {
  struct stat status = {};
  if (::fstat(file, &status) != 0) {
    return errno;
  }
  if (S_ISDIR(status.st_mode)) {
    return EISDIR;
  }
  words.resize(static_cast<std::size_t>(status.st_size) / 8 + 1);
  for (bytes = 0;;) {
    if (bytes == words.size() * 8) {
      words.resize(words.size() * 2);
    }
    const ssize_t now = os::uninterrupted([&] {
      return ::read(file, reinterpret_cast<std::byte*>(words.data()) + bytes, words.size() * 8 - bytes);
    });
    if (now > 0) {
      bytes += static_cast<std::size_t>(now);
    } else if (now == 0) {
      return 0;
    } else {
      return errno;
    }
  }
}

} // namespace

void write_raw(output_file& out, const recording& what) noexcept {
  raw_header h = {};
  std::copy(std::begin(magic), std::end(magic), h.magic);
  h.version = raw_header::version_now;
  h.order = raw_header::order_mark;
  h.begin_ns = what.begin_ns;
  h.end_ns = what.end_ns;
  h.process = what.process;
  h.counters = counter_count();
  h.tracks = static_cast<std::uint32_t>(what.tracks.size());
  h.record_bytes = sizeof(record);
  std::copy(std::begin(what.program), std::end(what.program), h.program);
  out.put(&h, sizeof h);
  counters::for_each(what.totals, [&out](const char* name, const counter& value) {
    raw_counter c = {};
    std::strncpy(c.name, name, sizeof c.name - 1);
    c.value = value.get();
    out.put(&c, sizeof c);
  });
  for (const track& t : what.tracks) {
    const raw_track head{t.number, t.id,     t.outside ? 1U : 0U, static_cast<std::uint32_t>(t.names.size()),
                         t.size(), t.dropped};
    out.put(&head, sizeof head);
    put(out, t.names);
    put(out, t.older);
    put(out, t.newer);
  }
}

std::uint64_t raw_bytes(const recording& what) noexcept {
  std::uint64_t sum = sizeof(raw_header) + counter_count() * sizeof(raw_counter);
  for (const track& t : what.tracks) {
    sum += sizeof(raw_track) + t.names.size_bytes() + t.size() * sizeof(record);
  }
  return sum;
}

const char* parse_raw(std::span<const std::byte> bytes, recording& result) {
  source left(bytes);
  const auto* h = left.take<raw_header>();
  if (h == nullptr) {
    return "it is too short for a trace";
  }
  if (const char* wrong = check_header(*h)) {
    return wrong;
  }
  recording all;
  all.begin_ns = h->begin_ns;
  all.end_ns = h->end_ns;
  all.process = h->process;
  std::copy(std::begin(h->program), std::end(h->program), all.program);
  if (const char* wrong = parse_counters(left, h->counters, all.totals)) {
    return wrong;
  }
  for (std::uint32_t i = 0; i < h->tracks; ++i) {
    if (const char* wrong = parse_track(left, all)) {
      return wrong;
    }
  }
  if (!left.empty()) {
    return "something follows its last track";
  }
  result = std::move(all);
  return nullptr;
}

recording read_raw(const char* path) {
  const auto refuse = [path](int error, const std::string& why) {
    throw std::system_error(error, std::generic_category(), "weft: " + std::string(path) + why);
  };
  const int file = os::uninterrupted([=] { return ::open(path, O_RDONLY | O_CLOEXEC); });
  if (file < 0) {
    refuse(errno, " cannot be read");
  }
  auto words = std::make_shared<std::vector<std::uint64_t>>();
  std::size_t bytes = 0;
  int error = 0;
  try {
    error = read_all(file, *words, bytes);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
  if (error != 0) {
    refuse(error, " cannot be read");
  }
  recording result;
  if (const char* wrong = parse_raw(std::as_bytes(std::span(*words)).first(bytes), result)) {
    throw std::runtime_error("weft: " + std::string(path) + " is no raw trace: " + wrong);
  }
  result.memory = std::move(words);
  return result;
}

} // namespace weft::trace
