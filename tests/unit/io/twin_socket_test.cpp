// SPDX-License-Identifier: MIT
// Calls on sockets beside those of the kernel: sizes, flags, waiting, errors and calls after errors.
#include "tests/unit/io/twin.hpp"
#include "weft/arch/sanitizer.hpp"

#include <arpa/inet.h>
#include <cstddef>
#include <sys/un.h>

namespace weft::testing {

namespace {

sockaddr_in bound_to_loopback(int d) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  EXPECT_EQ(::bind(d, reinterpret_cast<sockaddr*>(&at), size), 0);
  EXPECT_EQ(::getsockname(d, reinterpret_cast<sockaddr*>(&at), &size), 0);
  return at;
}
// With buffers that do not grow.
int plain_socket(int family, int type) {
  const int made = ::socket(family, type | SOCK_CLOEXEC, 0);
  constexpr int bytes = 100'000;
  ::setsockopt(made, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  ::setsockopt(made, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return made;
}
void connect_now(int d, const sockaddr_in& at) {
  EXPECT_EQ(::connect(d, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
}

} // namespace

std::array<int, 2> make_tcp() {
  const int listening = plain_socket(AF_INET, SOCK_STREAM);
  const sockaddr_in at = bound_to_loopback(listening);
  EXPECT_EQ(::listen(listening, 1), 0);
  const int client = plain_socket(AF_INET, SOCK_STREAM);
  connect_now(client, at);
  const int server = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  ::close(listening);
  return {server, client};
}

std::array<int, 2> make_udp() {
  const std::array<int, 2> ends{plain_socket(AF_INET, SOCK_DGRAM), plain_socket(AF_INET, SOCK_DGRAM)};
  const sockaddr_in first = bound_to_loopback(ends[0]);
  const sockaddr_in second = bound_to_loopback(ends[1]);
  connect_now(ends[0], second);
  connect_now(ends[1], first);
  return ends;
}

namespace {

WEFT_TWIN_SUITE(twin_socket);

void put(int d, const std::string& s, int flags = 0) {
  EXPECT_EQ(::send(d, s.data(), s.size(), flags | MSG_NOSIGNAL), static_cast<ssize_t>(s.size()));
}
void put_if_possible(int d) {
  static_cast<void>(!::send(d, "def", 3, MSG_NOSIGNAL | MSG_DONTWAIT));
}
void drain(int d, std::size_t bytes) {
  std::string b(1 << 16, '\0');
  for (ssize_t n = 0; bytes != 0 && (n = ::read(d, b.data(), std::min(b.size(), bytes))) > 0;)
    bytes -= static_cast<std::size_t>(n);
}
// Closes with a reset.
void reset(plain_pair& p, std::size_t i) {
  const linger at_once{1, 0};
  ::setsockopt(p[i], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  p.close(i);
}

template <class Body>
void each(const auto& kinds, Body body) {
  for (const ends_of& kind : kinds)
    body(kind);
}
template <class Body>
void each_kind(Body body) {
  each(streams, body);
  each(messages, body);
}

TEST_P(twin_socket, sizes_of_reads) {
  each_kind([](const ends_of& kind) {
    for (const bool is_there : {false, true}) {
      expect_same(kind.name, [&](twin& t) {
        plain_pair p(kind);
        if (is_there)
          put(p[1], "abcdef");
        t.read(p[0], 0);
        t.readv(p[0], {});
        t.readv(p[0], {0, 0});
        t.readv(p[0], {1}, -1);
        t.readv(p[0], std::vector<std::size_t>(1025, 1));
        if (is_there) {
          t.recv(p[0], 0, 0);
          put(p[1], "xyz");
          put(p[1], "end");
          t.read(p[0], 1);
          t.readv(p[0], {1, 0, 1});
        } else {
          const later more([&] { put(p[1], "late"); });
          t.read(p[0], 100);
        }
        t.left(p[0]);
      });
    }
  });
}

TEST_P(twin_socket, sizes_of_writes) {
  each_kind([](const ends_of& kind) {
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      t.write(p[0], "");
      t.left(p[1]);
      t.writev(p[0], {});
      t.writev(p[0], {"", ""});
      t.writev(p[0], {"x"}, -1);
      t.writev(p[0], std::vector<std::string>(1025, "x"));
      t.left(p[1]);
      t.send(p[0], "", 0);
      t.left(p[1]);
      t.write(p[0], "a");
      t.writev(p[0], {"b", "", "cd"});
      t.left(p[1]);
    });
  });
}

using flag_list = std::initializer_list<int>;
constexpr int receive_flags[] = {0,
                                 MSG_PEEK,
                                 MSG_TRUNC,
                                 MSG_PEEK | MSG_TRUNC,
                                 MSG_WAITALL,
                                 MSG_WAITALL | MSG_PEEK,
                                 MSG_WAITALL | MSG_TRUNC,
                                 MSG_DONTWAIT,
                                 MSG_DONTWAIT | MSG_WAITALL,
                                 MSG_DONTWAIT | MSG_PEEK,
                                 MSG_OOB,
                                 MSG_OOB | MSG_PEEK,
                                 MSG_OOB | MSG_WAITALL,
                                 MSG_ERRQUEUE,
                                 MSG_NOSIGNAL,
                                 MSG_CMSG_CLOEXEC};

TEST_P(twin_socket, flags_of_receiving_what_is_there) {
  each_kind([](const ends_of& kind) {
    for (const int flags : receive_flags) {
      for (const std::size_t size : {0, 1, 4}) {
        expect_same(kind.name, [&](twin& t) {
          plain_pair p(kind);
          put(p[1], "abcd");
          put(p[1], "second");
          t.recv(p[0], size, flags);
          t.left(p[0]);
        });
      }
    }
  });
}

// More than is there, which comes in parts: all that was asked for, or up to an end. To peek waits for more
// on TCP alone; elsewhere the call says what is there when it comes, and the parts come after it.
TEST_P(twin_socket, flags_of_receiving_what_is_to_come) {
  each_kind([](const ends_of& kind) {
    for (const int flags : flag_list{MSG_WAITALL, MSG_WAITALL | MSG_TRUNC, MSG_WAITALL | MSG_PEEK}) {
      for (const bool has_end : {false, true}) {
        expect_same(kind.name, [&](twin& t) {
          plain_pair p(kind);
          put(p[1], "0123456789");
          if (has_end && kind.make == &make_udp)
            return;
          const auto put_more = [&] {
            for (int i = 0; i < 3; ++i) {
              put(p[1], "0123456789");
              std::this_thread::sleep_for(1ms);
            }
            if (has_end)
              p.close(1);
          };
          const std::size_t wanted = has_end ? 100 : 35;
          if ((flags & MSG_PEEK) == 0 || kind.make == &make_tcp) {
            const later more(put_more);
            t.recv(p[0], wanted, flags);
          } else {
            t.recv(p[0], wanted, flags);
            put_more();
          }
          t.left(p[0]);
        });
      }
    }
  });
}

TEST_P(twin_socket, nothing_is_there_and_the_call_does_not_wait) {
  each_kind([](const ends_of& kind) {
    for (const int flags : receive_flags) {
      if ((flags & (MSG_DONTWAIT | MSG_OOB | MSG_ERRQUEUE)) == 0)
        continue;
      expect_same(kind.name, [&](twin& t) {
        plain_pair p(kind);
        if ((flags & MSG_DONTWAIT) != 0) { // all kinds know it: what comes, comes after the call
          t.recv(p[0], 10, flags);
          put(p[1], "later");
        } else { // for those that do not know the flag and wait
          const later more([&] { put(p[1], "later"); });
          t.recv(p[0], 10, flags);
        }
        t.left(p[0]);
      });
    }
  });
}

TEST_P(twin_socket, flags_of_sending) {
  each_kind([](const ends_of& kind) {
    for (const int flags : flag_list{0, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_EOR, MSG_OOB, MSG_OOB | MSG_DONTWAIT,
                                     MSG_DONTROUTE, MSG_CONFIRM, MSG_WAITALL, MSG_PEEK}) {
      for (const char* text : {"", "a", "abc"}) {
        expect_same(kind.name, [&](twin& t) {
          plain_pair p(kind);
          t.send(p[0], text, flags);
          t.send(p[0], "normal", 0);
          t.recv(p[1], 1, MSG_OOB);
          t.left(p[1]);
        });
      }
    }
  });
}

// Urgent data end a read of a part before them, and are read alone.
TEST_P(twin_socket, urgent_data) {
  for (const int flags : flag_list{0, MSG_WAITALL, MSG_WAITALL | MSG_PEEK}) {
    for (const bool is_late : {false, true}) {
      expect_same("TCP", [&](twin& t) {
        plain_pair p(streams[1]);
        put(p[1], "before");
        const auto rest = [&] {
          put(p[1], "ab!", MSG_OOB);
          put(p[1], "after");
        };
        if (!is_late)
          rest();
        {
          const later urgent([&] {
            if (is_late)
              rest();
          });
          t.recv(p[0], is_late && flags == 0 ? 6 : 12, flags);
        }
        t.poll(p[0], POLLPRI);
        t.recv(p[0], 5, MSG_OOB);
        t.recv(p[0], 5, MSG_OOB);
        t.recv(p[0], 3, 0);
        t.left(p[0]);
      });
    }
  }
}

constexpr std::size_t big = 2'000'000; // more than the buffers of both sides hold

TEST_P(twin_socket, more_than_the_buffers_hold) {
  each(streams, [](const ends_of& kind) {
    const std::string all(big, 'x');
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      const later reader([&] { drain(p[1], 3 * big); });
      t.write(p[0], all);
      t.send(p[0], all, 0);
      t.writev(p[0], {all.substr(0, 7), all.substr(0, big - 1007), "", all.substr(0, 1000)});
    });
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      t.count_roughly(big);
      t.send(p[0], all, MSG_DONTWAIT);
      t.send(p[0], all, MSG_DONTWAIT);
      t.within(5ms);
      t.write(p[0], all);
      t.without_limit();
      const later reader([&] { drain(p[1], 3 * big); });
      t.write(p[0], all);
      ::shutdown(p[0], SHUT_WR);
    });
  });
  each(messages, [](const ends_of& kind) {
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      t.write(p[0], std::string(big, 'x'));
      t.write(p[0], "fits");
      t.left(p[1]);
    });
  });
}

