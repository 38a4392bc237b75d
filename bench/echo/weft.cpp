// SPDX-License-Identifier: MIT
// echo: n TCP connections over loopback in one process, each a client thread that sends 64 bytes and waits
// for them, and a server thread that sends back what comes and gives up after a silence of ten seconds. One
// operation is one round trip, of 64 in each connection; what is sampled is CPU time, and how long round
// trips take is told beside. With epoll, and with io_uring for files.
#include <algorithm>
#include <atomic>
#include <netinet/in.h>
#include <string_view>
#include <sys/resource.h>
#include <vector>

#include "bench/common/bench.hpp"
#include "bench/peer/weft.hpp"
#include "weft/io.hpp"
#include "weft/thread.hpp"

namespace bench = weft::bench;
namespace io = weft::io;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t trips = 64;
constexpr std::size_t bytes = 64;
constexpr auto patience = 10s;

double cpu_ns() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

struct connections {
  explicit connections(std::size_t n) {
    const int listening = io::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    if (::bind(listening, address, size) != 0 || ::listen(listening, 16) != 0 ||
        ::getsockname(listening, address, &size) != 0)
      throw std::system_error(errno, std::system_category(), "a listening socket");
    for (std::size_t i = 0; i < n; ++i) {
      clients.push_back(io::socket(AF_INET, SOCK_STREAM, 0));
      io::connect(clients.back(), address, size);
      servers.push_back(io::accept(listening, nullptr, nullptr));
    }
    io::close(listening);
  }
  connections(const connections&) = delete;
  ~connections() {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      io::close(clients[i]);
      io::close(servers[i]);
    }
  }
  std::vector<int> clients;
  std::vector<int> servers;
};

void echo(int socket, std::atomic<std::size_t>& failed) {
  char text[1024];
  std::error_code error;
  for (std::size_t left = trips * bytes; left != 0;) {
    const std::size_t got = io::read(socket, text, std::min(left, sizeof text), error, patience);
    if (got == 0 || io::write(socket, text, got, error, patience) != got) {
      ++failed;
      return;
    }
    left -= got;
  }
}

// Times of the round trips, in ns.
std::vector<float> ask(int socket, std::atomic<std::size_t>& failed) {
  std::vector<float> times;
  char text[bytes] = "question";
  std::error_code error;
  for (std::size_t i = 0; i < trips; ++i) {
    const std::int64_t begin = bench::now_ns();
    io::write_all(socket, text, bytes, error, patience);
    if (error || io::recv(socket, text, bytes, MSG_WAITALL, error, patience) != bytes) {
      ++failed;
      break;
    }
    times.push_back(static_cast<float>(bench::now_ns() - begin));
  }
  return times;
}

} // namespace

int main(int argc, char** argv) {
  bench::recorder rec(argc, argv, {.n = 100, .rounds = 5, .repeats = 5, .workers = 1, .form = {}},
                      {"epoll", "uring"});
  weft::runtime::options o = bench::weft_options(rec.opt().workers, true);
  o.io = rec.form_is("uring") ? io::mechanism::uring : io::mechanism::epoll;
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  const weft::runtime::scope runtime(o);
  const connections all(rec.opt().n);
  std::atomic<std::size_t> failed{0};
  std::vector<std::vector<float>> times(rec.opt().n);
  std::vector<float> sorted;
  const auto round = [&] {
    std::vector<weft::thread> threads;
    for (std::size_t i = 0; i < rec.opt().n; ++i) {
      threads.emplace_back([&, i] { echo(all.servers[i], failed); });
      threads.emplace_back([&, i] { times[i] = ask(all.clients[i], failed); });
    }
    for (weft::thread& t : threads)
      t.join();
    for (const auto& each : times)
      sorted.insert(sorted.end(), each.begin(), each.end());
  };
  round();
  sorted.clear();
  const std::size_t ops = rec.opt().n * trips * rec.opt().rounds;
  for (std::size_t repeat = 0; repeat < rec.opt().repeats; ++repeat) {
    const double begin = cpu_ns();
    for (std::size_t r = 0; r < rec.opt().rounds; ++r)
      round();
    rec.add_sample((cpu_ns() - begin) / static_cast<double>(ops));
  }
  rec.unit("CPU ns/op");
  rec.add_ops(ops * rec.opt().repeats);
  std::sort(sorted.begin(), sorted.end());
  rec.check(failed == 0 && !sorted.empty(), "every round trip ended in time");
  if (!sorted.empty()) {
    rec.extra("p50_us", sorted[sorted.size() / 2] / 1e3);
    rec.extra("p99_us", sorted[sorted.size() * 99 / 100] / 1e3);
  }
  return rec.finish();
}
