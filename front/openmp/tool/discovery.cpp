// SPDX-License-Identifier: MIT
// A tool is a function ompt_start_tool() in the program, in a library that it has loaded, or in one that
// OMP_TOOL_LIBRARIES names. Programs under ThreadSanitizer get LLVM's race detector, if it is found.
#include "front/openmp/tool/discovery.hpp"

#include "front/openmp/crew.hpp"
#include "front/openmp/thread.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <string_view>
#include <strings.h>

namespace weft::openmp::tool {

constinit bool is_on = false;
constinit std::array<door::atomic<function>, events> listeners{};

namespace {

constexpr unsigned openmp_version = 202011; // 5.1
constexpr const char* runtime_version = "Weft OpenMP";

/// ompt_start_tool_result_t.
struct started {
  int (*initialize)(function (*lookup)(const char*), int device, word* data);
  void (*finalize)(word* data);
  word data;
};
using start_function = started* (*)(unsigned, const char*);

constinit started* running = nullptr;
constinit door::atomic<bool> finished{false};

// OMP_TOOL_VERBOSE_INIT: how the search goes, in the words that libomp has.
class search_log {
 public:
  search_log() {
    const char* const to = std::getenv("OMP_TOOL_VERBOSE_INIT");
    if (to == nullptr || *to == '\0' || strcasecmp(to, "disabled") == 0)
      return;
    if (strcasecmp(to, "stdout") == 0)
      out_ = stdout;
    else if (strcasecmp(to, "stderr") == 0)
      out_ = stderr;
    else
      out_ = std::fopen(to, "w");
  }
  ~search_log() {
    if (out_ != nullptr && out_ != stdout && out_ != stderr)
      static_cast<void>(std::fclose(out_));
  }
  search_log(const search_log&) = delete;
  search_log& operator=(const search_log&) = delete;

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) {
    if (out_ == nullptr)
      return;
    va_list rest;
    va_start(rest, format);
    static_cast<void>(std::vfprintf(out_, format, rest));
    va_end(rest);
  }

 private:
  FILE* out_ = nullptr;
};

const char* last_error() noexcept {
  const char* const why = ::dlerror();
  return why != nullptr ? why : "ompt_start_tool = NULL";
}

// Null: it has none, or does not want to.
started* start_from_library(const char* path, search_log& log) {
  log.say("Opening %s... ", path);
  ::dlerror();
  void* const library = ::dlopen(path, RTLD_LAZY);
  if (library == nullptr) {
    log.say("Failed: %s\n", last_error());
    return nullptr;
  }
  log.say("Success. \nSearching for ompt_start_tool in %s... ", path);
  const auto start = reinterpret_cast<start_function>(::dlsym(library, "ompt_start_tool"));
  if (start == nullptr) {
    log.say("Failed: %s\n", last_error());
  } else if (started* const s = start(openmp_version, runtime_version)) {
    log.say("Success.\nTool was started and is using the OMPT interface.\n");
    return s;
  } else {
    log.say("Found but not using the OMPT interface.\nContinuing search...\n");
  }
  ::dlclose(library);
  return nullptr;
}

started* start_from_list(std::string_view list, search_log& log) {
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    const std::string path(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    if (path.empty())
      continue;
    if (started* const s = start_from_library(path.c_str(), log))
      return s;
  }
  return nullptr;
}

started* search(search_log& log) {
  log.say("Search for OMP tool in current address space... ");
  const auto start = reinterpret_cast<start_function>(::dlsym(RTLD_DEFAULT, "ompt_start_tool"));
  if (started* const s = start != nullptr ? start(openmp_version, runtime_version) : nullptr) {
    log.say("Success.\nTool was started and is using the OMPT interface.\n");
    return s;
  }
  log.say("Failed.\n");
  if (const char* const list = std::getenv("OMP_TOOL_LIBRARIES")) {
    log.say("Searching tool libraries...\nOMP_TOOL_LIBRARIES = %s\n", list);
    if (started* const s = start_from_list(list, log))
      return s;
  } else {
    log.say("No OMP_TOOL_LIBRARIES defined.\n");
  }
  log.say("...searching tool libraries failed. Using archer tool.\n");
  if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) {
    if (started* const s = start_from_library("libarcher.so", log))
      return s;
  }
  log.say("No OMP tool loaded.\n");
  return nullptr;
}

bool is_wanted(search_log& log) {
  const char* const asked = std::getenv("OMP_TOOL");
  if (asked == nullptr || *asked == '\0' || strcasecmp(asked, "enabled") == 0)
    return true;
  if (strcasecmp(asked, "disabled") == 0)
    log.say("OMP tool disabled. \n");
  else
    std::fprintf(stderr,
                 "Warning: OMP_TOOL has invalid value \"%s\".\n"
                 "  legal values are (NULL,\"\",\"disabled\",\"enabled\").\n",
                 asked);
  return false;
}

void start() {
  search_log log;
  if (!is_wanted(log))
    return;
  log.say("----- START LOGGING OF TOOL REGISTRATION -----\n");
  running = search(log);
  log.say("----- END LOGGING OF TOOL REGISTRATION -----\n");
  if (running == nullptr)
    return;
  is_on = running->initialize(&look_up, 0, &running->data) != 0;
  if (is_on)
    static_cast<void>(std::atexit([] { finish(); }));
}

} // namespace

void start_once() {
  constexpr unsigned not_begun = 0;
  constexpr unsigned begun = 1;
  constexpr unsigned done = 2;
  static constinit door::atomic<unsigned> step{not_begun};
  unsigned seen = not_begun;
  if (step.load_acquire() == done) // acquire, all: what the first one found; pairs with the release below
    return;
  if (step.cas_strong_acq_rel(seen, begun)) {
    start();
    return step.store_release(done);
  }
  for (unsigned looks = 0; step.load_acquire() != done;)
    door::pause_for_another(looks);
}

// The threads that the caller has kept tell their end themselves.
void finish() noexcept {
  if (!is_on || finished.exchange_acq_rel(true))
    return;
  if (thread* const t = self; t != nullptr && t->mastering == 0 && t->is_initial) {
    dismiss_crews(*t); // SWITCH: may resume on another worker
    thread_ends(*t);
  }
  if (running->finalize != nullptr)
    running->finalize(&running->data);
  for (auto& l : listeners)
    l.store_release(nullptr);
}

} // namespace weft::openmp::tool

// For programs that are linked to this library, whose own function then takes the place of this one. Found
// first, it gives way to the next.
extern "C" __attribute__((visibility("default"), weak)) void* ompt_start_tool(unsigned version,
                                                                              const char* runtime) {
  using next_function = void* (*)(unsigned, const char*);
  const auto next = reinterpret_cast<next_function>(::dlsym(RTLD_NEXT, "ompt_start_tool"));
  return next != nullptr ? next(version, runtime) : nullptr;
}
