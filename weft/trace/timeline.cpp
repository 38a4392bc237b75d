// SPDX-License-Identifier: MIT
// Turns events into the stretches and instants of a timeline file.
#include "weft/trace/timeline.hpp"

#include <algorithm>

#include "weft/trace/output_file.hpp"

namespace weft::trace {
namespace {

// The timeline of one worker. At each moment at most one stretch is open: a unit runs, or the worker is
// parked or searches.
class track_writer {
 public:
  track_writer(output_file& out, const recording& whole, const track& events)
      : out_(out), whole_(whole), events_(events), origin_(static_cast<std::uint64_t>(whole.begin_ns)),
        end_(static_cast<std::uint64_t>(whole.end_ns)), free_since_(origin_) {}

  void write() {
    write_names();
    if (events_.dropped != 0) {
      free_since_ = events_.size() != 0 ? events_.at(0).time_ns : end_;
      begin("i", "dropped", "trace", free_since_);
      out_.print(R"(,"s":"t","args":{"events":%llu}})", wide(events_.dropped));
    }
    for (std::size_t i = 0; i < events_.size(); ++i) {
      write_event(events_.at(i));
    }
    close(end_, "still running");
  }

 private:
  enum class open { nothing, unit, parked, searching };

  void write_names() {
    begin("M", "thread_name", nullptr, origin_);
    if (events_.outside) {
      out_.print(R"(,"args":{"name":"outside"}})");
    } else {
      out_.print(R"(,"args":{"name":"worker %u"}})", events_.number);
    }
    begin("M", "thread_sort_index", nullptr, origin_);
    out_.print(R"(,"args":{"sort_index":%u}})", events_.outside ? no_track >> 1 : events_.number);
  }

  void write_event(const record& r) {
    switch (r.what) {
    case event::run:
      close(r.time_ns, "not recorded");
      open_ = open::unit;
      since_ = r.time_ns;
      unit_ = r.unit;
      kind_ = kind_in(r.argument) == tasklet_kind ? "tasklet" : "thread";
      name_ = events_.name_of(r.argument);
      return;
    case event::stop_yield:
      return end_unit(r, "yield");
    case event::stop_wait:
      return end_unit(r, "wait");
    case event::stop_end:
      return end_unit(r, "end");
    case event::park:
      return open_by_worker(open::parked, r.time_ns);
    case event::search:
      return open_by_worker(open::searching, r.time_ns);
    case event::unpark:
      if (open_ != open::parked) { // it slept when the session began
        close(r.time_ns, "not recorded");
        open_ = open::parked;
        since_ = free_since_;
      }
      return open_by_worker(open::searching, r.time_ns);
    case event::steal:
      begin("i", "steal", "worker", r.time_ns);
      out_.print(R"(,"s":"t","args":{"unit":"0x%llx")", wide(r.unit));
      return write_victim(r.argument);
    case event::migrate:
      return write_instant("migrate", "unit", r);
    case event::create:
      return write_instant("create", "unit", r);
    case event::ready:
      return write_instant("ready", "unit", r);
    case event::join:
      return write_instant("join", "unit", r);
    case event::lock_wait:
      return write_instant("lock wait", "lock", r);
    case event::lock_got:
      return write_instant("lock got", "lock", r);
    case event::lock_pass:
      return write_instant("lock pass", "lock", r);
    }
  }

  // The category is what the address belongs to.
  void write_instant(const char* name, const char* category, const record& r) {
    begin("i", name, category, r.time_ns);
    out_.print(R"(,"s":"t","args":{"%s":"0x%llx"}})", category, wide(r.unit));
  }

  void write_victim(std::uint32_t id) {
    const auto victim =
        std::find_if(whole_.tracks.begin(), whole_.tracks.end(), [id](const track& t) { return t.id == id; });
    if (victim != whole_.tracks.end()) {
      out_.print(R"(,"from_worker":%u}})", victim->number);
    } else {
      out_.print("}}"); // one that recorded nothing, or a pool of several
    }
  }

  void open_by_worker(open what, std::uint64_t now) {
    close(now, "not recorded");
    open_ = what;
    since_ = now;
  }

  void end_unit(const record& r, const char* how) {
    if (open_ != open::unit || unit_ != r.unit) { // it ran when the session began
      close(r.time_ns, "not recorded");
      open_ = open::unit;
      since_ = free_since_;
      unit_ = r.unit;
      kind_ = "thread";
      name_ = nullptr;
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
    begin_stretch(was);
    const std::uint64_t length = now > since_ ? now - since_ : 0;
    out_.print(R"(,"dur":%llu.%03u)", wide(length / 1000), static_cast<unsigned>(length % 1000));
    if (was == open::unit) {
      out_.print(R"(,"args":{"unit":"0x%llx","kind":"%s","stop":"%s"}})", wide(unit_), kind_, how);
    } else {
      out_.print("}");
    }
  }

  void begin_stretch(open was) {
    if (was == open::unit) {
      return begin("X", name_ != nullptr ? name_ : kind_, "unit", since_);
    }
    begin("X", was == open::parked ? "parked" : "searching", "worker", since_);
  }

  // The fields that all events have. Microseconds with three decimals, as the format wants.
  void begin(const char* phase, const char* name, const char* category, std::uint64_t time_ns) {
    const std::uint64_t at = time_ns > origin_ ? time_ns - origin_ : 0;
    out_.print(",\n"
               R"({"ph":"%s","pid":%d,"tid":%llu,"name":")",
               phase, whole_.process, wide(events_.id) + 1);
    out_.print_escaped(name);
    out_.print(R"(","ts":%llu.%03u)", wide(at / 1000), static_cast<unsigned>(at % 1000));
    if (category != nullptr) {
      out_.print(R"(,"cat":"%s")", category);
    }
  }

  output_file& out_;
  const recording& whole_;
  const track& events_;
  std::uint64_t origin_;
  std::uint64_t end_;
  std::uint64_t free_since_; // end of the last stretch: where one whose start was not recorded begins
  open open_ = open::nothing;
  std::uint64_t since_ = 0;
  std::uint64_t unit_ = 0;
  const char* kind_ = "thread";
  const char* name_ = nullptr; // of the unit, if it is known
};

void write_header(output_file& out, const recording& what) {
  out.print(
      R"({"displayTimeUnit":"ns","otherData":{"clock":"CLOCK_MONOTONIC","begin_ns":"%lld","end_ns":"%lld",)",
      static_cast<long long>(what.begin_ns), static_cast<long long>(what.end_ns));
  out.print(R"("events":"%llu","dropped":"%llu")", wide(what.kept()), wide(what.dropped()));
  counters::for_each(what.totals, [&out](const char* name, const counter& c) {
    out.print(R"(,"total_%s":"%llu")", name, wide(c.get()));
  });
  out.print("},\n"
            R"("traceEvents":[)"
            "\n"
            R"({"ph":"M","pid":%d,"tid":0,"name":"process_name","args":{"name":")",
            what.process);
  out.print_escaped(what.program);
  out.print("\"}}");
}

} // namespace

int write_timeline(const char* path, const recording& what) noexcept {
  output_file out;
  if (const int error = out.create(path); error != 0) {
    return error;
  }
  write_header(out, what);
  for (const track& t : what.tracks) {
    track_writer(out, what, t).write();
  }
  out.print("\n]}\n");
  return out.close();
}

} // namespace weft::trace
