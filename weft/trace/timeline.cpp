// SPDX-License-Identifier: MIT
// Turns events into the stretches and instants of a timeline file.
#include "weft/trace/timeline.hpp"

#include <unistd.h>

#include <cerrno>

#include "weft/trace/text_file.hpp"

namespace weft::trace {
namespace {

constexpr unsigned long long wide(std::uint64_t value) {
  return value;
}

// The timeline of one worker. At each moment at most one stretch is open: a unit runs, or the worker is
// parked.
class track_writer {
 public:
  track_writer(text_file& out, const timeline& whole, const ring& events)
      : out_(out), events_(events), origin_(static_cast<std::uint64_t>(whole.begin_ns)),
        end_(static_cast<std::uint64_t>(whole.end_ns)), free_since_(origin_), pid_(::getpid()),
        tid_(events.track + 1) {}

  void write() {
    write_names();
    if (events_.dropped() != 0) {
      free_since_ = events_.kept() != 0 ? events_.at(0).time_ns : end_;
      begin("i", "dropped", "trace", free_since_);
      out_.print(R"(,"s":"t","args":{"events":%llu}})", wide(events_.dropped()));
    }
    for (std::uint64_t i = 0; i < events_.kept(); ++i) {
      write_event(events_.at(i));
    }
    close(end_, "still running");
  }

 private:
  enum class open { nothing, unit, parked };

  void write_names() {
    begin("M", "thread_name", nullptr, origin_);
    out_.print(R"(,"args":{"name":"worker %u"}})", events_.number);
    begin("M", "thread_sort_index", nullptr, origin_);
    out_.print(R"(,"args":{"sort_index":%u}})", events_.number);
  }

  void write_event(const record& r) {
    switch (r.what) {
    case event::run:
      close(r.time_ns, "not recorded");
      open_ = open::unit;
      since_ = r.time_ns;
      unit_ = r.unit;
      kind_ = r.argument == tasklet_kind ? "tasklet" : "thread";
      return;
    case event::stop_yield:
      return end_unit(r, "yield");
    case event::stop_wait:
      return end_unit(r, "wait");
    case event::stop_end:
      return end_unit(r, "end");
    case event::park:
      close(r.time_ns, "not recorded");
      open_ = open::parked;
      since_ = r.time_ns;
      return;
    case event::unpark:
      if (open_ != open::parked) { // it slept when the session began
        close(r.time_ns, "not recorded");
        open_ = open::parked;
        since_ = free_since_;
      }
      return close(r.time_ns, nullptr);
    case event::steal:
      begin("i", "steal", "worker", r.time_ns);
      return out_.print(R"(,"s":"t","args":{"unit":"0x%llx","from_worker":%u}})", wide(r.unit), r.argument);
    case event::migrate:
      begin("i", "migrate", "unit", r.time_ns);
      return out_.print(R"(,"s":"t","args":{"unit":"0x%llx"}})", wide(r.unit));
    }
  }

  void end_unit(const record& r, const char* how) {
    if (open_ != open::unit || unit_ != r.unit) { // it ran when the session began
      close(r.time_ns, "not recorded");
      open_ = open::unit;
      since_ = free_since_;
      unit_ = r.unit;
      kind_ = "thread";
    }
    close(r.time_ns, how);
  }

  void close(std::uint64_t now, const char* how) {
    const open was = open_;
    open_ = open::nothing;
    if (was == open::nothing) {
      return;
    }
    free_since_ = now;
    begin("X", was == open::unit ? kind_ : "parked", was == open::unit ? "unit" : "worker", since_);
    const std::uint64_t length = now > since_ ? now - since_ : 0;
    out_.print(R"(,"dur":%llu.%03u)", wide(length / 1000), static_cast<unsigned>(length % 1000));
    if (was == open::unit) {
      out_.print(R"(,"args":{"unit":"0x%llx","kind":"%s","stop":"%s"}})", wide(unit_), kind_, how);
    } else {
      out_.print("}");
    }
  }

  // The fields that all events have. Microseconds with three decimals, as the format wants.
  void begin(const char* phase, const char* name, const char* category, std::uint64_t time_ns) {
    const std::uint64_t at = time_ns > origin_ ? time_ns - origin_ : 0;
    out_.print(",\n"
               R"({"ph":"%s","pid":%d,"tid":%u,"name":"%s","ts":%llu.%03u)",
               phase, pid_, tid_, name, wide(at / 1000), static_cast<unsigned>(at % 1000));
    if (category != nullptr) {
      out_.print(R"(,"cat":"%s")", category);
    }
  }

  text_file& out_;
  const ring& events_;
  std::uint64_t origin_;
  std::uint64_t end_;
  std::uint64_t free_since_; // end of the last stretch: where one whose start was not recorded begins
  int pid_;
  unsigned tid_;
  open open_ = open::nothing;
  std::uint64_t since_ = 0;
  std::uint64_t unit_ = 0;
  const char* kind_ = "thread";
};

void write_header(text_file& out, const timeline& what) {
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  for (const ring* r = what.rings; r != nullptr; r = r->following) {
    kept += r->kept();
    dropped += r->dropped();
  }
  out.print(
      R"({"displayTimeUnit":"ns","otherData":{"clock":"CLOCK_MONOTONIC","begin_ns":"%lld","end_ns":"%lld",)",
      static_cast<long long>(what.begin_ns), static_cast<long long>(what.end_ns));
  out.print(R"("events":"%llu","dropped":"%llu")", wide(kept), wide(dropped));
  counters::for_each(what.totals, [&out](const char* name, const counter& c) {
    out.print(R"(,"total_%s":"%llu")", name, wide(c.get()));
  });
  out.print("},\n"
            R"("traceEvents":[)"
            "\n"
            R"({"ph":"M","pid":%d,"tid":0,"name":"process_name","args":{"name":")",
            int{::getpid()});
  out.print_escaped(program_invocation_short_name);
  out.print("\"}}");
}

} // namespace

int write_timeline(const char* path, const timeline& what) noexcept {
  text_file out;
  if (const int error = out.create(path); error != 0) {
    return error;
  }
  write_header(out, what);
  for (const ring* r = what.rings; r != nullptr; r = r->following) {
    track_writer(out, what, *r).write();
  }
  out.print("\n]}\n");
  return out.close();
}

} // namespace weft::trace
