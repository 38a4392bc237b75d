// SPDX-License-Identifier: MIT
// What an event source needs of the kernel cannot be had: a clear error or another way, nothing is left
// behind, and the next try succeeds.
#include "tests/unit/io/fixture.hpp"

#include "weft/os/fault.hpp"
#include "weft/workers/group.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

namespace weft::testing {
namespace {

WEFT_IO_SUITE(failing);

// A read that waits until a byte comes.
void read_a_byte() {
  pair ends(make_sockets());
  thread writer([&] {
    this_thread::sleep_for(1ms);
    io::write(ends[1], "x", 1, never);
  });
  EXPECT_EQ(read_exactly(ends[0], 1), "x");
  writer.join();
}

TEST_P(failing, each_descriptor_and_registration) {
  for (const auto site : {os::fault_site::descriptor, os::fault_site::registration}) {
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
      std::error_code error;
      os::fail_nth(site, nth, EMFILE);
      {
        pair ends(make_sockets());
        char text[1];
        io::read(ends[0], text, 1, error, 1ms);
        const bool hit = os::fault_hits(site) != 0;
        os::disarm_faults();
        EXPECT_EQ(error, hit ? std::errc::too_many_files_open : std::errc::timed_out) << nth;
        if (hit) {
          io::write(ends[1], "x", 1);
          EXPECT_EQ(io::read(ends[0], text, 1, never), 1U) << "a retry succeeds";
        }
      }
      read_a_byte();
    }
  }
}

TEST_P(failing, without_io_uring_there_is_epoll) {
  os::fail_nth(os::fault_site::io_uring, 1, EPERM);
  read_a_byte();
  os::disarm_faults();
  const auto* used = static_cast<io::source*>(runtime::default_group().waiting_source());
  ASSERT_NE(used, nullptr);
  EXPECT_EQ(used->kind(), io::mechanism::epoll);
  if (std::get<0>(GetParam()) == io::mechanism::uring) {
    EXPECT_NE(io::why_not_uring(), "");
  }
}

TEST_P(failing, no_timer) {
  pair ends(make_sockets());
  char text[1];
  std::error_code error;
  os::fail_nth(os::fault_site::timer_create, 1, ENOMEM);
  io::read(ends[0], text, 1, error, 1h);
  os::disarm_faults();
  EXPECT_EQ(error, std::errc::not_enough_memory);
  io::write(ends[1], "x", 1);
  EXPECT_EQ(io::read(ends[0], text, 1, never), 1U);
}

// Opened for reading it waits for a writer, as long as that takes: what a ring has in hand.
struct fifo {
  fifo() {
    EXPECT_NE(::mkdtemp(folder), nullptr);
    path = std::string(folder) + "/fifo";
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  fifo(const fifo&) = delete;
  ~fifo() {
    ::unlink(path.c_str());
    ::rmdir(folder);
  }
  char folder[32] = "/tmp/weft-io-XXXXXX";
  std::string path;
};

// What the kernel refuses while the worker that asked goes to sleep is handed in again by whoever sleeps in
// the event source, without a limit until then.
TEST_P(failing, refused_submissions_are_made_again) {
  pair quiet(make_sockets());
  const fifo file;
  char text[1];
  thread sleeper([&] { io::read(quiet[0], text, 1, never); });
  this_thread::sleep_for(100ms); // now all workers sleep, one of them in the event source
  std::atomic<int> writer{-1};
  std::thread other([&] {
    std::this_thread::sleep_for(100ms);
    os::disarm_faults();
    writer = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
  });
  os::fail_after(os::fault_site::submission, 0, EAGAIN);
  int reader = io::open(file.path.c_str(), O_RDONLY);
  other.join();
  EXPECT_GE(writer, 0);
  if (static_cast<io::source*>(runtime::default_group().waiting_source())->kind() == io::mechanism::uring) {
    EXPECT_GT(os::fault_hits(os::fault_site::submission), 0U);
  }
  pair::close(reader);
  ::close(writer);
  io::write(quiet[1], "y", 1);
  sleeper.join();
}

// A thread that still waits when the runtime stops has no request left that could write to its stack.
TEST(stopping, is_not_over_with_a_signal_while_requests_are_on_their_way) {
  ASSERT_TRUE(runtime::start({.workers = 1, .io = io::mechanism::uring}));
  const fifo file;
  std::atomic<bool> begins = false;
  thread([&file, &begins] {
    begins = true;
    static_cast<void>(io::open(file.path.c_str(), O_RDONLY));
  }).detach();
  while (!begins) // on the only worker: once this goes on, it waits in io::open()
    this_thread::yield();
  const auto* const source = static_cast<io::source*>(runtime::default_group().waiting_source());
  const bool has_ring = source != nullptr && source->kind() == io::mechanism::uring;
  if (!has_ring) { // the spare thread would wait for ever
    const int writer = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_TRUE(runtime::stop());
    ::close(writer);
    GTEST_SKIP() << io::why_not_uring();
  }
  os::fail_every(os::fault_site::interrupted, 2, EINTR);
  EXPECT_TRUE(runtime::stop());
  os::disarm_faults();
  EXPECT_GT(os::fault_hits(os::fault_site::interrupted), 0U);
  EXPECT_EQ(::open(file.path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC), -1) << "somebody still opens it";
}

} // namespace
} // namespace weft::testing
