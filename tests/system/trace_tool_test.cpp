// SPDX-License-Identifier: MIT
// The tool weft against live processes: each scenario is a program that listens (WEFT_CONTROL=1) and has the
// tool trace it, while its workers are busy.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/system/scenario.hpp"
#include "weft/os/fault.hpp"
#include "weft/trace/control_socket.hpp"
#include "weft/trace/raw_file.hpp"
#include "weft/trace/summary.hpp"
#include "weft/weft.hpp"

namespace {

using weft::tests::outcome;
using weft::tests::require;
using namespace std::chrono_literals;

struct said {
  int exit_code;
  std::string text;

  [[nodiscard]] bool contains(const std::string& part) const { return text.find(part) != std::string::npos; }
};

said shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  require(pipe != nullptr, "popen");
  said s{};
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr)
    s.text += buffer;
  s.exit_code = WEXITSTATUS(::pclose(pipe));
  std::printf("$ %s\n%s", command.c_str(), s.text.c_str());
  std::fflush(stdout);
  return s;
}

said tool(const std::string& arguments) {
  return shell(std::string(WEFT_TOOL) + " trace " + arguments);
}

std::string me() {
  return std::to_string(::getpid());
}

// Of this scenario alone: its argument.
std::string in_folder(const std::string& file) {
  return weft::tests::scenario_argument() + "/" + file;
}

// Workers that yield, lock, create, join and sleep, until told to stop.
class load {
 public:
  load() {
    for (int i = 0; i < 6; ++i) {
      weft::thread_attributes named;
      named.name = "busy";
      threads_.emplace_back(named, [this] { work(); });
    }
    outside_ = std::thread([this] {
      while (!end_.load()) {
        weft::thread one([] {});
        one.join();
        std::this_thread::sleep_for(100us);
      }
    });
  }
  ~load() {
    end_.store(true);
    for (weft::thread& t : threads_)
      t.join();
    outside_.join();
  }
  load(const load&) = delete;

 private:
  void work() {
    while (!end_.load()) {
      {
        const std::scoped_lock held(lock_);
        sum_ += 1;
        weft::this_thread::yield(); // so that others find it locked
      }
      weft::thread child([] {});
      child.join();
      weft::this_thread::sleep_for(50us);
    }
  }

  std::atomic<bool> end_{false};
  weft::mutex lock_;
  long sum_ = 0;
  std::vector<weft::thread> threads_;
  std::thread outside_;
};

// As the main thread of a program would be that has other things to do: its worker is free.
void let_work(std::chrono::milliseconds length) {
  weft::this_thread::sleep_for(length);
}

// What the tool does takes a kernel thread; the load goes on meanwhile on all workers.
template <class Action>
void beside_load(Action action) {
  const load busy;
  let_work(20ms);
  std::atomic<bool> done{false};
  std::thread other([&] {
    action();
    done.store(true);
  });
  while (!done.load())
    let_work(1ms);
  other.join();
}

WEFT_SCENARIO(record_and_look) {
  beside_load([] {
    const said recorded = tool("record " + me() + " --seconds 0.3 -o " + in_folder("run.weft"));
    require(recorded.exit_code == 0, "record");
    const weft::trace::recording all = weft::trace::read_raw(in_folder("run.weft").c_str());
    require(all.process == ::getpid(), "the process is told");
    require(all.end_ns - all.begin_ns > 250'000'000, "it was recorded as long as asked");
    const weft::trace::summary s = weft::trace::summarise(all);
    require(s.workers.size() == 4, "four workers recorded");
    require(s.latency.woken.count() > 0 && s.latency.created.count() > 0, "units became ready");
    require(!s.locks.empty() && s.locks[0].waits > 0, "somebody waited for the lock");
    require(s.locks[0].held_by == "busy", "who made others wait has a name");
    const said summary = tool("summary " + in_folder("run.weft"));
    require(summary.exit_code == 0 && summary.contains("contended lock") && summary.contains("busy"),
            "summary");
    const said converted = tool("convert " + in_folder("run.weft") + " -o " + in_folder("run.json"));
    require(converted.exit_code == 0, "convert");
    const said checked = shell("python3 " WEFT_CHECK_TIMELINE " " + in_folder("run.json"));
    require(checked.exit_code == 0 && checked.contains("busy: "), "the timeline is well formed");
    require(tool("record " + me() + " --seconds 0.05 -o " + in_folder("direct.json")).exit_code == 0,
            "again");
    require(shell("python3 " WEFT_CHECK_TIMELINE " " + in_folder("direct.json")).exit_code == 0,
            "JSON at once");
  });
  return 0;
}

