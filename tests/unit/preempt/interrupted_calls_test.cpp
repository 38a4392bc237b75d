// SPDX-License-Identifier: MIT
// Each kind of system call that blocks, in a preemptible thread whose worker others need: the worker is let
// go, and the call goes on where the kernel restarts it or libc repeats it; the others return EINTR, which
// is counted, and do what they should when they are called again.
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <tuple>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/os/clock.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

// What the two threads of a test meet at.
struct meeting {
  std::array<int, 2> pipe{-1, -1};
  std::array<int, 2> sockets{-1, -1};
  int epoll = -1;
  int queue = -1; // System V's
  int semaphores = -1;
  pid_t child = -1; // ends when it can read from the pipe
  sem_t semaphore{};
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  std::atomic<bool> released{false};

  meeting() {
    EXPECT_EQ(::pipe(pipe.data()), 0);
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    epoll = ::epoll_create1(0);
    epoll_event readable{.events = EPOLLIN, .data = {}};
    EXPECT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe[0], &readable), 0);
    EXPECT_EQ(::sem_init(&semaphore, 0, 0), 0);
  }
  ~meeting() {
    for (const int fd : {pipe[0], pipe[1], sockets[0], sockets[1], epoll})
      ::close(fd);
    if (queue >= 0)
      ::msgctl(queue, IPC_RMID, nullptr);
    if (semaphores >= 0)
      ::semctl(semaphores, 0, IPC_RMID);
    ::sem_destroy(&semaphore);
  }
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;
};

constexpr timespec long_time{1000, 0};

timespec in_a_long_time(clockid_t clock) {
  timespec at;
  ::clock_gettime(clock, &at);
  at.tv_sec += long_time.tv_sec;
  return at;
}

// What a call returned that should be `wanted`: 0, or what went wrong.
int error_unless(bool right) {
  return right ? 0 : errno;
}

// --- how the other one ends the wait ---

void write_one(meeting& m) {
  EXPECT_EQ(::write(m.pipe[1], "x", 1), 1);
}
void send_one(meeting& m) {
  EXPECT_EQ(::send(m.sockets[1], "x", 1, 0), 1);
}
void post(meeting& m) {
  EXPECT_EQ(::sem_post(&m.semaphore), 0);
}
void change(meeting& m) {
  pthread_mutex_lock(&m.lock);
  m.released = true;
  pthread_cond_signal(&m.changed);
  pthread_mutex_unlock(&m.lock);
}
void say_so(meeting& m) {
  m.released = true;
}
struct message {
  long type = 1;
  char text = 'x';
};
void send_message(meeting& m) {
  const message sent;
  EXPECT_EQ(::msgsnd(m.queue, &sent, sizeof sent.text, 0), 0);
}
void raise_semaphore(meeting& m) {
  sembuf up{0, 1, 0};
  EXPECT_EQ(::semop(m.semaphores, &up, 1), 0);
}

// --- what must be there before ---

bool nothing(meeting&) {
  return true;
}
bool make_queue(meeting& m) {
  return (m.queue = ::msgget(IPC_PRIVATE, 0600)) >= 0;
}
bool make_semaphores(meeting& m) {
  return (m.semaphores = ::semget(IPC_PRIVATE, 1, 0600)) >= 0;
}
bool time_receives_out(meeting& m) {
  const timeval limit{long_time.tv_sec, 0};
  return ::setsockopt(m.sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}
bool fork_child(meeting& m) {
  m.child = ::fork();
  if (m.child == 0) {
    ::alarm(60);
    char c;
    ::_exit(::read(m.pipe[0], &c, 1) == 1 ? 7 : 8);
  }
  return m.child > 0;
}

// --- the calls: 0, or an errno ---

int try_read(meeting& m) {
  char c = 0;
  return error_unless(::read(m.pipe[0], &c, 1) == 1);
}
int try_recv(meeting& m) {
  char c = 0;
  return error_unless(::recv(m.sockets[0], &c, 1, 0) == 1);
}
int try_waitpid(meeting& m) {
  int status = 0;
  const pid_t ended = ::waitpid(m.child, &status, 0);
  EXPECT_TRUE(ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 7)) << status;
  return error_unless(ended == m.child);
}
int try_sem_wait(meeting& m) {
  return error_unless(::sem_wait(&m.semaphore) == 0);
}
int try_cond_wait(meeting& m) {
  int error = 0;
  pthread_mutex_lock(&m.lock);
  while (error == 0 && !m.released)
    error = pthread_cond_wait(&m.changed, &m.lock);
  pthread_mutex_unlock(&m.lock);
  return error;
}
int try_cond_timedwait(meeting& m) {
  const timespec limit = in_a_long_time(CLOCK_REALTIME);
  int error = 0;
  pthread_mutex_lock(&m.lock);
  while (error == 0 && !m.released)
    error = pthread_cond_timedwait(&m.changed, &m.lock, &limit);
  pthread_mutex_unlock(&m.lock);
  return error;
}
int try_poll(meeting& m) {
  pollfd wanted{m.pipe[0], POLLIN, 0};
  return error_unless(::poll(&wanted, 1, -1) == 1);
}
int try_ppoll(meeting& m) {
  pollfd wanted{m.pipe[0], POLLIN, 0};
  return error_unless(::ppoll(&wanted, 1, &long_time, nullptr) == 1);
}
int try_select(meeting& m) {
  fd_set wanted;
  FD_ZERO(&wanted);
  FD_SET(m.pipe[0], &wanted);
  return error_unless(::select(m.pipe[0] + 1, &wanted, nullptr, nullptr, nullptr) == 1);
}
int try_pselect(meeting& m) {
  fd_set wanted;
  FD_ZERO(&wanted);
  FD_SET(m.pipe[0], &wanted);
  return error_unless(::pselect(m.pipe[0] + 1, &wanted, nullptr, nullptr, &long_time, nullptr) == 1);
}
int try_epoll_wait(meeting& m) {
  epoll_event found{};
  return error_unless(::epoll_wait(m.epoll, &found, 1, -1) == 1);
}
int try_sem_timedwait(meeting& m) {
  const timespec limit = in_a_long_time(CLOCK_REALTIME);
  return error_unless(::sem_timedwait(&m.semaphore, &limit) == 0);
}
int try_msgrcv(meeting& m) {
  message got;
  return error_unless(::msgrcv(m.queue, &got, sizeof got.text, 0, 0) == 1);
}
int try_semop(meeting& m) {
  sembuf down{0, -1, 0};
  return error_unless(::semop(m.semaphores, &down, 1) == 0);
}

