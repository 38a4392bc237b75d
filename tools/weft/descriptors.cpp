// SPDX-License-Identifier: MIT
#include "tools/weft/descriptors.hpp"

#include <arpa/inet.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

namespace weft::tool {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;)
    words.push_back(word);
  return words;
}

// From "0100007F:1F90", words of the kernel's byte order, or four such words before the colon.
std::string address_of(const std::string& text, bool is_six) {
  const std::size_t colon = text.find(':');
  if (colon != (is_six ? 32U : 8U))
    return "?";
  std::uint32_t parts[4] = {};
  for (std::size_t i = 0; i < colon / 8; ++i)
    parts[i] = static_cast<std::uint32_t>(std::strtoul(text.substr(i * 8, 8).c_str(), nullptr, 16));
  char plain[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(is_six ? AF_INET6 : AF_INET, parts, plain, sizeof plain);
  const std::string port = std::to_string(std::strtoul(text.c_str() + colon + 1, nullptr, 16));
  return (is_six ? "[" + std::string(plain) + "]" : std::string(plain)) + ":" + port;
}

} // namespace

std::string descriptors::describe(int descriptor) {
  if (process_ == 0 || descriptor < 0)
    return {};
  const std::string link = "/proc/" + std::to_string(process_) + "/fd/" + std::to_string(descriptor);
  char target[4096];
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  if (length <= 0)
    return {};
  const std::string what(target, static_cast<std::size_t>(length));
  const std::string mark = "socket:[";
  if (what.compare(0, mark.size(), mark) != 0)
    return what;
  read_sockets();
  const auto found = sockets_.find(what.substr(mark.size(), what.size() - mark.size() - 1));
  return found == sockets_.end() ? what : found->second;
}

// Those of the network namespace of the process, each when it is first asked for.
void descriptors::read_sockets() {
  if (std::exchange(has_sockets_, true))
    return;
  for (const char* protocol : {"tcp", "udp"}) {
    read_inet(protocol, false);
    read_inet(protocol, true);
  }
  read_unix();
}

void descriptors::read_inet(const char* protocol, bool is_six) {
  std::ifstream table("/proc/" + std::to_string(process_) + "/net/" + protocol + (is_six ? "6" : ""));
  std::string line;
  std::getline(table, line); // the heads
  while (std::getline(table, line)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 10)
      continue;
    std::string text = std::string(protocol) + " " + address_of(words[1], is_six);
    const std::string peer = address_of(words[2], is_six);
    if (peer.size() < 2 || peer.substr(peer.size() - 2) != ":0")
      text += ", peer " + peer;
    sockets_[words[9]] = text;
  }
}

void descriptors::read_unix() {
  std::ifstream table("/proc/" + std::to_string(process_) + "/net/unix");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() >= 7)
      sockets_[words[6]] = words.size() > 7 ? "unix " + words[7] : "unix socket:[" + words[6] + "]";
  }
}

} // namespace weft::tool
