// SPDX-License-Identifier: MIT
// The functions behind weft/light.hpp.
#include "weft/light.hpp"

#include <exception>
#include <memory>
#include <new>

#include "weft/condition_variable.hpp"
#include "weft/mutex.hpp"
#include "weft/thread.hpp"

namespace weft::light {
namespace {

// The room of the light form holds the full one.
template <class Full, std::size_t Size>
Full& in(unsigned char (&room)[Size]) noexcept {
  static_assert(sizeof(Full) <= Size && alignof(Full) <= 8);
  return *std::launder(reinterpret_cast<Full*>(room));
}

struct body {
  detail::call f;
  detail::closure c;
  void operator()() { f(c.bytes); }
};
static_assert(weft::detail::closure<body>::in_place, "a thread is created without the heap");

} // namespace

void thread::start(detail::call f, const detail::closure& c) {
  static_assert(sizeof(weft::thread) == sizeof(room_), "moved and tested as bytes");
  ::new (static_cast<void*>(room_)) weft::thread(body{f, c});
}
void thread::join() {
  in<weft::thread>(room_).join();
}
void thread::detach() {
  in<weft::thread>(room_).detach();
}
void thread::terminate() noexcept {
  std::terminate();
}

mutex::mutex() noexcept {
  ::new (static_cast<void*>(room_)) weft::mutex;
}
mutex::~mutex() {
  std::destroy_at(&in<weft::mutex>(room_));
}
void mutex::lock() {
  in<weft::mutex>(room_).lock();
}
bool mutex::try_lock() noexcept {
  return in<weft::mutex>(room_).try_lock();
}
void mutex::unlock() noexcept {
  in<weft::mutex>(room_).unlock();
}

condition_variable::condition_variable() {
  ::new (static_cast<void*>(room_)) weft::condition_variable_any;
}
condition_variable::~condition_variable() {
  std::destroy_at(&in<weft::condition_variable_any>(room_));
}
void condition_variable::wait(mutex& held) {
  in<weft::condition_variable_any>(room_).wait(in<weft::mutex>(held.room_));
}
void condition_variable::notify_one() noexcept {
  in<weft::condition_variable_any>(room_).notify_one();
}
void condition_variable::notify_all() noexcept {
  in<weft::condition_variable_any>(room_).notify_all();
}

void yield() {
  this_thread::yield();
}

} // namespace weft::light
