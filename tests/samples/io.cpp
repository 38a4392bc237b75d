// SPDX-License-Identifier: MIT
// Samples of docs/guide/io.md.
#include <weft/coroutine.hpp>
#include <weft/weft.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "tests/samples/check.hpp"

using samples::check;
using namespace std::chrono_literals;

namespace {

// What libraries of coroutines call a task.
template <class T>
struct lazy {
  struct promise_type {
    T value{};
    std::coroutine_handle<> after;
    lazy get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct resume_after {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().after;
      }
      void await_resume() noexcept {}
    };
    resume_after final_suspend() noexcept { return {}; }
    void return_value(T v) { value = v; }
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) {
    handle.promise().after = waiting;
    return handle;
  }
  T await_resume() {
    const T value = handle.promise().value;
    handle.destroy();
    return value;
  }
};

// [sample io-echo]
void echo(int client) {
  char text[4096];
  while (const std::size_t got = weft::io::read(client, text, sizeof text, 30s)) {  // 0: the end
    weft::io::write_all(client, text, got, 30s);
  }
}

void serve(int listening, std::stop_token stop) {
  for (;;) {
    std::error_code error;
    const int client = weft::io::accept(listening, nullptr, nullptr, error, stop);
    if (error) return;  // std::errc::operation_canceled: told to stop
    weft::thread([client] {
      try {
        echo(client);
      } catch (const std::system_error&) {
      }  // gone, or silent for half a minute
      weft::io::close(client);
    }).detach();
  }
}
// [/sample]

// [sample io-readiness]
ssize_t receive(int socket, msghdr& message) {
  weft::io::readiness ready(socket, POLLIN);
  ssize_t got;
  while ((got = ::recvmsg(socket, &message, MSG_DONTWAIT)) < 0 && errno == EAGAIN) ready.wait(30s);
  return got;
}
// [/sample]

void own_call() {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  weft::thread writer([&] {
    weft::this_thread::sleep_for(1ms);
    weft::io::write(ends[1], "x", 1);
  });
  char text[8];
  iovec buffer{text, sizeof text};
  msghdr message{};
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  check(receive(ends[0], message) == 1 && text[0] == 'x', "recvmsg");
  writer.join();
  for (const int end : ends) weft::io::close(end);
}

void echo_server() {
  const int listening = weft::io::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  check(::bind(listening, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  check(::listen(listening, 16) == 0, "listen");
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
  std::stop_source stop;
  weft::thread server([&] { serve(listening, stop.get_token()); });

  const int client = weft::io::socket(AF_INET, SOCK_STREAM, 0);
  weft::io::connect(client, reinterpret_cast<sockaddr*>(&address), size, 10s);
  weft::io::write_all(client, "hello", 5);
  std::string got(5, ' ');
  for (std::size_t at = 0; at < got.size();) at += weft::io::read(client, &got[at], got.size() - at, 10s);
  check(got == "hello", "echo");
  weft::io::close(client);
  stop.request_stop();
  server.join();
  weft::io::close(listening);
}

void limits() {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  const int socket = ends[0];
  std::stop_source source;
  const std::stop_token token = source.get_token();
  source.request_stop();
  bool timed_out = false;
  bool stopped = false;
  char buffer[16];
  // [sample io-limits]
  try {
    weft::io::read(socket, buffer, sizeof buffer, 20ms);
  } catch (const std::system_error& e) {
    timed_out = e.code() == std::errc::timed_out;
  }
  std::error_code error;
  weft::io::read(socket, buffer, sizeof buffer, error, {10s, token});
  stopped = error == std::errc::operation_canceled;
  // [/sample]
  check(timed_out, "the time limit");
  check(stopped, "the stop token");
  weft::io::close(ends[0]);
  weft::io::close(ends[1]);
}

void blocking() {
  const char* path = "/";
  // [sample io-blocking]
  const bool exists = weft::blocking([&] {
    struct stat about;
    return ::stat(path, &about) == 0;  // on a spare kernel thread
  });
  // [/sample]
  check(exists, "there is a root");
}

void library_call(int value, void (*done)(void*, int), void* argument) {
  std::thread([=] { done(argument, 2 * value); }).detach();
}

int callback() {
  // [sample io-suspend]
  const int answer = weft::suspend<int>([](weft::resume_handle<int> handle) {
    library_call(
        21, [](void* p, int value) { weft::resume_handle<int>::adopt(p)(value); }, handle.release());
  });
  // [/sample]
  return answer;
}

// [sample io-coroutine]
lazy<int> sum(weft::future<int> a, weft::future<int> b) {
  const int first = co_await std::move(a);
  co_return first + co_await std::move(b);
}

int wait_for_it() {
  weft::promise<int> a, b;
  weft::thread giver([&] {
    a.set_value(1);
    b.set_value(2);
  });
  const int three = weft::await(sum(a.get_future(), b.get_future()));
  giver.join();
  return three;
}
// [/sample]

void guest_of_a_loop() {
  bool done = false;
  weft::thread([&] {
    weft::this_thread::sleep_for(2ms);
    done = true;
  }).detach();
  // [sample io-guest]
  weft::runtime::guest weft;
  while (!done) {
    const bool more = weft.run(1ms);  // threads of worker 0, at most so long
    pollfd watched[] = {{weft.descriptor(), POLLIN, 0}};  // and the loop's own
    ::poll(watched, 1, more ? 0 : 100);
  }
  // [/sample]
}

} // namespace

int main() {
  check(callback() == 42, "the callback's value");
  check(wait_for_it() == 3, "the coroutine's value");
  weft::runtime::set_worker_count(1);
  guest_of_a_loop();
  echo_server();
  own_call();
  limits();
  blocking();
}
