// SPDX-License-Identifier: MIT
// The public calls: each makes a request of its parameters and an error of the result.
#include "weft/io/operations.hpp"

#include "weft/carrier/runtime_section.hpp"
#include "weft/io/descriptor_table.hpp"
#include "weft/io/left_errors.hpp"
#include "weft/io/outside.hpp"
#include "weft/io/request.hpp"
#include "weft/io/rest.hpp"
#include "weft/io/source.hpp"
#include "weft/os/interruptible.hpp"
#include "weft/workers/group.hpp"

#include <cerrno>
#include <new>
#include <unistd.h>

namespace weft::io {
namespace {

// All that can be had after one wait.
int perform_part(const request& r, const limit& how_long) noexcept {
  if (!sched::on_worker())
    return perform_outside(r, how_long);
  try {
    return source_of(sched::here().owner_group).perform(r, how_long); // SWITCH: may resume on another worker
  } catch (const std::system_error& e) {
    return -e.code().value();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

// How a socket looks whose error was taken.
bool looks_closed(const request& r, int result) noexcept {
  const bool out = r.what == operation::write || r.what == operation::send;
  const bool in = r.what == operation::read || r.what == operation::receive;
  return (out && result == -EPIPE) || (in && result == 0);
}

int perform(const request& r, const limit& how_long) noexcept {
  const sched::runtime_section in;
  if (never_waits(r)) [[unlikely]] {
    hints none;
    return attempt(r, none);
  }
  const int done = perform_part(r, how_long); // SWITCH: may resume on another worker
  if (looks_closed(r, done)) [[unlikely]] {
    if (const int left = take_left_error(r.descriptor))
      return -left;
  }
  return done > 0 && has_rest(r, done) ? finish_on_stream(r, done, how_long, &perform_part) : done;
}

template <class Result>
Result report(int result, std::error_code& error) noexcept {
  if (result < 0) {
    error.assign(-result, std::system_category());
    return static_cast<Result>(-1);
  }
  error.clear();
  return static_cast<Result>(result);
}

std::size_t report_bytes(int result, std::error_code& error) noexcept {
  return result < 0 ? (report<int>(result, error), 0) : report<std::size_t>(result, error);
}

// Calls the form that reports by an error code, and throws.
template <class Call>
auto or_throw(const char* what, Call call) {
  std::error_code error;
  if constexpr (std::is_void_v<decltype(call(error))>) {
    call(error);
    if (error)
      throw std::system_error(error, what);
  } else {
    const auto result = call(error);
    if (error)
      throw std::system_error(error, what);
    return result;
  }
}

request transfer(operation what, int descriptor, const iovec* buffers, int count) noexcept {
  request r;
  r.what = what;
  r.descriptor = descriptor;
  r.buffers = buffers;
  r.buffer_count = count;
  return r;
}

iovec buffer_of(const void* buffer, std::size_t bytes) noexcept {
  return {const_cast<void*>(buffer), bytes};
}

std::size_t transfer_at(operation what, int descriptor, const iovec& buffer, std::int64_t offset,
                        std::error_code& error) noexcept {
  if (offset < 0)
    return report_bytes(-EINVAL, error);
  request r = transfer(what, descriptor, &buffer, 1);
  r.offset = offset;
  return report_bytes(perform(r, {}), error);
}

void sync_file(operation what, int descriptor, std::error_code& error) noexcept {
  request r;
  r.what = what;
  r.descriptor = descriptor;
  report<int>(perform(r, {}), error);
}

// A descriptor that is new here.
int born(int result, std::error_code& error) noexcept {
  if (result >= 0)
    adopt(result);
  return report<int>(result, error);
}

} // namespace

std::size_t read(int descriptor, void* buffer, std::size_t bytes, std::error_code& error,
                 const limit& how_long) noexcept {
  const iovec only = buffer_of(buffer, bytes);
  return report_bytes(perform(transfer(operation::read, descriptor, &only, 1), how_long), error);
}
std::size_t read(int descriptor, void* buffer, std::size_t bytes, const limit& how_long) {
  return or_throw("weft::io::read", [&](auto& e) { return read(descriptor, buffer, bytes, e, how_long); });
}

std::size_t write(int descriptor, const void* buffer, std::size_t bytes, std::error_code& error,
                  const limit& how_long) noexcept {
  const iovec only = buffer_of(buffer, bytes);
  return report_bytes(perform(transfer(operation::write, descriptor, &only, 1), how_long), error);
}
std::size_t write(int descriptor, const void* buffer, std::size_t bytes, const limit& how_long) {
  return or_throw("weft::io::write", [&](auto& e) { return write(descriptor, buffer, bytes, e, how_long); });
}

void write_all(int descriptor, const void* buffer, std::size_t bytes, std::error_code& error,
               const limit& how_long) noexcept {
  const auto* at = static_cast<const std::byte*>(buffer);
  error.clear();
  while (bytes != 0 && !error) {
    const std::size_t written = write(descriptor, at, bytes, error, how_long);
    at += written;
    bytes -= written;
  }
}
void write_all(int descriptor, const void* buffer, std::size_t bytes, const limit& how_long) {
  or_throw("weft::io::write_all", [&](auto& e) { write_all(descriptor, buffer, bytes, e, how_long); });
}

std::size_t readv(int descriptor, const iovec* buffers, int count, std::error_code& error,
                  const limit& how_long) noexcept {
  request r = transfer(operation::read, descriptor, buffers, count);
  r.is_vector = true;
  return report_bytes(perform(r, how_long), error);
}
std::size_t readv(int descriptor, const iovec* buffers, int count, const limit& how_long) {
  return or_throw("weft::io::readv", [&](auto& e) { return readv(descriptor, buffers, count, e, how_long); });
}

std::size_t writev(int descriptor, const iovec* buffers, int count, std::error_code& error,
                   const limit& how_long) noexcept {
  request r = transfer(operation::write, descriptor, buffers, count);
  r.is_vector = true;
  return report_bytes(perform(r, how_long), error);
}
std::size_t writev(int descriptor, const iovec* buffers, int count, const limit& how_long) {
  return or_throw("weft::io::writev",
                  [&](auto& e) { return writev(descriptor, buffers, count, e, how_long); });
}

std::size_t pread(int descriptor, void* buffer, std::size_t bytes, std::int64_t offset,
                  std::error_code& error) noexcept {
  return transfer_at(operation::read, descriptor, buffer_of(buffer, bytes), offset, error);
}
std::size_t pread(int descriptor, void* buffer, std::size_t bytes, std::int64_t offset) {
  return or_throw("weft::io::pread", [&](auto& e) { return pread(descriptor, buffer, bytes, offset, e); });
}

std::size_t pwrite(int descriptor, const void* buffer, std::size_t bytes, std::int64_t offset,
                   std::error_code& error) noexcept {
  return transfer_at(operation::write, descriptor, buffer_of(buffer, bytes), offset, error);
}
std::size_t pwrite(int descriptor, const void* buffer, std::size_t bytes, std::int64_t offset) {
  return or_throw("weft::io::pwrite", [&](auto& e) { return pwrite(descriptor, buffer, bytes, offset, e); });
}

std::size_t recv(int descriptor, void* buffer, std::size_t bytes, int flags, std::error_code& error,
                 const limit& how_long) noexcept {
  const iovec only = buffer_of(buffer, bytes);
  request r = transfer(operation::receive, descriptor, &only, 1);
  r.flags = flags;
  return report_bytes(perform(r, how_long), error);
}
std::size_t recv(int descriptor, void* buffer, std::size_t bytes, int flags, const limit& how_long) {
  return or_throw("weft::io::recv",
                  [&](auto& e) { return recv(descriptor, buffer, bytes, flags, e, how_long); });
}

std::size_t send(int descriptor, const void* buffer, std::size_t bytes, int flags, std::error_code& error,
                 const limit& how_long) noexcept {
  const iovec only = buffer_of(buffer, bytes);
  request r = transfer(operation::send, descriptor, &only, 1);
  r.flags = flags;
  return report_bytes(perform(r, how_long), error);
}
std::size_t send(int descriptor, const void* buffer, std::size_t bytes, int flags, const limit& how_long) {
  return or_throw("weft::io::send",
                  [&](auto& e) { return send(descriptor, buffer, bytes, flags, e, how_long); });
}

int socket(int domain, int type, int protocol, std::error_code& error) noexcept {
  const int made = ::socket(domain, type | SOCK_CLOEXEC, protocol);
  return born(made < 0 ? -errno : made, error);
}
int socket(int domain, int type, int protocol) {
  return or_throw("weft::io::socket", [&](auto& e) { return socket(domain, type, protocol, e); });
}

int accept(int descriptor, sockaddr* address, socklen_t* length, std::error_code& error,
           const limit& how_long) noexcept {
  request r;
  r.what = operation::accept;
  r.descriptor = descriptor;
  r.flags = SOCK_CLOEXEC;
  r.address = address;
  r.length = length;
  return born(perform(r, how_long), error);
}
int accept(int descriptor, sockaddr* address, socklen_t* length, const limit& how_long) {
  return or_throw("weft::io::accept",
                  [&](auto& e) { return accept(descriptor, address, length, e, how_long); });
}

void connect(int descriptor, const sockaddr* address, socklen_t length, std::error_code& error,
             const limit& how_long) noexcept {
  request r;
  r.what = operation::connect;
  r.descriptor = descriptor;
  r.address = const_cast<sockaddr*>(address);
  r.address_size = length;
  report<int>(perform(r, how_long), error);
}
void connect(int descriptor, const sockaddr* address, socklen_t length, const limit& how_long) {
  or_throw("weft::io::connect", [&](auto& e) { connect(descriptor, address, length, e, how_long); });
}

int open(const char* path, int flags, mode_t mode, std::error_code& error) noexcept {
  request r;
  r.what = operation::open;
  r.path = path;
  r.flags = flags | O_CLOEXEC;
  r.mode = mode;
  return born(perform(r, {}), error);
}
int open(const char* path, int flags, mode_t mode) {
  return or_throw("weft::io::open", [&](auto& e) { return open(path, flags, mode, e); });
}

void adopt(int descriptor) noexcept {
  const sched::runtime_section in; // for the record's lock
  if (descriptor_record* record = record_of(descriptor))
    record->begin_generation(true);
}

void disown(int descriptor) noexcept {
  if (descriptor_record* record = known_record_of(descriptor))
    record->disown();
}

void disown_all(unsigned first, unsigned last) noexcept {
  disown_records(first, last);
}

void close(int descriptor, std::error_code& error) noexcept {
  if (descriptor_record* record = known_record_of(descriptor)) {
    const sched::runtime_section in; // for the record's lock
    record->begin_generation(false);
  }
  report<int>(-os::close_descriptor(descriptor), error);
}
void close(int descriptor) {
  or_throw("weft::io::close", [&](auto& e) { close(descriptor, e); });
}

short poll(int descriptor, short events, std::error_code& error, const limit& how_long) noexcept {
  const int result = perform(request_to_poll(descriptor, events), how_long);
  return result < 0 ? (report<int>(result, error), short{0}) : report<short>(result, error);
}
short poll(int descriptor, short events, const limit& how_long) {
  return or_throw("weft::io::poll", [&](auto& e) { return poll(descriptor, events, e, how_long); });
}

void fsync(int descriptor, std::error_code& error) noexcept {
  sync_file(operation::sync, descriptor, error);
}
void fsync(int descriptor) {
  or_throw("weft::io::fsync", [&](auto& e) { fsync(descriptor, e); });
}

void fdatasync(int descriptor, std::error_code& error) noexcept {
  sync_file(operation::sync_data, descriptor, error);
}
void fdatasync(int descriptor) {
  or_throw("weft::io::fdatasync", [&](auto& e) { fdatasync(descriptor, e); });
}

} // namespace weft::io
