// SPDX-License-Identifier: MIT
// Calls on pipes, files, terminals and what else has a descriptor beside those of the kernel.
#include "tests/unit/io/twin.hpp"

#include <cstdlib>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <termios.h>

namespace weft::testing {
namespace {

WEFT_TWIN_SUITE(twin_file);

constexpr ends_of a_pipe{"a pipe", &make_pipe};

void put(int d, const std::string& s) {
  EXPECT_EQ(::write(d, s.data(), s.size()), static_cast<ssize_t>(s.size()));
}
void drain(int d) {
  std::string b(1 << 16, '\0');
  while (::read(d, b.data(), b.size()) > 0) {
  }
}

struct folder {
  folder() { EXPECT_NE(::mkdtemp(name), nullptr); }
  folder(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(name); }
  [[nodiscard]] std::string operator/(const char* file) const { return std::string(name) + "/" + file; }
  char name[32] = "/tmp/weft-io-XXXXXX";
};

TEST_P(twin_file, pipes) {
  expect_same("sizes", [](twin& t) {
    plain_pair p(a_pipe);
    t.read(p[0], 0);
    t.readv(p[0], {});
    t.readv(p[0], {0});
    t.write(p[1], "");
    t.writev(p[1], {"", ""});
    t.writev(p[1], {"ab", "", "cdef"});
    t.read(p[0], 1);
    t.readv(p[0], {1, 0, 1});
    t.left(p[0]);
    t.read(p[1], 1);
    t.read(p[1], 0);
    t.write(p[0], "x");
    t.recv(p[0], 1, 0);
    t.send(p[1], "x", 0);
    t.pread(p[0], 1, 0);
    t.pwrite(p[1], "x", 0);
    t.fsync(p[0]);
    t.poll(p[1], POLLOUT);
    {
      const later more([&] { put(p[1], "late"); });
      t.read(p[0], 100);
    }
    p.close(1);
    t.read(p[0], 1);
    t.read(p[0], 1);
    t.poll(p[0], POLLIN);
  });
  expect_same("more than it holds", [](twin& t) {
    plain_pair p(a_pipe);
    const later reader([&] { drain(p[0]); });
    t.write(p[1], std::string(1'000'000, 'x'));
    t.writev(p[1], {std::string(3, 'y'), std::string(500'000, 'z')});
    p.close(1);
  });
  expect_same("gone in the middle", [](twin& t) {
    plain_pair p(a_pipe);
    t.count_roughly(1'000'000);
    sigset_t signal;
    sigset_t before;
    sigemptyset(&signal);
    sigaddset(&signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signal, &before); // a pipe's is the user's
    {
      const later reader([&] {
        char b[1000];
        static_cast<void>(!::read(p[0], b, sizeof b));
        p.close(0);
      });
      t.write(p[1], std::string(1'000'000, 'x'));
    }
    t.write(p[1], "x");
    t.write(p[1], "");
    const timespec now{};
    ::sigtimedwait(&signal, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
}

TEST_P(twin_file, files) {
  expect_same("files", [](twin& t) {
    const folder f;
    const int d = t.open(f / "file", O_RDWR | O_CREAT);
    t.write(d, "");
    t.write(d, "hello world");
    t.writev(d, {", ", "", "again"});
    t.pread(d, 0, 0);
    t.pread(d, 5, 6);
    t.pread(d, 100, 6);
    t.pread(d, 5, 1000);
    t.pread(d, 5, -1);
    t.pwrite(d, "W", 6);
    t.pwrite(d, "W", -1);
    t.pwrite(d, "", 3);
    t.read(d, 10);
    ::lseek(d, 0, SEEK_SET);
    t.read(d, 0);
    t.readv(d, {2, 0, 100});
    t.readv(d, {1}, -1);
    t.read(d, 1);
    t.poll(d, POLLIN | POLLOUT);
    t.fsync(d);
    t.recv(d, 1, 0);
    t.send(d, "x", MSG_DONTWAIT);
    t.accept(d);
    t.close(d);
    t.close(d);
    const int r = t.open(f / "file", O_RDONLY);
    t.write(r, "x");
    t.pwrite(r, "x", 0);
    t.drop(r);
    const int a = t.open(f / "file", O_WRONLY | O_APPEND);
    t.write(a, "end");
    t.read(a, 1);
    t.pread(a, 1, 0);
    t.drop(a);
    t.open(f / "file", O_RDWR | O_CREAT | O_EXCL);
    t.open(f / "none", O_RDONLY);
    t.open(f / "file/none", O_RDONLY);
    t.open(f.name, O_WRONLY);
    const int all = t.open(f.name, O_RDONLY | O_DIRECTORY);
    t.read(all, 1);
    t.fsync(all);
    t.drop(all);
    for (const int bad : {-1, 999'999}) {
      t.read(bad, 1);
      t.read(bad, 0);
      t.write(bad, "");
      t.pread(bad, 1, 0);
      t.recv(bad, 1, MSG_DONTWAIT);
      t.fsync(bad);
    }
  });
}

// What is in memory comes at once, the rest from the disk: one call gives both.
TEST_P(twin_file, files_of_which_a_part_is_in_memory) {
  expect_same("a cold file", [](twin& t) {
    const folder f;
    const std::string path = f / "file";
    const int w = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    put(w, std::string(300'000, 'a') + std::string(300'000, 'b'));
    ::fsync(w);
    ::close(w);
    const auto chill = [](int d) {
      ::posix_fadvise(d, 0, 0, POSIX_FADV_DONTNEED);
      ::posix_fadvise(d, 0, 0, POSIX_FADV_RANDOM);
      char b[100];
      EXPECT_EQ(::pread(d, b, sizeof b, 0), 100);
    };
    const int d = t.open(path, O_RDWR);
    for (int i = 0; i < 3; ++i) {
      chill(d);
      t.pread(d, 600'000, 0);
      chill(d);
      t.read(d, 250'000);
      chill(d);
      t.readv(d, {100, 100'000, 249'900});
      ::lseek(d, 0, SEEK_SET);
    }
    t.drop(d);
  });
}

TEST_P(twin_file, fifos_wait_for_their_other_side) {
  for (const bool reads : {true, false}) {
    expect_same("a FIFO", [&](twin& t) {
      const folder f;
      const std::string path = f / "fifo";
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
      int other = -1;
      int mine = -1;
      {
        const later partner([&] {
          other = ::open(path.c_str(), (reads ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
          if (reads)
            put(other, "x");
        });
        mine = t.open(path, reads ? O_RDONLY : O_WRONLY);
        if (reads)
          t.read(mine, 10);
        else
          t.write(mine, "y");
      }
      t.left(reads ? mine : other);
      t.drop(t.open(path, O_WRONLY | O_NONBLOCK));
      t.drop(mine);
      ::close(other);
      t.open(path, O_WRONLY | O_NONBLOCK);
    });
  }
}

TEST_P(twin_file, counters_and_devices) {
  expect_same("an eventfd", [](twin& t) {
    const int d = ::eventfd(0, EFD_CLOEXEC);
    t.read(d, 0);
    t.write(d, "");
    t.read(d, 4);
    t.pread(d, 8, 0);
    t.write(d, std::string("\1\0\0\0\0\0\0\0", 8));
    t.poll(d, POLLIN);
    t.read(d, 8);
    const later more([&] { put(d, std::string("\2\0\0\0\0\0\0\0", 8)); });
    t.read(d, 100);
    ::close(d);
  });
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full"}) {
    expect_same(path, [&](twin& t) {
      const int d = t.open(path, O_RDWR);
      t.read(d, 0);
      t.read(d, 100'000);
      t.write(d, "");
      t.write(d, "x");
      t.pread(d, 3, 5);
      t.fsync(d);
      t.drop(d);
    });
  }
}

struct terminal {
  explicit terminal(bool is_raw, int min = 1, int time = 0) {
    EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    termios rules{};
    ::tcgetattr(slave, &rules);
    if (is_raw)
      ::cfmakeraw(&rules);
    rules.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (is_raw) {
      rules.c_cc[VMIN] = static_cast<cc_t>(min);
      rules.c_cc[VTIME] = static_cast<cc_t>(time);
    }
    ::tcsetattr(slave, TCSANOW, &rules);
  }
  terminal(const terminal&) = delete;
  ~terminal() {
    hang_up();
    ::close(slave);
  }
  void hang_up() {
    if (master >= 0)
      ::close(master);
    master = -1;
  }
  int master = -1;
  int slave = -1;
};

TEST_P(twin_file, terminals_by_lines) {
  expect_same("a terminal", [](twin& t) {
    terminal p(false);
    t.read(p.slave, 0);
    put(p.master, "one\ntwo\nthr");
    t.read(p.slave, 100);
    t.read(p.slave, 2);
    t.read(p.slave, 100);
    {
      const later rest([&] { put(p.master, "ee\n\4"); });
      t.read(p.slave, 100);
    }
    t.read(p.slave, 100); // ^D: the end
    t.write(p.slave, "");
    t.write(p.slave, "out");
    t.left(p.master);
    t.recv(p.slave, 1, 0);
    t.pread(p.slave, 1, 0);
    {
      const later end([&] { p.hang_up(); });
      t.read_the_end(p.slave);
    }
    t.read(p.slave, 100);
    t.write(p.slave, "x");
    t.poll(p.slave, POLLIN);
  });
}

TEST_P(twin_file, terminals_by_bytes) {
  for (const auto& [min, time] : {std::pair{1, 0}, {4, 0}, {4, 1}, {0, 0}, {0, 1}}) {
    expect_same("MIN " + std::to_string(min) + ", TIME " + std::to_string(time), [&](twin& t) {
      terminal p(true, min, time);
      if (min == 0 || time == 0)
        t.read(p.slave, 0);
      if (min == 0)
        t.read(p.slave, 100);
      put(p.master, "ab");
      t.read(p.slave, min == 1 || time != 0 ? 100 : 2);
      t.left(p.slave);
      if (time != 0)
        return;
      if (min != 0) {
        put(p.master, "vw");
        if (min == 1) { // one is enough: what comes later comes after the read, however late that is
          t.read(p.slave, 4);
          put(p.master, "xy");
        } else {
          const later more([&] { put(p.master, "xy"); });
          t.read(p.slave, 4);
        }
        {
          const later more([&] { put(p.master, "12"); });
          t.read(p.slave, 2); // less than MIN
        }
      }
      t.left(p.slave);
      const later end([&] { p.hang_up(); });
      if (min != 0)
        t.read_the_end(p.slave);
    });
  }
}

TEST_P(twin_file, terminals_take_more_than_they_hold) {
  expect_same("a terminal", [](twin& t) {
    terminal p(true);
    std::atomic<bool> done{false};
    std::thread reader([&] {
      char b[1000];
      pollfd state{p.master, POLLIN, 0};
      while (!done) {
        if (::poll(&state, 1, 1) > 0)
          static_cast<void>(!::read(p.master, b, sizeof b));
      }
    });
    t.write(p.slave, std::string(100'000, 'x'));
    done = true;
    reader.join();
  });
}

} // namespace
} // namespace weft::testing
