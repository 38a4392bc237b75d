// SPDX-License-Identifier: MIT
#include "tools/weft/trace_command.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <system_error>

#include "tools/weft/control_client.hpp"
#include "weft/trace/file_form.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/trace/summary.hpp"

namespace weft::tool {
namespace {

constexpr double longest_seconds = 1e6;

// What the command line says; which of them are used depends on the subcommand.
struct settings {
  pid_t process = 0;
  double seconds = 1;
  std::string input;
  std::string output;
};

void write(const trace::recording& all, const std::string& path) {
  if (const int error = trace::write_in_form_of(path.c_str(), all); error != 0) {
    throw std::system_error(error, std::generic_category(), "weft: " + path + " cannot be written");
  }
  std::printf("%s: %llu events of %zu tracks, %llu dropped\n", path.c_str(),
              static_cast<unsigned long long>(all.kept()), all.tracks.size(),
              static_cast<unsigned long long>(all.dropped()));
}

std::string output_of(const settings& s) {
  return s.output.empty() ? std::to_string(s.process) + ".weft" : s.output;
}

void record(const settings& s) {
  control_client process(s.process);
  process.request("trace start");
  process.wait(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(s.seconds)));
  write(process.stop_recording(), output_of(s));
}

void start(const settings& s) {
  control_client(s.process).request("trace start keep");
}

void stop(const settings& s) {
  write(control_client(s.process).stop_recording(), output_of(s));
}

void convert(const settings& s) {
  write(trace::read_raw(s.input.c_str()), s.output);
}

void summary(const settings& s) {
  std::fputs(trace::to_text(trace::summarise(trace::read_raw(s.input.c_str()))).c_str(), stdout);
}

using action = void (*)(const settings&);

CLI::App& add(CLI::App& trace, const std::shared_ptr<settings>& s, const char* name, const char* help,
              action act) {
  CLI::App* command = trace.add_subcommand(name, help);
  command->callback([s, act] { act(*s); });
  return *command;
}

void add_process(CLI::App& command, settings& s) {
  command.add_option("PID", s.process, "A process that was started with WEFT_CONTROL=1")
      ->required()
      ->check(CLI::Range(1, std::numeric_limits<pid_t>::max()));
}

void add_output(CLI::App& command, settings& s) {
  command.add_option("-o,--output", s.output,
                     "File: *.weft is raw, anything else a timeline for ui.perfetto.dev; else PID.weft");
}

} // namespace

void add_trace_command(CLI::App& app) {
  auto s = std::make_shared<settings>();
  CLI::App* trace = app.add_subcommand("trace", "What the workers of a process do, and when");
  trace->require_subcommand(1);

  CLI::App& recording =
      add(*trace, s, "record", "Trace a process for a while; Ctrl-C ends it early", &record);
  add_process(recording, *s);
  recording.add_option("--seconds", s->seconds, "How long")->check(CLI::Range(0.0, longest_seconds));
  add_output(recording, *s);

  add_process(add(*trace, s, "start", "Switch tracing on in a process", &start), *s);

  CLI::App& stopping = add(*trace, s, "stop", "Switch it off, and fetch what was recorded", &stop);
  add_process(stopping, *s);
  add_output(stopping, *s);

  CLI::App& converting = add(*trace, s, "convert", "Turn a raw trace into a timeline", &convert);
  converting.add_option("FILE", s->input, "A raw trace, *.weft")->required();
  converting.add_option("-o,--output", s->output, "File: JSON, for ui.perfetto.dev")->required();

  add(*trace, s, "summary", "Say in numbers what a raw trace holds", &summary)
      .add_option("FILE", s->input, "A raw trace, *.weft")
      ->required();
}

} // namespace weft::tool