// A part is through when the other side goes: the part is the result, and what happened that of later calls.
TEST_P(twin_socket, gone_in_the_middle_of_a_write) {
  each(streams, [](const ends_of& kind) {
    for (const bool reads_all : {false, true}) {
      expect_same(kind.name, [&](twin& t) {
        plain_pair p(kind);
        t.count_roughly(big);
        {
          const later reader([&] {
            drain(p[1], 1'000'000);
            if (!reads_all)
              return reset(p, 1);
            ::shutdown(p[1], SHUT_RD);
            p.close(1);
          });
          t.write(p[0], std::string(big, 'x'));
        }
        for (int i = 0; i < 3; ++i)
          t.write(p[0], "x");
        // A reset Unix socket gives its error to the write that waits for room, or to nobody if that finds
        // room at the same moment: which, the kernel decides anew each time.
        if (kind.name != std::string("a Unix stream"))
          t.read(p[0], 1);
      });
    }
  });
}

TEST_P(twin_socket, gone_in_the_middle_of_a_read) {
  each(streams, [](const ends_of& kind) {
    for (const int flags : flag_list{0, MSG_WAITALL}) {
      expect_same(kind.name, [&](twin& t) {
        plain_pair p(kind);
        put(p[0], "is not read"); // so that the close of a Unix socket is a reset too
        {
          const later more([&] {
            put(p[1], "0123456789");
            std::this_thread::sleep_for(3ms);
            reset(p, 1);
          });
          t.recv(p[0], flags == 0 ? 10 : 100, flags);
        }
        for (int i = 0; i < 3; ++i)
          t.recv(p[0], 10, flags);
        t.write(p[0], "x");
        t.poll(p[0], POLLIN | POLLOUT);
      });
    }
  });
}

