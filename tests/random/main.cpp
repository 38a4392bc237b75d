// SPDX-License-Identifier: MIT
// Runs random programs and compares each with the model; shrinks the first that fails, and prints it.
//
//   random_cxx [--programs N] [--seed S] [--preempted] [--limit SECONDS] [--no-shrink] [--break FAULT]
//   random_cxx --replay FILE [--times N]    a program as it was printed; "-": from standard input
//   random_cxx --print S                    the program of that seed
//   random_cxx --self-test                  whether faults that are put into the interpreter are found and
//                                           shrunk: lock, release, key, place, hand_over, nest, errand
//
// WEFT_RANDOM_PROGRAMS stands for --programs where that is not given, WEFT_STRESS_SEED for --seed; without
// either the seed is random, and printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>

#include "tests/random/model.hpp"
#include "tests/random/runner.hpp"
#include "tests/random/shrink.hpp"

// ThreadSanitizer sleeps a second before the process exits, if not told; who sleeps so long counts as hung.
extern "C" const char* __tsan_default_options(); // NOLINT: its name
extern "C" const char* __tsan_default_options() {
  return "atexit_sleep_ms=0";
}

namespace weft::random_programs {
namespace {

using clock_type = std::chrono::steady_clock;
constexpr unsigned batch = 64; // programs that share a runtime

struct options {
  conditions how{};
  std::uint64_t programs = 2000;
  std::uint64_t seed = 0;
  unsigned times = 2000;
  std::chrono::seconds shrinking{120};
  bool shrinks = true;
  bool self_test = false;
  const char* replay = nullptr;
  bool print = false;
};

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(why + "; the usage stands at the top of tests/random/main.cpp");
}

std::uint64_t number(const char* text) {
  char* end = nullptr;
  const std::uint64_t n = std::strtoull(text, &end, 0);
  if (*text == '\0' || *end != '\0')
    refuse(std::string("not a number: ") + text);
  return n;
}

// A fault, how seldom it strikes in the self-test, and to how many instructions its program must shrink.
struct fault {
  const char* name;
  sabotage what;
  unsigned every;
  std::size_t at_most;
};
// Of some 80 instructions; the time allows no better where each failure is a hang. A program releases little,
// and more often than it must.
constexpr fault faults[] = {{"lock", sabotage::lock, 50, 25},
                            {"release", sabotage::release, 3, 60},
                            {"key", sabotage::key, 50, 15},
                            {"place", sabotage::place, 2, 60},
                            {"hand_over", sabotage::hand_over, 20, 15},
                            {"nest", sabotage::nest, 20, 15},
                            {"errand", sabotage::errand, 20, 15}};

sabotage sabotage_of(const std::string& name) {
  for (const fault& f : faults) {
    if (name == f.name)
      return f.what;
  }
  refuse("nothing to break: " + name);
}

options read_options(int argc, char** argv) {
  options o;
  const char* const programs = std::getenv("WEFT_RANDOM_PROGRAMS");
  const char* const seed = std::getenv("WEFT_STRESS_SEED");
  o.programs = programs != nullptr ? number(programs) : o.programs;
  o.seed = seed != nullptr ? number(seed) * 1'000'003 : std::random_device{}() * std::uint64_t{1024};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] { return ++i < argc ? argv[i] : (refuse("no value for " + name), nullptr); };
    if (name == "--programs") {
      o.programs = number(value());
    } else if (name == "--seed") {
      o.seed = number(value());
    } else if (name == "--preempted") {
      o.how.who = preempted::some;
    } else if (name == "--limit") {
      o.how.limit = std::chrono::seconds(number(value()));
    } else if (name == "--no-shrink") {
      o.shrinks = false;
    } else if (name == "--break") {
      o.how.broken = sabotage_of(value());
    } else if (name == "--replay") {
      o.replay = value();
    } else if (name == "--times") {
      o.times = static_cast<unsigned>(number(value()));
    } else if (name == "--print") {
      o.seed = number(value());
      o.print = true;
    } else if (name == "--self-test") {
      o.self_test = true;
    } else {
      refuse("unknown option " + name);
    }
  }
  return o;
}

// Seeds of one batch have the same quotient, so that a seed alone says where its program runs.
program program_of(std::uint64_t seed, preempted who) {
  const dialect d = dialect_here();
  return make_program(seed, make_set_up(seed / batch, d), d, who);
}

verdict run_all(const options& o) {
  for (std::uint64_t done = 0; done < o.programs;) {
    const std::uint64_t first = o.seed + done;
    const auto count =
        static_cast<unsigned>(std::min<std::uint64_t>(batch - first % batch, o.programs - done));
    if (verdict v = run_seeds(first, count, first / batch, o.how); v.how != ending::right)
      return v;
    done += count;
  }
  return {};
}

// The smallest program that still fails, one way or another. A failure may need luck, so each is given some
// time.
program shrink_seed(std::uint64_t seed, const options& o) {
  conditions how = o.how;
  how.limit = std::min(how.limit, std::chrono::milliseconds(3000));
  const auto fails = [&](const program& p) {
    return run_program(p, o.times, std::chrono::milliseconds(1500), how).how != ending::right;
  };
  return shrink(program_of(seed, o.how.who), fails, o.shrinking);
}

