// SPDX-License-Identifier: MIT
// http.loader PORT CONNECTIONS RATE SECONDS: GET /plaintext at a fixed rate, over connections that stay open.
// A request's latency runs from the moment when it should have been sent, whether or not a connection was
// free then: a server that stands still is not spared the requests that it kept from being sent (Tene, "How
// NOT to measure latency"). wrk can only ask as fast as it is answered. RATE 0: connects, waits for SECONDS,
// asks nothing. Prints one JSON object. One kernel thread; apps/http knows nothing of it.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;
constexpr std::string_view request = "GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

struct connection {
  int socket = -1;
  clock_type::time_point due; // of the request that is under way
};

class loader {
 public:
  loader(std::uint16_t port, std::size_t connections, double rate)
      : epoll_(::epoll_create1(EPOLL_CLOEXEC)), rate_(rate), connections_(connections) {
    for (std::size_t i = 0; i < connections; ++i)
      connect(i, port);
  }

  void run(std::chrono::duration<double> length) {
    begin_ = clock_type::now();
    const auto end = begin_ + std::chrono::duration_cast<nanoseconds>(length);
    while (clock_type::now() < end || (busy_ != 0 && clock_type::now() < end + std::chrono::seconds(5))) {
      send_due(end);
      collect(end);
    }
  }
  void report() {
    std::sort(latencies_.begin(), latencies_.end());
    std::printf("{\"answered\": %zu, \"unanswered\": %zu", latencies_.size(), busy_ + waiting_.size());
    for (const auto& [name, share] :
         {std::pair("p50", 0.5), {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1.0}})
      std::printf(", \"%s_us\": %.1f", name, quantile(share));
    std::printf("}\n");
  }

 private:
  void connect(std::size_t i, std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || ::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      fail("connect");
    connections_[i].socket = made;
    free_.push_back(i);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, made, &event) != 0)
      fail("epoll_ctl");
  }
  [[nodiscard]] clock_type::time_point due(std::uint64_t number) const {
    return begin_ + nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(number) / rate_));
  }
  void send_due(clock_type::time_point end) {
    const auto now = clock_type::now();
    while (rate_ > 0 && due(next_) <= now && due(next_) < end)
      waiting_.push_back(due(next_++));
    while (!waiting_.empty() && !free_.empty()) {
      connection& c = connections_[free_.front()];
      free_.pop_front(); // in turn, so that all connections are used
      c.due = waiting_.front();
      waiting_.pop_front();
      if (::send(c.socket, request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size()))
        fail("send");
      ++busy_;
    }
  }
  void collect(clock_type::time_point end) {
    epoll_event events[256];
    const auto until = rate_ > 0 ? std::min(due(next_), end) : end;
    const auto left = std::max(until - clock_type::now(), clock_type::duration::zero());
    // Sleeping would cost the timer's slack; below a millisecond it looks again and again.
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    const int count = ::epoll_wait(epoll_, events, 256, static_cast<int>(std::min<std::int64_t>(ms, 100)));
    for (int i = 0; i < count; ++i)
      answered(events[i].data.u64);
  }
  void answered(std::uint64_t at) {
    char text[4096];
    const ssize_t got = ::recv(connections_[at].socket, text, sizeof text, 0);
    const std::string_view answer(text, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (!answer.starts_with("HTTP/1.1 200") || !answer.ends_with("Hello, World!"))
      throw std::runtime_error("not the whole answer, or the end of a connection");
    latencies_.push_back(
        std::chrono::duration<double, std::micro>(clock_type::now() - connections_[at].due).count());
    free_.push_back(at);
    --busy_;
  }
  [[nodiscard]] double quantile(double share) const {
    if (latencies_.empty())
      return 0;
    const auto at = static_cast<std::size_t>(share * static_cast<double>(latencies_.size()));
    return latencies_[std::min(at, latencies_.size() - 1)];
  }

  const int epoll_;
  const double rate_;
  std::vector<connection> connections_;
  std::deque<std::size_t> free_;
  std::deque<clock_type::time_point> waiting_; // due, and no connection was free
  std::vector<double> latencies_;              // microseconds
  clock_type::time_point begin_;
  std::uint64_t next_ = 0;
  std::size_t busy_ = 0;
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: http.loader PORT CONNECTIONS RATE SECONDS\n");
    return 2;
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  try {
    loader one(static_cast<std::uint16_t>(std::atoi(argv[1])), static_cast<std::size_t>(std::atol(argv[2])),
               std::atof(argv[3]));
    one.run(std::chrono::duration<double>(std::atof(argv[4])));
    one.report();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "http.loader: %s\n", e.what());
    return 1;
  }
}
