// SPDX-License-Identifier: MIT
#include "tools/weft/control_client.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "weft/trace/control_socket.hpp"
#include "weft/trace/raw_file.hpp"

namespace weft::tool {
namespace {

std::string why_not_connected(pid_t process, int error) {
  if (::kill(process, 0) != 0 && errno == ESRCH) {
    return "there is no such process";
  }
  switch (error) {
  case ENOENT:
  case ECONNREFUSED:
    return "does not listen; it must use Weft and have been started with WEFT_CONTROL=1, by the same user "
           "and with the "
           "same XDG_RUNTIME_DIR";
  case EPERM:
    return "does not listen here: the folder of the sockets, or who listens, is not this user's or not that "
           "process";
  default:
    return std::strerror(error);
  }
}

// SIGINT and SIGTERM end a wait and not the tool: what was recorded until then is still fetched.
class interrupts {
 public:
  interrupts() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGINT);
    ::sigaddset(&set_, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
    file_ = ::signalfd(-1, &set_, SFD_CLOEXEC);
  }
  ~interrupts() {
    if (file_ >= 0) {
      signalfd_siginfo taken;
      pollfd waits{file_, POLLIN, 0};
      while (::poll(&waits, 1, 0) > 0 && ::read(file_, &taken, sizeof taken) > 0) {
      }
      ::close(file_);
    }
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  interrupts(const interrupts&) = delete;
  interrupts& operator=(const interrupts&) = delete;

  [[nodiscard]] int file() const noexcept { return file_; }

 private:
  sigset_t set_{};
  sigset_t before_{};
  int file_ = -1;
};

} // namespace

control_client::control_client(pid_t process)
    : process_(process), connection_(trace::connect_to_control(process)) {
  if (connection_ < 0) {
    fail(why_not_connected(process, errno));
  }
}

control_client::~control_client() {
  if (connection_ >= 0) {
    ::close(connection_);
  }
}

void control_client::fail(const std::string& why) const {
  throw std::runtime_error("weft: process " + std::to_string(process_) + ": " + why);
}

void control_client::read(void* to, std::size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes != 0) {
    const ssize_t now = ::recv(connection_, at, bytes, 0);
    if (now > 0) {
      at += now;
      bytes -= static_cast<std::size_t>(now);
    } else if (now == 0 || errno == ECONNRESET) {
      fail("it has ended, and nothing could be fetched");
    } else if (errno != EINTR) {
      fail(std::strerror(errno));
    }
  }
}

std::string control_client::read_line() {
  constexpr std::size_t longest = 512;
  std::string line;
  for (char c = 0; line.size() < longest;) {
    read(&c, 1);
    if (c == '\n') {
      return line;
    }
    line += c;
  }
  fail("its answer is no line of text");
}

std::string control_client::request(const std::string& line) {
  const std::string sent = line + "\n";
  if (::send(connection_, sent.data(), sent.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(sent.size())) {
    fail(std::strerror(errno));
  }
  const std::string answer = read_line();
  if (answer == "ok" || answer.starts_with("ok ")) {
    return answer.substr(std::min<std::size_t>(answer.size(), 3));
  }
  fail(answer.starts_with("error ") ? answer.substr(6) : "its answer is not one of this version of Weft");
}

trace::recording control_client::stop_recording() {
  const std::string said = request("trace stop");
  std::size_t end = 0;
  unsigned long long bytes = 0;
  try {
    bytes = std::stoull(said, &end);
  } catch (const std::logic_error&) {
    end = 0;
  }
  if (end == 0 || end != said.size() || bytes > std::numeric_limits<std::size_t>::max() / 2) {
    fail("its answer is not one of this version of Weft");
  }
  auto words = std::make_shared<std::vector<std::uint64_t>>(static_cast<std::size_t>(bytes) / 8 + 1);
  read(words->data(), static_cast<std::size_t>(bytes));
  trace::recording result;
  const auto sent = std::as_bytes(std::span(*words)).first(static_cast<std::size_t>(bytes));
  if (const char* wrong = trace::parse_raw(sent, result)) {
    fail(std::string("what it sent is no trace: ") + wrong);
  }
  result.memory = std::move(words);
  return result;
}

void control_client::wait(std::chrono::nanoseconds length) {
  const interrupts stop;
  const auto until = std::chrono::steady_clock::now() + length;
  for (;;) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return;
    }
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{static_cast<time_t>(whole.count()), static_cast<long>((left - whole).count())};
    pollfd waits[2] = {{connection_, POLLIN, 0}, {stop.file(), POLLIN, 0}};
    if (::ppoll(waits, 2, &limit, nullptr) < 0 && errno != EINTR) {
      fail(std::strerror(errno));
    }
    if (waits[0].revents != 0) { // it has nothing to say unasked
      fail("it has ended while it was recorded; nothing could be fetched");
    }
    if (waits[1].revents != 0) {
      return;
    }
  }
}

} // namespace weft::tool
