// SPDX-License-Identifier: MIT
// Progress on the terminal.

#include "apps/uts/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "apps/uts/format.hpp"

namespace weft::uts {
namespace {

constexpr double sign_of_life_seconds = 10;
constexpr const char* clear_line = "\r\033[K";
constexpr const char* red = "\033[1;31m";
constexpr const char* green = "\033[32m";
constexpr const char* plain = "\033[0m";

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

bool usable_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && kind != nullptr && std::string(kind) != "dumb";
}

} // namespace

progress::progress(std::size_t steps, double total_weight)
    : tty_(usable_terminal()), steps_(steps), total_weight_(total_weight) {}

void progress::begin(const std::string& what, double weight) {
  ++step_;
  what_ = what;
  weight_ = weight;
  step_seconds_ = 0;
  next_sign_ = sign_of_life_seconds;
  tick(0, 0);
}

std::string progress::time_left(double seconds) const {
  if (done_weight_ <= 0) {
    return {};
  }
  const double pace = done_seconds_ / done_weight_;
  const double this_step = std::max(0.0, weight_ * pace - seconds);
  const double left = this_step + std::max(0.0, total_weight_ - done_weight_ - weight_) * pace;
  return left < 90 ? format("about %.0f s left", left) : format("about %.0f min left", left / 60);
}

void progress::tick(double seconds, std::size_t resident) {
  step_seconds_ = seconds;
  // A child that has just ended has no memory left to show.
  resident_ = resident > 0 || seconds == 0 ? resident : resident_;
  const std::string now =
      format("[%2zu/%zu] %-29s %6.1f s %9s  %s", step_, steps_, what_.c_str(), seconds,
             bytes_text(static_cast<double>(resident_)).c_str(), time_left(seconds).c_str());
  if (tty_) {
    std::printf("%s%.*s", clear_line, terminal_columns() - 1, now.c_str());
  } else if (seconds >= next_sign_) {
    next_sign_ += sign_of_life_seconds;
    std::printf("%s\n", now.c_str());
  }
  std::fflush(stdout);
}

void progress::end(const std::string& line, bool ok) {
  done_weight_ += weight_;
  done_seconds_ += step_seconds_;
  clear();
  const char* const mark = ok ? "ok" : "FAILED";
  if (tty_) {
    std::printf("[%2zu/%zu] %s%s%s %s\n", step_, steps_, ok ? green : red, mark, plain, line.c_str());
  } else {
    std::printf("[%2zu/%zu] %s %s\n", step_, steps_, mark, line.c_str());
  }
  std::fflush(stdout);
}

void progress::skip(const std::string& line, double weight) {
  ++step_;
  total_weight_ -= weight;
  if (!line.empty()) {
    note(format("[%2zu/%zu] -- ", step_, steps_) + line);
  }
}

void progress::note(const std::string& line, bool bad) {
  clear();
  std::printf("%s%s%s\n", tty_ && bad ? red : "", line.c_str(), tty_ && bad ? plain : "");
  std::fflush(stdout);
}

void progress::clear() const {
  if (tty_) {
    std::fputs(clear_line, stdout);
  }
}

} // namespace weft::uts
