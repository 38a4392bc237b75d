// SPDX-License-Identifier: MIT
// weft-http: the server as a program. SIGTERM or SIGINT: it drains and ends.
#include "apps/http/server.hpp"

#include <weft/io.hpp>
#include <weft/runtime.hpp>
#include <weft/thread.hpp>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <system_error>

namespace weft::http {
namespace {

struct arguments {
  server_options server;
  runtime::options runtime;
};

void add_milliseconds(CLI::App& app, const char* name, std::chrono::milliseconds& value, const char* what) {
  app.add_option_function<std::int64_t>(
         name, [&value](std::int64_t given) { value = std::chrono::milliseconds(given); }, what)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{86'400'000}))
      ->default_str(std::to_string(value.count()));
}

weft::io::mechanism mechanism_of(const std::string& name) {
  return name == "epoll"   ? weft::io::mechanism::epoll
         : name == "uring" ? weft::io::mechanism::uring
                           : weft::io::mechanism::automatic;
}

void add_options(CLI::App& app, arguments& a) {
  server_options& s = a.server;
  app.add_option("-a,--address", s.address, "Address to listen at")->capture_default_str();
  app.add_option("-p,--port", s.port, "Port; 0: one that is free")->capture_default_str();
  app.add_option("-r,--root", s.root, "Directory whose files are served; without it, only /plaintext");
  app.add_option("-w,--workers", a.runtime.workers, "Workers; 0: affinity mask and CPU quota")
      ->capture_default_str();
  // By name: a transformer of CLI11's prints what the names stand for, bytes 0 to 2.
  app.add_option_function<std::string>(
         "--io", [&a](const std::string& name) { a.runtime.io = mechanism_of(name); },
         "What threads wait in: auto, epoll or uring")
      ->check(CLI::IsMember({"auto", "epoll", "uring"}))
      ->default_str("auto");
  app.add_option("--server-name", s.name, "The field Server")->capture_default_str();
  app.add_option("--connections", s.connections, "At once; further ones wait")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--stack", s.stack_bytes, "Bytes of stack of a connection's thread; 0: WEFT_STACK_SIZE")
      ->capture_default_str();
  app.add_option("--head-bytes", s.limits.head_bytes, "Longest head of a request")->capture_default_str();
  app.add_option("--fields", s.limits.fields, "Most fields of a request")->capture_default_str();
  app.add_option("--body-bytes", s.limits.body_bytes, "Longest body of a request")->capture_default_str();
  add_milliseconds(app, "--idle-ms", s.limits.idle, "Milliseconds between two requests");
  add_milliseconds(app, "--request-ms", s.limits.request, "Milliseconds for a request to come in");
  add_milliseconds(app, "--send-ms", s.limits.send, "Milliseconds without the client taking anything");
  add_milliseconds(app, "--drain-ms", s.drain, "Milliseconds for open connections after SIGTERM");
}

// A connection is a descriptor: as many as the system lets us have.
void raise_descriptor_limit(std::size_t wanted) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0)
    return;
  now.rlim_cur = now.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &now);
  if (now.rlim_cur < wanted)
    std::fprintf(stderr, "weft-http: the limit on open files, %ju, is below --connections\n",
                 static_cast<std::uintmax_t>(now.rlim_cur));
}

// A core that looks for work between two requests costs more than the wake-up that it spares. Who sets the
// knob means it. Before the runtime reads its environment.
void sleep_at_once_when_idle() {
  ::setenv("WEFT_IDLE_SPIN", "0", 0);
}

// Blocked before there are other kernel threads, so in all of them; a thread reads them from a descriptor.
int take_signals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  sigaddset(&wanted, SIGINT);
  if (::pthread_sigmask(SIG_BLOCK, &wanted, nullptr) != 0)
    return -1;
  return ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

int serve(const arguments& a) {
  raise_descriptor_limit(a.server.connections + 64);
  sleep_at_once_when_idle();
  const int signals = take_signals();
  if (signals < 0)
    throw std::system_error(errno, std::system_category(), "signalfd");
  const runtime::scope running(a.runtime);
  weft::io::adopt(signals);
  server one(a.server);
  std::printf("weft-http: port %u, %u workers\n", one.port(), runtime::worker_count());
  std::fflush(stdout);
  std::stop_source stop;
  weft::thread waiting([&] {
    signalfd_siginfo what;
    std::error_code error; // canceled: run() has failed
    weft::io::read(signals, &what, sizeof what, error, stop.get_token());
    stop.request_stop();
  });
  std::exception_ptr failure;
  try {
    one.run(stop.get_token());
  } catch (...) {
    failure = std::current_exception();
  }
  stop.request_stop();
  waiting.join();
  weft::io::close(signals);
  const server_counts counts = one.counts();
  std::printf("weft-http: %ju connections, %ju requests\n", static_cast<std::uintmax_t>(counts.connections),
              static_cast<std::uintmax_t>(counts.requests));
  if (failure)
    std::rethrow_exception(failure);
  return 0;
}

} // namespace
} // namespace weft::http

int main(int argc, char** argv) {
  weft::http::arguments a;
  CLI::App app("Serves /plaintext and the files of a directory, one weft::thread a connection", "weft-http");
  weft::http::add_options(app, a);
  try {
    app.parse(argc, argv);
    return weft::http::serve(a);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft-http: %s\n", e.what());
    return 1;
  }
}
