// SPDX-License-Identifier: MIT
#include "weft/trace/control_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "weft/base/knob.hpp"
#include "weft/os/interruptible.hpp"

namespace weft::trace {
namespace {

// Not one of ours (XDG Base Directory Specification), so not listed among them until it is read.
constinit base::text_knob runtime_folder{
    "XDG_RUNTIME_DIR", nullptr, "the user's folder for sockets; WEFT_CONTROL's is there, else in /tmp"};

constexpr std::size_t name_bytes = 32;
constexpr int backlog = 8;

// Closes, and leaves errno as it is.
void close_quietly(int file) noexcept {
  const int error = errno;
  ::close(file);
  errno = error;
}

int refuse(int file, int error) noexcept {
  ::close(file);
  errno = error;
  return -1;
}

int open_folder_at(const char* path) noexcept {
  if (::mkdir(path, 0700) != 0 && errno != EEXIST) {
    return -1;
  }
  const int folder =
      os::uninterrupted([=] { return ::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); });
  if (folder < 0) {
    return -1;
  }
  struct stat status = {};
  if (::fstat(folder, &status) != 0) {
    return refuse(folder, errno);
  }
  return status.st_uid == ::geteuid() && (status.st_mode & 077) == 0 ? folder : refuse(folder, EPERM);
}

void name_of(pid_t process, char (&name)[name_bytes]) noexcept {
  std::snprintf(name, sizeof name, "%d.sock", static_cast<int>(process));
}

// By way of the open folder: nobody can put another one in its place, and the path fits, which
// $XDG_RUNTIME_DIR need not.
sockaddr_un address_in(int folder, pid_t process) noexcept {
  char name[name_bytes];
  name_of(process, name);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
  return address;
}

int new_socket(int more = 0) noexcept {
  return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | more, 0);
}

bool peer_of(int connection, ucred& peer) noexcept {
  socklen_t bytes = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;
}

} // namespace

int open_control_folder() noexcept {
  char path[4096];
  const char* runtime = runtime_folder.get();
  if (runtime != nullptr && runtime[0] == '/') {
    std::snprintf(path, sizeof path, "%s/weft", runtime);
    if (const int folder = open_folder_at(path); folder >= 0 || errno == EPERM) {
      return folder;
    }
  }
  std::snprintf(path, sizeof path, "/tmp/weft-%u", static_cast<unsigned>(::geteuid()));
  return open_folder_at(path);
}

int listen_for_control() noexcept {
  const int folder = open_control_folder();
  if (folder < 0) {
    return -1;
  }
  const sockaddr_un address = address_in(folder, ::getpid());
  const int listener = new_socket(SOCK_NONBLOCK); // who called may have gone before it is answered
  // Nobody but us makes files here, and a socket of this name that somebody listens to would be ours.
  ::unlink(address.sun_path);
  if (listener < 0 || ::fchmod(listener, 0600) != 0 ||
      ::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, backlog) != 0) {
    close_quietly(folder);
    if (listener >= 0) {
      close_quietly(listener);
    }
    return -1;
  }
  ::close(folder);
  return listener;
}

void unlink_control() noexcept {
  const int folder = open_control_folder();
  if (folder < 0) {
    return;
  }
  char name[name_bytes];
  name_of(::getpid(), name);
  ::unlinkat(folder, name, 0);
  ::close(folder);
}

int connect_to_control(pid_t process) noexcept {
  const int folder = open_control_folder();
  if (folder < 0) {
    return -1;
  }
  const sockaddr_un address = address_in(folder, process);
  const int connection = new_socket();
  // Of a Unix socket nothing is under way when a signal has ended its connect(2).
  const auto connect = [&] {
    return ::connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  };
  if (connection < 0 || os::uninterrupted(connect) != 0) {
    close_quietly(folder);
    if (connection >= 0) {
      close_quietly(connection);
    }
    return -1;
  }
  ::close(folder);
  ucred peer = {};
  if (!peer_of(connection, peer) || peer.uid != ::geteuid() || peer.pid != process) {
    return refuse(connection, EPERM);
  }
  return connection;
}

bool is_same_user(int connection) noexcept {
  ucred peer = {};
  return peer_of(connection, peer) && (peer.uid == ::geteuid() || peer.uid == 0);
}

} // namespace weft::trace