WEFT_SCENARIO(start_then_stop) {
  beside_load([] {
    require(tool("start " + me()).exit_code == 0, "start");
    require(weft::trace::active(), "it records");
    require(tool("start " + me()).contains("is being recorded already"), "once at a time");
    require(tool("record " + me() + " -o " + in_folder("no.weft")).exit_code == 1, "once at a time");
    std::this_thread::sleep_for(50ms);
    require(tool("stop " + me() + " -o " + in_folder("run.weft")).exit_code == 0, "stop");
    require(!weft::trace::active(), "it does not record any more");
    require(weft::trace::read_raw(in_folder("run.weft").c_str()).kept() > 0, "events");
    require(tool("stop " + me()).contains("no recording was started from outside"), "nothing to stop");
    require(!std::filesystem::exists(in_folder("no.weft")), "a refused one writes nothing");
  });
  return 0;
}

// Neither takes what is the other's.
WEFT_SCENARIO(program_and_tool) {
  beside_load([] {
    weft::trace::start(in_folder("own.json"));
    require(tool("record " + me()).contains("is being recorded already"), "the program records");
    require(tool("stop " + me()).exit_code == 1, "not the tool's to stop");
    require(weft::trace::active(), "it goes on");
    weft::trace::stop();
    require(std::filesystem::file_size(in_folder("own.json")) > 1000, "all of it is there");
    require(tool("start " + me()).exit_code == 0, "start");
    weft::trace::stop(); // nothing: it is not the program's
    require(weft::trace::active(), "the tool's goes on");
    require(tool("stop " + me() + " -o " + in_folder("run.weft")).exit_code == 0, "stop");
  });
  return 0;
}

WEFT_SCENARIO(wraps_around) {
  beside_load([] {
    require(tool("record " + me() + " --seconds 0.5 -o " + in_folder("run.weft")).exit_code == 0, "record");
    const weft::trace::recording all = weft::trace::read_raw(in_folder("run.weft").c_str());
    require(all.dropped() > 0, "old events are dropped");
    for (const auto& t : all.tracks)
      require(t.size() <= 500, "no more than WEFT_TRACE_EVENTS");
    const said summary = tool("summary " + in_folder("run.weft"));
    require(summary.contains("were dropped"), "and it is said");
    require(tool("convert " + in_folder("run.weft") + " -o " + in_folder("run.json")).exit_code == 0,
            "convert");
    require(shell("python3 " WEFT_CHECK_TIMELINE " " + in_folder("run.json")).exit_code == 0, "timeline");
  });
  return 0;
}

// The tool says so and leaves nothing behind; the outer test reads what it said.
WEFT_SCENARIO(dies_while_recorded) {
  const load busy;
  let_work(20ms);
  const std::string command = std::string(WEFT_TOOL) + " trace record " + me() + " --seconds 30 -o " +
                              in_folder("lost.weft") + "; echo \"the tool ended with $?\"";
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  while (!weft::trace::active())
    let_work(1ms);
  let_work(20ms);
  ::kill(::getpid(), SIGKILL);
  return 1;
}

WEFT_SCENARIO(tool_dies_while_recording) {
  beside_load([] {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0) {
      ::execl(WEFT_TOOL, "weft", "trace", "record", std::to_string(::getppid()).c_str(), "--seconds", "30",
              "-o", in_folder("lost.weft").c_str(), nullptr);
      ::_exit(127);
    }
    while (!weft::trace::active())
      std::this_thread::sleep_for(1ms);
    ::kill(child, SIGKILL);
    require(::waitpid(child, nullptr, 0) == child, "waitpid");
    while (weft::trace::active()) // the limit of the scenario ends it if that never happens
      std::this_thread::sleep_for(1ms);
    require(tool("record " + me() + " --seconds 0.05 -o " + in_folder("run.weft")).exit_code == 0,
            "as before");
  });
  return 0;
}

// What was recorded until then is fetched.
WEFT_SCENARIO(tool_is_interrupted) {
  beside_load([] {
    const pid_t child = ::fork();
    require(child >= 0, "fork");
    if (child == 0) {
      ::execl(WEFT_TOOL, "weft", "trace", "record", std::to_string(::getppid()).c_str(), "--seconds", "30",
              "-o", in_folder("run.weft").c_str(), nullptr);
      ::_exit(127);
    }
    while (!weft::trace::active())
      std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms);
    ::kill(child, SIGINT);
    int status = -1;
    require(::waitpid(child, &status, 0) == child && status == 0, "the tool ended as usual");
    require(weft::trace::read_raw(in_folder("run.weft").c_str()).kept() > 0, "events");
  });
  return 0;
}

