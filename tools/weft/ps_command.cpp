// SPDX-License-Identifier: MIT
#include "tools/weft/ps_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/weft/backtrace.hpp"
#include "tools/weft/waits.hpp"

namespace weft::tool {
namespace {

struct ps_options {
  std::string what; // process or core
  std::string executable;
  bool backtrace = false;
  bool deadlocks = false;
  std::size_t frames = 64;
};

pid_t process_id(const std::string& digits) {
  pid_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc() || id <= 0)
    throw failure(digits + " is no process id");
  return id;
}

class report {
 public:
  report(target& of, const ps_options& options)
      : options_(options), table_(of), units_(of, table_), waits_(of, table_, units_),
        unwinder_(of, table_, units_) {}

  // What there is to say; nothing is printed yet, because the process stands still meanwhile.
  std::string text() {
    const std::vector<std::vector<std::size_t>> circles = waits_.circles();
    for (const address s : units_.unreadable())
      add("warning: the units at %s cannot be read; a core that gdb has written lacks them\n",
          hexadecimal(s).c_str());
    if (!options_.deadlocks) {
      print_workers();
      print_table();
      if (options_.backtrace)
        print_backtraces();
    }
    for (const auto& circle : circles)
      print_circle(circle);
    if (options_.deadlocks && circles.empty())
      add("no deadlock: no threads wait for each other in a circle\n");
    return std::move(text_);
  }

 private:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_ += line;
  }

  using row = std::vector<std::string>;

  void print_workers() {
    add("%zu workers, %zu units\n", units_.workers().size(), units_.units().size());
    for (const worker_info& w : units_.workers()) {
      std::string does = w.asleep ? "asleep" : "looks for work";
      if (w.current != 0)
        does = units_.at(w.current) != nobody ? "runs " + title(units_, units_.at(w.current))
                                              : "runs a scheduler";
      add("worker %u, kernel thread %d: %s\n", w.number, w.kernel_thread, does.c_str());
    }
  }

  std::string where(const unit_info& u) const {
    if (u.worker != nobody)
      return "on " + std::to_string(units_.workers()[u.worker].number);
    if (u.state != "ready" && u.state != "posted" && u.state != "fresh")
      return u.last_worker >= 0 ? "was " + std::to_string(u.last_worker) : "-";
    return u.pool_of >= 0 ? "pool " + std::to_string(u.pool_of) : "pool";
  }

  row line(std::size_t i) {
    const unit_info& u = units_.units()[i];
    const wait_info& w = waits_.of(i);
    row r{std::to_string(i + 1), hexadecimal(u.at), u.name.empty() ? "-" : u.name, u.state, where(u)};
    r.push_back(u.kind == "thread" ? u.technique : u.kind);
    r.push_back(w.what.empty() ? "-" : w.what);
    const bool joins = w.what.starts_with("end of");
    r.push_back(w.on != nobody && !joins ? title(units_, w.on) : w.owner.empty() ? "-" : w.owner);
    r.push_back(shorten(u.function, 60));
    return r;
  }

  void print_table() {
    std::vector<row> rows{
        {"#", "UNIT", "NAME", "STATE", "WORKER", "TECHNIQUE", "WAITS FOR", "OWNER", "FUNCTION"}};
    for (std::size_t i = 0; i < units_.units().size(); ++i)
      rows.push_back(line(i));
    std::vector<std::size_t> widths(rows[0].size());
    for (const row& r : rows) {
      for (std::size_t i = 0; i < r.size(); ++i)
        widths[i] = std::max(widths[i], r[i].size());
    }
    for (const row& r : rows) {
      for (std::size_t i = 0; i + 1 < r.size(); ++i)
        add("%-*s  ", static_cast<int>(widths[i]), r[i].c_str());
      add("%s\n", r.back().c_str());
    }
  }

  void print_backtraces() {
    for (std::size_t i = 0; i < units_.units().size(); ++i) {
      const unit_info& u = units_.units()[i];
      add("\n%s, %s\n", title(units_, i).c_str(), u.state.c_str());
      bool complete = false;
      std::size_t number = 0;
      const std::vector<frame> frames =
          waits_.of(i).hosts ? std::vector<frame>() : unwinder_.walk(i, options_.frames, complete);
      for (const frame& f : frames) {
        const std::string function = f.at.function.empty() ? "?" : f.at.function;
        add("  %2zu  %s  %s%s%s\n", number++, hexadecimal(f.pc).c_str(), function.c_str(),
            f.at.file.empty() ? "" : " at ", f.at.file.c_str());
      }
      if (frames.empty()) {
        add("  %s\n", why_no_frames(i).c_str());
      } else if (!complete) {
        add("  %s\n",
            frames.size() == options_.frames ? "..." : "(the walk ends here: no unwind information)");
      }
    }
  }

  std::string why_no_frames(std::size_t i) const {
    const unit_info& u = units_.units()[i];
    if (u.state == "fresh" || u.stack == 0)
      return "it has no stack";
    if (waits_.of(i).hosts)
      return "its frames are behind those of " + title(units_, waits_.of(i).on);
    return table_.number("context.walkable") != 0 ? "its registers are not known"
                                                  : "the portable switch cannot be walked";
  }

  void print_circle(const std::vector<std::size_t>& circle) {
    add("\ndeadlock of %zu:\n", circle.size());
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const wait_info& w = waits_.of(circle[i]);
      const bool joins = w.what.starts_with("end of");
      add("  %s waits for %s%s%s\n", title(units_, circle[i]).c_str(), w.what.c_str(),
          joins ? "" : ", held by ", joins ? "" : title(units_, w.on).c_str());
    }
  }

  const ps_options& options_;
  const layout table_;
  const process_units units_;
  const waits waits_;
  unwinder unwinder_;
  std::string text_;
};

std::string look_at(const ps_options& options) {
  const bool is_process = options.what.find_first_not_of("0123456789") == std::string::npos;
  const std::unique_ptr<target> of =
      is_process ? stop_process(process_id(options.what)) : open_core(options.what, options.executable);
  std::string text;
  try {
    text = report(*of, options).text();
  } catch (const failure&) {
    if (!of->has_ended())
      throw;
  }
  if (of->has_ended())
    throw failure("process " + options.what + " has ended while it was read");
  return text;
}

int run_ps(const ps_options& options) {
  try {
    std::fputs(look_at(options).c_str(), stdout);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft ps: %s\n", e.what());
    return 1;
  }
}

} // namespace

void add_ps_command(CLI::App& app) {
  auto options = std::make_shared<ps_options>();
  CLI::App* ps = app.add_subcommand("ps", "list the threads of a process or a core, and name deadlocks");
  ps->add_option("process", options->what, "a process id, or a core file")->required();
  ps->add_option("executable", options->executable, "of the core, if it is not where the core says")
      ->check(CLI::ExistingFile);
  ps->add_flag("-b,--backtrace", options->backtrace, "with the calls of each thread");
  ps->add_option("--frames", options->frames, "calls of a thread that are shown")->capture_default_str();
  ps->add_flag("-d,--deadlocks", options->deadlocks, "only who waits in a circle");
  ps->footer(
      "A running process stands still while it is read (some milliseconds), without a signal. The list is "
      "printed afterwards.");
  ps->callback([options] {
    if (const int status = run_ps(*options); status != 0)
      throw CLI::RuntimeError(status);
  });
}

} // namespace weft::tool