// Sleeps again and again until the other one has said so.
template <class Sleep>
int sleep_until_released(meeting& m, Sleep sleep) {
  constexpr std::int64_t length = 5'000'000;
  do {
    const std::int64_t begin = os::now_ns();
    if (const int error = sleep(timespec{0, length}))
      return error;
    EXPECT_GE(os::now_ns() - begin, length);
  } while (!m.released);
  return 0;
}
int try_nanosleep(meeting& m) {
  return sleep_until_released(
      m, [](timespec wanted) { return error_unless(::nanosleep(&wanted, nullptr) == 0); });
}
int try_clock_nanosleep(meeting& m) {
  return sleep_until_released(
      m, [](timespec wanted) { return ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wanted, nullptr); });
}
int try_clock_nanosleep_until(meeting& m) {
  return sleep_until_released(m, [](timespec wanted) {
    timespec at;
    ::clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += wanted.tv_nsec;
    at.tv_sec += at.tv_nsec / 1'000'000'000;
    at.tv_nsec %= 1'000'000'000;
    return ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
  });
}

enum class then : std::uint8_t { restarts, libc_repeats, fails };

struct call {
  const char* name;
  then interrupted;
  int (*attempt)(meeting&);
  void (*release)(meeting&);
  bool (*prepare)(meeting&);
};
constexpr call calls[] = {
    {"read", then::restarts, try_read, write_one, nothing},
    {"recv", then::restarts, try_recv, send_one, nothing},
    {"waitpid", then::restarts, try_waitpid, write_one, fork_child},
    {"sem_wait", then::restarts, try_sem_wait, post, nothing},
    {"pthread_cond_wait", then::restarts, try_cond_wait, change, nothing},
    {"pthread_cond_timedwait", then::libc_repeats, try_cond_timedwait, change, nothing},
    {"recv_with_timeout", then::fails, try_recv, send_one, time_receives_out},
    {"poll", then::fails, try_poll, write_one, nothing},
    {"ppoll", then::fails, try_ppoll, write_one, nothing},
    {"select", then::fails, try_select, write_one, nothing},
    {"pselect", then::fails, try_pselect, write_one, nothing},
    {"epoll_wait", then::fails, try_epoll_wait, write_one, nothing},
    {"nanosleep", then::fails, try_nanosleep, say_so, nothing},
    {"clock_nanosleep", then::fails, try_clock_nanosleep, say_so, nothing},
    {"clock_nanosleep_until", then::fails, try_clock_nanosleep_until, say_so, nothing},
    {"sem_timedwait", then::fails, try_sem_timedwait, post, nothing},
    {"msgrcv", then::fails, try_msgrcv, send_message, make_queue},
    {"semop", then::fails, try_semop, raise_semaphore, make_semaphores},
};

class interrupted_calls : public ::testing::TestWithParam<std::tuple<preemption, call>> {
 protected:
  void TearDown() override { runtime_.stop(); }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = std::get<0>(GetParam());
    return a;
  }

  ticked_runtime runtime_;
};

INSTANTIATE_TEST_SUITE_P(each, interrupted_calls,
                         ::testing::Combine(::testing::Values(preemption::signal_yield, preemption::own_tls,
                                                              preemption::own_kernel_thread,
                                                              preemption::bound_tls),
                                            ::testing::ValuesIn(calls)),
                         [](const auto& info) {
                           return std::string(std::get<1>(info.param).name) + "_" +
                                  name_of(std::get<0>(info.param));
                         });

TEST_P(interrupted_calls, let_the_worker_go_and_end_as_they_should) {
  const auto [kind, call] = GetParam();
  if (!can_preempt(kind))
    GTEST_SKIP() << "not on this machine";
  meeting m;
  if (!call.prepare(m))
    GTEST_SKIP() << "this machine does not let us: " << errno;
  runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
  std::size_t interruptions = 0;
  thread waits(attributes(), [&m, &interruptions, &call] {
    for (int error; (error = call.attempt(m)) != 0; ++interruptions)
      ASSERT_EQ(error, EINTR);
  });
  thread releases([this, &m, &call] { // which only runs at all when the worker has left the other
    while (runtime_.workers_let_go() == 0)
      this_thread::yield();
    call.release(m);
  });
  waits.join();
  releases.join();
  if (call.interrupted == then::fails) {
    EXPECT_GE(interruptions, 1U);
    EXPECT_LE(interruptions, runtime_.calls_failed()); // one may be found twice
  } else {
    EXPECT_EQ(interruptions, 0U);
    EXPECT_EQ(runtime_.calls_failed() != 0, call.interrupted == then::libc_repeats);
  }
}

} // namespace
} // namespace weft::test