TEST_P(twin_socket, after_a_hang_up) {
  each(streams, [](const ends_of& kind) {
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      put(p[1], "last");
      {
        const later close([&] { p.close(1); });
        t.read(p[0], 10);
        t.read(p[0], 10);
      }
      t.read(p[0], 0);
      t.recv(p[0], 10, MSG_WAITALL);
      t.poll(p[0], POLLIN | POLLRDHUP);
      t.write(p[0], "x");
      t.send(p[0], "x", 0);
      t.send(p[0], "x", 0);
      t.read(p[0], 10);
    });
  });
}

TEST_P(twin_socket, half_closed) {
  each(streams, [](const ends_of& kind) {
    for (const int how : {SHUT_RD, SHUT_WR, SHUT_RDWR}) {
      for (const std::size_t side : {0, 1}) {
        expect_same(kind.name, [&](twin& t) {
          plain_pair p(kind);
          ::shutdown(p[side], how);
          const bool is_at_end = how == SHUT_RDWR || (how == SHUT_RD) == (side == 0);
          if (is_at_end) {
            t.read(p[0], 10);
            t.recv(p[0], 10, MSG_WAITALL);
          }
          t.poll(p[0], POLLIN | POLLOUT | POLLRDHUP);
          t.write(p[0], "abc");
          t.left(p[1]);
          put_if_possible(p[1]);
          t.read(p[0], 10);
        });
      }
    }
  });
}

TEST_P(twin_socket, after_a_time_out) {
  each_kind([](const ends_of& kind) {
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      t.within(5ms);
      t.read(p[0], 10);
      t.recv(p[0], 10, MSG_PEEK);
      put(p[1], "part");
      t.recv(p[0], 10, MSG_WAITALL);
      t.recv(p[0], 10, MSG_WAITALL);
      t.without_limit();
      const later more([&] { put(p[1], "late"); });
      t.read(p[0], 10);
      t.left(p[0]);
    });
  });
}

