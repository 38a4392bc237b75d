// SPDX-License-Identifier: MIT
// A process that runs. All its kernel threads stand still while it is read: a list of free objects, or who
// waits for whom, is of no use from different moments. They are stopped by PTRACE_SEIZE and PTRACE_INTERRUPT,
// which sends no signal, and go on when the target is destroyed, or when this program dies.
#include <dirent.h>
#include <elf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tools/weft/target.hpp"

namespace weft::tool {
namespace {

std::string reason(pid_t pid, int error) {
  const std::string who = "process " + std::to_string(pid);
  if (error == ESRCH)
    return who + " does not exist";
  if (error == EPERM) {
    return who + " may not be traced: it is another user's, something traces it already, or "
                 "/proc/sys/kernel/yama/ptrace_scope forbids it (run this as root or set it to 0)";
  }
  return who + " cannot be stopped: " + std::strerror(error);
}

// Whether a kernel thread is dead and only its number is kept.
bool is_zombie(pid_t id) {
  std::ifstream file("/proc/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name = text.rfind(')'); // which may have blanks and brackets in it
  return name != text.npos && name + 2 < text.size() && (text[name + 2] == 'Z' || text[name + 2] == 'X');
}

// Whether it still has memory: of a process that dies this goes first.
bool has_memory(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  return maps.peek() != std::ifstream::traits_type::eof();
}

// The kernel threads of the process now.
std::vector<pid_t> list_threads(pid_t pid) {
  std::vector<pid_t> ids;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  DIR* tasks = opendir(folder.c_str());
  if (tasks == nullptr)
    throw failure(reason(pid, errno == ENOENT ? ESRCH : errno));
  while (const dirent* entry = readdir(tasks)) {
    if (const pid_t id = std::atoi(entry->d_name); id > 0)
      ids.push_back(id);
  }
  closedir(tasks);
  return ids;
}

class live_target final : public target {
 public:
  explicit live_target(pid_t pid) : pid_(pid) {
    try {
      stop_all();
      report_modules();
    } catch (...) {
      let_go();
      throw;
    }
  }
  ~live_target() override { let_go(); }

  bool read(address from, void* to, std::size_t size) override {
    const iovec local{to, size};
    const iovec remote{reinterpret_cast<void*>(from), size};
    const ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    has_ended_ = has_ended_ || (got < 0 && errno == ESRCH); // killed: not even a stopped process is safe
    return got == static_cast<ssize_t>(size);
  }
  [[nodiscard]] pid_t process() const noexcept override { return pid_; }
  [[nodiscard]] bool has_ended() const noexcept override { return has_ended_ || !has_memory(pid_); }

 private:
  struct stopped {
    pid_t id;
    int signal; // that arrived meanwhile; delivered when it goes on
  };

  // Threads that are started while the others are being stopped are found by another look.
  void stop_all() {
    for (bool found = true; found;) {
      found = false;
      for (const pid_t id : list_threads(pid_))
        found = stop(id) || found;
    }
    if (stopped_.empty())
      throw failure("process " + std::to_string(pid_) + " has ended");
  }

  // False: it is stopped already, or has ended.
  bool stop(pid_t id) {
    if (std::any_of(stopped_.begin(), stopped_.end(), [id](const stopped& s) { return s.id == id; }))
      return false;
    // Before it is stopped: the call ends then, or seems to, and to stop takes time.
    const std::optional<kernel_call> call = call_of(id);
    const std::int64_t computed = first_number_of<std::int64_t>(id, "schedstat").value_or(0);
    if (ptrace(PTRACE_SEIZE, id, nullptr, nullptr) != 0) {
      const int error = errno;
      if (error == ESRCH || is_zombie(id)) // main() may have left its kernel thread before the others
        return false;
      errno = error;
      throw failure(reason(pid_, errno));
    }
    int status = 0;
    if (ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr) != 0 || waitpid(id, &status, __WALL) != id ||
        !WIFSTOPPED(status))
      return false; // it has ended
    const bool by_signal = status >> 16 == 0;
    stopped_.push_back({id, by_signal ? WSTOPSIG(status) : 0});
    user_regs registers;
    iovec room{&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &room) == 0) {
      kernel_threads_.push_back(registers_of(id, &registers, room.iov_len));
      kernel_threads_.back().call = call;
      kernel_threads_.back().cpu_ns = computed;
    }
    return true;
  }

  [[nodiscard]] std::ifstream file_of(pid_t id, const char* name) const {
    return std::ifstream("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(id) + "/" + name);
  }
  template <class Number>
  [[nodiscard]] std::optional<Number> first_number_of(pid_t id, const char* name) const {
    std::ifstream file = file_of(id, name);
    Number number{};
    return file >> number ? std::optional(number) : std::nullopt;
  }
  // Nothing: it computes (then the file says "running"), or the kernel does not tell.
  [[nodiscard]] std::optional<kernel_call> call_of(pid_t id) const {
    std::ifstream file = file_of(id, "syscall");
    kernel_call call;
    if (file >> call.number >> std::hex >> call.first && call.number >= 0)
      return call;
    return std::nullopt;
  }

  void let_go() noexcept {
    for (const stopped& s : stopped_)
      ptrace(PTRACE_DETACH, s.id, nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(s.signal)));
    stopped_.clear();
  }

  void report_modules() {
    static const Dwfl_Callbacks callbacks = {&dwfl_linux_proc_find_elf, &dwfl_standard_find_debuginfo,
                                             nullptr, nullptr};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr || dwfl_linux_proc_report(dwfl_, pid_) != 0 ||
        dwfl_report_end(dwfl_, nullptr, nullptr) != 0)
      throw failure(!has_memory(pid_) ? "process " + std::to_string(pid_) + " has ended"
                                      : "the modules of process " + std::to_string(pid_) + " cannot be read");
  }

  struct alignas(16) user_regs {
    std::byte bytes[1024];
  };

  pid_t pid_;
  bool has_ended_ = false;
  std::vector<stopped> stopped_;
};

} // namespace

std::unique_ptr<target> stop_process(pid_t pid) {
  return std::make_unique<live_target>(pid);
}

} // namespace weft::tool