int report_failure(const verdict& v, const options& o) {
  std::printf("%s: seed %llu %s: %s\n", dialect_here().name, static_cast<unsigned long long>(v.seed),
              name_of(v.how), v.why.c_str());
  const program first = program_of(v.seed, o.how.who);
  if (!why_invalid(first).empty())
    return 1;
  std::printf("%zu instructions in %zu threads:\n%s", size_of(first), first.threads.size(),
              to_text(first).c_str());
  std::fflush(stdout);
  if (o.shrinks) {
    const program least = shrink_seed(v.seed, o);
    std::printf("shrunk to %zu instructions in %zu threads; give this to --replay:\n%s", size_of(least),
                least.threads.size(), to_text(least).c_str());
  }
  return 1;
}

int run_and_report(const options& o) {
  std::printf("%s: %llu programs from seed %llu\n", dialect_here().name,
              static_cast<unsigned long long>(o.programs), static_cast<unsigned long long>(o.seed));
  std::fflush(stdout);
  const auto began = clock_type::now();
  if (const verdict v = run_all(o); v.how != ending::right)
    return report_failure(v, o);
  const std::chrono::duration<double> took = clock_type::now() - began;
  std::printf("all as the model says, in %.1f s\n", took.count());
  return 0;
}

int replay(const options& o) {
  std::ifstream file(o.replay);
  std::istream& in = std::strcmp(o.replay, "-") == 0 ? std::cin : file;
  if (!in)
    refuse(std::string("cannot read ") + o.replay);
  const program p = from_text({std::istreambuf_iterator<char>(in), {}});
  if (const std::string why = why_invalid(p); !why.empty())
    refuse("invalid program: " + why);
  const verdict v = run_program(p, o.times, std::chrono::minutes(10), o.how);
  std::printf("%s%s%s\n", name_of(v.how), v.why.empty() ? "" : ": ", v.why.c_str());
  return v.how == ending::right ? 0 : 1;
}

// One fault: found, shrunk to a few instructions, found again in what the text is read back as, and gone
// without it.
bool finds(const fault& f, options o) {
  o.how.broken = f.what;
  o.how.every = f.every;
  o.how.limit = std::chrono::milliseconds(1500);
  o.shrinking = std::chrono::seconds(60);
  const verdict v = run_all(o);
  if (v.how == ending::right) {
    std::printf("broken %s: not found\n", f.name);
    return false;
  }
  // Two threads must meet, and where the machine is busy they seldom do.
  const auto fails_again = [&o](const program& p) {
    return run_program(p, 2'000'000, std::chrono::minutes(1), o.how).how != ending::right;
  };
  // Where each failure is a hang, what is waited for decides how far shrinking gets, and a program ends
  // within milliseconds. On a busy machine one may be slow and no more: then it is shrunk with patience.
  options hasty = o;
  hasty.how.limit = std::chrono::milliseconds(400);
  program least = shrink_seed(v.seed, hasty);
  program again = from_text(to_text(least));
  bool fails = fails_again(again);
  if (!fails && v.how == ending::hung) {
    options patient = o;
    patient.how.limit = std::chrono::seconds(5);
    patient.shrinking = std::chrono::minutes(5);
    least = shrink_seed(v.seed, patient);
    again = from_text(to_text(least));
    fails = fails_again(again);
  }
  o.how.broken = sabotage::none;
  const bool right = run_program(again, 200, std::chrono::seconds(2), o.how).how == ending::right;
  std::printf("broken %s: %s (%s), seed %llu, shrunk to %zu instructions in %zu threads%s%s\n%s", f.name,
              name_of(v.how), v.why.c_str(), static_cast<unsigned long long>(v.seed), size_of(least),
              least.threads.size(), fails ? "" : "; it does not fail again",
              right ? "" : "; it fails without the fault", to_text(least).c_str());
  std::fflush(stdout);
  return fails && right && size_of(least) <= f.at_most;
}

bool has_places(const dialect& d) {
  return std::find(d.semaphores.begin(), d.semaphores.end(), semaphore_kind::place) != d.semaphores.end();
}

int self_test(const options& o) {
  bool all = true;
  for (const fault& f : faults) {
    const bool there = f.what != sabotage::place || has_places(dialect_here());
    all &= !there || finds(f, o);
  }
  return all ? 0 : 1;
}

// Every program is itself after it was written and read.
void check_text(std::uint64_t seed, preempted who) {
  const std::string text = to_text(program_of(seed, who));
  if (to_text(from_text(text)) != text)
    throw std::runtime_error("the text of seed " + std::to_string(seed) + " reads as another program");
}

int run(int argc, char** argv) {
  const options o = read_options(argc, argv);
  if (o.replay != nullptr)
    return replay(o);
  if (o.print) {
    std::fputs(to_text(program_of(o.seed, o.how.who)).c_str(), stdout);
    return 0;
  }
  check_text(o.seed, o.how.who);
  return o.self_test ? self_test(o) : run_and_report(o);
}

} // namespace
} // namespace weft::random_programs

int main(int argc, char** argv) {
  try {
    return weft::random_programs::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