TEST_P(twin_socket, a_full_datagram_queue) {
  expect_same("Unix datagrams", [&](twin& t) {
    plain_pair p(messages[0]);
    for (int i = 0; i < 2000; ++i) {
      if (::send(p[0], "x", 1, MSG_DONTWAIT) < 0)
        break;
    }
    t.send(p[0], "full", MSG_DONTWAIT);
    t.within(5ms);
    t.write(p[0], "full");
    t.without_limit();
    const later reader([&] {
      char b[8];
      while (::recv(p[1], b, sizeof b, MSG_DONTWAIT) > 0) {
      }
    });
    t.write(p[0], "room");
  });
}

TEST_P(twin_socket, refused) {
  expect_same("TCP", [&](twin& t) {
    const int listening = plain_socket(AF_INET, SOCK_STREAM);
    const sockaddr_in at = bound_to_loopback(listening);
    const int client = plain_socket(AF_INET, SOCK_STREAM);
    t.read(client, 1);
    t.write(client, "x");
    for (int i = 0; i < 3; ++i)
      t.connect(client, &at, sizeof at);
    t.read(client, 1);
    ::listen(listening, 1);
    t.connect(client, &at, sizeof at);
    t.connect(client, &at, sizeof at);
    t.write(client, "x");
    t.connect(listening, &at, sizeof at);
    ::close(client);
    ::close(listening);
  });
  expect_same("UDP", [&](twin& t) {
    const int other = plain_socket(AF_INET, SOCK_DGRAM);
    const sockaddr_in at = bound_to_loopback(other);
    const int client = plain_socket(AF_INET, SOCK_DGRAM);
    t.write(client, "nowhere");
    t.connect(client, &at, sizeof at);
    ::close(other);
    t.write(client, "x");
    t.read(client, 1);
    t.within(5ms);
    t.read(client, 1);
    t.write(client, "x");
    t.poll(client, POLLIN);
    t.send(client, "x", 0);
    t.send(client, "x", 0);
    ::close(client);
  });
  expect_same("Unix", [&](twin& t) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    const std::string name = "weft-io-twin-" + std::to_string(::getpid()); // other processes test as well
    name.copy(at.sun_path + 1, name.size());                               // in the abstract name space
    const std::size_t size = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    const int client = plain_socket(AF_UNIX, SOCK_STREAM);
    t.connect(client, &at, size);
    t.connect(client, &at, size);
    const int listening = plain_socket(AF_UNIX, SOCK_STREAM);
    ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&at), static_cast<socklen_t>(size)), 0);
    t.connect(client, &at, size);
    ::listen(listening, 1);
    t.connect(client, &at, size);
    t.connect(client, &at, size);
    const int first = plain_socket(AF_UNIX, SOCK_STREAM);
    EXPECT_EQ(::connect(first, reinterpret_cast<sockaddr*>(&at), static_cast<socklen_t>(size)), 0);
    const int second = plain_socket(AF_UNIX, SOCK_STREAM);
    t.within(5ms);
    t.connect(second, &at, size); // no room
    t.without_limit();
    {
      const later room([&] { ::close(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC)); });
      t.connect(second, &at, size);
    }
    for (const int d : {client, first, second, listening})
      ::close(d);
  });
}

TEST_P(twin_socket, accepting) {
  if (arch::sanitizer::watches_atomics)
    GTEST_SKIP() << "ThreadSanitizer does not know that accept() comes after connect()";
  expect_same("TCP", [&](twin& t) {
    const int listening = plain_socket(AF_INET, SOCK_STREAM);
    const sockaddr_in at = bound_to_loopback(listening);
    t.accept(listening); // does not listen
    ::listen(listening, 4);
    t.within(5ms);
    t.accept(listening);
    t.without_limit();
    const int client = plain_socket(AF_INET, SOCK_STREAM);
    {
      const later caller([&] { connect_now(client, at); });
      const int made = t.accept(listening);
      t.write(made, "hello");
      t.left(client);
      t.drop(made);
    }
    {
      const later end([&] { ::shutdown(listening, SHUT_RDWR); });
      t.accept(listening);
    }
    t.accept(listening);
    t.accept(client);
    ::close(client);
    ::close(listening);
    t.accept(-1);
  });
  each_kind([](const ends_of& kind) {
    expect_same(kind.name, [&](twin& t) {
      plain_pair p(kind);
      t.accept(p[0]);
      t.fsync(p[0]);
      t.pread(p[0], 1, 0);
      t.pwrite(p[0], "x", 0);
    });
  });
}

} // namespace
} // namespace weft::testing
