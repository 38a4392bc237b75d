// SPDX-License-Identifier: MIT
#include "weft/trace/control.hpp"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include "weft/base/assert.hpp"
#include "weft/base/knob.hpp"
#include "weft/os/clock.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/os/kernel_thread.hpp"
#include "weft/trace/control_socket.hpp"
#include "weft/trace/output_file.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/trace/request_lines.hpp"
#include "weft/trace/session.hpp"

namespace weft::trace {
namespace {

constinit base::boolean_knob control_knob{
    "WEFT_CONTROL", false, "listen to the tool weft of the same user, which may then trace this process"};
const base::knob_list control_knobs{control_knob};

// Room for the listener's frames and what the session and the C library need.
constexpr std::size_t stack_bytes = 256 << 10;
constexpr std::size_t most_clients = 8;
// A client that does not read is given up, so that it cannot hold up the others for ever.
constexpr timeval longest_send{10, 0};

constexpr auto us = session::starter::control;

struct client {
  int connection = -1;
  bool records = false; // what is being recorded is this one's
  request_lines requests;
};

// Ownership: the listening kernel thread, all of it.
class control_server {
 public:
  // Errors: 0 or an errno value.
  [[nodiscard]] int open() noexcept {
    listener_ = listen_for_control();
    return listener_ < 0 ? errno : 0;
  }
  // Without its thread: where that could not be started, and in the child of fork(), which else would hold
  // the clients' connections open when this process has ended.
  void close() noexcept {
    for (client& c : clients_) {
      if (c.connection >= 0) {
        ::close(std::exchange(c.connection, -1));
      }
    }
    if (listener_ >= 0) {
      ::close(std::exchange(listener_, -1));
    }
  }
  [[nodiscard]] bool listens() const noexcept { return listener_ >= 0; }

  [[noreturn]] void serve() noexcept {
    for (;;) {
      std::array<pollfd, most_clients + 1> waits{};
      waits[0] = {listener_, POLLIN, 0};
      for (std::size_t i = 0; i < most_clients; ++i) {
        waits[i + 1] = {clients_[i].connection, POLLIN, 0}; // -1 is passed over
      }
      if (os::interruptible([&] { return ::poll(waits.data(), waits.size(), -1); }) < 0) {
        pause_after_error();
        continue;
      }
      for (std::size_t i = 0; i < most_clients; ++i) {
        if (waits[i + 1].revents != 0) {
          hear(clients_[i]);
        }
      }
      if (waits[0].revents != 0) {
        admit();
      }
    }
  }

 private:
  // Where the kernel has no memory or no file for us, not at full speed.
  static void pause_after_error() noexcept {
    if (errno != EINTR && errno != EAGAIN) {
      os::sleep_ns(100'000'000);
    }
  }

  void admit() noexcept {
    const int connection =
        os::interruptible([this] { return ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); });
    if (connection < 0) {
      return pause_after_error();
    }
    const auto free =
        std::find_if(clients_.begin(), clients_.end(), [](const client& c) { return c.connection < 0; });
    if (!is_same_user(connection) || free == clients_.end()) {
      answer(connection, "error too many tools are connected, or of another user\n");
      ::close(connection);
      return;
    }
    ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &longest_send, sizeof longest_send);
    *free = client{};
    free->connection = connection;
  }

  void hear(client& c) noexcept {
    const auto room = c.requests.room();
    const ssize_t now =
        os::interruptible([&] { return ::recv(c.connection, room.data(), room.size(), MSG_DONTWAIT); });
    if (now < 0 && (errno == EAGAIN || errno == EINTR)) {
      return;
    }
    if (now <= 0) {
      return dismiss(c);
    }
    const auto progress = c.requests.add(static_cast<std::size_t>(now),
                                         [&](std::string_view request) { return obey(c, request); });
    if (progress == request_lines::progress::too_long) {
      answer(c.connection, "error this line is too long\n");
    }
    if (progress != request_lines::progress::goes_on) {
      dismiss(c);
    }
  }

  void dismiss(client& c) noexcept {
    if (c.records) {
      session::of_process().stop(us);
      session::of_process().discard(us);
      recording_ = false;
    }
    ::close(c.connection);
    c = client{};
  }

  // False: nothing more may be sent to this client. So for those below.
  [[nodiscard]] bool obey(client& c, std::string_view request) noexcept {
    try {
      if (request == "trace start" || request == "trace start keep") {
        session::of_process().start_in_memory(us);
        recording_ = true;
        c.records = request == "trace start";
        answer(c.connection, "ok\n");
      } else if (request == "trace stop") {
        return stop(c);
      } else {
        answer(c.connection, "error this request is not known here\n");
      }
    } catch (const std::exception& e) {
      std::array<char, 256> text{};
      std::snprintf(text.data(), text.size(), "error %s\n", e.what());
      answer(c.connection, text.data());
    }
    return true;
  }

  [[nodiscard]] bool stop(client& c) {
    const bool of_another = std::any_of(clients_.begin(), clients_.end(),
                                        [&c](const client& o) { return o.records && &o != &c; });
    if (of_another || !recording_) {
      answer(c.connection, of_another ? "error another tool is recording\n"
                                      : "error no recording was started from outside\n");
      return true;
    }
    session::of_process().stop(us);
    const recording all = session::of_process().take(us);
    recording_ = false;
    c.records = false;
    return send(c, all);
  }

  [[nodiscard]] static bool send(const client& c, const recording& all) noexcept {
    output_file out;
    const int file = ::dup(c.connection);
    if (file < 0 || out.adopt(file) != 0) {
      if (file >= 0) {
        ::close(file);
      }
      answer(c.connection, "error there is no memory to send what was recorded\n");
      return true;
    }
    out.print("ok %llu\n", static_cast<unsigned long long>(raw_bytes(all)));
    write_raw(out, all);
    return out.close() == 0; // else part of it is out
  }

  // A client that does not take an answer is noticed when it hangs up. A send with a time limit is not
  // restarted after SIGSTOP, which no mask keeps off.
  static void answer(int connection, const char* text) noexcept {
    os::uninterrupted([=] { return ::send(connection, text, std::strlen(text), MSG_NOSIGNAL); });
  }

  int listener_ = -1;
  bool recording_ = false; // for a client, or kept
  std::array<client, most_clients> clients_;
};

constinit control_server the_server;

void* serve(void*) {
  os::name_this_kernel_thread("weft-control");
  the_server.serve();
}

// The thread takes no signals: the program's handlers stay where they were, and a client that hangs up is an
// error of write(2), no SIGPIPE.
int start_thread() noexcept {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  os::kernel_thread thread;
  const int error = thread.start(&serve, nullptr, stack_bytes);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error != 0 ? error : thread.detach();
}

} // namespace

void open_control_if_asked() noexcept {
  if (!control_knob.get()) {
    return;
  }
  int error = the_server.open();
  if (error == 0) {
    error = start_thread();
  }
  if (error != 0) {
    base::warn("WEFT_CONTROL: %s; this process does not listen", std::strerror(error));
    if (the_server.listens()) {
      unlink_control();
    }
    the_server.close();
    return;
  }
  std::atexit([] {
    if (the_server.listens()) { // not in a child of fork()
      unlink_control();
    }
  });
}

void close_control_after_fork() noexcept {
  the_server.close();
}

} // namespace weft::trace