std::string answer_to(int connection, const std::string& line) {
  static_cast<void>(::send(connection, line.data(), line.size(), MSG_NOSIGNAL)); // it may be closed already
  char buffer[256];
  const ssize_t got = ::read(connection, buffer, sizeof buffer);
  return {buffer, got > 0 ? static_cast<std::size_t>(got) : 0};
}

WEFT_SCENARIO(strange_requests) {
  beside_load([] {
    const int connection = weft::trace::connect_to_control(::getpid());
    require(connection >= 0, "connect");
    require(answer_to(connection, "nonsense\n") == "error this request is not known here\n", "nonsense");
    require(answer_to(connection, "\n").starts_with("error "), "an empty line");
    require(answer_to(connection, "trace start\ntrace start\n").starts_with("ok\n"), "two lines at once");
    ::close(connection);
    const int other = weft::trace::connect_to_control(::getpid());
    require(answer_to(other, std::string(500, 'x')).starts_with("error this line is too long"),
            "a long line");
    require(answer_to(other, "") == "", "which ends the connection");
    ::close(other);
    std::vector<int> many;
    for (int i = 0; i < 20; ++i)
      many.push_back(weft::trace::connect_to_control(::getpid()));
    require(answer_to(many.front(), "trace stop\n").starts_with("error "), "the first are served");
    for (const int c : many)
      ::close(c);
    require(tool("record " + me() + " --seconds 0.05 -o " + in_folder("run.weft")).exit_code == 0,
            "as before");
  });
  return 0;
}

// As by signals: here, and in the thread that listens, where only SIGSTOP would do so.
WEFT_SCENARIO(calls_are_interrupted) {
  beside_load([] {
    for (const unsigned nth : {2, 3}) {
      weft::os::fail_every(weft::os::fault_site::interrupted, nth, EINTR);
      for (int i = 0; i < 5; ++i) {
        const int connection = weft::trace::connect_to_control(::getpid());
        require(connection >= 0, "connect");
        require(answer_to(connection, "trace start\n") == "ok\n", "start");
        require(answer_to(connection, "trace stop\n").starts_with("ok "), "stop");
        ::close(connection);
        require(tool("record " + me() + " --seconds 0.02 -o " + in_folder("run.weft")).exit_code == 0,
                "recorded");
        require(weft::trace::read_raw(in_folder("run.weft").c_str()).kept() > 0, "events");
      }
      weft::os::disarm_faults();
      require(weft::os::fault_hits(weft::os::fault_site::interrupted) > 0, "something was interrupted");
    }
  });
  return 0;
}

// Gone before it gets what it asked for.
WEFT_SCENARIO(hangs_up_at_the_answer) {
  beside_load([] {
    for (int i = 0; i < 3; ++i) {
      const int connection = weft::trace::connect_to_control(::getpid());
      require(connection >= 0 && ::shutdown(connection, SHUT_RD) == 0, "connect");
      const std::string requests = "trace start\ntrace stop\ntrace start\n";
      require(::send(connection, requests.data(), requests.size(), 0) > 0, "send");
      pollfd hung_up = {connection, 0, 0};
      require(::poll(&hung_up, 1, 10'000) == 1, "the process hangs up as well");
      ::close(connection);
    }
    require(tool("record " + me() + " --seconds 0.05 -o " + in_folder("run.weft")).exit_code == 0,
            "as before");
  });
  return 0;
}

WEFT_SCENARIO(child_of_fork_does_not_listen) {
  weft::thread([] {}).join();
  require(tool("start " + me()).exit_code == 0, "the parent listens");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool recorded_on = weft::trace::active();
    weft::thread([] {}).join();
    const int connection = weft::trace::connect_to_control(::getpid());
    ::_exit(!recorded_on && connection < 0 ? 0 : 1);
  }
  int status = -1;
  require(::waitpid(child, &status, 0) == child && status == 0, "the child does not listen, nor record");
  require(tool("stop " + me() + " -o " + in_folder("run.weft")).exit_code == 0, "the parent still does");
  return 0;
}

WEFT_SCENARIO(does_not_listen) {
  weft::thread([] {}).join();
  const said refused = tool("record " + me());
  require(refused.exit_code == 1 && refused.contains("WEFT_CONTROL=1"), "what to do is said");
  std::size_t listeners = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    listeners += name == "weft-control";
  }
  require(listeners == 0, "a process that does not listen has no thread for it");
  require(tool("record 999999999").contains("there is no such process"), "no such process");
  return 0;
}

WEFT_SCENARIO(listens_to_nobody) {
  weft::thread([] {}).join();
  require(tool("record " + me()).exit_code == 1, "the tool does not use such a folder either");
  return 0;
}

