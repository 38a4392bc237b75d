// SPDX-License-Identifier: MIT
// Each kind of system call that blocks, in a thread whose worker others need: the worker is let go, and the
// call goes on, because the kernel restarts it or because our handler goes on with it.
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
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/preempt/fixture.hpp"
#include "weft/carrier/leaving.hpp"
#include "weft/os/clock.hpp"
#include "weft/preempt/user_code.hpp"
#include "weft/runtime.hpp"
#include "weft/thread.hpp"

namespace weft::test {
namespace {

// What the two threads of a test meet at.
struct meeting {
  std::array<int, 2> pipe{-1, -1};
  std::array<int, 2> sockets{-1, -1};
  int listens = -1;
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
    if (listens >= 0)
      ::close(listens);
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
void connect_one(meeting& m) {
  sockaddr_un to{};
  socklen_t bytes = sizeof to;
  EXPECT_EQ(::getsockname(m.listens, reinterpret_cast<sockaddr*>(&to), &bytes), 0);
  const int connects = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(connects, reinterpret_cast<const sockaddr*>(&to), bytes), 0);
  ::close(connects);
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
bool set_limit(int descriptor, int which, timeval limit) {
  return ::setsockopt(descriptor, SOL_SOCKET, which, &limit, sizeof limit) == 0;
}
bool time_receives_out(meeting& m) {
  return set_limit(m.sockets[0], SO_RCVTIMEO, {long_time.tv_sec, 0});
}
bool listen_with_limit(meeting& m) {
  sockaddr_un anywhere{};
  anywhere.sun_family = AF_UNIX; // and no name: the kernel chooses one
  m.listens = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return ::bind(m.listens, reinterpret_cast<const sockaddr*>(&anywhere), sizeof anywhere.sun_family) == 0 &&
         ::listen(m.listens, 1) == 0 && set_limit(m.listens, SO_RCVTIMEO, {long_time.tv_sec, 0});
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
int try_readv_of_socket(meeting& m) {
  char c = 0;
  const iovec there{&c, 1};
  return error_unless(::readv(m.sockets[0], &there, 1) == 1);
}
int try_recvmsg(meeting& m) {
  char c = 0;
  iovec there{&c, 1};
  msghdr message{};
  message.msg_iov = &there;
  message.msg_iovlen = 1;
  return error_unless(::recvmsg(m.sockets[0], &message, 0) == 1);
}
int try_accept(meeting& m) {
  const int accepted = ::accept(m.listens, nullptr, nullptr);
  return error_unless(accepted >= 0 && ::close(accepted) == 0);
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

enum class by : std::uint8_t {
  kernel,
  handler, // of our signal
};

struct call {
  const char* name;
  by gone_on_with;
  int (*attempt)(meeting&);
  void (*release)(meeting&);
  bool (*prepare)(meeting&);
};
constexpr call calls[] = {
    {"read", by::kernel, try_read, write_one, nothing},
    {"recv", by::kernel, try_recv, send_one, nothing},
    {"waitpid", by::kernel, try_waitpid, write_one, fork_child},
    {"sem_wait", by::kernel, try_sem_wait, post, nothing},
    {"pthread_cond_wait", by::kernel, try_cond_wait, change, nothing},
    {"pthread_cond_timedwait", by::handler, try_cond_timedwait, change, nothing},
    {"recv_with_limit", by::handler, try_recv, send_one, time_receives_out},
    {"readv_with_limit", by::handler, try_readv_of_socket, send_one, time_receives_out},
    {"recvmsg_with_limit", by::handler, try_recvmsg, send_one, time_receives_out},
    {"accept_with_limit", by::handler, try_accept, connect_one, listen_with_limit},
    {"poll", by::handler, try_poll, write_one, nothing},
    {"ppoll", by::handler, try_ppoll, write_one, nothing},
    {"select", by::handler, try_select, write_one, nothing},
    {"pselect", by::handler, try_pselect, write_one, nothing},
    {"epoll_wait", by::handler, try_epoll_wait, write_one, nothing},
    {"nanosleep", by::handler, try_nanosleep, say_so, nothing},
    {"clock_nanosleep", by::handler, try_clock_nanosleep, say_so, nothing},
    {"clock_nanosleep_until", by::handler, try_clock_nanosleep_until, say_so, nothing},
    {"sem_timedwait", by::handler, try_sem_timedwait, post, nothing},
    {"msgrcv", by::handler, try_msgrcv, send_message, make_queue},
    {"semop", by::handler, try_semop, raise_semaphore, make_semaphores},
};

// Threads of the kind that a test's parameters begin with.
template <class Parameters>
class calls_of_kinds : public ::testing::TestWithParam<Parameters> {
 protected:
  void TearDown() override {
    runtime_.stop();
    sched::set_leaving(sched::leave_when::automatic);
  }
  static thread_attributes attributes() {
    thread_attributes a;
    a.preemption = std::get<0>(::testing::TestWithParam<Parameters>::GetParam());
    return a;
  }
  // The other kinds' way, or the cooperative's.
  [[nodiscard]] bool has_left() const { return runtime_.workers_let_go() + runtime_.threads_left() != 0; }

  ticked_runtime runtime_;
};

class interrupted_calls : public calls_of_kinds<std::tuple<preemption, call>> {};

INSTANTIATE_TEST_SUITE_P(
    each, interrupted_calls,
    ::testing::Combine(::testing::Values(preemption::none, preemption::signal_yield, preemption::own_tls,
                                         preemption::own_kernel_thread, preemption::bound_tls),
                       ::testing::ValuesIn(calls)),
    [](const auto& info) {
      return std::string(std::get<1>(info.param).name) + "_" + name_of(std::get<0>(info.param));
    });

TEST_P(interrupted_calls, let_the_worker_go_and_end_as_they_should) {
  const auto [kind, call] = GetParam();
  if (!can_preempt(kind) || !preempt::tells_user_code())
    GTEST_SKIP() << "not on this machine";
  meeting m;
  sched::set_leaving(sched::leave_when::always);
  if (!call.prepare(m))
    GTEST_SKIP() << "this machine does not let us: " << errno;
  runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
  thread waits(attributes(), [&m, &call] { EXPECT_EQ(call.attempt(m), 0) << "an errno"; });
  thread releases([this, &m, &call] { // which only runs at all when the worker has left the other
    while (!has_left())
      this_thread::yield();
    call.release(m);
  });
  waits.join();
  releases.join();
  EXPECT_EQ(runtime_.calls_gone_on_with() != 0, call.gone_on_with == by::handler);
}

// --- parts ---

// What a thread moves that fits no buffer, by one call, while another one takes it or gives it bit by bit.
constexpr std::size_t much = 1 << 20;

long write_much(meeting& m, char* bytes) {
  return ::write(m.pipe[1], bytes, much);
}
long send_much(meeting& m, char* bytes) {
  return ::send(m.sockets[1], bytes, much, MSG_NOSIGNAL);
}
// Buffers of all lengths, also none.
std::vector<iovec> in_pieces(char* bytes) {
  std::vector<iovec> pieces;
  std::size_t length = 0;
  for (std::size_t at = 0; at < much; length = (length + 1111) % 50'000) {
    length = std::min(length, much - at);
    pieces.push_back({bytes + at, length});
    at += length;
  }
  return pieces;
}
long write_pieces(meeting& m, char* bytes) {
  const std::vector<iovec> pieces = in_pieces(bytes);
  return ::writev(m.pipe[1], pieces.data(), static_cast<int>(pieces.size()));
}
long send_pieces(meeting& m, char* bytes) {
  std::vector<iovec> pieces = in_pieces(bytes);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return ::sendmsg(m.sockets[1], &message, MSG_NOSIGNAL);
}
long send_in_time(meeting& m, char* bytes) {
  return set_limit(m.sockets[1], SO_SNDTIMEO, {long_time.tv_sec, 0}) ? send_much(m, bytes) : -1;
}
long write_in_time(meeting& m, char* bytes) {
  if (!set_limit(m.sockets[1], SO_SNDTIMEO, {long_time.tv_sec, 0}))
    return -1;
  const std::vector<iovec> pieces = in_pieces(bytes);
  return ::writev(m.sockets[1], pieces.data(), static_cast<int>(pieces.size()));
}
long receive_much(meeting& m, char* bytes) {
  return ::recv(m.sockets[1], bytes, much, MSG_WAITALL);
}
long receive_pieces(meeting& m, char* bytes) {
  std::vector<iovec> pieces = in_pieces(bytes);
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return ::recvmsg(m.sockets[1], &message, MSG_WAITALL);
}

long receive_in_time(meeting& m, char* bytes) {
  return set_limit(m.sockets[1], SO_RCVTIMEO, {long_time.tv_sec, 0}) ? receive_pieces(m, bytes) : -1;
}

struct transfer {
  const char* name;
  long (*all)(meeting&, char* bytes);
  bool receives;
  bool on_sockets;
};

constexpr std::size_t a_bit = 5000;
char byte_at(std::size_t i) {
  return static_cast<char>(i * 2654435761U >> 13);
}

// The other side, by one who computes in between.
void take_or_give(int descriptor, bool gives, std::vector<char>& bytes) {
  for (std::size_t at = 0; at < much;) {
    const std::size_t length = std::min(a_bit, much - at);
    const ssize_t moved =
        gives ? ::write(descriptor, &bytes[at], length) : ::read(descriptor, &bytes[at], length);
    ASSERT_GT(moved, 0) << errno;
    at += static_cast<std::size_t>(moved);
    this_thread::yield();
  }
}

class calls_in_parts : public calls_of_kinds<std::tuple<preemption, transfer, unsigned>> {};
constexpr transfer transfers[] = {
    {"write", write_much, false, false},    {"writev", write_pieces, false, false},
    {"send", send_much, false, true},       {"sendmsg", send_pieces, false, true},
    {"recv_all", receive_much, true, true}, {"recvmsg_all", receive_pieces, true, true},
};
// On sockets with a time limit.
constexpr transfer limited[] = {
    {"send_with_limit", send_in_time, false, true},
    {"writev_with_limit", write_in_time, false, true},
    {"recvmsg_all_with_limit", receive_in_time, true, true},
};
std::string name_of_transfer(const ::testing::TestParamInfo<calls_in_parts::ParamType>& info) {
  return std::string(std::get<1>(info.param).name) + "_" + name_of(std::get<0>(info.param)) + "_" +
         std::to_string(std::get<2>(info.param));
}
INSTANTIATE_TEST_SUITE_P(each, calls_in_parts,
                         ::testing::Combine(::testing::Values(preemption::none, preemption::own_tls,
                                                              preemption::own_kernel_thread,
                                                              preemption::bound_tls),
                                            ::testing::ValuesIn(transfers), ::testing::Values(1U, 2U)),
                         name_of_transfer);
INSTANTIATE_TEST_SUITE_P(limited, calls_in_parts,
                         ::testing::Combine(::testing::Values(preemption::none, preemption::own_tls,
                                                              preemption::own_kernel_thread,
                                                              preemption::bound_tls),
                                            ::testing::ValuesIn(limited), ::testing::Values(1U, 2U)),
                         name_of_transfer);

TEST_P(calls_in_parts, move_all_that_was_asked) {
  const auto [kind, what, workers] = GetParam();
  if (!can_preempt(preemption::own_kernel_thread) || !can_preempt(kind) || !preempt::tells_user_code())
    GTEST_SKIP() << "not on this machine";
  meeting m;
  sched::set_leaving(sched::leave_when::always);
  runtime_.start(sched::arrangement::stealing, workers, std::chrono::microseconds(200));
  std::vector<char> mine(much), others(much);
  for (std::size_t i = 0; i < much; ++i)
    (what.receives ? others : mine)[i] = byte_at(i);
  thread moves(attributes(), [&m, &mine, what = what] {
    EXPECT_EQ(what.all(m, mine.data()), static_cast<long>(much)) << errno;
  });
  thread other([&m, &others, what = what] {
    take_or_give(what.on_sockets ? m.sockets[0] : m.pipe[0], what.receives, others);
  });
  moves.join();
  other.join();
  EXPECT_TRUE(mine == others);
}

// --- limits that pass ---

class limits_of_sockets : public calls_of_kinds<std::tuple<preemption>> {};
INSTANTIATE_TEST_SUITE_P(
    each, limits_of_sockets,
    ::testing::Combine(::testing::Values(preemption::none, preemption::signal_yield, preemption::own_tls,
                                         preemption::own_kernel_thread, preemption::bound_tls)),
    [](const auto& info) { return name_of(std::get<0>(info.param)); });

// Though the thread leaves its worker, and its call is made again, it ends at the limit, and not before, with
// what there is.
TEST_P(limits_of_sockets, hold_where_the_worker_was_left) {
  if (!can_preempt(preemption::own_kernel_thread) || !preempt::tells_user_code())
    GTEST_SKIP() << "not on this machine";
  meeting m;
  static constexpr std::int64_t limit_ns = 60'000'000;
  ASSERT_TRUE(set_limit(m.sockets[0], SO_RCVTIMEO, {0, limit_ns / 1000}));
  sched::set_leaving(sched::leave_when::always);
  runtime_.start(sched::arrangement::pool_per_worker, 1, std::chrono::microseconds(500));
  std::atomic<bool> over = false;
  thread waits(attributes(), [&m, &over] {
    std::array<char, 100> bytes;
    for (const long there : {0L, 10L}) {
      EXPECT_EQ(::send(m.sockets[1], bytes.data(), static_cast<std::size_t>(there), 0), there);
      const std::int64_t begin = os::now_ns();
      const ssize_t got = ::recv(m.sockets[0], bytes.data(), bytes.size(), MSG_WAITALL);
      const int error = errno;
      EXPECT_GE(os::now_ns() - begin, limit_ns);
      EXPECT_EQ(got, there != 0 ? there : -1);
      EXPECT_TRUE(got >= 0 || error == EAGAIN) << error;
    }
    over = true;
  });
  thread other([&over] { // which only runs when the worker has been left
    while (!over)
      this_thread::yield();
  });
  waits.join();
  other.join();
  EXPECT_TRUE(has_left());
}

} // namespace
} // namespace weft::test