class trace_tool : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("weft-tool-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  outcome run(const char* scenario, std::vector<std::pair<std::string, std::string>> more = {}) {
    weft::tests::scenario_settings settings;
    settings.environment = {
        {"WEFT_CONTROL", "1"}, {"WEFT_WORKERS", "4"}, {"XDG_RUNTIME_DIR", folder_.string()}};
    settings.environment.insert(settings.environment.begin(), more.begin(), more.end());
    std::erase_if(settings.environment,
                  [&](const auto& e) { return e.first == "WEFT_CONTROL" && !listens_; });
    settings.argument = folder_.string();
    return weft::tests::run(scenario, settings);
  }
  void passes(const char* scenario, std::vector<std::pair<std::string, std::string>> more = {}) {
    const outcome o = run(scenario, std::move(more));
    EXPECT_EQ(o.exit_code, 0) << o.describe();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "lost.weft"));
  }
  // The sockets that processes left in the folder.
  [[nodiscard]] std::size_t sockets() const {
    const auto all = std::filesystem::directory_iterator(folder_ / "weft");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  std::filesystem::path folder_;
  bool listens_ = true;
};

TEST_F(trace_tool, records_a_live_process_under_load) {
  passes("record_and_look");
  EXPECT_EQ(sockets(), 0u) << "a process that exits takes its socket away";
}

TEST_F(trace_tool, starts_and_stops) {
  passes("start_then_stop");
}

TEST_F(trace_tool, the_program_and_the_tool_do_not_stop_each_other) {
  passes("program_and_tool");
}

TEST_F(trace_tool, keeps_the_newest_events) {
  passes("wraps_around", {{"WEFT_TRACE_EVENTS", "500"}});
}

TEST_F(trace_tool, says_that_the_process_was_killed) {
  const outcome o = run("dies_while_recorded");
  EXPECT_EQ(o.signal, SIGKILL) << o.describe();
  EXPECT_TRUE(o.contains("it has ended while it was recorded")) << o.describe();
  EXPECT_TRUE(o.contains("the tool ended with 1")) << o.describe();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "lost.weft"));
  EXPECT_EQ(sockets(), 1u) << "nobody could take it away";
}

TEST_F(trace_tool, recording_ends_with_the_tool) {
  passes("tool_dies_while_recording");
}

TEST_F(trace_tool, an_interrupt_ends_the_recording_early) {
  passes("tool_is_interrupted");
}

TEST_F(trace_tool, a_tool_that_hangs_up_at_the_answer_harms_nobody) {
  passes("hangs_up_at_the_answer");
}

TEST_F(trace_tool, interrupted_calls_are_made_again) {
  passes("calls_are_interrupted");
}

TEST_F(trace_tool, strange_requests_are_refused) {
  passes("strange_requests");
}

TEST_F(trace_tool, a_child_of_fork_does_not_listen) {
  passes("child_of_fork_does_not_listen");
}

TEST_F(trace_tool, nobody_listens_unasked) {
  listens_ = false;
  passes("does_not_listen");
}

TEST_F(trace_tool, a_folder_that_others_may_enter_is_not_used) {
  std::filesystem::create_directory(folder_ / "weft");
  std::filesystem::permissions(folder_ / "weft",
                               std::filesystem::perms::owner_all | std::filesystem::perms::group_exec);
  const outcome o = run("listens_to_nobody");
  EXPECT_EQ(o.exit_code, 0) << o.describe();
  EXPECT_TRUE(o.contains("WEFT_CONTROL: Operation not permitted")) << o.describe();
  EXPECT_EQ(sockets(), 0u);
}

TEST_F(trace_tool, says_its_version_and_what_it_can) {
  const said version = shell(std::string(WEFT_TOOL) + " --version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.text, "weft " WEFT_VERSION "\n");
  const said help = shell(std::string(WEFT_TOOL) + " --help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* const command : {"ps", "trace"})
    EXPECT_TRUE(help.contains(command)) << help.text;
  EXPECT_NE(shell(std::string(WEFT_TOOL) + " no_such_command").exit_code, 0);
}

TEST_F(trace_tool, refuses_files_that_are_no_traces) {
  const std::string path = folder_ / "garbage.weft";
  std::ofstream(path) << std::string(4096, 'x');
  for (const std::string& command : {"summary " + path, "convert " + path + " -o " + path + ".json"}) {
    const said s = tool(command);
    EXPECT_EQ(s.exit_code, 1);
    EXPECT_TRUE(s.contains(path + " is no raw trace: it does not begin as a trace does")) << s.text;
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".json"));
  EXPECT_TRUE(tool("summary /nonexistent").contains("No such file"));
  EXPECT_NE(tool("record 0").exit_code, 0);
  EXPECT_NE(tool("record " + me() + " --seconds -1").exit_code, 0);
}

} // namespace
